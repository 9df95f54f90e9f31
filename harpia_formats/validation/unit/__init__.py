"""The validation of one unit of work: a function of the plan and the unit.

To read in this order: `findings` and `collector` (what comes out), `row_checks` and
`row_validator` (the rows of a chunk), `validators` (what a file is validated by),
`rows`, `table`, `document`; loaded where they are needed: `row_linter`,
`across_values` and `selected_lints` (rules on top of the schema), `wide_records`,
`constants`, `mapped_values`, `given_schema`, `guarded_rows`, `cross_check`.
"""
