"""Compare two data sets, or a data set with its round trip, record by record.

To read in this order: `differences` (of two records), `comparison_report`,
`record_partitions`, `stored_rows`, `row_taker`, `compare_ranges` (large files, in other
processes) and `diff` (two data sets), `back_conversion` and `round_trip`.
"""
