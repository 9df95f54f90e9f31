"""What the functions of `harpia_formats` do with their arguments."""
