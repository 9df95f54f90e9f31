"""Checks: expectations on data sets, and whether they are met."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """Whether an expectation is met."""

    MET = "met"
    BROKEN = "broken"
    #: Not met, or not known, which the preflight file allows with a warning.
    WARNED = "warned"
    #: Not known, because a file, or a record of it, could not be read, or nothing was
    #: there to be compared.
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation on a data set, and what was found."""

    #: The name of the data set.
    data_set: str
    #: The key that states it, "" for one that holds without being stated.
    key: str
    #: What is expected, such as "records at least 1,000".
    expected: str
    #: What was found, such as "1,204".
    found: str
    state: State
    #: The file that states it, and the line there.
    path: str = ""
    line: int = 1
    #: Whether `found` certainly holds no value of a record.
    hides_values: bool = False
    #: Why it is not known whether it is met, "" if not all records were read.
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the check by the report contract."""
        return {
            "data_set": self.data_set,
            "key": self.key,
            "expected": self.expected,
            "found": self.found,
            "state": self.state.value,
            "path": self.path,
            "line": self.line,
        }
