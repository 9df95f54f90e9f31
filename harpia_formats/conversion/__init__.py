"""Records become rows of another format, and what was lost is reported.

What comes in: files of any format. What goes out: files of another one, losses,
differences and subsets. To read in this order: `mapping` (fields to records and back),
`reading` (files to records), `options` and `run` (a conversion), `row_conversion` and
`batch` (valid rows to rows), `destination` (the format that is written), `containers`
and `output_files` (files of rows), `quarantine` (invalid rows), `losses`,
`record_groups` and `fill_scores` (what only some options ask for), `parallel` (several
processes), `comparison` (two files), `subsets`.
"""
