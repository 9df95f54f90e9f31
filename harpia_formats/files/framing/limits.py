"""Limits of what is cut from a file at once, and of what one row may hold."""

#: Levels of arrays and objects in one row, at most.
DEPTH_LIMIT = 200
#: Bytes of one row, at most; a longer one is an error and is skipped.
ROW_LIMIT = 16 * 1024 * 1024
#: Bytes of a JSON array, or of a table, that are cut into rows at once.
WINDOW = 256 * 1024
