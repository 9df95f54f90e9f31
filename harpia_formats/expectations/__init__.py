"""Preflight: whether data sets meet the expectations that a file states.

What comes in: a file of expectations and its data sets. What goes out: a report with a
check for each expectation. To read in this order: `preflight_keys` (the keys),
`preflight_file` (a file to a `preflight_plan`, or a `preflight_error`), `preflight_run`
(data sets to `outcomes`), `data_set_run` with `record_limits`, `field_limits`,
`data_set_limits` and `relations` (each kind of expectation), `record_store` (keys on
disk), `plugin_expectations` (those of other packages), `propose_preflight` (a file for
data as it is).
"""
