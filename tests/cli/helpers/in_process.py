"""Run `harpia-formats` in the process of the test, which starts none."""

import sys
from dataclasses import dataclass

import pytest

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
