"""Which column of a table holds which field of a record."""

from collections.abc import Iterable, Mapping
from typing import Any

#: The fields of a record that a column can give.
FIELDS = tuple(
    "id prompt system references gt choices contexts category source response model "
    "reasoning score".split()
)


class MapError(Exception):
    """A map of columns that means nothing; carries the part and the reason."""

    def __init__(self, part: str, reason: str) -> None:
        super().__init__(part, reason)
        self.part = part
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.part!r}: {self.reason}"


def parsed(parts: Iterable[str]) -> dict[str, str]:
    """Return the column of each field, of parts such as `prompt=question`.

    Raises `MapError`.
    """
    columns: dict[str, str] = {}
    for part in parts:
        name, sign, column = part.strip().partition("=")
        if not sign or not column:
            raise MapError(part, "write it as FIELD=COLUMN")
        if name in columns:
            raise MapError(part, f"{name} has a column already, {columns[name]}")
        columns[name] = column
    checked(columns)
    return columns


def checked(columns: Mapping[str, str]) -> None:
    """Raise `MapError` unless every name is that of a field."""
    fields: dict[str, str] = {}
    for name, column in columns.items():
        if column in fields:
            reason = f"the column is that of {fields[column]} already"
            raise MapError(f"{name}={column}", reason)
        fields[column] = name
        if name not in FIELDS:
            reason = f"no field is called {name} (known: {', '.join(FIELDS)})"
            raise MapError(name, reason)


def with_columns(schema: Any, columns: Mapping[str, str]) -> Any:
    """Return `schema`, with the mapped columns as ones that must be there."""
    if not columns or not isinstance(schema, dict):
        return schema
    required = [*schema.get("required", []), *columns.values()]
    return {**schema, "required": list(dict.fromkeys(required))}
