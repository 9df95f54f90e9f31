"""The statistics of the answers of systems by question, and which questions match."""

import math
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import MODEL, NONE
from harpia_formats.conversion.mapping.questions import NOTHING, WIDTH, question_of
from harpia_formats.evaluation.metrics.label_counts import LabelPair
from harpia_formats.evaluation.scoring.answers import file_of_key, key_of_file
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    ScoredAnswer,
    statistics_width,
)
from harpia_formats.evaluation.scoring.measures.question_scores import (
    KnownLabels,
    question_scores,
)
from harpia_formats.evaluation.scoring.number_stores import (
    LabelRows,
    QuestionRows,
    SpooledRows,
    parts_of,
)
from harpia_formats.evaluation.scoring.results.result_format import ResultRun
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.significance.bootstrap import np
from harpia_formats.evaluation.scoring.significance.paired_tests import (
    QuestionSums,
    summed,
)
from harpia_formats.files.io.spill import FixedRecords
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


#: Numbers of a column in memory, before they go to its file.
_HELD = 32 * 1024


@dataclass(slots=True)
class SystemAnswers:
    """The statistics of the answers of one system."""

    widths: list[int]
    #: Whether the scores were stored: then a question without any is counted as one.
    are_stored: bool = False
    #: The number of the question of each answer.
    numbers: "array[int]" = field(default_factory=lambda: array("I"))
    #: For each metric the concatenated statistics of all answers; NaN for an answer
    #: that could not be scored. For a metric of labels they are the numbers of both.
    columns: list[FixedRecords] = field(default_factory=list)

    def __post_init__(self) -> None:
        # They are 64-bit floats, of which most are in a temporary file.
        self.columns = [FixedRecords("d", _HELD) for _ in self.widths]

    def add(self, number: int, statistics: Iterable[Sequence[float] | None]) -> None:
        """Add an answer to the question with this number."""
        self.numbers.append(number)
        for column, width, mine in zip(
            self.columns, self.widths, statistics, strict=True
        ):
            column.extend((math.nan,) * width if mine is None else mine)

    def merge(self, other: "SystemAnswers") -> None:
        """Add the answers of `other`, which has the same metrics."""
        self.numbers.extend(other.numbers)
        for column, more in zip(self.columns, other.columns, strict=True):
            column.extend(more.read())

    def sums(
        self,
        at: int,
        metric: ComputedMetric,
        known: KnownLabels | None,
        places: Sequence[int],
        count: int,
    ) -> list[QuestionSums]:
        """Return the sums of the statistics of one metric, by question.

        `at` is the place of the metric among those of the input, `known` has the labels
        of a metric of labels, and `places` the place of each question among `count`
        questions. A metric that scores questions has one result for each of its scores,
        any other has one.
        """
        rows = np.frombuffer(self.columns[at].read()).reshape(-1, self.widths[at])
        numbers = np.asarray(places)[np.asarray(self.numbers)]
        is_scored = ~np.isnan(rows[:, 0])
        answers = np.bincount(numbers, minlength=count)
        counts = np.bincount(numbers[is_scored], minlength=count)
        if self.are_stored:
            # Not each of the answers need have each of the scores.
            answers = np.maximum(counts, answers > 0)
        question = metric.measure.question
        sums: list[tuple[QuestionRows, Any]]
        if known is not None:
            labels = _label_rows(rows[is_scored], numbers[is_scored], known)
            sums = [(labels, counts)]
        elif question is None:
            sums = [(_summed_rows(rows, numbers, is_scored, counts), counts)]
        else:
            scored = [np.zeros((count, 2)) for _ in metric.names]
            for number, answered in answers_by_question(numbers, rows, is_scored):
                for own, score in enumerate(
                    question_scores(question, Counter(map(tuple, answered)))
                ):
                    if score is not None:
                        scored[own][number] = score, 1.0
            sums = [(SpooledRows(one), one[:, 1].astype(np.int64)) for one in scored]
        return [
            # Counts are in as few bytes as hold them.
            QuestionSums(
                stored,
                _small(have),
                _small(np.where(have > 0, answers - counts, answers)),
                answers > 0,
            )
            for stored, have in sums
        ]


def _summed_rows(rows: Any, numbers: Any, is_scored: Any, counts: Any) -> SpooledRows:
    """Return the sums of the statistics of each question, which has so many `counts`.

    `rows` have the statistics of each answer, and `numbers` its question.
    """
    found = np.zeros((len(counts), rows.shape[1]))
    single = is_scored & (counts[numbers] == 1)
    # A part at a time, since the copies of all would take as much memory.
    for part in parts_of(len(rows)):
        mine = single[part]
        found[numbers[part][mine]] = rows[part][mine]
    for question, answered in answers_by_question(numbers, rows, is_scored & ~single):
        found[question] = summed(answered)
    return SpooledRows(found)


def _small(counts: Any) -> Any:
    """Return the same integers, which are not negative, of the smallest type."""
    return counts.astype(np.min_scalar_type(counts.max(initial=0)))


def _label_rows(rows: Any, numbers: Any, known: KnownLabels) -> LabelRows:
    """Return the sums of the statistics of each question.

    `rows` have the numbers of both labels of each answer, and `numbers` its question.
    """
    # Both numbers of an answer as one complex number, which is faster than as a row.
    pairs, kinds = np.unique(rows.view(np.complex128)[:, 0], return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    return LabelRows(
        _small(kinds[order]),
        numbers[order].astype(np.uint32),
        known.rows(pairs.view(np.float64).reshape(-1, 2).tolist()),
        known.width,
    )


def answers_by_question(
    numbers: Any, rows: Any, chosen: Any
) -> Iterator[tuple[int, list[Any]]]:
    """Yield each question with the statistics of those of its answers that count."""
    places = np.flatnonzero(chosen)
    places = places[np.argsort(numbers[places], kind="stable")]
    questions = numbers[places]
    starts = np.flatnonzero(np.diff(questions, prepend=-1)).tolist()
    for start, end in pairwise([*starts, len(places)]):
        yield int(questions[start]), rows[places[start:end]].tolist()


@dataclass(slots=True)
class InputAnswers:
    """The answers of the systems of one input; a `ResultWriter`."""

    questions: QuestionTable
    #: The number of each label, by the name of a metric of labels.
    labels: dict[str, dict[str, int]]
    are_stored: bool = False
    #: The systems by the names of their models, None for answers that name none.
    systems: dict[str | None, SystemAnswers] = field(default_factory=dict)
    #: The same before it is known of which systems answers without a model are.
    _by_key: dict[str, SystemAnswers] = field(default_factory=dict)
    _widths: list[int] = field(default_factory=list)
    _labels: list[dict[str, int]] = field(default_factory=list)

    def begin(self, run: ResultRun) -> "InputAnswers":
        """Prepare for the metrics of the run, and return this object."""
        self._widths = [statistics_width(metric.measure) for metric in run.measured]
        self._labels = [
            self.labels.setdefault(metric.request.label, {}) for metric in run.measured
        ]
        return self

    def add(self, scored: ScoredAnswer) -> None:
        """Add the statistics of an answer to its system."""
        model = scored.output.model
        if model is UNSET:
            model = key_of_file(scored.count.path)
        system = self._by_key.get(model)
        if system is None:
            system = SystemAnswers(self._widths, self.are_stored)
            self._by_key[model] = system
        statistics = (
            [labels.setdefault(label, len(labels)) for label in one]
            if isinstance(one, LabelPair)
            else one
            for labels, one in zip(self._labels, scored.statistics, strict=True)
        )
        system.add(self.questions.number_of(scored.record), statistics)

    def close(self, scores: Scores) -> None:
        """Keep the systems that have scores; answers without a model may be of one."""
        found: dict[str | None, SystemAnswers] = {}
        by_key, self._by_key = self._by_key, {}
        for key, mine in by_key.items():
            file = file_of_key(key)
            if file is None or file in scores.files:
                name = key if file is None else scores.files[file]
                if found.setdefault(name, mine) is not mine:
                    found[name].merge(mine)
        if len(found) > 1:
            # They are in the order of their scores.
            shown = {NONE if name is None else name: name for name in found}
            names = [shown[group.key[MODEL]] for group in scores.systems]
            found = {name: found[name] for name in names}
        self.systems = found

    def drop(self) -> None:
        """Do nothing: there is no file to discard."""
