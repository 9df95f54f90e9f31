"""Find the fields in which two records differ, down to the text of each number."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.conversion.comparison.encoded_records import decode_fields, value_of
from harpia_formats.model.exact_json import as_json, encode
from harpia_formats.model.record import FIELD_TYPES, OPEN_OBJECTS, Output, Record, Score
from harpia_formats.model.text.describe import short_json

_sorted = msgspec.json.Encoder(enc_hook=as_json, order="sorted").encode
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
    return _sorted(left) == _sorted(right)


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
