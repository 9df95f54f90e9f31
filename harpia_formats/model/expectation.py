"""What an expectation of another package is: a value in a preflight file, checked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harpia_formats.model.record import Record


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """Whether an expectation of another package is met, and what was found.

    Its texts are shown where no value of a record may be: they hold none.
    """

    #: None if it cannot be known.
    is_met: bool | None
    #: What was found, in a few words.
    found: str
    #: What is wrong with the data set as a whole, each a sentence.
    messages: tuple[str, ...] = ()


class ExpectationCheck:
    """The check of one data set: takes each valid record, then returns the result."""

    #: What is expected, in a few words, such as "labels balanced within 10 %".
    expected: str = ""

    def take(self, record: Record) -> str:
        """Return what is wrong with a record as a sentence, "" if nothing is."""
        raise NotImplementedError

    def result(self) -> ExpectationResult:
        """Return the result after the last record.

        It is not met, whatever this returns, if something was wrong with a record.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expectation that preflight files can state in the table `own`."""

    #: What it requires, in one sentence.
    summary: str
    #: Returns a new check for the value in the file, which is given as TOML has it.
    #: Raises `ValueError` with the reason for a value that cannot be used.
    prepare: Callable[[Any], ExpectationCheck]
