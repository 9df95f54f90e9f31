"""Statistics: counts and distributions over the records of a data set.

To read in this order: `statistics_run` (the run and its options), `record_counts` (the
counts of a file), `running_counts`, `text_lengths` and `duplicates` (what is counted),
`statistics_result` and `redacted_statistics` (what is shown), `count_ranges` (large
files).
"""
