"""Repairs of rows by EvalEval's own rules, which can hide what was wrong.

Turns are numbered by their place, and the attributions that name them follow.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from harpia_converters.eee.row_members import DESCRIBED, RECIPES, recipe_of
from harpia_formats.model.describe import short_json, with_noun
from harpia_formats.model.format import ADD, REMOVE, REPLACE, Repair
from harpia_formats.model.problem import Path

TURN_INDEX = "E104"

#: The place of a text in a turn, in the source of an attribution.
_source = re.compile(r"(interactions|messages)\[(\d+|turn_idx)\]\.(.*)", re.DOTALL)
#: Roles of turns that give no answer.
_askers = frozenset({"system", "user", "developer"})


def of_turns(row: Mapping[str, Any], key: str, turns: list[Any]) -> Iterator[Repair]:
    """Yield the repairs of turn indices, and of the attributions that name them.

    There are none for turns in another order than that of their indices, nor if it
    cannot be known which turn an attribution is of.
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


BRANCH, HASH = "C201", "E103"
TURN_COUNT, TOOL_CALL_COUNT = "E109", "E110"
_calls_key = "tool_calls_count"


def with_interactions(row: Any) -> Iterator[Repair]:
    """Yield the repairs of a row of 0.2.0, whose turns are in `interactions`."""
    yield from _repairs(row, "interactions", is_documented_hash=False)


def with_messages(row: Any) -> Iterator[Repair]:
    """Yield the repairs of a row of 0.2.1 to 0.3.0, whose turns are in `messages`."""
    yield from _repairs(row, "messages", is_documented_hash=True)


def _repairs(row: Any, key: str, *, is_documented_hash: bool) -> Iterator[Repair]:
    if not isinstance(row, dict):
        return
    yield from _of_hash(row, is_documented=is_documented_hash)
    branch = _extra_branch(row, key)
    if branch:
        yield _removed(row, branch)
    turns = row.get(key)
    if branch == key:
        yield from _to_output(row, key)
    elif isinstance(turns, list) and all(isinstance(turn, dict) for turn in turns):
        yield from of_turns(row, key, turns)
    yield from _of_counts(row, [] if branch == key else turns)


def _removed(row: Mapping[str, Any], branch: str) -> Repair:
    """Return the repair that removes a branch, and says which of its text is lost."""
    what = f"removed {branch}, which {row['interaction_type']} rows do not have"
    lost = _lost(row, branch)
    if lost:
        what += f"; this loses text that stands nowhere else in the row, of {lost}"
    return Repair(BRANCH, REMOVE, (branch,), what, loses_text=bool(lost))


def _lost(row: Mapping[str, Any], branch: str) -> str:
    """Return the parts of a branch with text that the rest of the row lacks, or ""."""
    rest = [
        text for key, value in row.items() if key != branch for text in texts_of(value)
    ]
    parts = Counter(
        name
        for name, value in _parts(row[branch])
        if any(not _is_in(text.strip(), rest) for text in texts_of(value))
    )
    if isinstance(row[branch], dict):
        return ", ".join(parts)
    return ", ".join(with_noun(number, name) for name, number in parts.items())


def _parts(branch: Any) -> Iterator[tuple[str, Any]]:
    """Yield the turns, or the members, of a branch, with a name for each."""
    if isinstance(branch, dict):
        yield from ((f"{key:.40}", value) for key, value in branch.items())
    elif isinstance(branch, list):
        for turn in branch:
            if isinstance(turn, dict):
                texts = {key: value for key, value in turn.items() if key != "role"}
                yield f"{turn.get('role')!s:.40} turn", texts


def _is_in(text: str, others: Iterable[str]) -> bool:
    return any(text in other for other in others)


def _of_hash(row: Mapping[str, Any], *, is_documented: bool) -> Iterator[Repair]:
    """Yield the repair of a `sample_hash` that no recipe gives."""
    given, input_ = row.get("sample_hash"), row.get("input")
    if not isinstance(given, str) or not isinstance(input_, dict):
        return
    raw, references = input_.get("raw"), input_.get("reference")
    if isinstance(references, str):
        references = [references]
    if not isinstance(raw, str) or not _is_texts(references):
        return
    if recipe_of(given, raw, references):
        return
    path = ("sample_hash",)
    if recipe_of(given.lower(), raw, references):
        yield Repair(HASH, REPLACE, path, "wrote the hash in lower case", given.lower())
        return
    # D is the same as C, but for rows without a reference.
    letter = "A" if is_documented else "C" if references else "D"
    what = f"computed the hash again, of {DESCRIBED[letter]}"
    yield Repair(HASH, REPLACE, path, what, RECIPES[letter](raw, references))


def _is_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _extra_branch(row: Mapping[str, Any], key: str) -> str:
    """Return the key of the branch that contradicts the interaction type, or "".

    It is empty, or the other branch has what it holds.
    """
    output, turns = row.get("output"), row.get(key)
    kind = row.get("interaction_type")
    if kind == "single_turn" and isinstance(output, dict) and isinstance(turns, list):
        return key if _is_one_exchange(turns) else ""
    if _is_several(kind) and output is not None and isinstance(turns, list) and turns:
        return "output" if _is_in_turns(output, turns) else ""
    return ""


def _is_several(kind: Any) -> bool:
    """Return whether rows of an interaction type have several turns."""
    return isinstance(kind, str) and kind in {"multi_turn", "agentic"}


def _is_one_exchange(turns: list[Any]) -> bool:
    """Return whether turns are one prompt and one answer at most, without tools."""
    if not all(isinstance(turn, dict) for turn in turns):
        return False
    roles = [turn.get("role") for turn in turns]
    has_tools = "tool" in roles or any(turn.get("tool_calls") for turn in turns)
    return not has_tools and max(roles.count("user"), roles.count("assistant")) <= 1


def _is_in_turns(output: Any, turns: list[Any]) -> bool:
    """Return whether an output is empty, or its answers are texts of turns."""
    if not isinstance(output, dict):
        return output in ("", [])
    answers = output.get("raw") or []
    answers = [answers] if isinstance(answers, str) else answers
    texts = [turn.get("content") for turn in turns if isinstance(turn, dict)]
    has_trace = bool(output.get("reasoning_trace"))
    return not has_trace and all(answer in texts for answer in answers)


def _to_output(row: Mapping[str, Any], key: str) -> Iterator[Repair]:
    """Yield the repairs of attributions to turns that the output has as well."""
    for number, one in attributions(row):
        source, value = one.get("source"), one.get("extracted_value")
        is_of_turn = isinstance(source, str) and source.startswith(f"{key}[")
        given = row["output"].get("raw")
        answers = given if isinstance(given, list) else [given]
        is_there = isinstance(value, str) and any(
            isinstance(answer, str) and value in answer for answer in answers
        )
        if not (is_of_turn and is_there):
            continue
        path = ("answer_attribution", number)
        what = "followed the answer from a turn to the output"
        yield Repair(BRANCH, REPLACE, (*path, "source"), what, "output.raw")
        if one.get("turn_idx") != 0:
            yield Repair(BRANCH, REPLACE, (*path, "turn_idx"), what, 0)


def _of_counts(row: Mapping[str, Any], turns: Any) -> Iterator[Repair]:
    """Yield the repairs of the counts of turns and of tool calls.

    Nothing is counted in a row of no known interaction type, nor in one that has the
    branch of another type, or not its own.
    """
    evaluation, kind = row.get("evaluation"), row.get("interaction_type")
    if not isinstance(evaluation, dict):
        return
    is_single = kind == "single_turn"
    counts: list[tuple[str, str, int]] = []
    if is_single and isinstance(row.get("output"), dict) and not turns:
        counts = [(TURN_COUNT, "num_turns", 1), (TOOL_CALL_COUNT, _calls_key, 0)]
    elif _is_several(kind) and row.get("output") is None and _is_filled(turns):
        counts = _counts_of(turns)
    for code, key, count in counts:
        path = ("evaluation", key)
        given = evaluation.get(key)
        if given is None and (is_single or code == TOOL_CALL_COUNT):
            continue  # it may be left out
        if key not in evaluation:
            what = f"added {key}, which is {count}"
            yield Repair(code, ADD, path, what, count, is_count=True)
        elif given != count or type(given) is bool:
            what = f"counted {key} again: {count} in place of {short_json(given)}"
            yield Repair(code, REPLACE, path, what, count, is_count=True)


def _is_filled(turns: Any) -> TypeGuard[list[Any]]:
    return isinstance(turns, list) and turns != []


def _counts_of(turns: list[Any]) -> list[tuple[str, str, int]]:
    """Return the rules, keys and values of what is counted in turns."""
    counts = [(TURN_COUNT, "num_turns", len(turns))]
    if all(isinstance(turn, dict) for turn in turns):
        calls = [turn.get("tool_calls") or [] for turn in turns]
        if all(isinstance(some, list) for some in calls):
            counts.append((TOOL_CALL_COUNT, _calls_key, sum(map(len, calls))))
    return counts
