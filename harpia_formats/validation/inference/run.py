"""Infer a schema from all rows of some inputs."""

from collections.abc import Generator, Iterable, Iterator
from pathlib import PurePath

from harpia_formats.files.io.exclude import Exclusion
from harpia_formats.files.io.inputs import Input, checked_inputs, sources_of_inputs
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source, open_source
from harpia_formats.formats.registry import all_rules, all_unpackers
from harpia_formats.formats.schema.load import SchemaError
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import FileCount
from harpia_formats.validation.inference.options import InferOptions
from harpia_formats.validation.inference.result import InferredSchema
from harpia_formats.validation.inference.row_values import RowValues
from harpia_formats.validation.inference.seen import Seen
from harpia_formats.validation.inference.to_schema import schema_of
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.redaction import problems_shown, redaction_of
from harpia_formats.validation.unit.collector import Collector

#: Places that are described in all, so that memory is bounded.
PLACES = 20_000
#: Batches of rows after which the places are counted.
_BATCHES = 16


class Inference:
    """One run over some inputs: iterate for the problems, then ask for the result.

    Raises `ValueError` without an input, and `TypeError` for what is no input, when it
    is made; what cannot be read is noted in the report.
    """

    def __init__(self, inputs: Iterable[Input], options: InferOptions) -> None:
        self._inputs = checked_inputs(inputs)
        self._options = options
        self._redaction = redaction_of(options)
        self._exclusion = Exclusion(options.exclude)
        self._seen = Seen()
        self._tally = Tally()
        self._names: list[str] = []

    def __iter__(self) -> Generator[Problem, None, None]:  # noqa: PYI058 - it is closed
        """Yield the problems; raises `SchemaError` for too many different keys."""
        yield from problems_shown(self._stream(), self._redaction)

    def _stream(self) -> Generator[Problem, None, None]:
        for source in self._sources():
            if isinstance(source, SourceError):
                self._tally.begin(source.path).reason = source.reason
                continue
            count = self._tally.begin(source.name)
            try:
                yield from self._file(source, count)
            except SourceError as error:
                count.reason = error.reason
        self._tally.excluded = self._exclusion.count
        self._tally.unmatched = self._exclusion.unmatched

    def _sources(self) -> Iterator[Source | SourceError]:
        """Yield the files of the inputs, and errors for what cannot be read."""
        return sources_of_inputs(self._inputs, self._exclusion, all_unpackers())

    def _file(self, source: Source, count: FileCount) -> Generator[Problem, None, None]:
        """Read the rows of a file; raises `SourceError` and `SchemaError`."""
        collector = Collector(
            all_rules(),
            count.path,
            self._tally.examples,
            lambda: self._tally.demand(count),
        )
        with open_source(source) as reader:
            values = RowValues(source.name, reader, self._options, collector)
            for number, batch in enumerate(values):
                if batch:
                    self._seen.add(batch)
                if number % _BATCHES == 0:
                    self._check_places(source.name)
                yield from self._tally.keep(count, collector.take())
                if self._options.progress is not None:
                    self._options.progress(reader)
            changed = reader.change()
        yield from self._tally.keep(count, collector.take())
        self._check_places(source.name)
        count.records, count.complete = values.rows, changed is None
        count.reason = changed.reason if changed is not None else None
        self._names.append(PurePath(source.name).name)

    def _check_places(self, name: str) -> None:
        """Raise `SchemaError` if there is too much to describe."""
        if self._seen.nodes > PLACES:
            reason = (
                f"no schema can be inferred: the rows have more than {PLACES:,} "
                "different keys, counted by their places"
            )
            raise SchemaError(name, reason)

    def result(self) -> InferredSchema:
        """Return the schema of what was read. Raises `SchemaError` without a row."""
        report = self._tally.report()
        if self._redaction is not None:
            report = self._redaction.report(report)
        rows = self._seen.count
        if not report.ok:
            return InferredSchema(None, rows, report)
        if not rows:
            name = report.files[0].path if report.files else "the input"
            raise SchemaError(name, "there are no rows to infer a schema from")
        files = len(self._names)
        of = self._names[0] if files == 1 else f"{files:,} files"
        schema = schema_of(self._seen, self._options, f"Rows of {of}")
        return InferredSchema(schema, rows, report)
