"""A table as plain data: columns, typed cells and notes, for the renderer of a form."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from harpia_formats.model.describe import p_text

#: Stands for a number that there is not, in tables that are published.
NONE = "\u2013"


class Number(Struct, frozen=True):
    """A number as text, such as a range; no text of data is in it."""

    text: str
    #: What stands behind the number, such as its interval.
    rest: str = ""
    #: A mark that a note explains.
    mark: str = ""
    is_bold: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """A score or a difference, with its interval if there is one."""

    value: float | None
    interval: tuple[float, float] | None = None
    #: Digits behind the point; None for four, of every number.
    decimals: int | None = None
    #: "+" if numbers above 0 have a sign.
    sign: str = ""
    mark: str = ""
    is_bold: bool = False

    def shown(self, none: str) -> Number:
        """Return it as text, `none` without a value."""
        if self.value is None:
            return Number(none, mark=self.mark)
        rest = f"[{self.limits(', ')}]" if self.interval else ""
        return Number(self._text(self.value), rest, self.mark, self.is_bold)

    def limits(self, between: str) -> str:
        """Return both ends of the interval, "" if there is none."""
        return between.join(map(self._text, self.interval or ()))

    def _text(self, value: float) -> str:
        if self.decimals is None:
            return f"{value:{self.sign}.4f}"
        return number_text(value, self.decimals, self.sign)


class PValue(Struct, frozen=True):
    """A p-value, which is a bound if draws cannot show that it `is_least`."""

    value: float | None
    is_least: bool = False
    mark: str = ""

    def shown(self, none: str) -> Number:
        """Return it as text, `none` without a value."""
        if self.value is None:
            return Number(none)
        return Number(p_text(self.value, is_least=self.is_least), mark=self.mark)


class Share(Struct, frozen=True):
    """A share, which is shown as a percentage; "" if it is not known."""

    value: float | None

    def shown(self, _none: str) -> Number:
        """Return it as text."""
        return Number("" if self.value is None else f"{self.value:.1%}")


#: A text of data such as the name of a model, a count or a mean, None for nothing, or
#: one of the cells above.
Cell = str | int | float | None | Number | Score | PValue | Share


def number_of(cell: Cell, none: str = "") -> Number:
    """Return a cell that holds no text from data as text, `none` if it is empty."""
    if cell is None:
        return Number(none)
    if isinstance(cell, int):
        return Number(f"{cell:,}")
    if isinstance(cell, float):
        return Number(f"{cell:,.1f}")
    return Number(cell) if isinstance(cell, str) else shown_number(cell, none)


def shown_number(cell: Number | Score | PValue | Share, none: str) -> Number:
    """Return a cell with a number as text."""
    return cell if isinstance(cell, Number) else cell.shown(none)


class Heading(Struct, frozen=True):
    """The name of a column, and how its cells are set."""

    name: str
    is_number: bool = True
    #: The arrow behind its name that tells which numbers are better, "" for none.
    arrow: str = ""
    #: What it is of, such as a benchmark; "" for nothing more than its name.
    group: str = ""
    #: Whether it is left out where all of its cells say nothing.
    is_optional: bool = False

    @property
    def full_name(self) -> str:
        """The name of the column in one line."""
        if not self.group:
            return self.name
        return f"{self.group} ({self.name})" if self.name else self.group

    def with_arrow(self, name: str, space: str = " ") -> str:
        """Return its name as a form writes it, with the arrow behind a space."""
        return f"{name}{space}{self.arrow}" if self.arrow else name


class Note(Struct, frozen=True):
    """A note below a table: a sentence, or a label with a technical text behind it."""

    text: str
    #: A text for programs and experts, such as a signature.
    code: str = ""
    #: The mark in the table that the note explains.
    mark: str = ""

    @property
    def line(self) -> str:
        """The note in one line."""
        text = f"{self.mark} {self.text}" if self.mark else self.text
        return f"{text}: {self.code}" if self.code else text


class Table(Struct, frozen=True):
    """A table with its notes."""

    #: What the table shows.
    title: str
    headings: tuple[Heading, ...]
    rows: Sequence[Sequence[Cell]]
    notes: tuple[Note, ...] = ()
    #: The indices of the rows below which a line is drawn.
    breaks: frozenset[int] = frozenset()
    #: What stands for a number that there is not.
    none: str = NONE

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.headings]

    def named(self, names: Mapping[str, str]) -> "Table":
        """Return the columns that are named, in this order and with new names."""
        places = {name: at for at, name in enumerate(self.names)}
        kept = [(places[name], new) for name, new in names.items() if name in places]
        columns = (replace(self.headings[at], name=new) for at, new in kept)
        rows = [[row[at] for at, _ in kept] for row in self.rows]
        return replace(self, headings=tuple(columns), rows=rows)


def table_of(  # noqa: PLR0913, PLR0917 - the parts of a table
    title: str,
    names: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    numbers: Collection[str] = (),
    optional: Collection[str] = (),
    none: str = "none",
) -> Table:
    """Return a table by the names of its columns, of numbers, and of optional ones."""
    columns = (
        Heading(name, name in numbers, is_optional=name in optional) for name in names
    )
    return Table(title, tuple(columns), list(rows), none=none)


#: The most digits behind the point.
_MOST = 6
#: Larger numbers are written with an exponent.
_LARGE = 1e9


def decimals_for(half: float) -> int:
    """Return how many digits after the point show two significant ones of `half`."""
    return min(max(1 - math.floor(math.log10(half)), 0), _MOST)


def number_text(value: float, decimals: int, sign: str = "") -> str:
    """Return a number with this many digits after the point, and never `-0.00`."""
    if abs(value) >= _LARGE:
        return f"{value:{sign}.4g}"
    text = f"{value:{sign}.{decimals}f}"
    return text[1:] if text[0] == "-" and not text.strip("-0.") else text
