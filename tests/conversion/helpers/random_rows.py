"""Seeded random rows of any format: from its schema, from records, and by edits."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import random_values as values
from harpia_formats.api.testing.mutation import (
    Scene,
    copy_of,
    edit,
    slots_of,
    vocabulary_of,
)
from harpia_formats.conversion.losses.specimen_records import FILLED
from harpia_formats.conversion.mapping.choices import (
    Choices,
    References,
    Responses,
    Turns,
)
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.formats.registry import adapter_of
from harpia_formats.formats.schema.bundled_schemas import (
    record_schema,
    schema_validator_of,
    without_exception,
)
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import Unconvertible
from harpia_formats.model.format import Container, Dialect, Format

#: Objects that a row keeps fields of a record in, right and wrong ones.
KEPT: tuple[Any, ...] = (
    {"category": "c"},
    {"category": "", "source": "s"},
    {"prompt": "kept", "system": "s"},
    {"id": "kept"},
    {"references": ["r1", "r2"]},
    {"outputs": [{"model": "org/b", "text": "kept"}]},
    {"outputs": []},
    {"metadata": {"a": 1}, "params": {"temperature": 1.0}},
    {"extra": {"nemo": {"a": 1}}},
    {"messages": [{"role": "user", "content": "q"}]},
    {"unknown": 1},
    {"category": 1},
    [],
    "text",
)


def from_schema(schema: Any, chance: Random, rate: float = 0.5) -> Any:
    """Return a value that has what `schema` asks for, mostly a valid one.

    Optional members are there at the `rate`; unknown ones stand at many places.
    """
    if not isinstance(schema, dict):
        return values.value(chance)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return from_schema(chance.choice(schema[choice]), chance, rate)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    kinds = schema.get("type")
    kind = chance.choice(kinds) if isinstance(kinds, list) else kinds
    if kind == "object" or (kind is None and "properties" in schema):
        return _object(schema, chance, rate)
    if kind == "array":
        count = max(chance.choice((0, 1, 1, 2, 3)), schema.get("minItems", 0))
        items = schema.get("items", {})
        return [from_schema(items, chance, rate) for _ in range(count)]
    return _scalar(kind, schema, chance)


def _object(schema: dict[str, Any], chance: Random, rate: float) -> dict[str, Any]:
    required = schema.get("required", ())
    known = schema.get("properties", {})
    made = {
        key: from_schema(inner, chance, rate)
        for key, inner in known.items()
        if key in required or chance.random() < rate
    }
    others = schema.get("additionalProperties", True)
    if others is not False and chance.random() < (0.12 if known else 0.9):
        inner = others if isinstance(others, dict) else {}
        for key in chance.sample(values.KEYS, chance.choice((1, 1, 2, 4))):
            made.setdefault(key, from_schema(inner, chance, rate))
    if chance.random() < 0.2:
        keys = list(made)
        chance.shuffle(keys)
        made = {key: made[key] for key in keys}
    return made


def _scalar(kind: str | None, schema: dict[str, Any], chance: Random) -> Any:
    if kind == "string":
        return values.text(chance)
    if kind == "integer":
        least = schema.get("minimum", -(10**9))
        return max(least, chance.choice((0, 1, 2, 7, 2**53 + 1, 2**64, -5)))
    if kind == "number":
        found = values.number(chance)
        return abs(found) if "minimum" in schema and found < 0 else found
    if kind == "boolean":
        return chance.random() < 0.5
    return None if kind == "null" else values.value(chance)


@dataclass(slots=True)
class RowMaker:
    """Makes endless random rows of one dialect of a format, valid by its schema."""

    format: Format
    dialect: Dialect
    chance: Random
    #: The keys of the object in a row that can keep further fields.
    _kept_in: tuple[str, ...] | None = field(init=False)
    _recent: list[Any] = field(default_factory=list)
    _mappers: list[RecordMapper] = field(default_factory=list)

    def __post_init__(self) -> None:
        adapter = adapter_of(self.format)
        self._kept_in = adapter.extras_path
        if self._plain_dialect is not self.format.dialects[0]:
            return
        if adapter.write is None:
            return
        for responses in (Responses.EXPAND, Responses.LIST, Responses.FIRST):
            for keeps in (False, True):
                choices = Choices(
                    References.FIRST,
                    responses,
                    Turns.LAST,
                    constants=FILLED,
                    keep_extra=keeps,
                )
                self._mappers.append(RecordMapper(adapter, choices))

    @property
    def _plain_dialect(self) -> Dialect:
        """The dialect of rows: that of columns without a component around them."""
        is_column = self.dialect.container is Container.COLUMNS
        return self.format.dialects[0] if is_column else self.dialect

    def rows(self, count: int) -> list[Any]:
        """Return `count` valid rows."""
        schema_validator = schema_validator_of(record_schema(self._plain_dialect))
        is_column = self._plain_dialect.container is Container.COLUMNS
        found: list[Any] = []
        for row in self._candidates():
            try:
                text = encode(row)
            except UnicodeEncodeError:
                continue
            plain = json.loads(text)
            whole = {key: [item] for key, item in plain.items()} if is_column else plain
            if schema_validator.is_valid(whole):
                found.append(decode(text))
                self._remember(found[-1])
            if len(found) == count:
                return found
        raise AssertionError("candidates have no end")

    def _remember(self, row: Any) -> None:
        if len(self._recent) < 40:
            self._recent.append(row)
        else:
            self._recent[self.chance.randrange(40)] = row

    def _candidates(self) -> Iterator[dict[str, Any]]:
        chance = self.chance
        while True:
            draw = chance.random()
            made: list[Any] = []
            if draw < 0.4 and self._mappers:
                made = self._from_record()
            elif draw < 0.75 or len(self._recent) < 20:
                made = [self._from_schema()]
            else:
                made = [self._edited()]
            for row in made:
                if isinstance(row, dict):
                    yield self._with_kept(row) if chance.random() < 0.08 else row

    def _from_schema(self) -> Any:
        chance = self.chance
        schema = without_exception(record_schema(self._plain_dialect))
        assert isinstance(schema, dict)
        made = from_schema(schema, chance, chance.choice((0.0, 0.3, 0.6, 1.0)))
        if self._plain_dialect.container is Container.COLUMNS:
            return {key: item[0] for key, item in made.items() if item}
        kind = made.get("interaction_type")
        if kind == "single_turn":
            # The schema rules out turns by a condition that chance seldom meets.
            made = {k: v for k, v in made.items() if k != "interactions"}
            made.update({"messages": None} if "messages" in made else {})
        elif kind is not None:
            made["output"] = None
        return made

    def _from_record(self) -> list[Any]:
        mapper = self.chance.choice(self._mappers)
        try:
            return list(mapper.map(values.record(self.chance)).rows)
        except Unconvertible:
            return []

    def _edited(self) -> Any:
        chance = self.chance
        keys, texts = vocabulary_of(self._recent[:10])
        holder = [copy_of(chance.choice(self._recent))]
        if chance.random() < 0.5:
            self._exchange(holder)
            return holder[0]
        for _ in range(chance.choice((1, 1, 2))):
            edit(Scene(tuple(slots_of(holder)), keys, texts, chance))
        return holder[0]

    def _exchange(self, holder: list[Any]) -> None:
        """Replace some texts and numbers by others of the same type."""
        chance = self.chance
        for slot in list(slots_of(holder)):
            if chance.random() > 0.2:
                continue
            if isinstance(slot.value, str):
                slot.fill(values.text(chance))
            elif type(slot.value) is float:
                slot.fill(values.number(chance))

    def _with_kept(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return `row` with fields of a record that it keeps, or seems to keep."""
        if self._kept_in is None:
            return row
        kept = self.chance.choice(KEPT)
        if self.chance.random() < 0.5 and adapter_of(self.format).extras_as_text:
            kept = encode(kept).decode()
        row = dict(row)
        owner = row
        for key in self._kept_in:
            inner = owner.get(key)
            owner[key] = dict(inner) if isinstance(inner, dict) else {}
            owner = owner[key]
        owner["harpia-formats"] = kept
        return row


def with_own_ids(
    rows: Sequence[Any], key: str, dialect: Dialect, chance: Random
) -> list[Any]:
    """Return `rows` with ids of several types, no two of them the same."""
    forms: tuple[Any, ...] = (
        lambda number: f"s{number}",
        lambda number: f"{number}-é",
        lambda number: f"b{number}#1",
        lambda number: number,
        lambda number: 2**64 + number,
        float,
    )
    schema = record_schema(dialect)
    assert isinstance(schema, dict)
    kinds = encode(schema.get("properties", {}).get(key, {})).decode()
    if "integer" not in kinds:
        forms = forms[:3]
    elif "string" not in kinds:
        forms = forms[3:5]
    return [
        {**row, key: chance.choice(forms)(number)} if key in row else row
        for number, row in enumerate(rows)
    ]
