"""Conversion of large files by several processes.

To read in this order: `convert_ranges` (the main process), `range_converter` (a
worker), `converted_rows` (what it answers).
"""
