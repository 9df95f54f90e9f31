"""Compare the scores in the records of two data sets, if computed the same way."""

from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field

from msgspec import UNSET

from harpia_formats.io.inputs import Input
from harpia_formats.mapping.select_model import ModelSelection
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Record, Score
from harpia_formats.model.report import NoTruthValue, Report
from harpia_formats.reading.reader import Reading
from harpia_formats.reading.record_stream import PlacedRecord
from harpia_formats.scoring.bootstrap import compare_paired, unavailable_reason
from harpia_formats.scoring.compare_runs import ComparedScore, pairing_key, prompt_text
from harpia_formats.scoring.options import ScoreOptions

#: The name of a score that does not name its metric.
UNNAMED = "score"


@dataclass(frozen=True, slots=True)
class StoredReport(NoTruthValue):
    """The result of comparing stored scores."""

    compared: tuple[ComparedScore, ...]
    reports: tuple[Report, Report]
    #: The number of scores that only one data set has.
    only_first: int
    only_second: int
    said: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether both inputs are valid and each score was compared."""
        is_whole = all(report.ok for report in self.reports)
        return is_whole and all(score.comparison for score in self.compared)


@dataclass(slots=True)
class _Stored:
    """The scores of one data set by metric and pairing keys."""

    reading: Reading
    models: ModelSelection
    by_id: bool = True
    values: dict[str, dict[tuple[bytes, bytes], float]] = field(default_factory=dict)
    signatures: dict[str, dict[str, None]] = field(default_factory=dict)

    def problems(self) -> Generator[Problem, None, None]:
        """Read all scores; yield the problems of the data."""
        yield from self.reading.problems(
            self._add_record, lambda *_: None, lambda _: None
        )
        self.models.check()

    def _add_record(self, placed: PlacedRecord) -> None:
        record = self.models.select(placed.record)
        self.by_id = self.by_id and record.id is not UNSET
        seen: Counter[str] = Counter()
        for output in record.outputs:
            for score in output.scores or []:
                self._add_score(record, score, seen)

    def _add_score(self, record: Record, score: Score, seen: Counter[str]) -> None:
        value = _number_of(score.value)
        if value is None:
            return
        name = _name_of(score)
        number = seen[name]
        seen[name] += 1
        by_id, by_prompt = (
            pairing_key(text, number) for text in (f"{record.id}", prompt_text(record))
        )
        found = self.values.setdefault(name, {})
        if (by_id, by_prompt) in found:
            raise ScoreError(
                f"two records with the same id have a score of {name}: {record.id!r}"
            )
        found[by_id, by_prompt] = value
        signature = "" if score.signature is UNSET else score.signature
        self.signatures.setdefault(name, {})[signature] = None

    def values_by_key(self, name: str, *, by_id: bool) -> dict[bytes, float]:
        """Return the scores of one metric by the pairing key: id or prompt."""
        return {
            id_key if by_id else prompt_key: value
            for (id_key, prompt_key), value in self.values[name].items()
        }


def _number_of(value: object) -> float | None:
    """Return the value of a score as a number, None if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _name_of(score: Score) -> str:
    for name in (score.metric, score.evaluation_name):
        if name is not UNSET:
            return name
    return UNNAMED


class StoredComparison:
    """A comparison of stored scores: iterate for the problems, then call `report`.

    Raises `ScoreError` for scores with different signatures, except with `force`.
    """

    def __init__(
        self,
        first: Iterable[Input],
        second: Iterable[Input],
        options: ScoreOptions,
        models: tuple[str | None, str | None] = (None, None),
        *,
        force: bool = False,
    ) -> None:
        if unavailable_reason():
            raise ScoreError(f"scores cannot be compared: {unavailable_reason()}")
        self._options, self._force = options, force
        self._notes: list[str] = []
        self._sides = tuple(
            _Stored(
                Reading(
                    inputs,
                    options.from_,
                    columns=options.columns,
                    fail_fast=not options.skips_invalid,
                    max_row_bytes=options.max_row_bytes,
                    progress=options.progress,
                ),
                ModelSelection(model or options.model),
            )
            for inputs, model in zip((first, second), models, strict=True)
        )

    def __iter__(self) -> Generator[Problem, None, None]:
        """Read both data sets; yield their problems."""
        for side in self._sides:
            yield from side.problems()

    def report(self) -> StoredReport:
        """Return the result; raises `ScoreError` if nothing can be compared."""
        first, second = self._sides
        reports = first.reading.tally.report(), second.reading.tally.report()
        if any(
            report.failures or not (report.ok or self._options.skips_invalid)
            for report in reports
        ):
            return StoredReport((), reports, 0, 0)
        by_id = first.by_id and second.by_id
        compared, only = [], [0, 0]
        for name in self._names():
            self._check(name)
            ours, theirs = (
                side.values_by_key(name, by_id=by_id) for side in self._sides
            )
            both = [key for key in ours if key in theirs]
            only[0] += len(ours) - len(both)
            only[1] += len(theirs) - len(both)
            if both:
                compared.append(self._compared(name, both, ours, theirs))
        if not compared:
            raise ScoreError("no record of both inputs has a score of the same metric")
        return StoredReport(
            tuple(compared), reports, only[0], only[1], tuple(self._notes)
        )

    def _names(self) -> list[str]:
        first, second = self._sides
        wanted = self._options.metrics
        names = [name for name in first.values if name in second.values]
        if not names:
            known = [", ".join(side.values) or "none" for side in self._sides]
            raise ScoreError(
                "the inputs have no scores of the same metric (first: "
                f"{known[0]}; second: {known[1]}); without --stored scores are "
                "computed"
            )
        missing = [name for name in wanted if name not in names]
        if missing:
            raise ScoreError(
                f"the inputs do not both have scores of {missing[0]} (both have: "
                f"{', '.join(names)})"
            )
        return [name for name in names if not wanted or name in wanted]

    def _check(self, name: str) -> None:
        """Raise `ScoreError` if the signatures of a score differ between the inputs."""
        ours, theirs = (list(side.signatures[name]) for side in self._sides)
        if ours == theirs and len(ours) == 1 and ours[0]:
            return
        shown = [
            " and ".join(signature or "none" for signature in side)
            for side in (ours, theirs)
        ]
        message = (
            f"the signatures of {name} do not prove that it was computed the same way: "
            f"{shown[0]} in the first input, {shown[1]} in the second"
        )
        if not self._force:
            raise ScoreError(f"{message}; --force compares anyway")
        self._notes.append(message)

    def _compared(
        self,
        name: str,
        both: list[bytes],
        ours: dict[bytes, float],
        theirs: dict[bytes, float],
    ) -> ComparedScore:
        options = self._options
        # The statistics of a mean: the value, and a count of 1.
        one = [(ours[key], 1.0) for key in both]
        other = [(theirs[key], 1.0) for key in both]
        (comparison,) = compare_paired(
            one,
            other,
            lambda sums: (sums[0] / sums[1] if sums[1] else None,),
            replicates=options.replicates,
            seed=options.seed,
            level=options.level,
        )
        signature = next(iter(self._sides[0].signatures[name]))
        return ComparedScore(
            name,
            name,
            sum(a for a, _ in one) / len(one),
            sum(b for b, _ in other) / len(other),
            comparison,
            signature,
            len(both),
        )
