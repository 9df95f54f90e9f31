"""What commands write: streams, the progress bar, tables and lines of text."""
