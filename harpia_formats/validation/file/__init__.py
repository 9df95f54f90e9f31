"""The validation of one file."""
