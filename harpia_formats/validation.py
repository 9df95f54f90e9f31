"""Validate files: from bytes to problems, and to a report that counts them all."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import TextIOBase
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from harpia_formats.blocks import Blocks
from harpia_formats.bytestream import SourceError
from harpia_formats.discovery import find_sources
from harpia_formats.format import Format
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

Input = str | PathLike[str] | bytes | BinaryIO | Source


class Validation:
    """One run over some inputs: iterate for the problems, then ask for the report.

    Raises `UnknownFormat`, `UnknownRule` or `SchemaError` when it is made with
    options that cannot be met, `ValueError` without an input, and `TypeError` for what
    is no input; what cannot be read is told in the report.
    """

    def __init__(self, inputs: Iterable[Input], options: Options) -> None:
        self._inputs = [_checked(each) for each in inputs]
        if not self._inputs:
            raise ValueError("there is nothing to validate")
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
                if self._options.fail_fast and count.errors:
                    return
                yield from pairs.completed_by(inspection.judged(each), count)
            pairs.check_used()

    def report(self) -> Report:
        """Return the counts of what was read so far."""
        return self._tally.report()

    def _sources(self) -> Iterator[Source]:
        """Yield what the inputs name, once; one that names nothing is a failed file."""
        seen: set[Path | int] = set()
        names: Counter[str] = Counter()
        for each in self._inputs:
            try:
                found = _sources_of(each)
            except SourceError as error:
                self._tally.begin(error.path).reason = error.reason
                continue
            for source in found:
                if _is_new(source, seen):
                    names[source.name] += 1
                    yield _numbered(source, names[source.name])


def _sources_of(given: Input) -> list[Source]:
    if isinstance(given, Source):
        return [given]
    if isinstance(given, bytes):
        return [Source("<data>", given)]
    if isinstance(given, (str, PathLike)):
        return find_sources([given])
    return [Source(str(getattr(given, "name", "<stream>")), given)]


def _checked(given: Any) -> Input:
    """Return `given` if it is an input; raise `TypeError` if it is none."""
    known = isinstance(given, (Source, bytes, str, PathLike))
    if not known and (isinstance(given, TextIOBase) or not hasattr(given, "read")):
        kind = type(given).__name__
        raise TypeError(f"an input is a path, bytes or an open binary file, not {kind}")
    checked: Input = given
    return checked


def _is_new(source: Source, seen: set[Path | int]) -> bool:
    """Note in `seen` where `source` reads from; tell whether it was not there yet."""
    origin = source.origin
    if isinstance(origin, bytes):
        return True
    # Not resolved: a link and its target are two names of the user's.
    key = origin.absolute() if isinstance(origin, Path) else id(origin)
    is_new = key not in seen
    seen.add(key)
    return is_new


def _numbered(source: Source, number: int) -> Source:
    """Return `source` with a name of its own, where others are called the same."""
    name = f"{source.name} ({number})"
    return source if number == 1 else replace(source, name=name)


def _inspect(
    source: Source, inspection: Inspection, count: FileCount, pairs: Pairs
) -> Iterator[Problem]:
    try:
        with SecondLook(source) as again, open_source(source) as reader:
            blocks = Blocks(reader, count, again.copy)
            yield from inspection.problems(blocks, count, again)
            yield from pairs.given_for(inspection.judged(source))
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
