"""Compare the scores of two systems on the same records.

Answers are paired by the id of their record, or by what it asks where one side has no
ids, and several answers of one record by their models and order. Statistics of all
answers are in memory, eight bytes each, and two digests of each answer.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from msgspec import UNSET

from harpia_formats.io.inputs import Input
from harpia_formats.model.exact_json import encode
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Record
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
    """One score of two systems over the answers that both have."""

    metric: str
    name: str
    #: The scores of the two, None where nothing could be scored.
    first: float | None
    second: float | None
    #: How far they are apart, None where that cannot be known.
    comparison: Comparison | None
    signature: str
    #: Pairs of answers that it is of.
    pairs: int


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """What a comparison of two systems came to."""

    compared: tuple[ComparedScore, ...]
    #: The scores of each by itself.
    first: Scores
    second: Scores
    #: Answers that only one of them has.
    only_first: int
    only_second: int
    said: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether both were read whole and compared."""
        is_whole = self.first.report.ok and self.second.report.ok
        return is_whole and all(each.comparison for each in self.compared)


@dataclass(slots=True)
class _SystemAnswers:
    """The statistics of one system's answers; a `ResultWriter`."""

    by_id: bool = True
    #: Digests of what each answer is paired by: the id, or what is asked.
    ids: list[bytes] = field(default_factory=list)
    prompts: list[bytes] = field(default_factory=list)
    #: The model of each answer.
    models: list[str] = field(default_factory=list)
    #: The statistics of all answers by each metric, one after the other; not a number
    #: where there are none.
    columns: list["array[float]"] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    #: Answers of the record, and of the same model in it, that came before.
    _record: int = -1
    _before: Counter[str] = field(default_factory=Counter)

    def add(self, scored: ScoredAnswer) -> None:
        """Take the statistics of an answer."""
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
        for column, width, each in zip(
            self.columns, self.widths, scored.statistics, strict=True
        ):
            column.extend((float("nan"),) * width if each is None else each)

    def close(self, scores: Scores) -> None:
        """Write nothing."""

    def drop(self) -> None:
        """Hold nothing that would have to be let go."""

    def begin(self, run: ResultRun) -> "_SystemAnswers":
        """Get ready for what is measured."""
        self.widths = [statistics_width(each.measure) for each in run.measured]
        self.columns = [array("d") for _ in run.measured]
        return self

    def row(self, metric: int, place: int) -> Sequence[float] | None:
        """Return the statistics of an answer by a metric, None if there are none."""
        width = self.widths[metric]
        found = self.columns[metric][place * width : (place + 1) * width]
        return None if found[0] != found[0] else found


def pairing_key(text: str, number: int) -> bytes:
    """Return what tells an answer apart: of what it is, and which one."""
    key = f"{number}\n{text}".encode("utf-8", "surrogatepass")
    return blake2b(key, digest_size=16).digest()


def prompt_text(record: Record) -> str:
    """Return what tells a record apart that has no id: all that is asked in it."""
    if record.prompt is not UNSET:
        return record.prompt
    messages = record.messages or []
    asked = [each for each in messages if each.get("role") == "user"]
    if len(asked) == 1 and isinstance(asked[0].get("content"), str):
        return str(asked[0]["content"])
    return encode(
        [(each.get("role"), each.get("content")) for each in messages]
    ).decode()


class ScoreComparison:
    """One comparison: iterate for the problems, then ask for the report.

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
            raise ScoreError(f"scores are not compared: {unavailable_reason()}")
        if not options.replicates:
            raise ScoreError("scores are compared by replicates: name some")
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
        """Score both; yield what is wrong."""
        for each in self._runs:
            yield from each

    def report(self) -> ComparisonReport:
        """Return what came of it; raises `ScoreError` if no record is in both."""
        first, second = (each.scores() for each in self._runs)
        if first.is_broken or second.is_broken:
            return ComparisonReport((), first, second, 0, 0)
        if metric_identities(first.measured) != metric_identities(second.measured):
            raise ScoreError(
                "the two ask for unlike metrics, which are not compared; name metrics "
                "with --metrics"
            )
        by_id = all(each.by_id for each in self._sides)
        ours, theirs = self._keys(by_id=by_id)
        both = [(at, theirs[key]) for key, at in ours.items() if key in theirs]
        if not both:
            by = "id" if by_id else "prompt"
            raise ScoreError(f"the two have no answer to a record of the same {by}")
        compared = [
            score
            for number, each in enumerate(first.measured)
            for score in self._compared(number, each, both)
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
        """Return where the answers of both are, by what they are paired by.

        Raises `ScoreError` where answers of several models cannot be paired.
        """
        ours, theirs = (set(each.models) for each in self._sides)
        has_several = max(len(ours), len(theirs)) > 1
        if has_several and ours != theirs:
            raise ScoreError(
                "answers of several models are not compared with those of others; "
                "name one of each with --model-a and --model-b"
            )
        found = []
        for each in self._sides:
            keys = each.ids if by_id else each.prompts
            if has_several:
                both = zip(keys, each.models, strict=True)
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
            scores([sum(column) for column in zip(*each, strict=True)])
            if each
            else (None,) * len(measuring.names)
            for each in (one, other)
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
    """Return where each key is, those that are there again by their order."""
    places: dict[bytes, int] = {}
    again: Counter[bytes] = Counter()
    for at, key in enumerate(keys):
        number = again[key]
        again[key] += 1
        places[key if not number else key + number.to_bytes(4, "big")] = at
    return places


def _writer_of(side: _SystemAnswers) -> Callable[[Files, ResultRun], _SystemAnswers]:
    return lambda _, run: side.begin(run)
