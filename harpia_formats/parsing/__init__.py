"""JSON and CSV text: where values are, and what is wrong with it."""
