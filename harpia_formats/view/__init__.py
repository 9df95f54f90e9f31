"""The page that shows evaluation files in a browser: `harpia-formats view`.

To read in this order: `options`, `row_index` (where each row begins), `record_scan`
(what is known of each record), `text_search`, `selection` (which rows, in which order),
`record_details` (one record), `systems` (answers to the same questions), `background`
(the processes of these), `session` (what the page asks for).
"""
