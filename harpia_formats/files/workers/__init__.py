"""Run functions in processes, executors and clusters, whatever the data."""
