"""Run functions in processes, executors and clusters, whatever the data.

To read in this order: `engine` (what runs them), `pool` (tasks and answers), `dask`,
`worker_checks` (the same code and files everywhere), `killable` (a process that may
take too long).
"""
