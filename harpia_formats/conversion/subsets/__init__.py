"""Parts of data files: their first rows, samples, splits, and files put together."""
