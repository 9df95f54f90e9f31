"""What becomes of the fields of a record that is written in another format."""

from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import Struct


class Outcome(StrEnum):
    """What becomes of a field; the value is the code of the rule that reports it.

    A null that is left out is no loss: it says that there is no value.
    """

    DROPPED = "L101"
    CHANGED = "L102"
    DEFAULTED = "L103"
    SPLIT = "L104"
    MERGED = "L105"
    NULL = "L207"

    # That of an enumeration is a function in Python, and outcomes are keys of tables.
    __hash__ = str.__hash__


#: The detail of the outcome of fields of several answers in a row that has them once.
OF_OTHERS = "of all answers but the first"
#: The detail of the outcome of a field that rows have in any case, as empty text.
BLANK = 'is "", which is read as none'


class FieldOutcome(NamedTuple):
    """The outcome of one field that does not arrive unchanged.

    A named tuple, because outcomes are keys of tables for each record: a frozen
    dataclass is hashed by a function in Python.
    """

    outcome: Outcome
    #: The path of the field in the record, such as `outputs.text`.
    path: str
    #: What becomes of it, in a few words.
    how: str = ""


#: Makes a named tuple without the function in Python that its class is called by.
_new = tuple.__new__


class FieldOutcomes(Struct):
    """Collects the outcomes of the fields of one record.

    A struct, because there is one for each record: a dataclass is made by a function in
    Python.
    """

    entries: list[FieldOutcome] = []

    def dropped(self, path: str, how: str = "") -> None:
        """Note that a field is not carried."""
        self.entries.append(_new(FieldOutcome, (Outcome.DROPPED, path, how)))

    def changed(self, path: str, how: str) -> None:
        """Note that a field arrives as another value."""
        self.entries.append(_new(FieldOutcome, (Outcome.CHANGED, path, how)))

    def null(self, path: str, how: str = "") -> None:
        """Note that a null, which says that there is no value, is left out."""
        self.entries.append(_new(FieldOutcome, (Outcome.NULL, path, how)))

    def defaulted(self, path: str, how: str) -> None:
        """Note that a field was absent and is not any more."""
        self.entries.append(_new(FieldOutcome, (Outcome.DEFAULTED, path, how)))

    def split(self, path: str, how: str) -> None:
        """Note that a field is spread over several rows."""
        self.entries.append(_new(FieldOutcome, (Outcome.SPLIT, path, how)))

    def merged(self, path: str, how: str) -> None:
        """Note that a field arrives as a part of another one."""
        self.entries.append(_new(FieldOutcome, (Outcome.MERGED, path, how)))


class Unconvertible(Exception):  # noqa: N818 - a property of the record, not an error
    """A record cannot be written in a format: the field, the reason and a help.

    `fields` are the mappings of the fields that it lacks, if that is the reason.
    """

    def __init__(
        self, path: str, reason: str, help_: str = "", fields: tuple[Any, ...] = ()
    ) -> None:
        super().__init__(path, reason, help_, fields)
        self.fields = fields
        self.path = path
        self.reason = reason
        self.help = help_

    def __str__(self) -> str:
        return f"{self.reason}; {self.help}" if self.help else self.reason
