"""Preflight: whether data sets meet the expectations that a file states.

What comes in: a file of expectations and its data sets. What goes out: a report with a
check for each expectation. To read in this order: `table` (the keys), `parse` (a file
to a `plan`), `run` (data sets to outcomes), `describe` and `init` (words, and a file
for data as it is).
"""
