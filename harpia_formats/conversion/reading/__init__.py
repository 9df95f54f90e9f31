"""Reading: the valid rows of files as records."""
