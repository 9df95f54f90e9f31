"""Keyword arguments and files of options become the options of a run.

What comes in: the arguments of the functions of `harpia_formats`, settings files and
recipes. What goes out: the frozen options of the other packages, and results that speak
of arguments. To read in this order: `options` (the table of all), `settings` (files
of options), `python_api` (arguments), `recipes` (scores from a file), `functions`,
`signatures` (what `help` shows of them), `testing` (support for tests).
"""
