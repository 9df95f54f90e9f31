"""Write a preflight file that data sets meet as they are, to be edited."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.reading.companions import is_companion_format
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.expectations.data_set_run import DataSetRun
from harpia_formats.expectations.field_limits import number_of
from harpia_formats.expectations.outcomes import RecordFindings
from harpia_formats.expectations.preflight_file import used_variables
from harpia_formats.expectations.preflight_keys import BY_NAME
from harpia_formats.expectations.preflight_plan import (
    DataSet,
    PreflightOptions,
    Stated,
    located,
)
from harpia_formats.expectations.record_limits import (
    RecordLimit,
    is_missing,
    prompt_texts,
)
from harpia_formats.expectations.relations import AnswersPerQuestion
from harpia_formats.files.io.urls import is_url
from harpia_formats.files.toml import toml_value
from harpia_formats.formats.detection.detect_files import detect_files
from harpia_formats.formats.registry import adapter_of, format_of
from harpia_formats.model.describe import with_noun
from harpia_formats.model.report import FileCount, Report
from harpia_formats.model.safe_text import is_utf_8

#: Different models and values that are remembered.
_NAMES = 100
#: The fields whose values are counted.
FIELDS = ("category", "source")


@dataclass(slots=True)
class Facts(RecordLimit):
    """Counts over the records of a data set."""

    models: Counter[str] = field(default_factory=Counter)
    outputs: int = 0
    #: Answers as they are counted for `max-missing-answers`.
    answers: int = 0
    missing: int = 0
    #: Characters of the longest prompt.
    longest: int = 0
    #: The values of each field, and whether each record has one.
    values: dict[str, set[str]] = field(
        default_factory=lambda: {name: set() for name in FIELDS}
    )
    always: dict[str, bool] = field(
        default_factory=lambda: dict.fromkeys(FIELDS, True)  # until one has none
    )
    #: The least and the greatest score, None without scores or if some are no numbers.
    scores: tuple[Decimal, Decimal] | None = None
    _has_other_scores: bool = False
    #: How often each model answers each question, 0 if not equally often.
    times: int = 0
    _questions: AnswersPerQuestion = field(
        default_factory=lambda: AnswersPerQuestion(1, (), RecordFindings(1))
    )

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Count what a record holds."""
        record = placed.record
        for output in record.outputs:
            name = output.model or ""
            if name in self.models or len(self.models) < _NAMES:
                self.models[name] += 1
        self.outputs += len(record.outputs)
        self.answers += len(record.outputs) or 1
        self.missing += sum(map(is_missing, record.outputs)) + (not record.outputs)
        self.longest = max(self.longest, sum(map(len, prompt_texts(record))))
        for name, values in self.values.items():
            value = getattr(record, name)
            if value is UNSET:
                self.always[name] = False
            elif len(values) < _NAMES:
                values.add(value)
        for output in record.outputs:
            for score in output.scores or ():
                self._take_score(score.value)
        self._questions.take(placed, count)

    def _take_score(self, value: Any) -> None:
        number = number_of(value)
        if number is None or not number.is_finite():
            self._has_other_scores |= value is not UNSET and value is not None
            return
        least, most = self.scores or (number, number)
        self.scores = min(least, number), max(most, number)

    def end(self) -> None:
        """Finish the counts after the last record."""
        if self.outputs:
            self.times = self._questions.common_times()
        if self._has_other_scores:
            self.scores = None

    def close(self) -> None:
        """Delete temporary files."""
        self._questions.close()


_START = """\
# What `harpia-formats preflight` expects of these data sets, from the data as it is.
# Edit it: lines that begin with # are proposals.
# A text may hold ${NAME}, which --var NAME=VALUE gives a value.

# reports = ["preflight.json"]
"""
#: What to do with a file in no known format.
_BY_HAND = (
    'write its data set yourself, such as with format = "json" and a map, or '
    'format = "csv", a map and a delimiter'
)
#: Why a file is not named: TOML is in UTF-8.
_OTHER_BYTES = "its path is not UTF-8, so that no preflight file can name it"
#: Likewise: texts of preflight files have variables.
_VARIABLE = "its path has a ${NAME}, which a preflight file takes for a variable"
#: The greatest bound of scores that is proposed.
_LARGEST = 10**15
#: Files of one data set that are named one by one.
_NAMED = 3
#: Models, and values of a field, that are proposed.
_PROPOSED = 20


@dataclass(frozen=True, slots=True)
class PreflightFile:
    """The text of a preflight file, and the report of the validation it is from."""

    text: str
    report: Report


@dataclass(frozen=True, slots=True)
class _Found:
    """Files of one format in one folder."""

    format: str
    paths: tuple[str, ...]


def preflight_file(inputs: Iterable[str], folder: Path) -> PreflightFile:
    """Return a preflight file for data, whose paths start from `folder`.

    Nothing can be proposed of a file in no known format; the report says why.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    documents: dict[tuple[str, str], list[str]] = {}
    unread: list[FileCount] = []
    for detected in detect_files(inputs):
        if detected.reason is not None or detected.format is None:
            reason = detected.reason or f"{detected.why}; {_BY_HAND}"
            unread += [FileCount(detected.path, reason=reason)] * (not detected.skipped)
        elif detected.contested:
            unread.append(FileCount(detected.path, reason=detected.contested))
        elif not is_utf_8(_relative(detected.path, folder)):
            unread.append(FileCount(detected.path, reason=_OTHER_BYTES))
        elif used_variables({"files": _relative(detected.path, folder)}):
            unread.append(FileCount(detected.path, reason=_VARIABLE))
        else:
            key = os.path.dirname(detected.path), detected.format  # noqa: PTH120 - as named
            into = documents if is_companion_format(detected.format) else groups
            into.setdefault(key, []).append(detected.path)
    # Documents that belong to files of rows are data where there are no such files.
    groups = groups or documents
    found = [_Found(name, tuple(paths)) for (_, name), paths in groups.items()]
    names = _names(found)
    sections = [_START]
    reports = []
    formats = dict(zip(names, (one.format for one in found), strict=True))
    for name, one in zip(names, found, strict=True):
        others = {other: id_ for other, id_ in formats.items() if other != name}
        text, report = _section(name, one, folder, others)
        sections.append(text)
        reports.append(report)
    files = tuple(file for report in reports for file in report.files)
    whole = Report(files=(*unread, *files), groups=(), problems=())
    return PreflightFile("\n".join(sections), whole)


def _section(
    name: str, found: _Found, folder: Path, others: Mapping[str, str]
) -> tuple[str, Report]:
    """Return the table of a data set, and the report of its validation."""
    values = {"files": found.paths, "format": found.format}
    stated = Stated("", (), 0, "", 0)
    facts = Facts()
    format_ = format_of(found.format)
    more = [facts] if format_.adapter else []
    data_set = DataSet(name, values, {"": stated}, "")
    run = DataSetRun(data_set, PreflightOptions(), more=more)
    try:
        run.check([])
        for _ in run:
            pass
        facts.end()
        report = run.report()
        lines = list(_lines(name, found, folder, report))
        if format_.adapter:
            lines += _lines_of_records(facts, format_.id, others)
    finally:
        run.close()
        facts.close()
    return "".join(f"{line}\n" for line in lines), report


def _lines(name: str, found: _Found, folder: Path, report: Report) -> Iterator[str]:
    """Yield the lines on files and counts."""
    sums = report.summary()
    yield f"[datasets.{name}]"
    yield f"files = {_files(found.paths, folder)}"
    yield f"format = {toml_value(found.format)}"
    yield f"min-records = {sums['records']}"
    yield f"# max-records = {sums['records']}"
    if sums["invalid"]:
        yield f'# max-invalid = "1 %"  # {with_noun(sums["invalid"], "record")} now'
    warnings = sums["warnings"]
    share = f"{warnings}" if warnings else '"1 %"'
    yield f"# max-warnings = {share}  # {with_noun(warnings, 'warning')} now"


def _lines_of_records(
    facts: Facts, format_: str, others: Mapping[str, str]
) -> Iterator[str]:
    """Yield the lines on what records hold."""
    models = sorted(facts.models)

    def can(key: str) -> bool:
        return _carries_what_is_needed(format_, key)

    if "" not in models and _are_proposed(models) and can("models"):
        yield f"models = {toml_value(models)}"
    if facts.times and can("answers-per-question"):
        yield f"answers-per-question = {facts.times}"
    if facts.outputs and can("max-missing-answers"):
        share = '"1 %"' if not facts.missing else f"{facts.missing}"
        missing = f"{facts.missing:,} of {facts.answers:,} now"
        yield f"max-missing-answers = {share}  # {missing}"
    if facts.longest and can("max-prompt-characters"):
        yield f"# max-prompt-characters = {facts.longest}  # the longest now"
    for key, bound in zip(
        ("min-values", "max-values"), facts.scores or (), strict=False
    ):
        # TOML holds numbers of 64 bits; others would be read as another bound.
        if Decimal(str(float(bound))) == bound and abs(bound) < _LARGEST:
            yield f'# {key} = {{ "outputs.scores.value" = {bound:f} }}'
    allowed = [
        f"{field} = {toml_value(sorted(values))}"
        for field, values in facts.values.items()
        if _are_proposed(sorted(values)) and facts.always[field]
    ]
    if allowed:
        yield f"# allowed-values = {{ {', '.join(allowed)} }}"
    relations = (
        (key, other)
        for key in ("ids-in", "prompts-in")
        for other, id_ in others.items()
        if can(key) and _carries_what_is_needed(id_, key)
    )
    if facts.outputs and (relation := next(relations, None)):
        key, other = relation
        yield f"# {key} = {toml_value(other)}"


def _are_proposed(texts: Sequence[str]) -> bool:
    """Tell whether texts are few, and none has what would be taken for a variable."""
    return 0 < len(texts) <= _PROPOSED and not used_variables({"": texts})


def _carries_what_is_needed(format_: str, key: str) -> bool:
    """Tell whether records of a format have the fields that an expectation needs."""
    found = format_of(format_)
    return bool(found.adapter) and all(
        any(map(adapter_of(found).carries, paths)) for paths in BY_NAME[key].needs
    )


def _names(found: Sequence[_Found]) -> list[str]:
    """Return a name for each data set: of its file, or the folder of several files."""
    names: dict[str, None] = {}
    for one in found:
        path = one.paths[0]
        stem = path if len(one.paths) == 1 else os.path.dirname(path) or one.format  # noqa: PTH120 - as named
        plain = re.sub(r"[^A-Za-z0-9_-]+", "-", os.path.basename(stem).split(".")[0])  # noqa: PTH119 - also a URL
        name = first = plain.strip("-") or "data"
        number = 1
        while name in names:
            number += 1
            name = f"{first}-{number}"
        names[name] = None
    return list(names)


def _files(paths: Sequence[str], folder: Path) -> str:
    """Return the value of `files`: the paths, or a pattern that only they match."""
    shown = [_relative(path, folder) for path in paths]
    if len(shown) == 1:
        return toml_value(shown[0])
    first, parent = paths[0], os.path.dirname(paths[0])  # noqa: PTH120 - as named
    suffix = "".join(Path(first).suffixes)
    if len(shown) > _NAMED and suffix and not is_url(first):
        there = {str(path) for path in Path(parent or ".").glob(f"*{suffix}")}
        if there == {str(Path(path)) for path in paths}:
            return toml_value(_relative(os.path.join(parent, f"*{suffix}"), folder))  # noqa: PTH118 - as named
    return toml_value(shown)


def _relative(path: str, folder: Path) -> str:
    """Return a path from a folder that leads to the same file, or a URL as it is."""
    if is_url(path):
        return path
    relative = os.path.relpath(path, folder)
    if os.path.realpath(located(relative, str(folder))) == os.path.realpath(path):
        return relative
    # With a link on the way, `..` is not the folder that the path names before it.
    parent, name = os.path.split(path)
    real = os.path.realpath(parent), os.path.realpath(folder)
    return os.path.join(os.path.relpath(*real), name)  # noqa: PTH118 - as named
