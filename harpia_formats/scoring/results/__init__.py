"""The files of results in vendors' forms."""
