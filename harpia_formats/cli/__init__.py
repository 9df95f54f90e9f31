"""The command line: parse, call, report, exit code.

What comes in: words. What goes out: one call of another package, its report, and an
exit code. To read in this order: `main`, `app` (the commands), `commands` (a module
each), `options` (shared by commands), `output` (what is printed), `program` and
`completion` (Typer and shells).
"""


def main() -> None:
    """Run the command line in `sys.argv`; raises `SystemExit` with its exit code."""
    try:
        from harpia_formats.cli.main import run_command_line  # noqa: PLC0415 - an interrupt while it is imported must print nothing

        run_command_line()
    except KeyboardInterrupt:
        # The module of the exit codes may be what could not be imported.
        raise SystemExit(130) from None
