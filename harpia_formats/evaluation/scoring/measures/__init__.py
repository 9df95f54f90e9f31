"""From answers to the statistics of metrics, added up by system and by group.

The metrics of a run (`profiles`, `select_metrics`); the statistics of an answer,
computed (`outcomes`) or read (`stored_metrics`, `verdict_metrics`,
`stored_differences`); their sums (`system_totals`, `answer_sums`, `question_scores`)
and scores (`metric_score`).
"""
