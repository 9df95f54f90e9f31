"""Read and write bytes: files, standard streams, compression, remote stores.

To read in this order, for input: `urls`, `reader`, `encodings`, `file_kinds`, `source`
(one input), `unpacked_text`, `zip_archive`, `remote_file`, `discovery` and
`remote_discovery` (which files), `inputs` (all of a run). For output: `sink`,
`file_sink`, `remote_sink`, `outputs` (all of a run). For what memory should not hold:
`spill`.
"""
