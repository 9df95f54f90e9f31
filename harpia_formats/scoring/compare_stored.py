"""Compare the scores in the records of two data sets, if computed the same way."""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from harpia_formats.io.inputs import Input
from harpia_formats.mapping.select_model import ModelSelection
from harpia_formats.metrics.mean import means
from harpia_formats.model.metric_profile import ScoreError, ScoreOptionsError
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.model.result import Result
from harpia_formats.reading.reader import Reading
from harpia_formats.redaction import problems_shown, redaction_of
from harpia_formats.scoring.compared import (
    ComparedScore,
    check_one_model,
    compared_headline,
    paired_test,
    with_adjusted,
)
from harpia_formats.scoring.match_questions import match_questions
from harpia_formats.scoring.options import Missing, ScoreOptions
from harpia_formats.scoring.p_values import PairedTest
from harpia_formats.scoring.paired import compare_paired
from harpia_formats.scoring.paired_answers import PairedAnswers
from harpia_formats.scoring.signatures import declared_best, is_pooled, labels_of
from harpia_formats.scoring.stored_scores import StoredScores
from harpia_formats.scoring.verdicts import declares_share, no_zero


@dataclass(frozen=True, slots=True, repr=False)
class StoredReport(Result):
    """The result of comparing stored scores."""

    columns: ClassVar = ComparedScore.columns

    compared: tuple[ComparedScore, ...]
    reports: tuple[Report, Report]
    #: The number of questions that only one data set has.
    only_first: int
    only_second: int
    said: tuple[str, ...] = ()

    def headline(self) -> str:
        """Return the differences in one line."""
        return compared_headline(self.compared, self.only_first, self.only_second)

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each score that was compared."""
        return [score.as_row() for score in self.compared]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data that can be written as JSON."""
        return {
            "ok": self.ok,
            "compared": self.table(),
            "only_first": self.only_first,
            "only_second": self.only_second,
            "notes": list(self.said),
            "reports": [report.to_dict() for report in self.reports],
        }

    @property
    def ok(self) -> bool:
        """Whether both inputs were read as asked for and each score was compared."""
        reports = self.reports
        is_read = bool(self.compared) and all(one.ok_without_invalid for one in reports)
        return is_read and all(score.comparison for score in self.compared)


@dataclass(frozen=True, slots=True)
class _Quantity:
    """Scores of one metric that are compared."""

    name: str
    #: The name in the comparison.
    label: str
    #: The signature of the scores, None for those with any.
    signature: str | None


class StoredComparison:
    """A comparison of stored scores: iterate for the problems, then call `report`.

    Raises `ScoreError` for scores with different signatures, except with `force`.
    """

    def __init__(  # noqa: PLR0913 - two inputs, and how they are compared
        self,
        first: Iterable[Input],
        second: Iterable[Input],
        options: ScoreOptions,
        models: tuple[str | None, str | None] = (None, None),
        test: str | None = None,
        *,
        force: bool = False,
    ) -> None:
        self._test = paired_test(options, test)
        self._options, self._force = options, force
        self._redaction = redaction_of(options)
        self._notes: list[str] = []
        self._sides = tuple(
            StoredScores(
                Reading(
                    inputs,
                    options.from_,
                    columns=options.columns,
                    delimiter=options.delimiter,
                    from_csv_safe=options.from_csv_safe,
                    fail_fast=not options.skips_invalid,
                    max_row_bytes=options.max_row_bytes,
                    progress=options.progress,
                    files=options,
                ),
                ModelSelection(model or options.model),
                options.missing == Missing.ZERO,
            )
            for inputs, model in zip((first, second), models, strict=True)
        )

    def __iter__(self) -> Generator[Problem, None, None]:
        """Read both data sets; yield their problems."""
        for side in self._sides:
            yield from problems_shown(side.problems(), self._redaction)

    def report(self) -> StoredReport:
        """Return the result as it may be shown.

        Raises `ScoreError` if nothing can be compared.
        """
        if self._redaction is None:
            return self._report()
        from harpia_formats.redaction.errors import errors_without_values  # noqa: PLC0415 - most runs show values
        from harpia_formats.scoring.redacted import ScoreRedaction  # noqa: PLC0415 - most runs show values

        with errors_without_values(self._redaction):
            found = self._report()
        given = frozenset(self._options.metrics)
        return ScoreRedaction(self._redaction, given, by_options=False).stored(found)

    def _report(self) -> StoredReport:
        first, second = self._sides
        reports = first.reading.tally.report(), second.reading.tally.report()
        if any(
            report.failures or not (report.ok or self._options.skips_invalid)
            for report in reports
        ):
            return StoredReport((), reports, 0, 0)
        check_one_model(first.scored_models, second.scored_models)
        quantities = [one for name in self._names() for one in self._quantities(name)]
        matched = match_questions(first.questions, second.questions)
        test = self._test.of_many(len(quantities))
        compared = [
            self._compared(
                one,
                first.values_of(one.name, one.signature, matched.first),
                second.values_of(one.name, one.signature, matched.second),
                matched.keys,
                test,
            )
            for one in quantities
        ]
        if not any(score.questions for score in compared):
            raise ScoreOptionsError(
                "no question of both inputs has a score of the same metric"
            )
        return StoredReport(
            with_adjusted(compared),
            reports,
            matched.only_first,
            matched.only_second,
            (*self._notes, *matched.notes),
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

    def _quantities(self, name: str) -> list[_Quantity]:
        """Return what is compared of a metric: the scores with each of its signatures.

        Raises `ScoreError` if the signatures differ between the inputs. It is raised
        for pooled metrics, too: the mean of the scores of rows is not the score of the
        whole.
        """
        ours, theirs = (list(side.values[name]) for side in self._sides)
        for signature in (*ours, *theirs):
            if is_pooled(name, signature):
                raise ScoreError(
                    f"{name} is a score of all answers together, and not the mean of "
                    "the stored scores of rows; compare without --stored, or name "
                    "other metrics with --metrics"
                )
            is_verdict = signature.partition("|")[0] == "judge"
            is_zero = self._options.missing == Missing.ZERO
            if is_zero and is_verdict and not declares_share(signature, name):
                raise ScoreError(no_zero(name))
        if set(ours) == set(theirs) and "" not in ours:
            labels = labels_of((name, signature) for signature in ours)
            return [
                _Quantity(name, label, signature)
                for (_, signature), label in labels.items()
            ]
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
        return [_Quantity(name, name, None)]

    def _compared(
        self,
        quantity: _Quantity,
        ours: dict[int, list[float]],
        theirs: dict[int, list[float]],
        keys: Sequence[bytes],
        test: PairedTest,
    ) -> ComparedScore:
        """Return the comparison of one metric, given its values by question."""
        # A stored score declares no scale: 100 if one is above 1.
        every = (value for found in (ours, theirs) for value in chain(*found.values()))
        best = 100.0 if max(every, default=0.0) > 1 else 1.0
        signature = quantity.signature
        if signature is None:
            signature = next(iter(self._sides[0].values[quantity.name]))
        paired = PairedAnswers(means(1), best, declared_best(signature))
        for question in sorted(ours.keys() & theirs.keys()):
            # The statistics of a mean: a value, and their number.
            one, other = (
                [(value, 1.0) for value in found[question]] for found in (ours, theirs)
            )
            paired.add(keys[question], one, other)
        (first,), (second,) = paired.values()
        (comparison,) = compare_paired(paired, test)
        return ComparedScore(
            quantity.label,
            quantity.label,
            first,
            second,
            comparison,
            signature,
            len(paired.keys),
            (len(keys) - len(ours), len(keys) - len(theirs)),
        )
