"""Compare the scores of two systems on the same records.

Answers are paired by the ids of their records, or by their prompts if one side has no
ids. Several answers of one record are paired by model and order. The statistics of all
answers, eight bytes each, and two digests of each answer are held in memory.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace

from msgspec import UNSET

from harpia_formats.io.inputs import Input
from harpia_formats.model.exact_json import encode
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Record
from harpia_formats.model.report import NoTruthValue
from harpia_formats.scoring.accumulate import statistics_width
from harpia_formats.scoring.bootstrap import (
    Comparison,
    compare_paired,
    unavailable_reason,
)
from harpia_formats.scoring.options import ScoreOptions
from harpia_formats.scoring.results.format import Files, ResultFormat, ResultRun
from harpia_formats.scoring.run import Scoring, metric_identities
from harpia_formats.scoring.scores import ComputedMetric, ScoredAnswer, Scores


@dataclass(frozen=True, slots=True)
class ComparedScore:
    """One score of two systems over their paired answers."""

    metric: str
    name: str
    #: The scores of both systems, None if no answer could be scored.
    first: float | None
    second: float | None
    #: Their difference, None if it cannot be computed.
    comparison: Comparison | None
    signature: str
    #: The number of pairs of answers.
    pairs: int


@dataclass(frozen=True, slots=True)
class ComparisonReport(NoTruthValue):
    """The result of comparing two systems."""

    compared: tuple[ComparedScore, ...]
    #: The scores of each system over all of its answers.
    first: Scores
    second: Scores
    #: The number of answers that only one system has.
    only_first: int
    only_second: int
    said: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether both inputs are valid and each score was compared."""
        is_whole = self.first.report.ok and self.second.report.ok
        return is_whole and all(score.comparison for score in self.compared)

    def raise_for_errors(self) -> None:
        """Raise an error unless both inputs were read and each score was compared.

        It is `ValidationFailed` or `ScoreError`.
        """
        for scores in (self.first, self.second):
            scores.raise_for_errors()
        for score in self.compared:
            if score.comparison is None:
                raise ScoreError(f"no pair of answers has two scores by {score.name}")


@dataclass(slots=True)
class _SystemAnswers:
    """The statistics of one system's answers; a `ResultWriter`."""

    by_id: bool = True
    #: Digests of the id and of the prompt of each answer, by which it is paired.
    ids: list[bytes] = field(default_factory=list)
    prompts: list[bytes] = field(default_factory=list)
    #: The model of each answer.
    models: list[str] = field(default_factory=list)
    #: For each metric the concatenated statistics of all answers; NaN for an answer
    #: that could not be scored.
    columns: list["array[float]"] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    #: The current record, and its answers so far by model.
    _record: int = -1
    _before: Counter[str] = field(default_factory=Counter)

    def add(self, scored: ScoredAnswer) -> None:
        """Add the statistics of an answer."""
        record = scored.record
        if scored.record_number != self._record:
            self._record = scored.record_number
            self._before.clear()
        model = str(scored.output.model or "")
        self.models.append(model)
        number = self._before[model]
        self._before[model] += 1
        self.by_id = self.by_id and record.id is not UNSET
        self.ids.append(pairing_key(f"{record.id}", number))
        self.prompts.append(pairing_key(prompt_text(record), number))
        for column, width, statistics in zip(
            self.columns, self.widths, scored.statistics, strict=True
        ):
            column.extend((float("nan"),) * width if statistics is None else statistics)

    def close(self, scores: Scores) -> None:
        """Do nothing: a comparison writes no results."""

    def drop(self) -> None:
        """Do nothing: there is no file to discard."""

    def begin(self, run: ResultRun) -> "_SystemAnswers":
        """Prepare a column for each metric of the run, and return this object."""
        self.widths = [statistics_width(metric.measure) for metric in run.measured]
        self.columns = [array("d") for _ in run.measured]
        return self

    def row(self, metric: int, place: int) -> Sequence[float] | None:
        """Return the statistics of an answer by a metric, None without a score."""
        width = self.widths[metric]
        found = self.columns[metric][place * width : (place + 1) * width]
        return None if found[0] != found[0] else found


def pairing_key(text: str, number: int) -> bytes:
    """Return a digest of an id or prompt and the number of the answer to it."""
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, too slow for --help

    key = f"{number}\n{text}".encode("utf-8", "surrogatepass")
    return blake2b(key, digest_size=16).digest()


def prompt_text(record: Record) -> str:
    """Return the prompt of a record as text: its prompt, or its messages as JSON."""
    if record.prompt is not UNSET:
        return record.prompt
    messages = record.messages or []
    questions = [message for message in messages if message.get("role") == "user"]
    if len(questions) == 1 and isinstance(questions[0].get("content"), str):
        return str(questions[0]["content"])
    return encode(
        [(message.get("role"), message.get("content")) for message in messages]
    ).decode()


class ScoreComparison:
    """A comparison of two systems: iterate for the problems, then call `report`.

    Raises what `Scoring` raises.
    """

    def __init__(
        self,
        first: Iterable[Input],
        second: Iterable[Input],
        options: ScoreOptions,
        models: tuple[str | None, str | None] = (None, None),
    ) -> None:
        if unavailable_reason():
            raise ScoreError(f"scores cannot be compared: {unavailable_reason()}")
        if not options.replicates:
            raise ScoreError("a comparison needs replicates: set at least one")
        self._options = options
        self._sides = (_SystemAnswers(), _SystemAnswers())
        without = replace(options, replicates=0, by=())
        self._runs = tuple(
            Scoring(
                inputs,
                ResultFormat("compared", "default", _writer_of(side)),
                None,
                replace(without, model=model or options.model),
            )
            for inputs, side, model in zip(
                (first, second), self._sides, models, strict=True
            )
        )

    def __iter__(self) -> Generator[Problem, None, None]:
        """Score both systems; yield the problems of their inputs."""
        for run in self._runs:
            yield from run

    def report(self) -> ComparisonReport:
        """Return the result; raises `ScoreError` if no record is in both inputs."""
        first, second = (run.scores() for run in self._runs)
        if first.is_broken or second.is_broken:
            return ComparisonReport((), first, second, 0, 0)
        if metric_identities(first.measured) != metric_identities(second.measured):
            raise ScoreError(
                "the inputs select different metrics, which cannot be compared; name "
                "metrics with --metrics"
            )
        by_id = all(side.by_id for side in self._sides)
        ours, theirs = self._keys(by_id=by_id)
        both = [(at, theirs[key]) for key, at in ours.items() if key in theirs]
        if not both:
            by = "id" if by_id else "prompt"
            raise ScoreError(f"no record of both inputs has the same {by}")
        compared = [
            score
            for number, metric in enumerate(first.measured)
            for score in self._compared(number, metric, both)
        ]
        return ComparisonReport(
            tuple(compared),
            first,
            second,
            len(ours) - len(both),
            len(theirs) - len(both),
            first.said,
        )

    def _keys(self, *, by_id: bool) -> list[dict[bytes, int]]:
        """Return for both systems the places of answers by their pairing keys.

        Raises `ScoreError` if answers of several models cannot be paired.
        """
        ours, theirs = (set(side.models) for side in self._sides)
        has_several = max(len(ours), len(theirs)) > 1
        if has_several and ours != theirs:
            raise ScoreError(
                "answers of different models cannot be paired; name one model of each "
                "input with --model-a and --model-b"
            )
        found = []
        for side in self._sides:
            keys = side.ids if by_id else side.prompts
            if has_several:
                both = zip(keys, side.models, strict=True)
                keys = [key + model.encode() for key, model in both]
            found.append(_places(keys))
        return found

    def _compared(
        self, number: int, measuring: ComputedMetric, both: list[tuple[int, int]]
    ) -> Generator[ComparedScore, None, None]:
        ours, theirs = self._sides
        rows = [(ours.row(number, a), theirs.row(number, b)) for a, b in both]
        pairs = [(a, b) for a, b in rows if a is not None and b is not None]
        one, other = [a for a, _ in pairs], [b for _, b in pairs]
        scores, options = measuring.measure.scores, self._options
        found = compare_paired(
            one,
            other,
            scores,
            replicates=options.replicates,
            seed=options.seed,
            level=options.level,
        )
        values = [
            scores([sum(column) for column in zip(*system, strict=True)])
            if system
            else (None,) * len(measuring.names)
            for system in (one, other)
        ]
        for name, first, second, comparison in zip(
            measuring.names, *values, found, strict=True
        ):
            yield ComparedScore(
                measuring.request.label,
                name,
                first,
                second,
                comparison,
                measuring.measure.signature,
                len(pairs),
            )


def _places(keys: list[bytes]) -> dict[bytes, int]:
    """Return the place of each key; a repeated key is extended by a number."""
    places: dict[bytes, int] = {}
    again: Counter[bytes] = Counter()
    for at, key in enumerate(keys):
        number = again[key]
        again[key] += 1
        places[key if not number else key + number.to_bytes(4, "big")] = at
    return places


def _writer_of(side: _SystemAnswers) -> Callable[[Files, ResultRun], _SystemAnswers]:
    return lambda _, run: side.begin(run)
