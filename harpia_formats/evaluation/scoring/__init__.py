"""From records to scores, intervals and comparisons.

What comes in: records, and the names of metrics or a profile. What goes out: scores of
each system with intervals, comparisons of systems, and the result files of vendors. To
read in this order:

- the run: `options`, `input_files`, `profiles`, `select_metrics`, `scoring_run`,
  `answer_stream`, `metric_samples`, `measure`, `outcomes`, `score_ranges`
- sums and their scores: `system_totals`, `answer_sums`, `pooled_answers`,
  `question_scores`, `label_totals`, `number_stores`, `intervals`, `bootstrap`,
  `metric_score`, `scores`
- scores that are stored: `stored_run`, `stored_metrics`, `stored_differences`,
  `verdict_metrics`
- comparisons: `compare_runs`, `choose_systems`, `match_questions`,
  `system_answers`, `paired_answers`, `paired_differences`, `p_values`,
  `compared_scores`, `compare_report`, `best_scores`
- systems on benchmarks: `benchmarks`
- raters: `agreement`, `rater_labels`
- what is written: `result_format`, `result_files`, `answer_rows`, `answer_problems`,
  `score_charts`, `redacted_scores`
"""
