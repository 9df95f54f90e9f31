"""Validate files: from bytes to problems, and to a report that counts them all."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from harpia_formats.blocks import Blocks
from harpia_formats.bytestream import SourceError
from harpia_formats.format import Format
from harpia_formats.inputs import Input, checked_inputs, sources_behind
from harpia_formats.inspection import Inspection
from harpia_formats.options import Options
from harpia_formats.pairs import Pairs
from harpia_formats.problem import Problem
from harpia_formats.registry import all_formats, all_rules, formats_named
from harpia_formats.report import FileCount, Report
from harpia_formats.rules import selected_rules
from harpia_formats.schema import check_schema, user_schema
from harpia_formats.second_look import SecondLook
from harpia_formats.source import Source, open_source
from harpia_formats.tally import Tally


class Validation:
    """One run over some inputs: iterate for the problems, then ask for the report.

    Raises `UnknownFormat`, `UnknownRule` or `SchemaError` when it is made with
    options that cannot be met, `ValueError` without an input, and `TypeError` for what
    is no input; what cannot be read is told in the report.
    """

    def __init__(self, inputs: Iterable[Input], options: Options) -> None:
        self._inputs = checked_inputs(inputs)
        self._options = options
        self._rules = all_rules()
        self._active = selected_rules(
            self._rules, list(options.select), list(options.ignore), lint=options.lint
        )
        self._schema = _given_schema(options.schema)
        self._formats = _formats_asked(options.format)
        self._tally = Tally(options.examples, options.max_problems)

    def __iter__(self) -> Iterator[Problem]:
        rules = {code: self._rules[code] for code in self._active}
        pairs = Pairs(self._options, self._tally)
        with pairs:
            for each in self._sources():
                inspection = Inspection(
                    self._options, rules, self._tally, self._formats, self._schema
                )
                count = self._tally.begin(each.name)
                yield from _inspect(each, inspection, count, pairs)
                if not (self._options.fail_fast and count.errors):
                    yield from pairs.completed_by(inspection.judged(each), count)
                if self._options.fail_fast and self._tally.errors:
                    return
            pairs.check_used()

    def report(self) -> Report:
        """Return the counts of what was read so far."""
        return self._tally.report()

    def _sources(self) -> Iterator[Source]:
        """Yield what the inputs name, once; one that names nothing is a failed file."""
        for each in sources_behind(self._inputs):
            if isinstance(each, SourceError):
                self._tally.begin(each.path).reason = each.reason
            else:
                yield each


def _inspect(
    source: Source, inspection: Inspection, count: FileCount, pairs: Pairs
) -> Iterator[Problem]:
    try:
        with SecondLook(source) as again, open_source(source) as reader:
            blocks = Blocks(reader, count, again.copy)
            yield from inspection.problems(blocks, count, again)
            judged = inspection.judged(source)
            yield from pairs.given_for(inspection.format, judged)
    except SourceError as error:
        count.reason = error.reason
        return
    if inspection.stopped:
        return
    count.complete = blocks.error is None
    if blocks.error is not None:
        where = _broken_off(count, inspection.last_line)
        count.reason = f"{blocks.error.reason}{where}"


def _broken_off(count: FileCount, last_line: int) -> str:
    """Say how far a file was read, if anything of it was."""
    if not count.bytes:
        return ""
    if not last_line:
        return " (before the end of the first record)"
    records = f"{count.records:,} record{'s' * (count.records != 1)}"
    return f" (after {records}, the last in line {last_line:,})"


def _given_schema(given: Any) -> tuple[str, dict[str, Any] | bool] | None:
    """Return the user's schema with its name, after a careful look."""
    if given is None:
        return None
    if isinstance(given, (dict, bool)):
        check_schema("schema", given)
        return "schema", given
    path = Path(given)
    return path.name, user_schema(path)


def _formats_asked(name: str | None) -> tuple[Format, ...]:
    return tuple(all_formats().values()) if name is None else formats_named(name)
