"""Conversion of large files by several processes."""
