"""Say what a preflight would check, without reading more than it has to."""

import os
from collections.abc import Iterator
from pathlib import Path

from harpia_formats.expectations.plan import DataSet, Plan
from harpia_formats.expectations.run import Preflight
from harpia_formats.files.io.exclude import Exclusion
from harpia_formats.files.io.inputs import sources_of_inputs
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.text.sanitize import safe
from harpia_formats.model.text.words import with_noun

#: Files of a data set that are listed.
_LISTED = 20


def description(plan: Plan, run: Preflight) -> Iterator[str]:
    """Yield the lines of what is checked: files with their sizes, and expectations."""
    checks = run.report_before().checks
    for data_set in plan.data_sets:
        values = data_set.values
        shown = values.get("format") or values.get("schema") or "format detected"
        yield f"{safe(data_set.name)} ({safe(shown)}):"
        yield from _files(data_set)
        for check in checks:
            if check.data_set == data_set.name:
                where = f" ({safe(check.path)}:{check.line})" if check.key else ""
                yield f"  to check: {safe(check.expected, 500)}{where}"
    yield f"nothing was checked: {with_noun(len(checks), 'expectation')} to check"


def _files(data_set: DataSet) -> Iterator[str]:
    """Yield a line for each file of a data set, the first ones of many."""
    exclusion = Exclusion(data_set.values.get("exclude", ()))
    found = list(sources_of_inputs(data_set.inputs(), exclusion, all_unpackers()))
    for source in found[:_LISTED]:
        if isinstance(source, SourceError):
            yield f"  {safe(source.path)}: {source.reason}"
        else:
            yield f"  {safe(source.name)}{_size(source)}"
    if len(found) > _LISTED:
        yield f"  and {with_noun(len(found) - _LISTED, 'more file')}"


def _size(source: Source) -> str:
    """Return the size of a file in parentheses, "" if it is not known."""
    if not isinstance(source.origin, Path):
        return ""
    try:
        return f" ({with_noun(os.stat(source.origin).st_size, 'byte')})"  # noqa: PTH116 - raises the same
    except OSError:
        return ""
