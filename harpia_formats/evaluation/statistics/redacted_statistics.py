"""Statistics without the values of records."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harpia_formats.evaluation.metrics import metric_names
from harpia_formats.evaluation.statistics.statistics_result import Statistics
from harpia_formats.validation.redaction.redacted_reports import Redaction
from harpia_formats.validation.redaction.shown_words import NumberedNames, notes_shown


def redacted_statistics(found: Statistics, redaction: Redaction) -> Statistics:
    """Return statistics with numbers in place of models, categories and the like.

    Keys that no schema names are `*`, and notes are counted.
    """
    names, words = NumberedNames(), redaction.words

    def kinds(counts: Mapping[str, Any] | None, kind: str) -> Any:
        """Return counts without the names of their kinds that no schema has."""
        return counts and {
            name if name in words else names.of(kind, name): count
            for name, count in counts.items()
        }

    def model(found: Mapping[str, Any]) -> dict[str, Any]:
        """Return the token counts of a model without its name."""
        counts, name = kinds(found["counts"], "count"), found["model"]
        return {**found, "model": name and names.of("model", name), "counts": counts}

    def score(found: Mapping[str, Any]) -> dict[str, Any]:
        """Return the counts of scores without the names that are no metrics of ours."""
        evaluation, metric = found["evaluation"], found["metric"]
        is_shown = not metric or metric in metric_names()
        return {
            **found,
            "evaluation": evaluation and names.of("evaluation", evaluation),
            "metric": metric if is_shown else names.of("metric", metric),
        }

    def top(field: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the most frequent values of a field with numbers in their place."""
        found = [
            {**one, "value": names.of(field, one["value"])} for one in values["top"]
        ]
        return {**values, "top": found}

    models, scores = found.tokens["models"], found.scores
    tokens = {
        "models": models and [*map(model, models)],
        "all": kinds(found.tokens["all"], "count"),
    }
    return replace(
        found,
        fields=tuple(
            {**line, "field": words.field(line["field"])} for line in found.fields
        ),
        absent=tuple(dict.fromkeys(map(words.field, found.absent))),
        values={name: top(name, values) for name, values in found.values.items()},
        tokens=tokens,
        times=kinds(found.times, "time"),
        scores=scores and tuple(map(score, scores)),
        report=redaction.report(found.report),
        notes=notes_shown(found.notes),
    )
