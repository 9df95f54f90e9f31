"""Find mistakes in JSON Schemas that validators accept without a report.

To read in this order: `find_mistakes` (all of them), `checked_schema`,
`keyword_values`, `contradictions`, `links`, `patterns`.
"""
