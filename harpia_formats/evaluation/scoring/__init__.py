"""From records to scores, intervals and comparisons.

What comes in: records, and the names of metrics or a profile. What goes out: scores of
each system with intervals, comparisons of systems, and the result files of vendors. The
stages, each a folder or module that imports only those after it in this list:

- `results`: scores and comparisons as values, tables and files
- `measures`: the statistics of metrics, added up
- `answers`: the inputs, the names of their systems, and which systems are compared
- `significance`: intervals and p-values as functions of arrays

What joins them, from a run to its answers: `benchmarks` compares systems on several
data sets, `compare_runs` on one, `agreement` compares raters; `scoring_run` scores
files, by way of `answer_stream`, and `score_ranges` in other processes;
`system_answers` holds answers by question, and finds the questions that several systems
answered. `options` and `number_stores` serve all of them.
"""
