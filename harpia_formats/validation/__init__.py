"""Rows become problems: plan each file, validate its units, merge the results.

What comes in: files and the format they are in. What goes out: problems and a report.
To read in this order: `options`, `plan` (what a file is), `unit` (the rows of a part of
it), `diagnosis` (errors to problems), `merge` (counts and examples), `one_file` and
`run` (all files), `parallel` (several processes); then `dedup`, `baselines`,
`redaction`, `repair` and `inference`.
"""
