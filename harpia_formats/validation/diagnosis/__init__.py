"""Diagnosis: from the schema errors of a row to root causes and placed problems.

To read in this order: `engine_errors`, `root_causes`, `row_context`, `messages`;
`cached_causes` (many rows alike), `hidden_values` (without values).
"""
