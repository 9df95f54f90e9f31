"""The page that shows evaluation files in a browser: `harpia-formats view`.

To read in this order: `options`, `row_index` (where each row begins), `record_reader`
(a row as a record), `answers`, `record_scan` (what is known of each record),
`text_search`, `selection` (which records, in which order), `record_details` (one
record), `background` (work in other processes), `viewed_file` (one file), `systems`
(answers to the same questions), `copies`, `session` (what the page asks for), `notes`,
`take_away`, `access` (who may ask), `server`; templates and static have the page.
"""
