"""Scores of records: metrics, intervals, comparisons, statistics and judges.

What comes in: records of any format. What goes out: scores with intervals and
signatures, the documents of vendors, counts, and pictures. To read in this order:
`metrics` (one answer), `run_options` (of runs over many), `scoring` (many answers),
`statistics` (counts and lengths), `filling_measure` (scores that a conversion fills
in), `llm_judge` (verdicts by a model), `plots` (bars in pages) and `figures`
(pictures).
"""
