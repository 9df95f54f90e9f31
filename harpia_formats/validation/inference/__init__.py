"""Infer a JSON Schema from rows that have none."""
