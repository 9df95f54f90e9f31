"""A key that tells which fields a record has, and which of them are null.

`field_paths` returns the same for two records with the same key. The key is made
without a step for each field, and what follows from the paths is computed once a key.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET
from msgspec.structs import astuple

from harpia_formats.model.record import Record

#: The fields of an owner, by their first key: those inside of them, and so on.
_Owners = Mapping[str, "_Owners"]


@dataclass(frozen=True, slots=True)
class PresenceKeys:
    """Makes the keys of records, whose extras have `owners` as in `field_paths`."""

    owners: frozenset[str]
    _of_record: _Owners = field(init=False)
    _of_output: _Owners = field(init=False)

    def __post_init__(self) -> None:
        tree: dict[str, Any] = {}
        for path in self.owners:
            node = tree
            for key in path.split("."):
                node = node.setdefault(key, {})
        object.__setattr__(self, "_of_record", tree.get("extra", {}))
        of_output = tree.get("outputs", {}).get("extra", {})
        object.__setattr__(self, "_of_output", of_output)

    def of(self, record: Record) -> Hashable:
        """Return the key of a record."""
        values, counts = astuple(record), []
        for output in record.outputs:
            values += astuple(output)
            scores = output.scores
            if scores is not UNSET:
                counts.append(len(scores))
                for score in scores:
                    values += astuple(score)
        parts: list[Hashable] = [*map(type, values), len(record.outputs), *counts]
        _add_open(parts, record)
        if record.extra is not UNSET:
            parts.append(_of_extra(record.extra, self._of_record))
        for output in record.outputs:
            if (extra := output.extra) is not UNSET:
                parts.append(_of_extra(extra, self._of_output))  # noqa: PERF401 - mostly there is one output
        return tuple(parts)


def _add_open(parts: list[Hashable], record: Record) -> None:
    """Add the keys of the open objects of a record, and its first role."""
    if record.params is not UNSET:
        parts.append(members_key(record.params))
    if record.metadata is not UNSET:
        parts.append(members_key(record.metadata))
    if messages := record.messages:
        parts.append(messages[0].get("role") == "system")
    elif messages is not UNSET:
        parts.append(None)


def members_key(members: Mapping[str, Any]) -> Hashable:
    """Return the keys of an object, and behind None those whose value is null."""
    if None in members.values():
        nulls = [key for key, value in members.items() if value is None]
        return (*members, None, *nulls)
    return tuple(members)


def _of_extra(extra: Mapping[str, Any], owners: _Owners) -> Hashable:
    """Return the keys in the extra of a record or an output."""
    parts: list[Hashable] = []
    for vendor, members in extra.items():
        parts += (vendor, members_key(members))
        if inner := owners.get(vendor):
            _add_owners(parts, members, inner)
    return tuple(parts)


def _add_owners(
    parts: list[Hashable], members: Mapping[str, Any], owners: _Owners
) -> None:
    """Add the keys inside of each object in `owners` that is not empty."""
    for key, inner in owners.items():
        value = members.get(key)
        if not value:
            continue
        if type(value) is dict and not inner:
            parts.append((key, members_key(value)))
        else:
            parts.append((key, *_of_owner(value, inner)))


def _of_owner(value: Any, owners: _Owners) -> Iterator[Hashable]:
    """Yield the keys inside of an object, or of each object of a list of them."""
    if type(value) is dict:
        objects = [value]
    elif type(value) is list and all(type(item) is dict for item in value):
        objects = value
    else:
        return
    for members in objects:
        parts: list[Hashable] = [members_key(members)]
        _add_owners(parts, members, owners)
        yield tuple(parts)
