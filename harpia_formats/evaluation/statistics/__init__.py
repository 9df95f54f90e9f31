"""Statistics: counts and distributions over the records of a data set."""
