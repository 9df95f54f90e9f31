"""Check files that hold JSON Schemas: from bytes to problems, and to a report."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from harpia_formats.files.framing.chunk import BOM, Cursor, FramingFault, is_blank
from harpia_formats.files.io.discovery import Exclusion, check_patterns
from harpia_formats.files.io.inputs import Input, checked_inputs, sources_of_inputs
from harpia_formats.files.io.reader import LARGEST, SourceError
from harpia_formats.files.io.source import Source, open_source
from harpia_formats.formats.registry import rules_for
from harpia_formats.formats.rules import selected_rules
from harpia_formats.formats.schema.bundled_schemas import SchemaError
from harpia_formats.formats.schema.check.find_mistakes import find_mistakes
from harpia_formats.formats.schema.user_schema import check_depth
from harpia_formats.model.problem import OptionError, Problem
from harpia_formats.model.report import JSON_SCHEMA, FileCount, Report
from harpia_formats.validation.diagnosis.root_causes import (
    Finding,
    find_json_fault,
    find_repeated_keys,
)
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.plan.units import Broken
from harpia_formats.validation.unit.collector import Collector, report_broken


@dataclass(frozen=True, slots=True)
class SchemaCheckOptions:
    """How schemas are checked; the fields are those of `validate`."""

    #: Codes, prefixes and names of rules.
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    #: Check also the rules that are not checked by default.
    lint: bool = False
    #: Examples kept of each group, and in all; 0 is no cap.
    examples: int = 5
    max_problems: int = 1000
    #: Patterns of paths below the given folders; files that match are left out.
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_patterns(self.exclude)
        for name in ("examples", "max_problems"):
            if getattr(self, name) < 0:
                raise OptionError(f"{name} must be at least 0")


class SchemaCheck:
    """One check of some inputs: iterate for the problems, then ask for the report.

    Each file holds one schema. Raises `UnknownRule` when it is made with a rule that
    does not exist, `ValueError` without an input, and `TypeError` for what is no input;
    what cannot be read is noted in the report.
    """

    def __init__(self, inputs: Iterable[Input], options: SchemaCheckOptions) -> None:
        self._inputs = checked_inputs(inputs)
        self._options = options
        self._exclusion = Exclusion(options.exclude)
        rules = rules_for(asked=[*options.select, *options.ignore])
        active = selected_rules(
            rules, list(options.select), list(options.ignore), lint=options.lint
        )
        self._rules = {code: rules[code] for code in active}
        self._tally = Tally(options.examples, options.max_problems)

    def __iter__(self) -> Iterator[Problem]:
        for source in sources_of_inputs(self._inputs, self._exclusion):
            if isinstance(source, SourceError):
                self._tally.begin(source.path).reason = source.reason
                continue
            count = self._tally.begin(source.name)
            try:
                text = _text_of(source)
                collector = self._checked(text, count)
            except SourceError as error:
                count.reason = error.reason
                continue
            except SchemaError as error:
                count.reason = error.reason
                continue
            count.bytes, count.complete = len(text), True
            yield from self._tally.keep(count, collector.take())
            count.invalid = int(count.errors > 0)
        self._tally.excluded = self._exclusion.count
        self._tally.unmatched = self._exclusion.unmatched

    def report(self) -> Report:
        """Return the counts of what was checked so far."""
        return self._tally.report()

    def _checked(self, text: bytes, count: FileCount) -> Collector:
        """Return the problems of a schema file. Raises `SchemaError`."""
        collector = Collector(
            self._rules,
            count.path,
            self._options.examples,
            lambda: self._tally.demand(count),
        )
        start = Cursor()
        if text.startswith(BOM):
            report_broken(Broken(FramingFault("bom", start, len(BOM))), collector, 0)
            text, start = text[len(BOM) :], Cursor(len(BOM))
        if is_blank(text):
            report_broken(Broken(FramingFault("empty", start)), collector, 0)
            return collector
        count.format, count.records = JSON_SCHEMA, 1
        value, findings = _findings(text, count.path)
        active = [each for each in findings if each.code in self._rules]
        row = RowContext(count.path, text, start, None, value)
        active.sort(key=lambda each: _order_of(each, row))
        collector.add_findings(active, lambda _: row, schema=True)
        return collector


def _text_of(source: Source) -> bytes:
    """Return the bytes of a schema file. Raises `SourceError`."""
    blocks: list[bytes] = []
    size = 0
    with open_source(source) as reader:
        for block in reader:
            blocks.append(block)
            size += len(block)
            if size > LARGEST:
                reason = f"is too large for a schema: more than {LARGEST:,} bytes"
                raise SourceError(source.name, reason)
    return b"".join(blocks)


def _findings(text: bytes, name: str) -> tuple[Any, list[Finding]]:
    """Return the value of a text, and what is wrong with it. Raises `SchemaError`."""
    fault = find_json_fault(0, text)
    if fault is not None:
        return None, [fault]
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SchemaError(name, f"cannot be read as JSON: {error}") from error
    check_depth(name, value)
    repeated = find_repeated_keys(0, text, value)
    mistakes = find_mistakes(value)
    return value, [
        *repeated,
        *(Finding(remark.code, 0, remark, value) for remark in mistakes),
    ]


def _order_of(finding: Finding, row: RowContext) -> int:
    """Return the byte at which a finding is placed, or 0 for JSON syntax errors."""
    return 0 if finding.is_fault else row.bytes_of(finding.path)[0]
