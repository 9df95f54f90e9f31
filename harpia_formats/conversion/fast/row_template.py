"""Make a template of a row: an expression that converts all rows of the same shape.

The row is converted three times: as it is, and twice with unique values in its fields.
Where each value of the results is either a value of the row or always the same, the
expression moves the values, and is compiled.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.conversion.fast.codegen import compile_expression
from harpia_formats.conversion.fast.probe import (
    PROBE_NUMBERS,
    ProbeRow,
    RowPath,
    may_be_probe_value,
)
from harpia_formats.mapping.extras import EXTRAS_KEY
from harpia_formats.model.adapter import FormatAdapter, Row, at_path
from harpia_formats.model.field_fates import FieldFate, Unconvertible
from harpia_formats.schema.typed_decoder import TypedDecoder

#: Given a row and the number of its record: the rows that it becomes, the paths of the
#: record's fields, and their fates. Raises `Unconvertible`.
ConvertRow = Callable[
    [Row, int], tuple[list[Row], tuple[str, ...], tuple[FieldFate, ...]]
]


@dataclass(slots=True)
class RowTemplate:
    """Converts the rows of one shape; the paths and fates of all are the same."""

    #: Given a row and the number of its record: the rows that it becomes, None if the
    #: template does not fit the row.
    make: Callable[[Any, int], list[Row] | None] = lambda _row, _number: None
    paths: tuple[str, ...] = ()
    fates: tuple[FieldFate, ...] = ()
    #: The number of members of a row that is known from its shape.
    members: int = 0
    #: Rows that it converted and that are not yet counted.
    count: int = 0
    #: Templates for rows of this shape with empty texts at other paths.
    others: "list[RowTemplate]" = field(default_factory=list)
    #: The paths of empty texts for which a template was tried; None if no further
    #: template is to be tried.
    tried: set[frozenset[RowPath]] | None = None

    def unused_copy(self) -> "RowTemplate":
        """Return the same template, which has converted no row yet."""
        others = [template.unused_copy() for template in self.others]
        return replace(self, count=0, others=others, tried=copy(self.tried))


def make_template(
    row: Any, decoder: TypedDecoder, source: FormatAdapter, convert_row: ConvertRow
) -> RowTemplate | None:
    """Return a template for rows like `row`, None if such rows need `convert_row`."""
    value = msgspec.to_builtins(row)
    if _has_extras(value, source):
        return None
    number, _ = PROBE_NUMBERS
    try:
        rows, paths, fates = convert_row(value, number)
        writer = _TemplateWriter(decoder, source, value)
        texts = writer.rows(convert_row)
        empty = [path for path in writer.texts if not _at(value, path)]
        if empty:
            writer = _TemplateWriter(decoder, source, value, empty)
            texts = writer.rows(convert_row)
    except Unconvertible:
        return None
    if texts is None:
        return None
    conditions = writer.conditions(paths)
    body = f"[{', '.join(texts)}]"
    if conditions:
        body = f"{body} if {' and '.join(conditions)} else None"
    make = compile_expression(f"lambda r, n: {body}", **writer.names)
    template = RowTemplate(make, paths, fates)
    return template if make(row, number) == rows else None


def _has_extras(value: Row, source: FormatAdapter) -> bool:
    """Tell whether a row holds extra fields of a record, which may be any fields."""
    extras = UNSET if source.extras_path is None else at_path(value, source.extras_path)
    return isinstance(extras, dict) and EXTRAS_KEY in extras


@dataclass(slots=True)
class _TemplateWriter:
    """Writes the expressions that convert the rows of one shape."""

    decoder: TypedDecoder
    source: FormatAdapter
    value: Row
    #: The paths of empty texts that would be moved.
    empty: Sequence[RowPath] = ()
    #: The paths of the unique values of both probe rows.
    paths: tuple[Mapping[Any, RowPath], ...] = ()
    names: dict[str, Any] = field(default_factory=dict)
    #: The names of texts that are moved, by their paths.
    texts: dict[RowPath, str] = field(default_factory=dict)

    def rows(self, convert_row: ConvertRow) -> list[str] | None:
        """Return an expression for each row, None if values are not only moved.

        Raises `Unconvertible` if a row with other values cannot be converted.
        """
        probes = [
            ProbeRow.of(self.value, salt, self.source, self.empty) for salt in "ab"
        ]
        self.paths = tuple(probe.paths for probe in probes)
        ours, theirs = (
            convert_row(probe.value, number)[0]
            for probe, number in zip(probes, PROBE_NUMBERS, strict=True)
        )
        if len(ours) != len(theirs):
            return None
        texts = [self._of(one, other) for one, other in zip(ours, theirs, strict=True)]
        known = [text for text in texts if text is not None]
        return known if len(known) == len(texts) else None

    def _of(self, ours: Any, theirs: Any) -> str | None:
        """Return the expression for the same value of both results, None if none."""
        if isinstance(ours, dict) and isinstance(theirs, dict):
            if list(ours) != list(theirs):
                return None
            parts = [(key, self._of(ours[key], theirs[key])) for key in ours]
            if any(text is None for _, text in parts):
                return None
            return "{" + ", ".join(f"{key!r}: {text}" for key, text in parts) + "}"
        if isinstance(ours, list) and isinstance(theirs, list):
            items = [self._of(*pair) for pair in zip(ours, theirs, strict=False)]
            if len(ours) != len(theirs) or None in items:
                return None
            return "[" + ", ".join(map(str, items)) + "]"
        return self._of_leaf(ours, theirs)

    def _of_leaf(self, ours: Any, theirs: Any) -> str | None:
        if (ours, theirs) == (str(PROBE_NUMBERS[0]), str(PROBE_NUMBERS[1])):
            return "str(n)"
        first, second = self.paths
        path = first.get(ours) if may_be_probe_value(ours) else None
        if path is not None and second.get(theirs) == path:
            if isinstance(_at(self.value, path), str) and self._value_at(path):
                return self.texts.setdefault(path, f"t{len(self.texts)}")
            return self._value_at(path)
        if type(ours) is not type(theirs) or ours != theirs:
            return None
        name = f"k{len(self.names)}"
        self.names[name] = ours
        return name

    def _value_at(self, path: RowPath) -> str | None:
        """Return the expression for a value of the row, None if it has no attribute."""
        text = "r"
        location: tuple[str, ...] = ()
        for part in path:
            attributes = self.decoder.attributes.get(location)
            if isinstance(part, int):
                text += f"[{part}]"
                location = (*location, "*")
            elif attributes is not None and part in attributes:
                text += f".{attributes[part]}"
                location = (*location, part)
            else:
                return None
        return text

    def conditions(self, paths: Sequence[str]) -> list[str]:
        """Return the conditions on a row beside its shape, and name its moved texts.

        The fates of a record depend on empty texts, on ids that look like numbered
        ones, and on whether two places hold the same prompt. `paths` are those of the
        record's fields.
        """
        # A text that is not empty is true.
        conditions = [f"not {self._value_at(path)}" for path in self.empty]
        conditions += [
            f"({text} := {self._value_at(path)})" for path, text in self.texts.items()
        ]
        for mapping in self.source.fields:
            path = mapping.record_path
            if path == "id" and isinstance(at_path(self.value, mapping.path), str):
                # An id has fates even where the rows have no place for it.
                conditions.append(f"'#' not in {self._value_at(mapping.path)}")
            if path == "prompt" and "prompt" in paths:
                conditions += self._same_prompt(mapping.path)
        return conditions

    def _same_prompt(self, path: RowPath) -> list[str]:
        """Return the conditions that texts are the prompt if they are in this row."""
        own, prompt = self._value_at(path), at_path(self.value, path)
        if own is None or path in self.texts or not isinstance(prompt, str):
            return []
        conditions = []
        empty = dict.fromkeys(self.empty, "''")
        for place, text in {**self.texts, **empty}.items():
            sign = "==" if _at(self.value, place) == prompt else "!="
            conditions.append(f"{own} {sign} {text}")
        return conditions


def _at(value: Any, path: RowPath) -> Any:
    for part in path:
        value = value[part]
    return value
