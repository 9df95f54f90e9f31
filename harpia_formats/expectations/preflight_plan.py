"""What a preflight file states, checked: its data sets with their expectations.

Whether what it expects of records can be checked in their format is decided here, too.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import TYPE_CHECKING, Any

from harpia_formats.conversion.mapping.requirements import find_field_path
from harpia_formats.conversion.reading.companions import is_companion_format
from harpia_formats.conversion.reading.mapped_keys import MappedKeys
from harpia_formats.expectations.preflight_error import PreflightError
from harpia_formats.expectations.preflight_keys import BY_NAME, DATA_SETS, LIMIT_KEYS
from harpia_formats.files.framing.chunk import BOM
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.io.urls import is_url
from harpia_formats.files.toml import TomlLines, toml_key
from harpia_formats.files.workers.engine import CLUSTER_TIMEOUT
from harpia_formats.formats.detection.detect_files import detect_files
from harpia_formats.formats.detection.mapped_format import FREE_COLUMN_FORMATS
from harpia_formats.formats.registry import (
    adapter_of,
    all_formats,
    format_of,
    formats_named,
    rules_for,
)
from harpia_formats.formats.rules import Rule, selected_rules
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.describe import short_literal
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Because, Excerpt, Place, Severity, pointer_of
from harpia_formats.model.spelling import hint_on
from harpia_formats.validation.options import Options

if TYPE_CHECKING:  # most runs have none
    from concurrent.futures import Executor


@dataclass(frozen=True, slots=True)
class PreflightOptions:
    """The options of a preflight; the defaults are those of the command line."""

    #: The values of variables, which are written as `${NAME}` in the file.
    variables: Mapping[str, str] = field(default_factory=dict)
    #: Examples kept of each group, and in all; 0 is no cap.
    examples: int = 5
    max_problems: int = 1000
    #: Show no value of a record.
    redact: bool = False
    #: Worker processes; 0 for as many as there are processors.
    jobs: int = 0
    #: Runs the work of large runs instead of our own worker processes.
    executor: "Executor | None" = None
    #: The address of a cluster that runs it: `dask://host:port`.
    engine: str | None = None
    #: Seconds that the run waits for a cluster that has no workers.
    cluster_timeout: float = CLUSTER_TIMEOUT
    #: Called after each part of a file with how far it was read.
    progress: Callable[[ReadProgress], None] | None = None

    def __post_init__(self) -> None:
        self.of_validation()

    def of_validation(self) -> Options:
        """Return those that a validation has, too.

        Raises `OptionError` and `EngineError` for one that cannot be used.
        """
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        del given["variables"]
        return Options(**given)


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
        """Return the expectation as the reason for a finding in the data."""
        place = self.place()
        shown = short_literal(value) if not isinstance(value, list) else _listed(value)
        return Because(place.pointer, shown, place.line, place.column, self.path)

    def error(self, reason: str) -> PreflightError:
        """Return an error that says why the expectation cannot be used."""
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

    def other_files(self) -> list[str]:
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

    def __init__(self, path: str, data: bytes) -> None:
        self._path = path
        text = data.removeprefix(BOM)
        #: Bytes before the first line.
        self._begin = len(data) - len(text)
        self._lines = TomlLines(text.decode())

    def of(self, key: tuple[str, ...]) -> Stated:
        """Return where a key stands."""
        line = self._lines.of(key)
        offset = self._begin + self._lines.offset_of(line)
        return Stated(self._path, key, line, self._lines.text_of(line), offset)

    def of_data_set(self, name: str, keys: Mapping[str, Any]) -> dict[str, Stated]:
        """Return where the keys of a data set stand, and its table under ""."""
        table = (DATA_SETS, name)
        return {"": self.of(table), **{key: self.of((*table, key)) for key in keys}}


#: The vendor of tables with any columns.
TABLES = FREE_COLUMN_FORMATS[0]
#: Files of a data set whose formats are detected before the run; the others are checked
#: when they are read.
_DETECTED = 20
#: The first letters of rules without which rows cannot be read.
_OF_ROWS = ("J", "S", "C", "V")
#: The first letters of rules that hold for files in any format.
_GENERAL = (*_OF_ROWS, "X")


#: A key that needs records, and where it stands: perhaps with another data set, which
#: is compared with this one.
Asked = tuple[str, Stated]


def asked_by(data_set: DataSet) -> list[Asked]:
    """Return the keys of a data set that need its records."""
    return [(key, data_set.stated(key)) for key in data_set.of_records()]


def check_data_set(data_set: DataSet, needed: list[Asked]) -> None:
    """Check that the `needed` keys can be checked, as far as it is known before a run.

    Raises `PreflightError`.
    """
    _check_findings(data_set)
    formats = list(_formats(data_set)) if _asks_formats(data_set, needed) else []
    _check_vendors(data_set, formats)
    if not needed:
        return
    if "schema" in data_set.values:
        reason = (
            f"cannot be checked: {data_set.name} is validated by a schema, and not in "
            "a format"
        )
        raise needed[0][1].error(reason)
    _check_rules(data_set, needed[0][0])
    is_family = len(formats) > 1 and "format" in data_set.values
    for format_ in () if is_family else formats:
        if not (len(formats) > 1 and is_companion_format(format_.id)):
            check_format(data_set, needed, format_)


def _asks_formats(data_set: DataSet, needed: list[Asked]) -> bool:
    """Tell whether it depends on the formats whether everything can be checked."""
    has_findings = "max-findings" in data_set.values
    return (bool(needed) or has_findings) and "schema" not in data_set.values


def _formats(data_set: DataSet) -> Iterator[Format]:
    """Yield the formats that the files may be in, or are detected to be in."""
    if "format" in data_set.values:
        yield from formats_named(data_set.values["format"])
        return
    excluded = Exclusion(data_set.values.get("exclude", ()))
    delimiter = data_set.values.get("delimiter")
    detected = detect_files(data_set.inputs(), delimiter, excluded)
    found = {one.format for one in islice(detected, _DETECTED) if one.format}
    for name in sorted(found):
        yield format_of(name)


def check_format(data_set: DataSet, needed: list[Asked], format_: Format) -> None:
    """Raise `PreflightError` if a `needed` key cannot be checked in a format."""
    if not format_.adapter:
        reason = (
            f"cannot be checked: {data_set.name} is {format_.id}, a document without "
            "records"
        )
        raise needed[0][1].error(reason)
    adapter = adapter_of(format_)
    mapped = _mapped_paths(data_set, format_)
    for key, stated in needed:
        for paths in BY_NAME[key].needs:
            if not any(adapter.carries(path) or path in mapped for path in paths):
                field = paths[0].removeprefix("outputs.")
                what = "no answers" if field == "text" else f"no {field}"
                reason = (
                    f"cannot be checked: {data_set.name} is {format_.id}, with {what}"
                )
                raise stated.error(reason)
        for name in data_set.values[key] if BY_NAME[key].of_fields else ():
            path = field_path(adapter, name)
            if path is None or not (adapter.carries(path) or path in mapped):
                names = [mapping.name for mapping in adapter.fields]
                hint = hint_on(name, names)
                reason = f"cannot be checked: {format_.id} has no {name}{hint}"
                raise stated.error(reason)


def field_path(adapter: FormatAdapter, name: str) -> str | None:
    """Return the path in records of the field called `name`, None if there is none.

    A table with any columns may have each that is no field.
    """
    if name.startswith(("extra.", "outputs.extra.")):
        return name
    found = find_field_path(name, adapter)
    if found is None and adapter.vendor == TABLES:
        return f"extra.{TABLES}.{name}"
    return found


def _mapped_paths(data_set: DataSet, format_: Format) -> frozenset[str]:
    """Return the paths in records of the fields that are mapped."""
    columns = data_set.values.get("map")
    if not columns:
        return frozenset()
    return frozenset(MappedKeys(columns, (format_,)).record_paths)


def _check_rules(data_set: DataSet, needed: str) -> None:
    """Raise `PreflightError` if rules are left out without which rows are not read."""
    rules = rules_for()
    active = _active(data_set.values)
    missing = [
        code
        for code, rule in rules.items()
        if code not in active
        and rule.severity is Severity.ERROR
        and code.startswith(_OF_ROWS)
        and not rule.lint
        and rule.command == "validate"
    ]
    if missing:
        key = "select" if "select" in data_set.values else "ignore"
        reason = f"leaves out {missing[0]}, without which records cannot be read for "
        raise data_set.stated(key).error(reason + needed)


def _check_findings(data_set: DataSet) -> None:
    """Raise `PreflightError` for a limit on findings of rules that are not checked."""
    active = _active(data_set.values)
    for name in data_set.values.get("max-findings", ()):
        rules = rules_for(asked=[name])
        asked = selected_rules(rules, [name], [])
        of_validate = {code for code in asked if rules[code].command == "validate"}
        if of_validate & active:
            continue
        hint = "add lint = true"
        if not of_validate:
            hint = "it is no rule on the files themselves"
        elif of_validate & _active({**data_set.values, "ignore": ()}):
            hint = "take it out of ignore"
        elif "select" in data_set.values:
            hint = "add it to select"
        reason = f"cannot be checked: {name} is not checked; {hint}"
        raise data_set.stated("max-findings").error(reason)


def _check_vendors(data_set: DataSet, formats: list[Format]) -> None:
    """Raise `PreflightError` for a limit on findings of a vendor's rules only.

    Files in formats of other vendors never break them.
    """
    vendors = {format_.vendor for format_ in formats}
    for name in data_set.values.get("max-findings", ()) if vendors else ():
        rules = rules_for(asked=[name])
        asked = selected_rules(rules, [name], [])
        of = {_vendor_of(rules[code]) for code in asked}
        if "" not in of and not of & vendors:
            ids = ", ".join(sorted({format_.id for format_ in formats}))
            reason = (
                f"cannot be checked: {name} is of {min(of)}, and the format is {ids}"
            )
            raise data_set.stated("max-findings").error(reason)


def _vendor_of(rule: Rule) -> str:
    """Return the vendor that a rule is about, "" for one on any files."""
    known = all_formats().get(str(rule.validated_as))
    if known is None or rule.code.startswith(_GENERAL):
        return ""
    return known.vendor


def _active(values: Mapping[str, Any]) -> frozenset[str]:
    """Return the codes of the rules that are checked in a data set."""
    select, ignore = list(values.get("select", ())), list(values.get("ignore", ()))
    rules = rules_for(asked=[*select, *ignore])
    return selected_rules(rules, select, ignore, lint=values.get("lint", False))
