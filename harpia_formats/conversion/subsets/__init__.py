"""Parts of data files: their first rows, samples, splits, and files put together.

To read in this order: `subset_options`, `cut_file`, `open_file`, `head_and_sample`,
`merge`, `row_assignment` and `split`.
"""
