"""Which format and dialect a file is in."""
