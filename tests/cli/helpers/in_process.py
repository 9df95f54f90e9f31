"""Run `harpia-formats` in the process of the test, which starts none."""

import contextlib
import io
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from command_runs import Result
from harpia_formats.cli import main


@dataclass(frozen=True)
class Run:
    """A run that has ended: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str


class InProcess:
    """Calls `main` with arguments in place of those of the test's process."""

    def __init__(
        self, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[bytes]
    ) -> None:
        self._patch = patch
        self._capture = capture

    def __call__(self, *arguments: object) -> Run:
        """Return the result of `harpia-formats` with these arguments."""
        words = ["harpia-formats", *map(str, arguments)]
        self._patch.setattr(sys, "argv", words)
        self._capture.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        streams = self._capture.readouterr()
        out, err = streams.out.decode(), streams.err.decode()
        return Run(int(ended.value.code or 0), out, err)


def completed_in(
    folder: Path,
    *arguments: str,
    variables: Mapping[str, str],
    stdin: bytes | None = None,
) -> Result:
    """Return the result of `harpia-formats` in a folder, with more variables.

    Without `stdin` it reads the standard input of this process.
    """
    given = sys.stdin if stdin is None else io.TextIOWrapper(io.BytesIO(stdin))
    out, err = (io.TextIOWrapper(io.BytesIO()) for _ in range(2))
    code: Any = 0
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, variables),
        mock.patch.object(sys, "argv", ["harpia-formats", *arguments]),
        mock.patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    printed = [stream.buffer.getvalue() for stream in (out, err)]
    return Result(list(arguments), code, *printed)


def exit_code(*arguments: object) -> int:
    """Return the exit code of `harpia-formats`, whose streams are those of the test."""
    words = ["harpia-formats", *map(str, arguments)]
    with mock.patch.object(sys, "argv", words), pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)
