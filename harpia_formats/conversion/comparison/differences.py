"""Find the fields in which two records differ, down to the text of each number."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from harpia_formats.model.adapter import Cardinality, FormatAdapter
from harpia_formats.model.describe import short_json
from harpia_formats.model.exact_json import decode, encode, encode_sorted
from harpia_formats.model.record import (
    FIELD_TYPES,
    OPEN_OBJECTS,
    Header,
    Output,
    Record,
    Score,
)


def _encoded(name: str, struct: type[msgspec.Struct], **lists: Any) -> Any:
    """Return a type with the fields of `struct` as texts, and `lists` as lists."""
    types = ((field, lists.get(field, Raw)) for field in struct.__struct_fields__)
    fields = [(field, type_ | UnsetType, UNSET) for field, type_ in types]
    # Untracked by the garbage collector, which would go through all of them.
    return msgspec.defstruct(name, fields, gc=False)


#: Like `Score`, `Output` and `Record`, with the text of each field; not frozen.
EncodedScore: Any = _encoded("EncodedScore", Score)
EncodedOutput: Any = _encoded("EncodedOutput", Output, scores=list[EncodedScore])
EncodedRecord: Any = _encoded("EncodedRecord", Record, outputs=list[EncodedOutput])

#: Returns the text of an encoded record with a text for each of its fields.
decode_fields = msgspec.json.Decoder(EncodedRecord).decode
#: Returns the text of a list as a list of the texts of its items.
decode_items = msgspec.json.Decoder(list[Raw]).decode
#: Returns the keys of each vendor of an extra, with the texts of their values.
decode_extra = msgspec.json.Decoder(dict[str, dict[str, Raw]]).decode


def value_of(text: Any) -> Any:
    """Return the value of the text of a field; `UNSET` for a field that is not set."""
    return UNSET if text is UNSET else decode(text)


_of_output = tuple(name for name in Output.__struct_fields__ if name != "scores")
_of_score = Score.__struct_fields__
_record_paths = tuple(path for path in FIELD_TYPES if "." not in path)
_output_paths = tuple(f"outputs.{name}" for name in _of_output)
_score_paths = tuple(f"outputs.scores.{name}" for name in _of_score)
_record_values = attrgetter(*_record_paths)
_output_values = attrgetter(*_of_output)
_score_values = attrgetter(*_of_score)


@dataclass(frozen=True, slots=True)
class Difference:
    """A field with different values in two records; `UNSET` where one lacks it."""

    #: The path of the field, such as `outputs.text`.
    path: str
    left: Any
    right: Any

    @property
    def shown_left(self) -> str:
        """The left value as short JSON, or "nothing"."""
        return _described(self.left)

    @property
    def shown_right(self) -> str:
        """The right value as short JSON, or "nothing"."""
        return _described(self.right)

    def __str__(self) -> str:
        return f"{self.path}: {self.shown_left} became {self.shown_right}"


def _described(value: Any) -> str:
    return "nothing" if value is UNSET else short_json(value)


def same(left: Any, right: Any) -> bool:
    """Tell whether two values have the same JSON text; 1 and 1.0 have not."""
    if left is UNSET or right is UNSET:
        return left is right
    return encode(left) == encode(right)


def _same_in_any_order(left: Any, right: Any) -> bool:
    """Tell whether two values have the same JSON text, but for the order of keys."""
    if left is UNSET or right is UNSET:
        return left is right
    return encode_sorted(left) == encode_sorted(right)


def _without_empty(extra: Any) -> Any:
    """Return extra fields without vendors that have none."""
    if not isinstance(extra, dict):
        return extra
    return {key: value for key, value in extra.items() if value} or UNSET


def differences(left: Record, right: Record) -> Iterator[Difference]:
    """Yield each field that differs between `left` and `right`."""
    ours, theirs = encode(left), encode(right)
    # Equal texts are equal records, as almost all that are compared.
    if ours != theirs:
        yield from encoded_differences(decode_fields(ours), decode_fields(theirs))


def comparable_text(record: Any) -> bytes:
    """Return the text that records share in which no field differs, and no others.

    `record` is an `EncodedRecord`, whose extra fields are put into an order.
    """
    for part in (record, *record.outputs):
        if part.extra is not UNSET:
            extra = _without_empty(value_of(part.extra))
            part.extra = UNSET if extra is UNSET else Raw(encode_sorted(extra))
    return encode(record)


def encoded_differences(left: Any, right: Any) -> Iterator[Difference]:
    """Yield each field that differs between two records of type `EncodedRecord`."""
    yield from _of_fields(_record_paths, _record_values(left), _record_values(right))
    if len(left.outputs) != len(right.outputs):
        yield Difference("outputs", len(left.outputs), len(right.outputs))
    for ours, theirs in zip(left.outputs, right.outputs, strict=False):
        if ours != theirs:
            yield from _of_outputs(ours, theirs)


def _of_outputs(left: Any, right: Any) -> Iterator[Difference]:
    yield from _of_fields(_output_paths, _output_values(left), _output_values(right))
    if (left.scores is UNSET) != (right.scores is UNSET):
        yield from _missing_scores(left, right)
        return
    ours, theirs = left.scores or [], right.scores or []
    if len(ours) != len(theirs):
        yield Difference("outputs.scores", len(ours), len(theirs))
    for one, other in zip(ours, theirs, strict=False):
        yield from _of_fields(_score_paths, _score_values(one), _score_values(other))


def _missing_scores(left: Any, right: Any) -> Iterator[Difference]:
    """Yield the fields of scores, where only one of two answers has scores."""
    scores = left.scores if right.scores is UNSET else right.scores
    if not scores:
        yield Difference("outputs.scores", left.scores, right.scores)
        return
    for path, *texts in zip(_score_paths, *map(_score_values, scores), strict=True):
        value = value_of(next((text for text in texts if text is not UNSET), UNSET))
        sides = (value, UNSET) if right.scores is UNSET else (UNSET, value)
        yield from _of_field(path, *sides)


def _of_fields(
    paths: tuple[str, ...], left: tuple[Any, ...], right: tuple[Any, ...]
) -> Iterator[Difference]:
    """Yield the differences of some fields, whose texts are `left` and `right`."""
    for path, one, other in zip(paths, left, right, strict=True):
        if one is not other and one != other:
            yield from _of_field(path, value_of(one), value_of(other))


def _of_field(path: str, left: Any, right: Any) -> Iterator[Difference]:
    if path.endswith("extra"):
        left, right = _without_empty(left), _without_empty(right)
    if left is right or same(left, right):
        return
    depth = 2 if path.endswith("extra") else int(path in OPEN_OBJECTS)
    pairs = list(_members(path, left, right, depth)) if depth else []
    if not pairs and path.endswith("extra") and left and right:
        return  # the order of unknown keys of a row does not count
    # If no member differs, one value is empty, or the order differs.
    yield from pairs or [Difference(path, left, right)]


def _members(path: str, left: Any, right: Any, depth: int) -> Iterator[Difference]:
    in_any_order = "extra" in path
    ours = left if isinstance(left, dict) else {}
    theirs = right if isinstance(right, dict) else {}
    for key in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(key, UNSET), theirs.get(key, UNSET)
        if same(one, other) or (in_any_order and _same_in_any_order(one, other)):
            continue
        if depth > 1 and one and other:
            yield from _members(f"{path}.{key}", one, other, depth - 1)
        else:
            yield from _one_sided(f"{path}.{key}", one, other, depth)


def _one_sided(path: str, left: Any, right: Any, depth: int) -> Iterator[Difference]:
    """Yield each member of a value that one side lacks, or the value if it has none."""
    members = left if right is UNSET else right
    if depth < 2 or not members:  # noqa: PLR2004 - two levels: vendors and their keys
        yield Difference(path, left, right)
        return
    for key, value in members.items():
        sides = (value, UNSET) if right is UNSET else (UNSET, value)
        yield Difference(f"{path}.{key}", *sides)


#: Paths that are listed as left out.
MAX_LISTED = 50
#: Fields that are reduced by rules of their own.
_reduced_apart = frozenset({"outputs", "scores", "extra"})
#: Fields of a record, an output or a score, each with its name there and its path.
_NamesAndPaths = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class CommonFields:
    """Removes the fields from records that one of several formats has no place for."""

    adapters: tuple[FormatAdapter, ...]
    #: The paths of fields that were removed from some record.
    left_out: dict[str, None] = field(default_factory=dict)
    #: The names and the paths of the fields of records, outputs and scores that one of
    #: the formats has no place for.
    _record: _NamesAndPaths = field(init=False)
    _output: _NamesAndPaths = field(init=False)
    _score: _NamesAndPaths = field(init=False)
    #: Whether all formats have room for several references, for outputs, for scores.
    _several_references: bool = field(init=False)
    _outputs: bool = field(init=False)
    _scores: bool = field(init=False)
    #: Whether the formats have different extra fields, which cannot be compared.
    _of_several_vendors: bool = field(init=False)

    def __post_init__(self) -> None:
        # Decided once, not for each record.
        self._record = self._without_place("", Record)
        self._output = self._without_place("outputs.", Output)
        self._score = self._without_place("outputs.scores.", Score)
        capacities = [adapter.capacity for adapter in self.adapters]
        self._several_references = all(
            capacity.references is not Cardinality.ONE for capacity in capacities
        )
        self._outputs = all(
            capacity.outputs is not Cardinality.NONE for capacity in capacities
        )
        self._scores = all(
            capacity.scores is not Cardinality.NONE for capacity in capacities
        )
        # Records hold the extra fields of any vendor.
        own = {one.vendor for one in self.adapters if not one.carries("extra")}
        self._of_several_vendors = len(own) > 1

    @property
    def is_all(self) -> bool:
        """Whether no field is removed from any record: there is only one format."""
        return len(self.adapters) < 2  # noqa: PLR2004 - several

    def reduce(self, record: Any) -> None:
        """Remove the fields that one of the formats has no place for.

        `record` is an `EncodedRecord`.
        """
        if self.is_all:
            return
        self._remove(record, self._record)
        if not self._several_references and record.references is not UNSET:
            references = decode_items(record.references)
            if len(references) > 1:
                self._leave_out("references but the first")
                record.references = Raw(b"[%b]" % bytes(references[0]))
        if self._outputs:
            for output in record.outputs:
                self._reduce_output(output)
        elif record.outputs:
            self._leave_out("outputs")
            record.outputs = []
        if self._of_several_vendors and record.extra is not UNSET:
            self._remove_extra("extra", record)

    def _reduce_output(self, output: Any) -> None:
        self._remove(output, self._output)
        if self._of_several_vendors and output.extra is not UNSET:
            self._remove_extra("outputs.extra", output)
        if output.scores is UNSET:
            return
        if not self._scores:
            self._leave_out("outputs.scores")
            output.scores = UNSET
        elif self._score:
            for score in output.scores:
                self._remove(score, self._score)

    def _remove(self, part: Any, fields: _NamesAndPaths) -> None:
        """Remove `fields` from a record, an output or a score."""
        for name, path in fields:
            if getattr(part, name) is not UNSET:
                self._leave_out(path)
                setattr(part, name, UNSET)

    def _remove_extra(self, path: str, part: Any) -> None:
        for vendor, members in decode_extra(part.extra).items():
            for key in members:
                self._leave_out(f"{path}.{vendor}.{key}")
        part.extra = UNSET

    def reduce_header(self, header: Header) -> Header:
        """Return `header` without fields that one of the formats has no place for."""
        if len(self.adapters) == 1:
            return header
        changes: dict[str, Any] = {}
        for name in header.__struct_fields__:
            if getattr(header, name) is UNSET:
                continue
            places = [
                any(path.partition(".")[0] == name for path in adapter.header_fields)
                for adapter in self.adapters
            ]
            if not all(places) or (name == "extra" and self._of_several_vendors):
                self._leave_out(f"header.{name}")
                changes[name] = UNSET
        return replace(header, **changes)

    def _without_place(self, start: str, struct: type[Struct]) -> _NamesAndPaths:
        """Return the fields that one format has no place for; paths have a `start`."""
        return tuple(
            (name, f"{start}{name}")
            for name in struct.__struct_fields__
            if name not in _reduced_apart
            and not all(one.carries(f"{start}{name}") for one in self.adapters)
        )

    def _leave_out(self, path: str) -> None:
        """Add a path to those that are listed as left out."""
        if path not in self.left_out and len(self.left_out) < MAX_LISTED:
            self.left_out[path] = None
