"""Bytes become row slices with their places, in one process or on many.

What comes in: paths, URLs, streams and bytes. What goes out: slices of rows with byte
offsets, and files that appear only when complete. To read in this order: `io` (bytes in
and out), `framing` (where rows begin and end), `parsing` (places and errors in the text
of JSON and CSV), `arrow` (columns), `toml`, `workers` (processes and clusters).
"""
