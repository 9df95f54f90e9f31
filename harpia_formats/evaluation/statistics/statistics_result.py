"""The statistics of a data set: a result that shows itself as a table and as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harpia_formats.evaluation.statistics.duplicates import Repetitions
from harpia_formats.evaluation.statistics.record_counts import METADATA, Counts
from harpia_formats.evaluation.statistics.running_counts import (
    MICROSECONDS,
    OUTCOMES,
    PERCENTILES,
    FieldCount,
    Lacking,
    RecordPlace,
)
from harpia_formats.model.report import Report, validation_failed
from harpia_formats.model.result import Result

SCHEMA = "harpia-formats/statistics/1"
#: The three lengths of a text, by the names of their attributes.
UNITS = ("characters", "words", "bytes")
#: The texts that are measured, in the order in which they are shown.
TEXTS = (
    *("prompt", "system", "messages", "contexts", "choices", "gt", "references"),
    *("answers", "reasoning", "turns"),
)
#: The fields whose values are counted, in the order in which they are shown.
VALUES = (
    *("model", "category", "source", "interaction_type"),
    *(f"metadata.{key}" for key in METADATA),
)


@dataclass(frozen=True, slots=True, repr=False)
class Statistics(Result):
    """The statistics of all records of the inputs."""

    columns: ClassVar = (
        *("text", "unit", "count", "min", *PERCENTILES),
        *("max", "mean", "sum", "exact"),
    )

    #: How many records and answers there are, and how many different prompts.
    records: int
    answers: int
    questions: int
    #: By text: the summary and histogram of each length, and the scripts.
    lengths: Mapping[str, Mapping[str, Any]]
    #: How many references, answers, messages, ... records have, and turns answers.
    sizes: Mapping[str, Mapping[str, Any]]
    #: Of each field that some record has: how often it is there, and where it lacks.
    fields: tuple[Mapping[str, Any], ...]
    #: The fields that no record has.
    absent: tuple[str, ...]
    #: The most frequent values of models, categories, and the like, by field.
    values: Mapping[str, Mapping[str, Any]]
    #: What is repeated among prompts, answers and ids.
    duplicates: Mapping[str, Mapping[str, Any]]
    #: The sums of the token counts that answers store, by model and in all.
    tokens: Mapping[str, Any]
    #: The times that answers store, in milliseconds, by kind; None for too many kinds.
    times: Mapping[str, Mapping[str, Any]] | None
    #: How many scores answers store, by evaluation and metric; None for too many.
    scores: tuple[Mapping[str, Any], ...] | None
    #: How many scores answers store in all.
    score_count: int
    #: The report of validation on the inputs.
    report: Report
    #: Whether the inputs were not read to their end.
    is_broken: bool
    #: Notes on the run, for people.
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the inputs were read as asked for."""
        return not self.is_broken and self.report.ok_without_invalid

    @property
    def skipped(self) -> int:
        """The invalid records that were left out, as the options ask."""
        return sum(file.invalid + file.undetermined for file in self.report.files)

    def raise_for_errors(self) -> None:
        """Raise `ValidationFailed` unless the whole input was read."""
        if self.is_broken:
            raise validation_failed(self.report)

    def headline(self) -> str:
        """Return the number of records, questions and answers in one line."""
        counts = {
            "record": self.records,
            "question": self.questions,
            "answer": self.answers,
        }
        return ", ".join(
            f"{count:,} {noun}{'' if count == 1 else 's'}"
            for noun, count in counts.items()
        )

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each length of each text, with its summary."""
        return [
            {"text": name, "unit": unit, **_without_histogram(lengths[unit])}
            for name, lengths in self.lengths.items()
            for unit in UNITS
        ]

    def shown_tables(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield the tables that notebooks and Markdown show, each with its caption."""
        return _tables(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as plain data that can be written as JSON."""
        return {
            "schema": SCHEMA,
            "ok": self.ok,
            "records": self.records,
            "questions": self.questions,
            "answers": self.answers,
            "skipped": self.skipped,
            "files": [
                {"path": file.path, "format": file.format, "records": file.records}
                for file in self.report.files
                if not file.skipped
            ],
            "lengths": self.lengths,
            "sizes": self.sizes,
            "fields": list(self.fields),
            "absent": list(self.absent),
            "values": self.values,
            "duplicates": self.duplicates,
            "tokens": self.tokens,
            "times": self.times,
            "scores": None if self.scores is None else list(self.scores),
            "score_count": self.score_count,
            "notes": list(self.notes),
        }


def _without_histogram(summary: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key != "histogram"}


def statistics_of(  # noqa: PLR0913 - the parts of one result
    counts: Counts,
    duplicates: Mapping[str, Repetitions],
    files: list[str],
    report: Report,
    *,
    top: int,
    is_broken: bool,
    notes: tuple[str, ...] = (),
) -> Statistics:
    """Return the statistics of counts over records in `files`, named by their number.

    Values are listed up to `top`.
    """
    fields = counts.fields
    return Statistics(
        records=counts.records,
        answers=counts.answers,
        questions=duplicates["prompts"].distinct,
        lengths=_lengths(counts),
        sizes={name: counts.sizes[name].summary() for name in sorted(counts.sizes)},
        fields=tuple(
            _field(path, count, files)
            for path, count in fields.items()
            if count.is_known
        ),
        absent=tuple(path for path, count in fields.items() if not count.is_known),
        values={
            name: counts.values[name].summary(top)
            for name in VALUES
            if name in counts.values
        },
        duplicates={
            kind: _repetitions(found, files) for kind, found in duplicates.items()
        },
        tokens=_tokens(counts),
        times=_times(counts),
        scores=None if counts.scores.has_too_many else tuple(_scores(counts)),
        score_count=counts.scores.total,
        report=report,
        is_broken=is_broken,
        notes=notes,
    )


def _lengths(counts: Counts) -> dict[str, Any]:
    found = {}
    for name in TEXTS:
        if name in counts.texts:
            lengths = counts.texts[name]
            found[name] = {
                unit: {
                    **getattr(lengths, unit).summary(),
                    "histogram": getattr(lengths, unit).histogram(),
                }
                for unit in UNITS
            }
            found[name]["scripts"] = dict(
                sorted(lengths.scripts.items(), key=lambda item: (-item[1], item[0]))
            )
    return found


def _field(path: str, count: FieldCount, files: list[str]) -> dict[str, Any]:
    return {
        "field": path,
        "count": count.count,
        "missing": _lacking(count.missing, files),
        "null": _lacking(count.null, files),
        "empty": _lacking(count.empty, files),
    }


def _lacking(lacking: Lacking, files: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"count": lacking.count}
    if lacking.first is not None:
        found["first"] = {**_place(lacking.first, files), "line": lacking.first.line}
    return found


def _place(place: RecordPlace, files: list[str]) -> dict[str, Any]:
    return {"path": files[place.file], "record": place.record}


def _repetitions(found: Repetitions, files: list[str]) -> dict[str, Any]:
    return {
        "count": found.count,
        "distinct": found.distinct,
        "repeated": found.repeated,
        "surplus": found.surplus,
        "first": [
            {
                "count": each.count,
                "places": [_place(place, files) for place in each.places],
            }
            for each in found.first
        ],
    }


def _tokens(counts: Counts) -> dict[str, Any]:
    tokens = counts.tokens
    models: dict[str, dict[str, Any]] = {}
    for model, kind in sorted(tokens.sums):
        number, total = tokens.sums[model, kind]
        models.setdefault(model, {})[kind] = {"answers": number, "sum": total}
    return {
        "models": None
        if tokens.has_too_many
        else [{"model": name, "counts": kinds} for name, kinds in models.items()],
        "all": None
        if tokens.has_too_many_kinds
        else {
            kind: {"answers": tokens.totals[kind][0], "sum": tokens.totals[kind][1]}
            for kind in sorted(tokens.totals)
        },
    }


def _times(counts: Counts) -> dict[str, Any] | None:
    """Return the summaries of times in milliseconds, None for too many kinds."""
    if counts.times.has_too_many:
        return None
    found = {}
    for kind in sorted(counts.times.kinds):
        summary = counts.times.kinds[kind].summary()
        found[kind] = {
            name: value if name in {"count", "exact"} else value / MICROSECONDS
            for name, value in summary.items()
        }
    return found


def _scores(counts: Counts) -> Iterator[dict[str, Any]]:
    for evaluation, metric in sorted(counts.scores.counts):
        found = counts.scores.counts[evaluation, metric]
        named = {name: found[name] for name in OUTCOMES}
        yield {"evaluation": evaluation, "metric": metric, **named}


def _tables(found: Statistics) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the tables that notebooks and Markdown show, each with its caption."""
    yield "Lengths", found.table()
    lacks = ("missing", "null", "empty")
    lacking = (
        {"field": field["field"], "of": field["count"]}
        | {name: field[name]["count"] for name in lacks}
        for field in found.fields
    )
    yield "Fields", [row for row in lacking if any(map(row.get, lacks))]
    yield (
        "Values",
        [
            {
                "field": name,
                "value": one["value"] or "(empty)",
                "count": one["count"],
            }
            for name, values in found.values.items()
            for one in values["top"]
        ],
    )
    yield (
        "Repetitions",
        [
            {"of": kind, "compared": each["count"], "repeated": each["surplus"]}
            for kind, each in found.duplicates.items()
        ],
    )
    every = {"model": "(all)", "counts": found.tokens["all"] or {}}
    yield (
        "Tokens",
        [
            {"model": one["model"], "count of": kind, **counts}
            for one in found.tokens["models"] or [every]
            for kind, counts in one["counts"].items()
        ],
    )
