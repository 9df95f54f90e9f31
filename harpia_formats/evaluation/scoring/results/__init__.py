"""Scores and comparisons as values, as tables, and as the files of vendors.

`scores` are those of a run, `compare_report` those of several systems, `answer_rows`
those of single answers; `redacted_scores` removes the values of records, and
`result_format` and `result_files` write scores for other tools.
"""
