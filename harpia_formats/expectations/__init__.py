"""Preflight: whether data sets meet the expectations that a file states."""
