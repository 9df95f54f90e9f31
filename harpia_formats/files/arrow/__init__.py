"""Tables of Arrow: records as columns, and the values of any column as JSON."""
