"""A table of scores as plain data, which each form writes in its own way."""

from dataclasses import dataclass
from enum import Enum


class Better(Enum):
    """Which scores of a column are better; none for one where neither is known."""

    HIGHER = "higher is better"
    LOWER = "lower is better"
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Number:
    """A cell with a number; no text of data is in it."""

    text: str
    #: What stands behind the number, such as its interval.
    rest: str = ""
    #: A mark that a note explains.
    mark: str = ""
    is_bold: bool = False


#: A number, or a text of data such as the name of a model.
Cell = Number | str


@dataclass(frozen=True, slots=True)
class Heading:
    """The name of a column."""

    name: str
    better: Better = Better.UNKNOWN
    is_number: bool = True


@dataclass(frozen=True, slots=True)
class Note:
    """A note below a table: a sentence, or a label with a technical text behind it."""

    text: str
    #: A text for programs and experts, such as a signature.
    code: str = ""
    #: The mark in the table that the note explains.
    mark: str = ""


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """A table with its notes."""

    #: What the table shows, in one sentence.
    caption: str
    headings: tuple[Heading, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[Note, ...]
    #: The indices of the rows below which a line is drawn.
    breaks: frozenset[int] = frozenset()
