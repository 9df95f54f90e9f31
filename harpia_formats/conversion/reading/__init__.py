"""Reading: the valid rows of files as records.

To read in this order: `reading_options`, `placed_record`, `mapped_keys` and
`merged_rows` (what the user maps and merges), `row_batch`, `record_stream` (one file),
`companions`, `reader` (all files), `records` (for the API), `record_ranges` (large
files).
"""
