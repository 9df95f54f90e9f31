"""Validation by several processes: of large files and of many small ones."""
