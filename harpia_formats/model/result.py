"""What the results of all runs have in common: plain data, tables, and short texts."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from os import PathLike, fspath
from typing import Any

#: Rows of a table that a notebook shows.
SHOWN = 20


class Result:
    """The result of a run, which is neither true nor false: `ok` tells whether it is.

    It can be pickled and sent to another process.
    """

    __slots__ = ()

    def __bool__(self) -> bool:
        """Raise `TypeError`: `ok` tells whether the result is good."""
        raise TypeError(
            f"a {type(self).__name__} is neither true nor false: ask for its `ok`"
        )

    def headline(self) -> str:
        """Return the result in one line."""
        raise NotImplementedError

    def table(self) -> list[dict[str, Any]]:
        """Return the table of the result: a row for each finding, field or score."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data that can be written as JSON."""
        return {"ok": self.ok, **as_plain(self)}  # type: ignore[attr-defined]  # every result has it

    def to_pandas(self) -> Any:
        """Return `table` as a data frame; raises `ImportError` without pandas."""
        from pandas import DataFrame  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415 - optional

        return DataFrame(self.table())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline()}>"

    def _repr_html_(self) -> str:
        """Return the headline and the first rows as HTML, for notebooks."""
        return f"<p>{escape(self.headline())}</p>{html_table(self.table())}"


def as_plain(value: Any) -> Any:
    """Return `value` as plain data: members of dataclasses, enums and paths by value.

    Fields without a plain form, such as functions, are left out.
    """
    if is_dataclass(value) and not isinstance(value, type):
        members = {
            field.name: getattr(value, field.name)
            for field in fields(value)
            if not field.name.startswith("_")
        }
        return as_plain(members)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Mapping):
        return {
            str(key): as_plain(member)
            for key, member in value.items()
            if not callable(member)
        }
    if isinstance(value, (tuple, list, set, frozenset)):
        return [as_plain(item) for item in value]
    return value


def escape(text: str) -> str:
    """Return text for an HTML page."""
    from html import escape as html_escape  # noqa: PLC0415 - start-up: its table of entities takes milliseconds

    return html_escape(text)


def html_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the first rows as an HTML table, with a line on how many there are."""
    rows = list(rows)
    if not rows:
        return ""
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{_cell(row.get(name))}</td>' for name in names)}</tr>"
        for row in rows[:SHOWN]
    )
    more = len(rows) - SHOWN
    rest = f"<p>and {more:,} more</p>" if more > 0 else ""
    return f"<table><tr>{head}</tr>{body}</table>{rest}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))
