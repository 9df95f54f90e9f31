"""Diagnosis: from the schema errors of a row to root causes and placed problems."""
