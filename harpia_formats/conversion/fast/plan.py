"""Make plans: find out what becomes of a row, and write that down for rows like it."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.conversion.fast.codegen import compiled
from harpia_formats.conversion.fast.probe import NUMBERS, Key, Traced, is_traced
from harpia_formats.mapping.extras import EXTRAS_KEY
from harpia_formats.model.adapter import FormatAdapter, Row, at_path
from harpia_formats.model.field_fates import FieldFate, Unconvertible
from harpia_formats.schema.typed_decoder import TypedDecoder

#: Returns rows, the paths of the record's fields, and the notes on them, given a row
#: and the number of its record.
Ordinary = Callable[
    [Row, int], tuple[list[Row], tuple[str, ...], tuple[FieldFate, ...]]
]


@dataclass(slots=True)
class Plan:
    """What becomes of the rows of one shape."""

    #: Returns the rows of a row and of the number of its record, None if it must not.
    make: Callable[[Any, int], list[Row] | None] = lambda _row, _number: None
    paths: tuple[str, ...] = ()
    fates: tuple[FieldFate, ...] = ()
    #: The members of a row that its shape tells of.
    members: int = 0
    #: Rows that it was followed for, and not yet counted.
    count: int = 0
    #: Plans for rows of this shape that have empty texts elsewhere.
    others: "list[Plan]" = field(default_factory=list)
    #: Where rows had empty texts for which a plan was looked for; None if that is not
    #: to be done.
    tried: set[frozenset[Key]] | None = None

    def afresh(self) -> "Plan":
        """Return the same plan, followed for no row yet."""
        others = [each.afresh() for each in self.others]
        return replace(self, count=0, others=others, tried=copy(self.tried))


def planned(
    row: Any, decoder: TypedDecoder, source: FormatAdapter, ordinary: Ordinary
) -> Plan | None:
    """Return a plan for rows like `row`, None if they need to be looked at."""
    value = msgspec.to_builtins(row)
    if _keeps(value, source):
        return None
    number, _ = NUMBERS
    try:
        rows, paths, fates = ordinary(value, number)
        writer = _PlanWriter(decoder, source, value)
        texts = writer.rows(ordinary)
        blanks = [place for place in writer.texts if not _at(value, place)]
        if blanks:
            writer = _PlanWriter(decoder, source, value, blanks)
            texts = writer.rows(ordinary)
    except Unconvertible:
        return None
    if texts is None:
        return None
    conditions = writer.conditions(paths)
    body = f"[{', '.join(texts)}]"
    if conditions:
        body = f"{body} if {' and '.join(conditions)} else None"
    make = compiled(f"lambda r, n: {body}", **writer.names)
    plan = Plan(make, paths, fates)
    return plan if make(row, number) == rows else None


def _keeps(value: Row, source: FormatAdapter) -> bool:
    """Tell whether a row keeps a part of a record, of which anything may come."""
    extras = UNSET if source.extras_path is None else at_path(value, source.extras_path)
    return isinstance(extras, dict) and EXTRAS_KEY in extras


@dataclass(slots=True)
class _PlanWriter:
    """Writes the expressions that make the rows of one shape."""

    decoder: TypedDecoder
    source: FormatAdapter
    value: Row
    #: Where it has empty texts that would be moved.
    blanks: Sequence[Key] = ()
    #: Where the values are that the row was given, twice.
    places: tuple[Mapping[Any, Key], ...] = ()
    names: dict[str, Any] = field(default_factory=dict)
    #: Texts that are moved: their names, by where they are.
    texts: dict[Key, str] = field(default_factory=dict)

    def rows(self, ordinary: Ordinary) -> list[str] | None:
        """Return an expression for each row, None if values are not only moved.

        Raises `Unconvertible` where the row is, with other values in it.
        """
        traced = [
            Traced.of(self.value, salt, self.source, self.blanks) for salt in "ab"
        ]
        self.places = tuple(each.places for each in traced)
        ours, theirs = (
            ordinary(each.value, number)[0]
            for each, number in zip(traced, NUMBERS, strict=True)
        )
        if len(ours) != len(theirs):
            return None
        texts = [self._of(one, other) for one, other in zip(ours, theirs, strict=True)]
        known = [each for each in texts if each is not None]
        return known if len(known) == len(texts) else None

    def _of(self, ours: Any, theirs: Any) -> str | None:
        if isinstance(ours, dict) and isinstance(theirs, dict):
            if list(ours) != list(theirs):
                return None
            parts = [(key, self._of(ours[key], theirs[key])) for key in ours]
            if any(text is None for _, text in parts):
                return None
            return "{" + ", ".join(f"{key!r}: {text}" for key, text in parts) + "}"
        if isinstance(ours, list) and isinstance(theirs, list):
            items = [self._of(*each) for each in zip(ours, theirs, strict=False)]
            if len(ours) != len(theirs) or None in items:
                return None
            return "[" + ", ".join(map(str, items)) + "]"
        return self._of_leaf(ours, theirs)

    def _of_leaf(self, ours: Any, theirs: Any) -> str | None:
        if (ours, theirs) == (str(NUMBERS[0]), str(NUMBERS[1])):
            return "str(n)"
        first, second = self.places
        place = first.get(ours) if is_traced(ours) else None
        if place is not None and second.get(theirs) == place:
            if isinstance(_at(self.value, place), str) and self._place(place):
                return self.texts.setdefault(place, f"t{len(self.texts)}")
            return self._place(place)
        if type(ours) is not type(theirs) or ours != theirs:
            return None
        name = f"k{len(self.names)}"
        self.names[name] = ours
        return name

    def _place(self, place: Key) -> str | None:
        """Return the expression for a value of the row."""
        text = "r"
        location: tuple[str, ...] = ()
        for each in place:
            attributes = self.decoder.attributes.get(location)
            if isinstance(each, int):
                text += f"[{each}]"
                location = (*location, "*")
            elif attributes is not None and each in attributes:
                text += f".{attributes[each]}"
                location = (*location, each)
            else:
                return None
        return text

    def conditions(self, paths: Sequence[str]) -> list[str]:
        """Return what must hold of a row beside its shape, and name its moved texts.

        Empty texts, ids that look like those that we make, and a prompt that is asked
        in two places decide on what is said of a row.
        """
        # A text that is not empty is true.
        conditions = [f"not {self._place(each)}" for each in self.blanks]
        conditions += [
            f"({text} := {self._place(place)})" for place, text in self.texts.items()
        ]
        for each in self.source.fields:
            if each.record_path == "id" and isinstance(
                at_path(self.value, each.path), str
            ):
                # Something is said of it even where a row has no place for an id.
                conditions.append(f"'#' not in {self._place(each.path)}")
            if each.record_path == "prompt" and "prompt" in paths:
                conditions += self._same_prompt(each.path)
        return conditions

    def _same_prompt(self, path: Key) -> list[str]:
        own, asked = self._place(path), at_path(self.value, path)
        if own is None or path in self.texts or not isinstance(asked, str):
            return []
        found = []
        blanks = dict.fromkeys(self.blanks, "''")
        for place, text in {**self.texts, **blanks}.items():
            sign = "==" if _at(self.value, place) == asked else "!="
            found.append(f"{own} {sign} {text}")
        return found


def _at(value: Any, place: Key) -> Any:
    for each in place:
        value = value[each]
    return value
