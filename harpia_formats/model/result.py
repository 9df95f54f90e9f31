"""What the results of all runs have in common: plain data, tables, and short texts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from os import PathLike, fspath
from typing import Any, ClassVar


def frame_library(name: str) -> Any:
    """Return the module of a library of data frames.

    Raises `ImportError`, whose message names the extra, if it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        hint = "pip install 'harpia-formats[notebook]'"
        message = f"a data frame of {name} needs {name}: {hint}"
        raise ModuleNotFoundError(message, name=name) from None


class Result:
    """The result of a run, which is neither true nor false: `ok` tells whether it is.

    It can be pickled and sent to another process.
    """

    __slots__ = ()
    #: The columns of the table, which data frames without rows have, too.
    columns: ClassVar[tuple[str, ...]] = ()

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
        frame = frame_library("pandas").DataFrame
        rows = self.table()
        return frame(rows) if rows else frame(columns=list(self.columns))

    def to_polars(self) -> Any:
        """Return `table` as a data frame; raises `ImportError` without polars."""
        frame = frame_library("polars").DataFrame
        rows = self.table()
        if not rows:
            return frame(schema=list(self.columns))
        return frame(rows, infer_schema_length=None, strict=False)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline()}>"

    def shown_tables(self) -> Iterable[tuple[str, Sequence[Mapping[str, Any]]]]:
        """Return the tables that a notebook shows, each with its caption."""
        return [("", self.table())]

    def shown_charts(self) -> str:
        """Return the charts that a notebook shows below the tables, as HTML."""
        return ""

    def _repr_html_(self) -> str:
        """Return the headline and the first rows of tables as HTML, for notebooks."""
        from harpia_formats.model.notebook import result_html  # noqa: PLC0415 - start-up: it needs the table of HTML entities

        ok: bool = self.ok  # type: ignore[attr-defined]  # every result has it
        found = result_html(self.headline(), self.shown_tables(), ok=ok)
        return found + self.shown_charts()


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
