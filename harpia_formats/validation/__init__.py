"""Rows become problems: plan each file, validate its units, merge the results.

What comes in: files and the format they are in. What goes out: problems and a report.
To read in this order: `options`, `plan` (what a run and a file are), `unit` (the rows
of a part of a file), `diagnosis` (errors to problems), `merge` (counts and examples),
`local`, `one_file` and `run` (all files, by the plans of `run_plans`),
`single_objects` (small files without the stages), `parallel` (several processes); then
`companion_files` and `companion_checks`, `dedup`, `baselines`, `redaction`, `repair`,
`schema_check`, and `inferred_schema` with `schema_inference`.
"""
