"""From the results of units to the counts and problems of a file and of a run.

To read in this order: `file_merge`, `tally`; `across_rows` and `whole_file` (rules on
several rows).
"""
