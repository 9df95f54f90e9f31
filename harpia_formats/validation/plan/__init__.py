"""What a file is and which units of work it has, decided before its first row.

To read in this order: `file_plan`, `units`, `table_units`.
"""
