"""Run the command line in this process, as hooks and scripts call it."""

from collections.abc import Callable, Sequence

import pytest

from harpia_formats.cli.app import app_for

#: Runs arguments of `harpia-formats`; returns the exit code, and both outputs.
CommandLine = Callable[[Sequence[str]], tuple[int, str, str]]


@pytest.fixture
def command_line(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Return what runs the command line in this process."""

    def run(arguments: Sequence[str]) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            app_for(arguments)(list(arguments))
        code = ended.value.code
        return int(code or 0), *capsys.readouterr()

    return run
