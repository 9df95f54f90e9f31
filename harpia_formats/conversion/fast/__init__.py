"""Conversion of many rows of the same shape at once."""
