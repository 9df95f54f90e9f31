"""What a check of a limit is given, and the checks by the names of their limits."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harpia_formats.evaluation.llm_judge.endpoint import (
    NoReplyError,
)
from harpia_formats.model.problem import HarpiaFormatsError
from in_process import InProcess


@dataclass
class Bench:
    """What a check needs: commands, a folder, and a smaller number for a constant."""

    run: InProcess
    folder: Path
    patch: pytest.MonkeyPatch
    #: The limit, which is that of the table unless it is lowered.
    number: Any

    def lower(self, number: float, *places: tuple[Any, str]) -> None:
        """Lower a limit that is a constant at some places: it is cheap to pass."""
        for module, name in places:
            assert getattr(module, name) >= number
            self.patch.setattr(module, name, number)
        self.number = number

    def file(self, name: str, content: str | bytes) -> Path:
        """Write a file, and return its path."""
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def printed(self, *words: object) -> str:
        """Return all that a command prints."""
        done = self.run(*words)
        assert "Traceback" not in done.err, done.err
        return done.out + done.err

    def validated(self, content: str | bytes, *words: object) -> str:
        """Return what `validate` prints on records."""
        path = self.file("data.jsonl", content)
        return self.printed("validate", path, "--from", "record", *words)


#: What is printed or raised at a limit, and beyond it.
Outcome = tuple[str, str]
CHECKS: dict[str, Callable[[Bench], Outcome]] = {}


def check(name: str) -> Callable[[Callable[[Bench], Outcome]], None]:
    """Return a decorator that makes a function the check of a limit."""

    def decorate(function: Callable[[Bench], Outcome]) -> None:
        CHECKS[name] = function

    return decorate


def raised(function: Callable[[], object]) -> str:
    """Return the words of the error that a call raises, "" if it raises none."""
    try:
        function()
    except (HarpiaFormatsError, ValueError, NoReplyError) as error:
        return str(error)
    return ""
