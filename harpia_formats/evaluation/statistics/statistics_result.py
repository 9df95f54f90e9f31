"""The statistics of a data set: a result that shows itself as a table and as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from harpia_formats.evaluation.statistics.record_counts import (
    MICROSECONDS,
    NUMBER,
    OUTCOMES,
    TEXTS,
    VALUES,
    Counts,
)
from harpia_formats.evaluation.statistics.running_counts import (
    LACKS,
    PERCENTILES,
    FieldCount,
)
from harpia_formats.model.describe import with_noun
from harpia_formats.model.report import Report, validation_failed
from harpia_formats.model.result import Result, as_plain

SCHEMA = "harpia-formats/statistics/1"
#: The three lengths of a text.
UNITS = ("characters", "words", "bytes")
#: The fields of a result that are no parts of its JSON, or stand at its beginning.
_NO_PARTS = {"records", "answers", "questions", "report", "is_broken"}


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
        counts = self.records, self.questions, self.answers
        return ", ".join(map(with_noun, counts, ("record", "question", "answer")))

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each length of each text, with its summary."""
        rows = [
            {"text": name, "unit": unit, **lengths[unit]}
            for name, lengths in self.lengths.items()
            for unit in UNITS
        ]
        return [{name: row[name] for name in self.columns} for row in rows]

    def shown_tables(self) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield the tables that notebooks and Markdown show, each with its caption."""
        yield "Lengths", self.table()
        lacking = [
            {"field": field["field"], "of": field["count"]}
            | {name: field[name]["count"] for name in LACKS}
            for field in self.fields
        ]
        yield "Fields", [row for row in lacking if any(map(row.get, LACKS))]
        yield (
            "Values",
            [
                {"field": field, **one, "value": one["value"] or "(empty)"}
                for field, values in self.values.items()
                for one in values["top"]
            ],
        )
        yield (
            "Repetitions",
            [
                {"of": kind, "compared": each["count"], "repeated": each["surplus"]}
                for kind, each in self.duplicates.items()
            ],
        )
        every = {"model": "(all)", "counts": self.tokens["all"] or {}}
        yield (
            "Tokens",
            [
                {"model": one["model"], "count of": kind, **counts}
                for one in self.tokens["models"] or [every]
                for kind, counts in one["counts"].items()
            ],
        )

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
            **{
                part.name: as_plain(getattr(self, part.name))
                for part in fields(self)
                if part.name not in _NO_PARTS
            },
        }


def statistics_of(  # noqa: PLR0913 - the parts of one result
    counts: Counts,
    duplicates: Mapping[str, Mapping[str, Any]],
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
    known = {path: one for path, one in counts.fields.items() if one.is_known}
    models, every, metrics = (
        counts.tally(name).tree() for name in ("tokens", "all tokens", "scores")
    )
    return Statistics(
        records=counts.records,
        answers=counts.answers,
        questions=duplicates["prompts"]["distinct"],
        lengths={
            name: _lengths(counts, name)
            for name in TEXTS
            if (name, UNITS[0]) in counts.numbers
        },
        sizes={
            name: counts.numbers[name, unit].summary()
            for name, unit in sorted(counts.numbers)
            if unit == NUMBER
        },
        fields=tuple(_field(path, one, files) for path, one in known.items()),
        absent=tuple(path for path in counts.fields if path not in known),
        values={
            name: counts.tallies[name].top(top)
            for name in VALUES
            if name in counts.tallies
        },
        duplicates=duplicates,
        tokens={
            "models": None
            if models is None
            else [{"model": name, "counts": kinds} for name, kinds in models.items()],
            "all": every,
        },
        times=_times(counts) if counts.has_all_times else None,
        scores=None
        if metrics is None
        else tuple(
            {
                "evaluation": evaluation,
                "metric": metric,
                **{name: found[name] for name in OUTCOMES},
            }
            for evaluation, of_metrics in metrics.items()
            for metric, found in of_metrics.items()
        ),
        score_count=counts.tally("scores").total,
        report=report,
        is_broken=is_broken,
        notes=notes,
    )


def _lengths(counts: Counts, name: str) -> dict[str, Any]:
    """Return the lengths of texts as summaries and histograms, and the scripts."""
    found: dict[str, Any] = {}
    for unit in UNITS:
        lengths = counts.numbers[name, unit]
        found[unit] = {**lengths.summary(), "histogram": lengths.histogram()}
    return {**found, "scripts": dict(counts.tally(f"scripts.{name}").ordered())}


def _field(path: str, count: FieldCount, files: list[str]) -> dict[str, Any]:
    """Return how often a field is there, and how often and where first it lacks."""
    found: dict[str, Any] = {"field": path, "count": count.count}
    for how in LACKS:
        found[how] = {"count": 0}
        if how in count.lacks:
            number, (file, record, line) = count.lacks[how]
            first = {"path": files[file], "record": record, "line": line}
            found[how] = {"count": number, "first": first}
    return found


def _times(counts: Counts) -> dict[str, Any]:
    """Return the summaries of times in milliseconds, by kind."""
    return {
        kind: {
            name: value if name in {"count", "exact"} else value / MICROSECONDS
            for name, value in counts.times[kind].summary().items()
        }
        for kind in sorted(counts.times)
    }
