"""Between the rows of a format and the record of the hub."""
