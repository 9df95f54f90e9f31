"""Map the columns of a table to the fields of a record by names that the user gives."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.spelling import hint_on, nearest

if TYPE_CHECKING:  # validation loads this module without adapters
    from harpia_formats.model.adapter import FormatAdapter

Item = TypeVar("Item")

#: The fields of a record that a column can hold.
FIELDS = tuple(
    "id prompt system messages references gt choices contexts category source response "
    "model reasoning score".split()
)
#: Paths in [] inside each other in the name of a column, at most, and characters of a
#: name that has more that are shown.
SELECTORS, SHOWN = 20, 60
#: Columns that are listed where one is unknown.
LISTED_COLUMNS = 10
#: The paths of fields whose path is not their name.
_paths = {
    "response": "outputs.text",
    "model": "outputs.model",
    "reasoning": "outputs.reasoning",
    "score": "outputs.scores.value",
}


#: The further help on a file or a row without a mapped column.
CORRECT_MAP = "or correct `--map` if the name is wrong there"


def record_path(name: str) -> str:
    """Return the path in records of a field that a column can hold, by its name."""
    return _paths.get(name, name)


def field_name(path: str) -> str:
    """Return the name of the field at `path` that a column can hold, "" for others."""
    names = {record_path(name): name for name in FIELDS}
    return names.get(path, "")


class MapError(HarpiaFormatsError):
    """A map of columns that cannot be used, with the wrong part and the reason."""

    def __init__(self, part: str, reason: str) -> None:
        super().__init__(part, reason)
        self.part = part
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.part!r}: {self.reason}"


class MapOptionsError(MapError):
    """A map of columns that cannot be used; what is wrong is in the map itself.

    Its message names files, formats, fields and what is mapped, and no value of a
    record.
    """

    hides_values = True


class MissingColumnError(MapError):
    """A map names a column that is not in a file, with a hint on those that are."""

    def __init__(self, part: str, reason: str, hint: str) -> None:
        super().__init__(part, reason + hint)
        self.args = (part, reason, hint)

    def without_values(self) -> MapError:
        """Return the error without the columns of the file."""
        part, reason, _ = self.args
        return MapOptionsError(part, reason)


#: A part of a map: in double quotes, with each quote inside of them doubled, or plain.
_part = re.compile(r'\s*"((?:[^"]|"")*+)"\s*(?:,|\Z)|([^,]+)')


def parse_column_map(values: Iterable[str]) -> dict[str, str]:
    """Return the column of each field, from values such as `prompt=question,gt=a`.

    A part with a comma in it is in double quotes, as a field of CSV is. Raises
    `MapError` if a part is malformed, repeated, or names no field.
    """
    columns: dict[str, str] = {}
    parts = (part for value in values for part in _part.finditer(value))
    for part in (found[2] or found[1].replace('""', '"') for found in parts):
        # White space at the end is a part of the name that a column has.
        name, sign, column = part.lstrip().partition("=")
        if not sign or not column:
            reason = "write it as FIELD=COLUMN, in double quotes if it has a comma"
            raise MapError(part, reason)
        if name in columns:
            raise MapError(part, f"{name} has a column already, {columns[name]}")
        columns[name] = column
    check_field_names(columns)
    return columns


def check_field_names(columns: Mapping[str, str]) -> None:
    """Raise `MapError` unless each name is a field, and each column is named once.

    A column with more than `SELECTORS` paths inside each other raises it, too.
    """
    fields: dict[str, str] = {}
    for name, column in columns.items():
        closed = len(column) - len(column.rstrip("]"))
        if min(closed, column.count("[")) > SELECTORS:
            reason = f"has more than {SELECTORS} paths in [] inside each other"
            raise MapError(f"{name}={column[:SHOWN]}…", reason)
        if column in fields:
            reason = f"the column is that of {fields[column]} already"
            raise MapError(f"{name}={column}", reason)
        fields[column] = name
        if name not in FIELDS:
            raise MapError(name, f"no field is called {name}{hint_on(name, FIELDS)}")


def column_names(
    adapter: "FormatAdapter", format_: str, columns: Mapping[str, str]
) -> dict[str, str]:
    """Return the name of each column in the file, by the name that `adapter` has.

    Raises `MapError` for a field that has no column in the format.
    """
    names: dict[str, str] = {}
    for name, column in columns.items():
        path = record_path(name)
        own = [field.name for field in adapter.fields if field.record_path == path]
        if not own:
            raise MapError(f"{name}={column}", f"{format_} has no column for {name}")
        names |= dict.fromkeys(own, column)
    return names


def names_by_column(names: Mapping[str, str]) -> dict[str, str]:
    """Return the first own name of each column, by its name in the file."""
    own: dict[str, str] = {}
    for name, column in names.items():
        own.setdefault(column, name)
    return own


def check_columns_unique(names: Iterable[str]) -> None:
    """Raise `MapError` if two columns have the same name."""
    for name, count in Counter(names).items():
        if count > 1:
            reason = "two columns would have this name; choose another one"
            raise MapError(name, reason)


def check_columns_exist(
    columns: Iterable[str], existing: Iterable[str], path: str
) -> None:
    """Raise `MapError` unless the file at `path` has all mapped columns."""
    known = list(existing)
    for column in columns:
        if column not in known:
            hint = hint_on_column(column, known)
            raise MissingColumnError(column, f"{path} has no such column", hint)


def hint_on_column(column: str, known: Sequence[str]) -> str:
    """Return what was probably meant by a column or path that is not among `known`."""
    if column.startswith("/"):
        return f"; a path is written as {column.strip('/').replace('/', '.')}"
    near = nearest(column, known)
    if near:
        return f"; did you mean {near}?"
    more = ", ..." if len(known) > LISTED_COLUMNS else ""
    listed = ", ".join(known[:LISTED_COLUMNS])
    return f" (there are: {listed}{more})" if known else ""


def rename_columns(
    row: Mapping[str, Item], names: Mapping[str, str]
) -> dict[str, Item]:
    """Return `row` with the columns in `names` under their new names.

    Raises `MapError` if two columns get the same name.
    """
    found: dict[str, Item] = {}
    for column, value in row.items():
        name = names.get(column, column)
        if name in found:
            reason = "two columns would have this name; map the other one, too"
            raise MapError(name, reason)
        found[name] = value
    return found


def require_columns(schema: Any, columns: Mapping[str, str]) -> Any:
    """Return `schema` with the mapped columns as required ones."""
    if not columns or not isinstance(schema, dict):
        return schema
    required = [*schema.get("required", []), *columns.values()]
    return {**schema, "required": list(dict.fromkeys(required))}
