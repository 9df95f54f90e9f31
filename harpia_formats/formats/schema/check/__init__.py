"""Find mistakes in JSON Schemas: what no validator reports, but no author means.

To read in this order: `find_mistakes` (all of them), `checked_schema`,
`keyword_values`, `contradictions`, `links`, `patterns`.
"""
