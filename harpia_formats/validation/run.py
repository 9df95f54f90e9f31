"""Validate files: from bytes to problems, and to a report that counts them all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harpia_formats.io.compression import CODECS
from harpia_formats.io.inputs import Input, checked_inputs, sources_of_inputs
from harpia_formats.io.reader import SourceError
from harpia_formats.io.remote.file import RemoteFile
from harpia_formats.io.source import Source
from harpia_formats.io.urls import is_url
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import FileCount, Report
from harpia_formats.registry import all_formats, formats_named, rules_for
from harpia_formats.rules import Rule, selected_rules
from harpia_formats.validation.companion_files import Pairs
from harpia_formats.validation.file.emit import Speaker
from harpia_formats.validation.file.outcomes import Outcomes
from harpia_formats.validation.file.run import inspected
from harpia_formats.validation.file.tally import Tally
from harpia_formats.validation.file.validator import Inspection
from harpia_formats.validation.options import Options

if TYPE_CHECKING:  # most runs need no help
    from harpia_formats.validation.parallel.messages import FoundFile, Job
    from harpia_formats.validation.parallel.small_files import Judged
    from harpia_formats.workers.pool import Died, WorkerPool

#: Bytes of a file for which nobody else is asked to help.
LITTLE = 1024 * 1024


class Validation:
    """One run over some inputs: iterate for the problems, then ask for the report.

    Raises `UnknownFormat`, `UnknownRule` or `SchemaError` when it is made with
    options that cannot be met, `ValueError` without an input, and `TypeError` for what
    is no input; what cannot be read is told in the report.
    """

    def __init__(self, inputs: Iterable[Input], options: Options) -> None:
        self._inputs = checked_inputs(inputs)
        self._options = options
        self._formats = _formats_asked(options.format)
        asked = (*options.select, *options.ignore)
        self._rules = rules_for(self._formats, asked)
        self._active = selected_rules(
            self._rules, list(options.select), list(options.ignore), lint=options.lint
        )
        self._schema = _given_schema(options.schema)
        self._tally = Tally(options.examples, options.max_problems)

    def __iter__(self) -> Iterator[Problem]:
        rules = {code: self._rules[code] for code in self._active}
        pairs = Pairs(self._options, self._tally)
        with pairs, self._pool() as pool:
            for each, found in self._sources(rules, pool):
                count = self._tally.begin(each.name)
                if found is not None:
                    yield from self._taken(each, found, rules, count, pairs)
                else:
                    yield from self._inspected(each, rules, count, pairs, pool)
                if self._options.fail_fast and self._tally.errors:
                    return
            pairs.check_used()

    def report(self) -> Report:
        """Return the counts of what was read so far."""
        return self._tally.report()

    def _pool(self) -> "AbstractContextManager[WorkerPool | None]":
        """Return who helps, if anybody may."""
        options = self._options
        # Where only the beginning is wanted, nobody should read on.
        is_cut_short = options.fail_fast or options.limit is not None
        is_elsewhere = options.executor is not None or options.engine is not None
        if is_cut_short or (not is_elsewhere and _is_little(self._inputs)):
            return nullcontext()
        from harpia_formats.workers.pool import joined  # noqa: PLC0415 - if there is work for it

        return joined(options.jobs, options.executor, options.engine)

    def _sources(
        self, rules: Mapping[str, Rule], pool: "WorkerPool | None"
    ) -> "Iterator[tuple[Source, FoundFile | Died | None]]":
        """Yield what the inputs name, once; one that names nothing is a failed file.

        Small files come with what was found in them if there are many.
        """
        sources = sources_of_inputs(self._inputs)
        found: Iterator[Judged] = ((each, None) for each in sources)
        if pool is not None:
            from harpia_formats.validation.parallel.small_files import in_batches  # noqa: PLC0415 - as above

            found = in_batches(sources, pool, partial(self._job, rules))
        for each, outcome in found:
            if isinstance(each, SourceError):
                self._tally.begin(each.path).reason = each.reason
            else:
                yield each, outcome

    def _taken(
        self,
        source: Source,
        found: "FoundFile | Died",
        rules: Mapping[str, Rule],
        count: FileCount,
        pairs: Pairs,
    ) -> Iterator[Problem]:
        """Yield what was found in a file elsewhere."""
        from harpia_formats.validation.parallel.merge_file import TakenFile, variant_of  # noqa: PLC0415 - likewise
        from harpia_formats.workers.pool import Died  # noqa: PLC0415 - if others help

        speaker = Speaker(rules, self._tally, count.path)
        taken = TakenFile(source, self._tally, speaker, Outcomes(count), self._options)
        if isinstance(found, Died):
            yield from taken.missed()
            return
        yield from taken.problems(found)
        variant, judged = variant_of(found), taken.judged(found)
        yield from pairs.given_for(variant.format if variant else None, judged)
        yield from pairs.completed_by(judged, count)

    def _job(self, rules: Mapping[str, Rule]) -> "Job":
        """Return how whole files are judged elsewhere."""
        from harpia_formats.validation.parallel.messages import (  # noqa: PLC0415 - as above
            Job,
            new_key,
            plain_options,
        )

        formats = tuple(each.id for each in self._formats)
        options = plain_options(self._options)
        return Job(new_key(), options, tuple(rules), self._schema, formats)

    def _inspected(
        self,
        source: Source,
        rules: Mapping[str, Rule],
        count: FileCount,
        pairs: Pairs,
        pool: "WorkerPool | None",
    ) -> Iterator[Problem]:
        if pool is not None and pool.is_far:
            _have_seen(pool, source)
        inspection = Inspection(
            self._options, rules, self._tally, self._formats, self._schema, pool=pool
        )

        def finish() -> Iterator[Problem]:
            judged = inspection.judged(source)
            return pairs.given_for(inspection.format, judged)

        yield from inspected(source, inspection, count, finish)
        if not (self._options.fail_fast and count.errors):
            yield from pairs.completed_by(inspection.judged(source), count)


def _is_little(inputs: Sequence[Input]) -> bool:
    """Tell whether all there is to read is one small file, not compressed."""
    name = inputs[0]
    if len(inputs) > 1 or not isinstance(name, (str, PathLike)) or is_url(str(name)):
        return False
    if str(name).lower().endswith(tuple(each.suffix for each in CODECS)):
        return False
    try:
        path = Path(name)
        return path.is_file() and path.stat().st_size < LITTLE
    except (OSError, ValueError):
        return False


def _have_seen(pool: "WorkerPool", source: Source) -> None:
    """Have those who work look at a file of ranges before any work on it is done.

    Raises `EngineError`.
    """
    from harpia_formats.detection.splittable import is_plain_lines, splittable_size  # noqa: PLC0415 - if others help
    from harpia_formats.validation.parallel.large_file import HEAD, WORTH  # noqa: PLC0415 - likewise

    origin, size = source.origin, splittable_size(source.origin)
    if size is not None and size >= HEAD + WORTH and is_plain_lines(source):
        assert isinstance(origin, (Path, RemoteFile))  # noqa: S101 - so it has ranges
        pool.see(origin)


def _given_schema(given: Any) -> tuple[str, dict[str, Any] | bool] | None:
    """Return the user's schema with its name, after a careful look."""
    if given is None:
        return None
    from harpia_formats.schema.user_schema import check_schema, user_schema  # noqa: PLC0415 - most runs have none

    if isinstance(given, (dict, bool)):
        check_schema("schema", given)
        return "schema", given
    path = Path(given)
    return path.name, user_schema(path)


def _formats_asked(name: str | None) -> tuple[Format, ...]:
    return tuple(all_formats().values()) if name is None else formats_named(name)
