"""Convert many rows of the same shape at once, in one or several processes."""
