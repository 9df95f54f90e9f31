"""Map rows of a format to records, and records to rows."""
