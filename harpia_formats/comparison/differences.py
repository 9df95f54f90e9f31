"""Find the fields in which two records differ, down to the text of each number."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.model.exact_json import as_json, encode
from harpia_formats.model.record import FIELD_TYPES, OPEN_OBJECTS, Output, Record, Score
from harpia_formats.text.describe import short_json

_sorted = msgspec.json.Encoder(enc_hook=as_json, order="sorted").encode
_of_record = tuple(path for path in FIELD_TYPES if "." not in path)
_of_output = tuple(name for name in Output.__struct_fields__ if name != "scores")
_of_score = Score.__struct_fields__


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
    for name in _of_record:
        yield from _of_field(name, getattr(left, name), getattr(right, name))
    if len(left.outputs) != len(right.outputs):
        yield Difference("outputs", len(left.outputs), len(right.outputs))
    for ours, theirs in zip(left.outputs, right.outputs, strict=False):
        yield from _of_outputs(ours, theirs)


def _of_outputs(left: Output, right: Output) -> Iterator[Difference]:
    for name in _of_output:
        path = f"outputs.{name}"
        yield from _of_field(path, getattr(left, name), getattr(right, name))
    if (left.scores is UNSET) != (right.scores is UNSET):
        yield from _missing_scores(left, right)
        return
    ours, theirs = left.scores or [], right.scores or []
    if len(ours) != len(theirs):
        yield Difference("outputs.scores", len(ours), len(theirs))
    for one, other in zip(ours, theirs, strict=False):
        for name in _of_score:
            path = f"outputs.scores.{name}"
            yield from _of_field(path, getattr(one, name), getattr(other, name))


def _missing_scores(left: Output, right: Output) -> Iterator[Difference]:
    """Yield the fields of scores, where only one of two answers has scores."""
    scores = left.scores if right.scores is UNSET else right.scores
    if not scores:
        yield Difference("outputs.scores", left.scores, right.scores)
        return
    for name in _of_score:
        value = next(
            (value for score in scores if (value := getattr(score, name)) is not UNSET),
            UNSET,
        )
        sides = (value, UNSET) if right.scores is UNSET else (UNSET, value)
        yield from _of_field(f"outputs.scores.{name}", *sides)


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
