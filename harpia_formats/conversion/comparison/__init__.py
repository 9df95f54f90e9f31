"""Compare two data sets, or a data set with its round trip, record by record."""
