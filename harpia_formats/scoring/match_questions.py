"""The questions of two data sets, and which of them both have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.model.record import Record
from harpia_formats.scoring.questions import (
    NOTHING,
    WIDTH,
    digest_of,
    question_of,
)

#: The parts of a question in its key, in their order.
_PARTS = ("id", "input", "references")
_NAMES = {"id": "id", "input": "prompt", "references": "reference"}
_OTHER = {"input": "have another prompt", "references": "have other references"}


@dataclass(slots=True)
class QuestionTable:
    """The questions of one data set, numbered in the order of their first record."""

    _numbers: dict[bytes, int] = field(default_factory=dict)

    def number_of(self, record: Record) -> int:
        """Return the number of the question of `record`, and add it if it is new."""
        return self._numbers.setdefault(question_of(record).key, len(self._numbers))

    def parts(self) -> list[bytes]:
        """Return for each question the digests of id, input and references."""
        return list(self._numbers)


@dataclass(frozen=True, slots=True)
class MatchedQuestions:
    """The keys by which the questions of two data sets are paired."""

    #: The digest of each question of each data set, by its number.
    first: list[bytes]
    second: list[bytes]
    #: The numbers of different questions that only one data set has.
    only_first: int
    only_second: int
    #: What was paired by less than all parts, and what does not match.
    notes: tuple[str, ...]


def match_questions(first: QuestionTable, second: QuestionTable) -> MatchedQuestions:
    """Return by which keys the questions of both data sets are paired.

    A part that one data set has in no record is not compared, which a note says; nor is
    the id if a record of either has none. Raises `ScoreError` if no question matches.
    """
    tables = [table.parts() for table in (first, second)]
    notes = []
    compared = []
    for part in _PARTS:
        has = [_has_part(keys, part) for keys in tables]
        if all(has):
            compared.append(part)
        elif any(has) and part != "id":
            where = "first" if has[1] else "second"
            notes.append(
                f"the {where} input has no {_NAMES[part]}s: questions are paired "
                "without them"
            )
    if not compared or compared == ["references"]:
        raise ScoreError(
            "the records of both inputs have neither ids nor prompts in common by "
            "which they could be paired"
        )
    ours, theirs = ([_part_of(key, compared) for key in keys] for keys in tables)
    known, others = set(ours), set(theirs)
    difference = _difference(ours, theirs, compared)
    if not known & others:
        raise ScoreError(f"no question is in both inputs{difference}")
    if difference:
        notes.append(f"not all questions match{difference}")
    return MatchedQuestions(
        [digest_of(key.hex()) for key in ours],
        [digest_of(key.hex()) for key in theirs],
        len(known - others),
        len(others - known),
        tuple(notes),
    )


def _has_part(keys: Iterable[bytes], part: str) -> bool:
    """Tell whether questions have a part: the id in all, another in at least one."""
    at = _PARTS.index(part) * WIDTH
    found = (key[at : at + WIDTH] != NOTHING for key in keys)
    return all(found) if part == "id" else any(found)


def _part_of(key: bytes, parts: Sequence[str]) -> bytes:
    """Return the digests of some parts in their place, and `NOTHING` for the others."""
    return b"".join(
        key[at * WIDTH : (at + 1) * WIDTH] if part in parts else NOTHING
        for at, part in enumerate(_PARTS)
    )


def _difference(ours: list[bytes], theirs: list[bytes], compared: list[str]) -> str:
    """Return how questions of one side differ from those of the other, "" if not.

    It counts the questions that share parts with the other side but not the next part.
    """
    reasons = []
    for size in range(1, len(compared)):
        shared, following = compared[:size], compared[: size + 1]
        known = {_part_of(key, shared) for key in theirs}
        alike = {_part_of(key, following) for key in theirs}
        count = len(
            {
                key
                for key in ours
                if _part_of(key, shared) in known
                and _part_of(key, following) not in alike
            }
        )
        if count:
            same = " and ".join(_NAMES[part] for part in shared)
            reasons.append(f"{count:,} with the same {same} {_OTHER[following[-1]]}")
    return f": {', '.join(reasons)}" if reasons else ""
