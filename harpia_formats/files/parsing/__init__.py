"""Text of JSON and CSV: places of values, faults, repeated keys."""
