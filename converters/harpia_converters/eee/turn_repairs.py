"""Number turns by their place, and let the attributions that name them follow."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from harpia_formats.model.problem import Path
from harpia_formats.model.repair import REPLACE, Repair
from harpia_formats.model.text.describe import short_json

TURN_INDEX = "E104"

#: The place of a text in a turn, in the source of an attribution.
_source = re.compile(r"(interactions|messages)\[(\d+|turn_idx)\]\.(.*)", re.DOTALL)
#: Roles of turns that give no answer.
_askers = frozenset({"system", "user", "developer"})


def of_turns(row: Mapping[str, Any], key: str, turns: list[Any]) -> Iterator[Repair]:
    """Yield the repairs of turn indices, and of the attributions that name them.

    There are none for turns in another order than that of their indices, nor if it
    cannot be told which turn an attribution is of.
    """
    indices = [turn.get("turn_idx") for turn in turns]
    if indices == list(range(len(turns))) or not all(map(_is_index, indices)):
        return
    if _is_another_order(indices):
        return
    followed: list[Repair] = []
    for number, one in attributions(row):
        place = _place_of_turn(one, turns, indices)
        if place is None:
            return
        if place != one["turn_idx"]:
            followed += _of_attribution(one, ("answer_attribution", number), place)
    for place, index in enumerate(indices):
        if index != place:
            what = f"renumbered the turn {short_json(index)} as {place}"
            yield Repair(TURN_INDEX, REPLACE, (key, place, "turn_idx"), what, place)
    yield from followed


def attributions(row: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the attributions of a row with their indices."""
    found = row.get("answer_attribution")
    for number, one in enumerate(found if isinstance(found, list) else ()):
        if isinstance(one, dict):
            yield number, one


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_of(each)


def _is_index(value: Any) -> TypeGuard[float]:
    return type(value) is int or (isinstance(value, float) and value.is_integer())


def _is_another_order(indices: list[Any]) -> bool:
    """Return whether turns may stand in another order than that of their indices."""
    ascending = sorted(indices)
    first = ascending[0]
    is_permutation = ascending == list(range(int(first), int(first) + len(indices)))
    wrong = [index for place, index in enumerate(indices) if index != place]
    return indices != ascending and (is_permutation or wrong != sorted(wrong))


def _place_of_turn(
    one: Mapping[str, Any], turns: list[Any], indices: list[Any]
) -> int | None:
    """Return the place of the turn that an attribution is of.

    Its `turn_idx` may be a place or one of the `indices`: that is right where the turn
    holds the extracted value. None if that does not tell which turn it is.
    """
    named = one.get("turn_idx")
    if not _is_index(named):
        return None
    places = {int(named)} if 0 <= named < len(turns) else set[int]()
    if indices.count(named) == 1:
        places.add(indices.index(named))
    if indices.count(named) <= 1 and places == {named}:
        return int(named)
    holding = [place for place in places if _holds(one, turns[place])]
    return holding[0] if len(holding) == 1 else None


def _holds(one: Mapping[str, Any], turn: Mapping[str, Any]) -> bool:
    """Return whether a turn may be the one that an attribution is of."""
    source, value = one.get("source"), one.get("extracted_value")
    found = _source.fullmatch(source) if isinstance(source, str) else None
    if found is None or not isinstance(value, str) or turn.get("role") in _askers:
        return False
    if found[2] not in {"turn_idx", str(int(one["turn_idx"]))}:
        return False
    member = "tool_calls" if found[3].startswith("tool_calls[") else found[3]
    wanted = value.strip().casefold()
    return any(wanted in text.casefold() for text in texts_of(turn.get(member)))


def _of_attribution(one: Mapping[str, Any], path: Path, place: int) -> Iterator[Repair]:
    """Yield the repairs of an attribution whose turn gets another number."""
    before, source = one["turn_idx"], one["source"]
    what = f"followed the turn {short_json(before)} to {place}"
    yield Repair(TURN_INDEX, REPLACE, (*path, "turn_idx"), what, place)
    named = _source.fullmatch(source)
    if named is not None and named[2] != "turn_idx":
        value = f"{named[1]}[{place}].{named[3]}"
        yield Repair(TURN_INDEX, REPLACE, (*path, "source"), what, value)
