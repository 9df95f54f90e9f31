"""The questions of several data sets, and which of them are the same."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from harpia_formats.conversion.mapping.questions import NOTHING, WIDTH, question_of
from harpia_formats.evaluation.scoring.significance.bootstrap import np
from harpia_formats.model.record import Record
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError

#: The parts of a question in its key, in their order.
_PARTS = ("id", "input", "references")
_ALL_BITS = (1 << 8 * WIDTH) - 1
_NAMES = {"id": "id", "input": "prompt", "references": "reference"}
_OTHER = {"input": "have another prompt", "references": "have other references"}
#: Pairs of inputs for which a note explains why questions do not match.
_EXPLAINED = 10


@dataclass(slots=True)
class QuestionTable:
    """The questions of data sets, numbered in the order of their first record."""

    _numbers: dict[bytes, int] = field(default_factory=dict)

    def number_of(self, record: Record) -> int:
        """Return the number of the question of `record`, and add it if it is new."""
        return self._numbers.setdefault(question_of(record).key, len(self._numbers))

    @property
    def keys(self) -> bytes:
        """The keys of all questions, one behind the other."""
        return b"".join(self._numbers)

    def take_keys(self) -> bytes:
        """Return the concatenated keys of all questions, and forget them.

        The key of a question has the digests of its parts.
        """
        keys = self.keys
        self._numbers = {}
        return keys


@dataclass(frozen=True, slots=True)
class QuestionKeys(Sequence[bytes]):
    """The digests of questions, which take no memory besides their bytes."""

    data: bytes

    def __len__(self) -> int:
        return len(self.data) // WIDTH

    def __getitem__(self, at: Any) -> Any:
        """Return the digest at a place, or those in a slice."""
        starts = range(0, len(self.data), WIDTH)[at]
        if isinstance(starts, int):
            return self.data[starts : starts + WIDTH]
        return [self.data[start : start + WIDTH] for start in starts]


@dataclass(frozen=True, slots=True)
class MatchedQuestions:
    """The questions of data sets, those with equal parts as one."""

    #: A digest of each question.
    keys: QuestionKeys
    #: For each question of the table its place in `keys`, as an array.
    places: Any
    #: What was paired by less than all parts, and what does not match.
    notes: tuple[str, ...]


def match_questions(
    table: QuestionTable, inputs: Sequence[Sequence[int]]
) -> MatchedQuestions:
    """Return which questions of some inputs are the same.

    `inputs` has the numbers of the questions of each; the table is empty after that.
    A part that one input has in no record is not compared, which a note says; nor is
    the id if a record has none. Raises `ScoreError` if there are several inputs and no
    two share a question.
    """
    keys = np.frombuffer(table.take_keys(), np.uint8).reshape(-1, WIDTH * len(_PARTS))
    numbers = [np.asarray(one, dtype=np.int64) for one in inputs]
    parts, notes = _compared_parts(keys, numbers)
    reduced = _reduced(keys, parts)
    _, firsts, inverse = np.unique(reduced, return_index=True, return_inverse=True)
    # The places are in the order of the first records.
    order = np.argsort(firsts)
    ranks = np.empty(len(order), dtype=np.uint32)
    ranks[order] = np.arange(len(order), dtype=np.uint32)
    places = ranks[inverse]
    differences = list(_differences(keys, numbers, places, parts))
    if len(inputs) > 1 and all(shares == 0 for *_, shares in differences):
        reason = differences[0][1]
        where = both_or("two", len(inputs))
        raise ScoreError(f"no question is in {where} inputs{reason}")
    for which, reason, _ in differences[:_EXPLAINED]:
        if reason:
            pair = "" if len(differences) == 1 else f" of {which}"
            notes.append(f"not all questions{pair} match{reason}")
    folded = bytearray()
    for key in reduced[firsts[order]]:
        folded += _folded(key.tobytes())
    return MatchedQuestions(QuestionKeys(bytes(folded)), places, tuple(notes))


def shared_inputs(
    table: QuestionTable, inputs: Sequence[Collection[int]]
) -> list[set[int]]:
    """Return for each input the places of the others that share a question with it.

    `inputs` has the numbers of the questions of each. Questions are the same as in
    `match_questions`. Raises `ScoreError` if they have nothing to be known by.
    """
    keys = np.frombuffer(table.keys, np.uint8).reshape(-1, WIDTH * len(_PARTS))
    numbers = [np.fromiter(one, dtype=np.int64, count=len(one)) for one in inputs]
    parts, _ = _compared_parts(keys, numbers)
    _, same = np.unique(_reduced(keys, parts), return_inverse=True)
    own = [np.unique(same[one]) for one in numbers]
    return [
        {
            other
            for other, its in enumerate(own)
            if other != place and len(np.intersect1d(mine, its, assume_unique=True))
        }
        for place, mine in enumerate(own)
    ]


def input_name(place: int, count: int) -> str:
    """Return what one of several inputs is called in messages."""
    if count == 1:
        return "the input"
    if count == 2:  # noqa: PLR2004 - ordinals are for pairs
        return ("the first input", "the second input")[place]
    return f"input {place + 1}"


def both_or(many: str, count: int) -> str:
    """Return "both" for two inputs or systems, the other word for more."""
    return "both" if count == 2 else many  # noqa: PLR2004 - both are two


def _compared_parts(keys: Any, inputs: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Return the parts by which questions are paired, and notes on those left out."""
    notes = []
    compared = []
    for part in _PARTS:
        has = [_has_part(keys[numbers], part) for numbers in inputs]
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
        which = both_or("the", len(inputs))
        raise ScoreOptionsError(
            f"the records of {which} inputs have neither ids nor prompts by which they "
            "could be paired"
        )
    return compared, notes


def _has_part(keys: Any, part: str) -> bool:
    """Tell whether questions have a part: all an id, or any of them another one."""
    start = _PARTS.index(part) * WIDTH
    own = keys[:, start : start + WIDTH]
    found = (own != np.frombuffer(NOTHING, np.uint8)).any(axis=1)
    return bool(found.all() if part == "id" else found.any())


def _reduced(keys: Any, parts: Sequence[str]) -> Any:
    """Return the digests of some parts of each question, as an array of bytes."""
    starts = [_PARTS.index(part) * WIDTH for part in parts]
    columns = [keys[:, start : start + WIDTH] for start in starts]
    found = np.ascontiguousarray(np.hstack(columns) if len(columns) > 1 else columns[0])
    return found.view(np.dtype((np.void, WIDTH * len(parts)))).reshape(-1)


def _folded(key: bytes) -> bytes:
    """Return one digest for the digests of several parts."""
    value: int = 0
    for start in range(0, len(key), WIDTH):
        # Multiplied, so that two equal parts do not cancel each other.
        value = value * 3 ^ int.from_bytes(key[start : start + WIDTH], "little")
    return (value & _ALL_BITS).to_bytes(WIDTH, "little")


def _differences(
    keys: Any, inputs: Sequence[Any], places: Any, parts: Sequence[str]
) -> Iterator[tuple[str, str, int]]:
    """Yield each pair of inputs that differ: names, why, how many questions both have.

    Pairs with the same questions are yielded without a reason.
    """
    has = np.zeros((len(inputs), len(places)), dtype=bool)
    for mine, numbers in zip(has, inputs, strict=True):
        mine[places[numbers]] = True
    for one, other in combinations(range(len(inputs)), 2):
        names = f"inputs {one + 1} and {other + 1}"
        both = int((has[one] & has[other]).sum())
        reason = ""
        if both < has[one].sum():
            reason = _difference(keys[inputs[one]], keys[inputs[other]], parts)
        yield names, reason, both


def _difference(first: Any, second: Any, compared: Sequence[str]) -> str:
    """Return how questions of one input differ from those of another, "" if not.

    It counts the questions that share parts with the other side but not the next part.
    """
    reasons = []
    for size in range(1, len(compared)):
        shared, following = compared[:size], compared[: size + 1]
        is_known = np.isin(_reduced(first, shared), _reduced(second, shared))
        more = np.unique(_reduced(first, following)[is_known])
        count = int((~np.isin(more, _reduced(second, following))).sum())
        if count:
            same = " and ".join(_NAMES[part] for part in shared)
            reasons.append(f"{count:,} with the same {same} {_OTHER[following[-1]]}")
    return f": {', '.join(reasons)}" if reasons else ""
