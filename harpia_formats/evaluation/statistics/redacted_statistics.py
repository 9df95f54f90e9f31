"""Statistics without the values of records."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harpia_formats.evaluation.metrics import metric_names
from harpia_formats.evaluation.statistics.statistics_result import Statistics
from harpia_formats.validation.redaction.redacted_reports import Redaction
from harpia_formats.validation.redaction.shown_words import NumberedNames, notes_shown


def redacted_statistics(found: Statistics, redaction: Redaction) -> Statistics:
    """Return statistics with numbers in the place of models, categories and the like.

    Keys that no schema names are `*`, and notes are counted.
    """
    names, words = NumberedNames(), redaction.words

    def kinds(counts: Mapping[str, Any] | None, kind: str) -> Any:
        return counts and {
            name if name in words else names.of(kind, name): count
            for name, count in counts.items()
        }

    models = found.tokens["models"]
    tokens = {
        "models": models
        and [
            {
                **model,
                "model": names.of("model", model["model"]),
                "counts": kinds(model["counts"], "count"),
            }
            for model in models
        ],
        "all": kinds(found.tokens["all"], "count"),
    }
    return replace(
        found,
        fields=tuple(
            {**line, "field": words.field(line["field"])} for line in found.fields
        ),
        absent=tuple(dict.fromkeys(map(words.field, found.absent))),
        values={
            name: {**values, "top": _top(name, values["top"], names)}
            for name, values in found.values.items()
        },
        tokens=tokens,
        times=kinds(found.times, "time"),
        scores=found.scores and tuple(_score(score, names) for score in found.scores),
        report=redaction.report(found.report),
        notes=notes_shown(found.notes),
    )


def _top(
    field: str, values: list[dict[str, Any]], names: NumberedNames
) -> list[dict[str, Any]]:
    return [{**one, "value": names.of(field, one["value"])} for one in values]


def _score(score: Mapping[str, Any], names: NumberedNames) -> dict[str, Any]:
    evaluation, metric = score["evaluation"], score["metric"]
    return {
        **score,
        "evaluation": evaluation and names.of("evaluation", evaluation),
        "metric": metric
        if not metric or metric in metric_names()
        else names.of("metric", metric),
    }
