"""Statistics of large files by several processes."""
