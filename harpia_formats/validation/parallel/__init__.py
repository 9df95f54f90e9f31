"""Validation by several processes: of large files and of many small ones.

To read in this order: `ranges` and `range_worker` (parts of a large file),
`validate_ranges`, `small_files`.
"""
