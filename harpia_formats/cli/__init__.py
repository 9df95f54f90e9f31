"""The command line: parse, call, report, exit code.

What comes in: words. What goes out: one call of another package, its report, and an
exit code. To read in this order: `command_table`, `commands` (a module for each, or for
some that are alike), `command_options` (what a command is given), `app` (typer);
`help_page` and `completion_answer`;
`streams_and_exit_codes`, `progress_and_problems` and `report` (what all print, and end
with); `score_table` and `comparison_table`; `run_fix` and `run_judge` (what few runs
need).
"""

#: The variable of the environment by which a shell asks for completions.
REQUEST = "_HARPIA_FORMATS_COMPLETE"
#: Bytes that are freed at the start. glibc then keeps pieces of memory up to this size
#: when they are freed, also in forked workers, instead of giving each back to the
#: system. It saves half of the page faults of lints and of a conversion by two
#: processes, and 1 % of that one's processor time (`benchmarks/compare_versions.py`),
#: more where other programs ask for memory.
_FREED = 4 * 1024 * 1024


def main() -> None:
    """Run the command line in `sys.argv`; raises `SystemExit` with its exit code."""
    try:
        # An interrupt while these are imported must print nothing.
        import gc  # noqa: PLC0415 - for the reason above
        import os  # noqa: PLC0415 - for the reason above
        import sys  # noqa: PLC0415 - for the reason above

        from harpia_formats._version import __version__  # noqa: PLC0415 - for the reason above
        from harpia_formats.cli.streams_and_exit_codes import exceptions_to_exit_codes  # noqa: PLC0415 - for the reason above

        try:
            with exceptions_to_exit_codes():
                if sys.argv[1:] in (["--version"], ["-V"]):
                    sys.stdout.write(f"harpia-formats {__version__}\n")
                elif REQUEST in os.environ:
                    from harpia_formats.cli.completion_answer import print_answer  # noqa: PLC0415 - for the scripts of shells only

                    print_answer()
                else:
                    # Rows are freed as they go and make no cycles; looking for some
                    # costs 2 %, and a tenth of the time that imports take.
                    gc.set_threshold(200_000)
                    bytes(_FREED)
                    if sys.argv[-1] in {"-h", "--help", "--help-all"}:
                        from harpia_formats.cli.help_page import print_asked_page  # noqa: PLC0415 - for help only

                        print_asked_page(sys.argv[1:])
                    from harpia_formats.cli.app import run  # noqa: PLC0415 - `--version` needs no commands

                    run(sys.argv[1:])
        finally:
            # At its end Python looks for reference cycles in all objects, which takes a
            # fifth of a short run and frees nothing that the end of the process does
            # not.
            gc.freeze()
    except KeyboardInterrupt:
        # The module of the exit codes may be what could not be imported.
        raise SystemExit(130) from None
