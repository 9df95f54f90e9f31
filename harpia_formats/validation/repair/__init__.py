"""Find the repairs of files, show what they change, and rewrite the files.

To read in this order: `proposals`, `text_edits`, `row_repairs`, `found_repairs`,
`find`, `repaired_file` and `run`; `companions` (documents that state a digest);
`repair_ranges` (large files).
"""
