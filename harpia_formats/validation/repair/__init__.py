"""Repairs of files: which there are, what they change, and how a file is rewritten.

To read in this order: `proposals`, `text_edits`, `row_repairs`, `found_repairs`,
`find`, `repaired_file` and `run`; `companions` (documents that state a digest);
`repair_ranges` (large files).
"""
