"""Processes, executors and clusters, which know nothing of our data."""
