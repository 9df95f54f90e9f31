"""What a preflight file states, checked: its data sets with their expectations."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harpia_formats.expectations.error import PreflightError
from harpia_formats.expectations.table import DATA_SETS, LIMIT_KEYS
from harpia_formats.files.io.urls import is_url
from harpia_formats.files.toml import TomlLines, toml_key
from harpia_formats.model.problem import Because, Excerpt, Place, pointer_of
from harpia_formats.model.text.describe import short_literal

#: What a plan is called that is given as values, and has no lines.
IN_PYTHON = "<dict>"


@dataclass(frozen=True, slots=True)
class Stated:
    """A place in a preflight file: the key of an expectation."""

    path: str
    #: The names of the tables and the key.
    key: tuple[str, ...]
    #: The line of it, from 1, its text, and its first byte in the file.
    line: int
    text: str
    offset: int

    def place(self) -> Place:
        """Return the place of the line, without the white space before it."""
        column = len(self.text) - len(self.text.lstrip())
        return Place(
            path=self.path,
            line=self.line,
            column=column + 1,
            end_column=max(len(self.text.rstrip()), column + 1) + 1,
            byte_offset=self.offset + column,
            pointer=pointer_of(self.key),
        )

    def excerpt(self) -> Excerpt:
        """Return the line, marked as a whole."""
        column = len(self.text) - len(self.text.lstrip())
        return Excerpt(self.text, column, max(len(self.text.rstrip()), column + 1))

    def because(self, value: object) -> Because:
        """Return the expectation as the reason of a finding in data."""
        place = self.place()
        shown = short_literal(value) if not isinstance(value, list) else _listed(value)
        return Because(place.pointer, shown, place.line, place.column, self.path)

    def error(self, reason: str) -> PreflightError:
        """Return the error that the expectation cannot be used."""
        place = ".".join(map(toml_key, self.key))
        line = 0 if self.path == IN_PYTHON else self.line
        return PreflightError(self.path, line, place, reason)


def _listed(values: list[Any]) -> str:
    """Return an array as short JSON text."""
    shown = 3
    more = ", …" if len(values) > shown else ""
    return f"[{', '.join(map(short_literal, values[:shown]))}{more}]"


def located(path: str, root: str) -> str:
    """Return a path that starts from the folder `root`, or a URL as it is."""
    return path if is_url(path) else os.path.join(root, path)  # noqa: PTH118 - links are not resolved


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set of a preflight file, with what is expected of it."""

    name: str
    #: The values of the keys that it has, by their names.
    values: Mapping[str, Any]
    #: Where each key stands, and the table itself under "".
    places: Mapping[str, Stated]
    #: The folder that its paths start from.
    root: str

    def inputs(self) -> tuple[str, ...]:
        """Return the files, folders, patterns and URLs of the data set."""
        return tuple(map(self.located, self.values["files"]))

    def beside(self) -> list[str]:
        """Return the other files that the data set names, such as its schema."""
        return [
            self.located(self.values[key])
            for key in ("schema", "with")
            if isinstance(self.values.get(key), str)
        ]

    def located(self, path: str) -> str:
        """Return a path of the preflight file from the working folder."""
        return located(path, self.root)

    def stated(self, key: str) -> Stated:
        """Return where a key stands, or the table if the key is not given."""
        return self.places.get(key) or self.places[""]

    def only_warns(self, key: str, item: str) -> bool:
        """Tell whether an expectation, or a member of its table, only warns."""
        warnings = self.values.get("warn", ())
        return key in warnings or f"{key}.{item}" in warnings

    def of_records(self) -> list[str]:
        """Return the keys of expectations for which records are read."""
        return [
            key.name for key in LIMIT_KEYS if key.of_records and key.name in self.values
        ]


@dataclass(frozen=True, slots=True)
class Plan:
    """A preflight file."""

    #: The file, as messages show it.
    path: str
    data_sets: tuple[DataSet, ...]
    #: Reports that are written, as `--report` takes them.
    reports: tuple[str, ...] = ()
    #: The file that keeps the numbers of records of the last run, "" for none.
    state: str = ""

    def named(self, name: str) -> DataSet:
        """Return the data set called `name`."""
        return next(one for one in self.data_sets if one.name == name)


class Places:
    """Finds where the keys of a preflight file stand."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._lines = TomlLines(text)

    def of(self, key: tuple[str, ...]) -> Stated:
        """Return where a key stands."""
        line = self._lines.of(key)
        text, offset = self._lines.text_of(line), self._lines.offset_of(line)
        return Stated(self._path, key, line, text, offset)

    def of_data_set(self, name: str, keys: Mapping[str, Any]) -> dict[str, Stated]:
        """Return where the keys of a data set stand, and its table under ""."""
        table = (DATA_SETS, name)
        return {"": self.of(table), **{key: self.of((*table, key)) for key in keys}}
