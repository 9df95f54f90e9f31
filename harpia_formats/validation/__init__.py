"""Validation of files: plan each file, validate its units, merge the results."""
