"""The command line: parse, call, report, exit code."""


def main() -> None:
    """Run the command line in `sys.argv`; raises `SystemExit` with its exit code."""
    try:
        from harpia_formats.cli.main import run_command_line  # noqa: PLC0415 - an interrupt while it is imported must print nothing

        run_command_line()
    except KeyboardInterrupt:
        # The module of the exit codes may be what could not be imported.
        raise SystemExit(130) from None
