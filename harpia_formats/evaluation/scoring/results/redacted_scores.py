"""Scores and comparisons of scores without the values of records."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harpia_formats.conversion.mapping.answer_groups import MODEL, NAMELESS, NONE
from harpia_formats.evaluation.metrics import metric_names
from harpia_formats.evaluation.metrics.label_counts import SHOWN_OTHER
from harpia_formats.evaluation.scoring.answers import distinct_names
from harpia_formats.evaluation.scoring.measures.metric_score import (
    Confusion,
    Group,
    MetricScore,
)
from harpia_formats.evaluation.scoring.results.answer_rows import AnswerRow
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.validation.redaction.redacted_reports import Redaction
from harpia_formats.validation.redaction.shown_words import NumberedNames, notes_shown

if TYPE_CHECKING:  # they import this module
    from harpia_formats.evaluation.scoring.results.compare_report import (
        ComparedScore,
        ComparisonReport,
    )


@dataclass(frozen=True, slots=True)
class ScoreRedaction:
    """Takes the values of records out of scores: names of groups, models and metrics.

    Each is called by a number, in order of appearance: `model 1`, `category 2`.
    """

    redaction: Redaction
    #: Names that the user gave, such as those of metrics.
    given: frozenset[str]
    #: Whether the metrics are named by the options, and not by what is read.
    by_options: bool
    _names: NumberedNames = field(default_factory=NumberedNames)

    def metric(self, name: str) -> str:
        """Return the name of a metric, if the program or the user named it."""
        if self.by_options or name in self.given or name in metric_names():
            return name
        return self._names.of("metric", name)

    def group(self, group: Group, nameless: str | None = None) -> Group:
        """Return the scores of a group; see `_key`."""
        scores = tuple(map(self._score, group.scores))
        return replace(group, key=self._key(group.key, nameless), scores=scores)

    def _key(self, key: Mapping[str, str], nameless: str | None) -> dict[str, str]:
        """Return the values of the fields of a group.

        `nameless` is the system of answers without a model, None for none: a model may
        be called like what stands for a missing value.
        """
        found = {}
        for name, value in key.items():
            is_absent = value == (nameless if name == MODEL else NONE)
            found[name] = NONE if is_absent else self._names.of(name, value)
        return found

    def _score(self, score: MetricScore) -> MetricScore:
        metric, name = self.metric(score.metric), self.metric(score.name)
        score = replace(score, confusion=self._confusion(score.confusion))
        if self.by_options:
            return replace(score, metric=metric, name=name)
        return replace(score, metric=metric, name=name, signature="")

    def answer(self, row: AnswerRow) -> AnswerRow:
        """Return the row of an answer, which has neither its id nor its question."""
        return replace(
            row,
            id=None,
            model=None if row.model is None else self._names.of(MODEL, row.model),
            question="",
            key=self._key(row.key, NONE if row.model is None else None),
            scores={self.metric(name): value for name, value in row.scores.items()},
        )

    def _confusion(self, found: Confusion | None) -> Confusion | None:
        """Return a confusion matrix whose labels are numbers."""
        if found is None:
            return None
        labels = (
            name if name == SHOWN_OTHER else self._names.of("label", name)
            for name in found.labels
        )
        return replace(found, labels=tuple(labels))

    def scores(self, found: Scores) -> Scores:
        """Return the scores of a data set."""
        systems = {*found.files.values()}
        nameless = NAMELESS if NAMELESS in systems else None
        if None in systems:
            nameless = NONE
        return replace(
            found,
            measured=found.measured if self.by_options else (),
            unknown=tuple(map(self.metric, found.unknown)),
            systems=tuple(self.group(one, nameless) for one in found.systems),
            groups=tuple(self.group(one, nameless) for one in found.groups),
            report=self.redaction.report(found.report),
            models=tuple(
                self._names.of(MODEL, name) for name in found.models if name != nameless
            ),
            problems=tuple(map(self.redaction.problem, found.problems)),
            stored_differences=(),
            files={
                path: None if name in {None, nameless} else self._names.of(MODEL, name)
                for path, name in found.files.items()
            },
            notes=notes_shown(found.notes),
        )

    def comparison(self, found: "ComparisonReport") -> "ComparisonReport":
        """Return the comparison of systems."""
        models = [
            None if one.model is None else self._names.of(MODEL, one.model)
            for one in found.systems
        ]
        sources = [one.source for one in found.systems]
        names = distinct_names(zip(models, sources, strict=True))
        shown = dict(zip((one.name for one in found.systems), names, strict=True))
        systems = tuple(
            replace(
                one,
                name=shown[one.name],
                model=model,
                scores=self.group(
                    one.scores, one.scores.key.get(MODEL) if model is None else None
                ),
            )
            for one, model in zip(found.systems, models, strict=True)
        )
        return replace(
            found,
            compared=tuple(self._compared(one, shown) for one in found.compared),
            systems=systems,
            pairs=tuple(
                replace(one, first=shown[one.first], second=shown[one.second])
                for one in found.pairs
            ),
            reports=tuple(map(self.redaction.report, found.reports)),
            scores=tuple(map(self.scores, found.scores)),
            baseline=None if found.baseline is None else shown[found.baseline],
            notes=notes_shown(found.notes),
        )

    def _compared(
        self, score: "ComparedScore", names: Mapping[str, str]
    ) -> "ComparedScore":
        one, other = score.systems
        return replace(
            score,
            metric=self.metric(score.metric),
            name=self.metric(score.name),
            systems=(names[one], names[other]),
            signature=score.signature if self.by_options else "",
        )
