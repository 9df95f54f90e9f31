"""The questions of two data sets, and which of them both have."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harpia_formats.model.metric_profile import ScoreError, ScoreOptionsError
from harpia_formats.model.record import Record
from harpia_formats.scoring.questions import NOTHING, WIDTH, question_of

#: The parts of a question in its key, in their order.
_PARTS = ("id", "input", "references")
_ALL_BITS = (1 << 8 * WIDTH) - 1
_NAMES = {"id": "id", "input": "prompt", "references": "reference"}
_OTHER = {"input": "have another prompt", "references": "have other references"}


@dataclass(slots=True)
class QuestionTable:
    """The questions of one data set, numbered in the order of their first record."""

    _numbers: dict[bytes, int] = field(default_factory=dict)

    def number_of(self, record: Record) -> int:
        """Return the number of the question of `record`, and add it if it is new."""
        return self._numbers.setdefault(question_of(record).key, len(self._numbers))

    def has_part(self, part: str) -> bool:
        """Tell whether questions have a part: all an id, or any of them another one."""
        places = _places((part,))
        found = (key[place] != NOTHING for key in self._numbers for place in places)
        return all(found) if part == "id" else any(found)

    def keys(self, parts: Sequence[str]) -> Iterable[bytes]:
        """Yield the digests of some parts of each question, in turn."""
        places = _places(parts)
        if len(places) == len(_PARTS):
            return self._numbers
        return (b"".join([key[place] for place in places]) for key in self._numbers)


@dataclass(frozen=True, slots=True)
class MatchedQuestions:
    """The questions that two data sets share."""

    #: A digest of each question that is in both.
    keys: list[bytes]
    #: For each question of each data set its place in `keys`, -1 if it is not in both.
    first: "array[int]"
    second: "array[int]"
    #: The number of different questions that only one data set has.
    only_first: int
    only_second: int
    #: What was paired by less than all parts, and what does not match.
    notes: tuple[str, ...]


def match_questions(first: QuestionTable, second: QuestionTable) -> MatchedQuestions:
    """Return which questions of two data sets are the same.

    A part that one data set has in no record is not compared, which a note says; nor is
    the id if a record of either has none. Raises `ScoreError` if no question matches.
    """
    parts, notes = _compared_parts(first, second)
    known = set(second.keys(parts))
    every = dict.fromkeys(first.keys(parts))
    both = {key: at for at, key in enumerate(key for key in every if key in known)}
    only_first, only_second = len(every) - len(both), len(known) - len(both)
    del every, known
    difference = _difference(first, second, parts) if only_first else ""
    if not both:
        raise ScoreError(f"no question is in both inputs{difference}")
    if difference:
        notes.append(f"not all questions match{difference}")
    ours, theirs = (
        array("q", [both.get(key, -1) for key in table.keys(parts)])
        for table in (first, second)
    )
    keys = [_folded(key) for key in both]
    return MatchedQuestions(keys, ours, theirs, only_first, only_second, tuple(notes))


def _compared_parts(
    first: QuestionTable, second: QuestionTable
) -> tuple[list[str], list[str]]:
    """Return the parts by which questions are paired, and notes on those left out."""
    notes = []
    compared = []
    for part in _PARTS:
        has = [table.has_part(part) for table in (first, second)]
        if all(has):
            compared.append(part)
        elif any(has) and part != "id":
            where = "first" if has[1] else "second"
            notes.append(
                f"the {where} input has no {_NAMES[part]}s: questions are paired "
                "without them"
            )
    if compared in ([], ["references"]):
        raise ScoreOptionsError(
            "the records of both inputs have neither ids nor prompts by which they "
            "could be paired"
        )
    return compared, notes


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


def _difference(
    first: QuestionTable, second: QuestionTable, compared: Sequence[str]
) -> str:
    """Return how questions of one side differ from those of the other, "" if not.

    It counts the questions that share parts with the other side but not the next part.
    """
    reasons = []
    for size in range(1, len(compared)):
        shared, following = compared[:size], compared[: size + 1]
        known, alike = set(second.keys(shared)), set(second.keys(following))
        pairs = zip(first.keys(shared), first.keys(following), strict=True)
        count = len({more for part, more in pairs if part in known} - alike)
        if count:
            same = " and ".join(_NAMES[part] for part in shared)
            reasons.append(f"{count:,} with the same {same} {_OTHER[following[-1]]}")
    return f": {', '.join(reasons)}" if reasons else ""
