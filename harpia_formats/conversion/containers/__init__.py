"""Writers of one file of rows: lines, arrays, columns, or a table in CSV."""
