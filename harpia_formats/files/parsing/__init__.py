"""Text of JSON and CSV: places of values, faults, repeated keys.

To read in this order: `csv_delimiter`, `csv_blocks`, `csv_records`; `locate`,
`duplicate_keys`; `json_fault`, `json_mistakes`, `json_syntax`; `full_width`.
"""
