"""Keyword arguments and files of options become the options of a run.

What comes in: the arguments of the functions of `harpia_formats`, settings files and
plans. What goes out: the frozen options of the other packages, and results that speak
of arguments. To read in this order: `options` (the table of all) and `option_values`;
`settings_file` and `run_settings` (options in files); `keyword_options`, `arguments`,
`results` and `answers` (what functions take and return); `plan_file` (systems and
benchmarks from a file); `functions`, `signatures` (what `help` shows of them),
`testing` (support for tests).
"""
