"""Read and write bytes: files, standard streams, compression, remote stores.

To read in this order, for input: `urls`, `reader`, `compression`, `encodings`,
`file_kinds`, `source` (one input), `unpacked_text`, `zip_archive`, `remote_file`,
`discovery` and `remote_discovery` (which files), `exclude`, `inputs` (all of a run);
`side_input` for files that say how to work. For output: `sink`, `temp_folder`,
`file_sink`, `remote_sink`, `outputs` (all of a run).
"""
