"""The questions of several data sets, and which of them are the same."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from harpia_formats.model.metric_profile import ScoreError, ScoreOptionsError
from harpia_formats.model.record import Record
from harpia_formats.scoring.questions import NOTHING, WIDTH, question_of

#: The parts of a question in its key, in their order.
_PARTS = ("id", "input", "references")
_ALL_BITS = (1 << 8 * WIDTH) - 1
_NAMES = {"id": "id", "input": "prompt", "references": "reference"}
_OTHER = {"input": "have another prompt", "references": "have other references"}
#: Pairs of inputs for which it is said why questions do not match.
_EXPLAINED = 10


@dataclass(slots=True)
class QuestionTable:
    """The questions of data sets, numbered in the order of their first record."""

    _numbers: dict[bytes, int] = field(default_factory=dict)

    def number_of(self, record: Record) -> int:
        """Return the number of the question of `record`, and add it if it is new."""
        return self._numbers.setdefault(question_of(record).key, len(self._numbers))

    def keys(self) -> list[bytes]:
        """Return the key of each question: the digests of its parts."""
        return list(self._numbers)


@dataclass(frozen=True, slots=True)
class MatchedQuestions:
    """The questions of data sets, those with equal parts as one."""

    #: A digest of each question.
    keys: list[bytes]
    #: For each question of the table its place in `keys`.
    places: "array[int]"
    #: What was paired by less than all parts, and what does not match.
    notes: tuple[str, ...]


def match_questions(
    table: QuestionTable, inputs: Sequence[Sequence[int]]
) -> MatchedQuestions:
    """Return which questions of some inputs are the same.

    `inputs` has the numbers of the questions of each. A part that one input has in no
    record is not compared, which a note says; nor is the id if a record has none.
    Raises `ScoreError` if there are several inputs and no two share a question.
    """
    keys = table.keys()
    mine = [[keys[number] for number in numbers] for numbers in inputs]
    parts, notes = _compared_parts(mine)
    found: dict[bytes, int] = {}
    places = array(
        "q", [found.setdefault(key, len(found)) for key in _reduced(keys, parts)]
    )
    differences = list(_differences(mine, parts))
    if len(inputs) > 1 and all(shares == 0 for *_, shares in differences):
        reason = differences[0][1]
        where = "both" if len(inputs) == 2 else "two"  # noqa: PLR2004 - both are two
        raise ScoreError(f"no question is in {where} inputs{reason}")
    for which, reason, _ in differences[:_EXPLAINED]:
        if reason:
            pair = "" if len(inputs) == 2 else f" of {which}"  # noqa: PLR2004 - the only pair
            notes.append(f"not all questions{pair} match{reason}")
    return MatchedQuestions([_folded(key) for key in found], places, tuple(notes))


def input_name(place: int, count: int) -> str:
    """Return what one of several inputs is called in messages."""
    if count == 1:
        return "the input"
    if count == 2:  # noqa: PLR2004 - ordinals are for pairs
        return ("the first input", "the second input")[place]
    return f"input {place + 1}"


def _compared_parts(inputs: Sequence[Sequence[bytes]]) -> tuple[list[str], list[str]]:
    """Return the parts by which questions are paired, and notes on those left out."""
    notes = []
    compared = []
    for part in _PARTS:
        has = [_has_part(keys, part) for keys in inputs]
        if all(has):
            compared.append(part)
        elif any(has) and part != "id":
            notes += [
                f"{input_name(at, len(has))} has no {_NAMES[part]}s: questions are "
                "paired without them"
                for at, is_there in enumerate(has)
                if not is_there
            ]
    if compared in ([], ["references"]):
        which = "both inputs" if len(inputs) == 2 else "the inputs"  # noqa: PLR2004 - both are two
        raise ScoreOptionsError(
            f"the records of {which} have neither ids nor prompts by which they "
            "could be paired"
        )
    return compared, notes


def _has_part(keys: Sequence[bytes], part: str) -> bool:
    """Tell whether questions have a part: all an id, or any of them another one."""
    (place,) = _places((part,))
    found = (key[place] != NOTHING for key in keys)
    return all(found) if part == "id" else any(found)


def _reduced(keys: Sequence[bytes], parts: Sequence[str]) -> Iterable[bytes]:
    """Yield the digests of some parts of each question, in turn."""
    places = _places(parts)
    if len(places) == len(_PARTS):
        return keys
    return (b"".join([key[place] for place in places]) for key in keys)


def _places(parts: Sequence[str]) -> list[slice]:
    """Return where the digests of some parts are in a key."""
    starts = [_PARTS.index(part) * WIDTH for part in parts]
    return [slice(start, start + WIDTH) for start in starts]


def _folded(key: bytes) -> bytes:
    """Return one digest for the digests of several parts."""
    value: int = 0
    for start in range(0, len(key), WIDTH):
        # Multiplied, so that two equal parts do not cancel each other.
        value = value * 3 ^ int.from_bytes(key[start : start + WIDTH], "little")
    return (value & _ALL_BITS).to_bytes(WIDTH, "little")


def _differences(
    inputs: Sequence[Sequence[bytes]], parts: Sequence[str]
) -> Iterator[tuple[str, str, int]]:
    """Yield each pair of inputs that differ: names, why, how many questions both have.

    Pairs with the same questions are yielded without a reason.
    """
    for one, other in combinations(range(len(inputs)), 2):
        names = f"inputs {one + 1} and {other + 1}"
        ours, theirs = (set(_reduced(inputs[at], parts)) for at in (one, other))
        both = len(ours & theirs)
        reason = ""
        if both < len(ours):
            reason = _difference(inputs[one], inputs[other], parts)
        yield names, reason, both


def _difference(
    first: Sequence[bytes], second: Sequence[bytes], compared: Sequence[str]
) -> str:
    """Return how questions of one input differ from those of another, "" if not.

    It counts the questions that share parts with the other side but not the next part.
    """
    reasons = []
    for size in range(1, len(compared)):
        shared, following = compared[:size], compared[: size + 1]
        known = set(_reduced(second, shared))
        alike = set(_reduced(second, following))
        pairs = zip(_reduced(first, shared), _reduced(first, following), strict=True)
        count = len({more for part, more in pairs if part in known} - alike)
        if count:
            same = " and ".join(_NAMES[part] for part in shared)
            reasons.append(f"{count:,} with the same {same} {_OTHER[following[-1]]}")
    return f": {', '.join(reasons)}" if reasons else ""
