"""Records become rows of another format, and what was lost is reported.

What comes in: files of any format. What goes out: files of another one, losses,
differences and subsets. To read in this order: `mapping` (fields to records and back),
`reading` (files to records), `run` with `options` (a conversion), `losses`,
`grouping`, `parallel` (several processes), `comparison` (two files), `subsets`.
"""
