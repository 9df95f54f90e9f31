"""Recognize which format and dialect a file is in, by its first records.

To read in this order: `sample`, `sampled_file` (the sample of a file), `candidates`
(what it matches), `recognize`, `unexpected_format` (what is reported otherwise),
`result`, `own_files` (what harpia-formats wrote about data), `detect_files`;
`mapped_format` for maps of columns, and `splittable` for files cut into byte ranges.
"""
