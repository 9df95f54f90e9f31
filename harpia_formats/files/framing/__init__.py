"""From bytes to rows: JSON Lines, JSON arrays and columns, each row with its place.

To read in this order: `chunk` (rows), `unfinished_json` (bytes not yet cut),
`container` (what is cut how; lines), `array`, `columns`, `byte_ranges` (parts of
large files).
"""
