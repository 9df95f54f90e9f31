"""The comparison of decoded records, field by field, that the fast one must equal."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.comparison.differences import Difference, same
from harpia_formats.model.adapter import Cardinality, FormatAdapter
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import OPEN_OBJECTS, Output, Record, Score

APART = frozenset({"outputs", "scores", "extra"})


def plain_differences(left: Record, right: Record) -> list[Difference]:
    """Return each field that differs between two records."""
    return [*_differences(left, right)]


def _differences(left: Record, right: Record) -> Iterator[Difference]:
    for name in Record.__struct_fields__[:-1]:
        yield from _of_field(name, getattr(left, name), getattr(right, name))
    if len(left.outputs) != len(right.outputs):
        yield Difference("outputs", len(left.outputs), len(right.outputs))
    for ours, theirs in zip(left.outputs, right.outputs, strict=False):
        for name in Output.__struct_fields__:
            if name != "scores":
                path = f"outputs.{name}"
                yield from _of_field(path, getattr(ours, name), getattr(theirs, name))
        yield from _of_scores(ours.scores, theirs.scores)


def _of_scores(left: Any, right: Any) -> Iterator[Difference]:
    if (left is UNSET) != (right is UNSET):
        scores = left or right
        if not scores:
            yield Difference("outputs.scores", left, right)
        for name in Score.__struct_fields__ if scores else ():
            values = [getattr(score, name) for score in scores]
            value = next((each for each in values if each is not UNSET), UNSET)
            sides = (value, UNSET) if right is UNSET else (UNSET, value)
            yield from _of_field(f"outputs.scores.{name}", *sides)
        return
    ours, theirs = left or [], right or []
    if len(ours) != len(theirs):
        yield Difference("outputs.scores", len(ours), len(theirs))
    for one, other in zip(ours, theirs, strict=False):
        for name in Score.__struct_fields__:
            path = f"outputs.scores.{name}"
            yield from _of_field(path, getattr(one, name), getattr(other, name))


def _sorted(value: Any) -> Any:
    """Return JSON with the keys of objects in order, its numbers as their text."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [*map(_sorted, value)]
    return value if value is UNSET else encode(value)


def _of_field(path: str, left: Any, right: Any) -> Iterator[Difference]:
    if path.endswith("extra"):
        left, right = (
            {key: value for key, value in side.items() if value} or UNSET
            if side is not UNSET
            else side
            for side in (left, right)
        )
    if same(left, right):
        return
    depth = 2 if path.endswith("extra") else int(path in OPEN_OBJECTS)
    pairs = [*_members(path, left, right, depth)] if depth else []
    if pairs or not (path.endswith("extra") and left and right):
        yield from pairs or [Difference(path, left, right)]


def _members(path: str, left: Any, right: Any, depth: int) -> Iterator[Difference]:
    ours = left if isinstance(left, dict) else {}
    theirs = right if isinstance(right, dict) else {}
    for key in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(key, UNSET), theirs.get(key, UNSET)
        if same(one, other) or ("extra" in path and _sorted(one) == _sorted(other)):
            continue
        inner = f"{path}.{key}"
        if depth > 1 and one and other:
            yield from _members(inner, one, other, depth - 1)
        elif depth > 1 and (one or other):
            for name, value in (other if one is UNSET else one).items():
                sides = (UNSET, value) if one is UNSET else (value, UNSET)
                yield Difference(f"{inner}.{name}", *sides)
        else:
            yield Difference(inner, one, other)


@dataclass
class PlainReduction:
    """Removes the fields from records that one of several formats cannot hold."""

    adapters: Sequence[FormatAdapter]
    left_out: list[str] = field(default_factory=list)

    def reduced(self, record: Record) -> Record:
        """Return `record` without these fields; add their paths to `left_out`."""
        if len(self.adapters) == 1:
            return record
        record = self._bare(record, "")
        one_reference = Cardinality.ONE in self._capacities("references")
        if one_reference and record.references and len(record.references) > 1:
            self.left_out.append("references but the first")
            record = replace(record, references=record.references[:1])
        if Cardinality.NONE not in self._capacities("outputs"):
            outputs = [self._reduced_output(output) for output in record.outputs]
            record = replace(record, outputs=outputs)
        elif record.outputs:
            self.left_out.append("outputs")
            record = replace(record, outputs=[])
        reduced: Record = self._without_extra(record, "")
        return reduced

    def _capacities(self, name: str) -> set[Cardinality]:
        return {getattr(adapter.capacity, name) for adapter in self.adapters}

    def _bare(self, part: Any, start: str) -> Any:
        for name in part.__struct_fields__:
            path = f"{start}{name}"
            is_set = name not in APART and getattr(part, name) is not UNSET
            if is_set and not all(one.carries(path) for one in self.adapters):
                self.left_out.append(path)
                part = replace(part, **{name: UNSET})
        return part

    def _without_extra(self, part: Any, start: str) -> Any:
        # The format of records holds the extra fields of any vendor.
        vendors = {one.vendor for one in self.adapters if not one.carries("extra")}
        if len(vendors) < 2 or part.extra is UNSET:
            return part
        for vendor, members in part.extra.items():
            self.left_out += [f"{start}extra.{vendor}.{key}" for key in members]
        return replace(part, extra=UNSET)

    def _reduced_output(self, output: Output) -> Output:
        output = self._without_extra(self._bare(output, "outputs."), "outputs.")
        if output.scores is UNSET:
            return output
        if Cardinality.NONE in self._capacities("scores"):
            self.left_out.append("outputs.scores")
            return replace(output, scores=UNSET)
        scores = [self._bare(score, "outputs.scores.") for score in output.scores]
        return replace(output, scores=scores)


def plainly_matched(
    left: Sequence[str], right: Sequence[str]
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Return the pairs of equal keys in their order, and what only one side has."""
    waiting: dict[str, deque[int]] = {}
    for number, key in enumerate(right):
        waiting.setdefault(key, deque()).append(number)
    pairs, alone = [], []
    for number, key in enumerate(left):
        if waiting.get(key):
            pairs.append((number, waiting[key].popleft()))
        else:
            alone.append(number)
    return pairs, alone, sorted(number for rest in waiting.values() for number in rest)
