"""The validation of one or many files by several processes."""
