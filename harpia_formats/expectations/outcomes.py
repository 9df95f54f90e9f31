"""Limits, findings on records, and the outcome of an expectation."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from operator import itemgetter

from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.formats.rules import Rule
from harpia_formats.formats.rules.preflight_rules import WITHOUT_VALUES
from harpia_formats.model.describe import with_noun
from harpia_formats.model.format import Container
from harpia_formats.model.problem import Because, Excerpt, Place, Problem, Severity
from harpia_formats.model.report import FileCount
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.unit.findings import Findings

_share = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*")
_WHOLE = 100
#: Digits of a share in a message.
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Limit:
    """The largest amount that is allowed: a number, or a share of all."""

    #: As it is written, such as "1 %".
    text: str
    number: int | None = None
    share: Fraction | None = None

    @property
    def stated(self) -> int | str:
        """The number, or the share as it is written."""
        return self.text if self.number is None else self.number

    @property
    def is_zero(self) -> bool:
        """Whether nothing is allowed."""
        return not (self.number or self.share)

    def allows(self, found: int, total: int) -> bool:
        """Tell whether `found` of `total` are within the limit."""
        if self.share is not None:
            return found <= self.share * total
        assert self.number is not None  # noqa: S101 - it is one or the other
        return found <= self.number

    def found_text(self, found: int, total: int) -> str:
        """Return what was found, such as "5 of 1,204 (0.42 %)"."""
        if self.share is None or not total:
            return f"{found:,} of {total:,}"
        percent = f"{found * _WHOLE / total:.{_DIGITS}g}"
        return f"{found:,} of {total:,} ({percent} %)"


def limit_of(value: object) -> Limit:
    """Return the limit that a TOML value is. Raises `ValueError` with the reason."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise ValueError(f"must be at least 0, not {value}")
        return Limit(f"{value:,}", number=value)
    if isinstance(value, str) and (match := _share.fullmatch(value)):
        share = Fraction(match[1]) / _WHOLE
        if share > 1:
            raise ValueError(f"must be at most 100 %, not {value}")
        return Limit(f"{match[1]} %", share=share)
    hint = ""
    if isinstance(value, float) and 0 <= value < 1:
        percent = (Decimal(str(value)) * _WHOLE).normalize()
        hint = f'; a share is written as "{abs(percent):f} %"'
    raise TypeError(hint)


#: A place, and the line around it for a code frame.
Where = tuple[Place, Excerpt | None]
#: The number of a record, where it is, and what is wrong with it.
Example = tuple[int, Where, str]


@dataclass(slots=True)
class _OfFile:
    """The findings of one file."""

    count: FileCount
    number: int = 0
    examples: list[Example] = field(default_factory=list)


@dataclass(slots=True)
class RecordFindings:
    """Findings of one expectation on records, in any order.

    Of each file the first `most` ones are kept, all if it is 0.
    """

    most: int
    total: int = 0
    _files: dict[int, _OfFile] = field(default_factory=dict)

    def add(
        self,
        count: FileCount,
        number: int,
        where: Callable[[], Where],
        message: Callable[[], str],
    ) -> None:
        """Count a finding on record `number` of the file of `count`."""
        self.total += 1
        file = self._files.setdefault(id(count), _OfFile(count))
        file.number += 1
        examples = file.examples
        if self.most and len(examples) >= self.most:
            if number >= examples[-1][0]:
                return
            examples.pop()
        examples.append((number, where(), message()))
        if len(examples) > 1 and examples[-2][0] > number:
            examples.sort(key=itemgetter(0))

    def merge(self, other: "RecordFindings") -> None:
        """Add the findings of another expectation."""
        for key, found in other._files.items():  # noqa: SLF001 - of its own kind
            file = self._files.setdefault(key, _OfFile(found.count))
            file.number += found.number
            file.examples = sorted((*file.examples, *found.examples), key=itemgetter(0))
            if self.most:
                del file.examples[self.most :]
        self.total += other.total

    def problems(
        self,
        rule: Rule,
        because: Because,
        help_: str,
        tallies: Iterable[Tally],
        *,
        redact: bool = False,
    ) -> Iterator[Problem]:
        """Yield the findings as problems, counted in the tally that has their file.

        They show no line of the data if `redact`.
        """
        for tally in tallies:
            for count in tally.files:
                file = self._files.get(id(count))
                if file is not None:
                    yield from _of_file(
                        file, rule, because, help_, tally, redact=redact
                    )


def _of_file(  # noqa: PLR0913 - a problem has so many parts
    file: _OfFile,
    rule: Rule,
    because: Because,
    help_: str,
    tally: Tally,
    *,
    redact: bool,
) -> Iterator[Problem]:
    """Yield the examples of one file, and count the others."""
    for _, (place, excerpt), message in file.examples:
        problem = Problem(
            rule.code,
            rule.name,
            rule.severity,
            replace(place, pointer=""),
            message,
            (because,),
            help_,
            cause=because.pointer,
            excerpt=None if redact else excerpt,
            hides_values=rule.code in WITHOUT_VALUES,
        )
        yield from add_problem(tally, file.count, problem)
    rest = file.number - len(file.examples)
    if rest:
        group = (rule.code, "", because.pointer)
        counts = _counts_of(rule.severity, rest)
        yield from tally.keep(file.count, Findings(*counts, counted=((group, rest),)))


def _counts_of(severity: Severity, number: int) -> tuple[int, int]:
    """Return how many errors and warnings some findings of a severity are."""
    return (number, 0) if severity is Severity.ERROR else (0, number)


def add_problem(tally: Tally, count: FileCount, problem: Problem) -> Iterator[Problem]:
    """Count a problem of a file; yield it if it is kept as an example."""
    placed = replace(problem, place=tally.in_member(problem.place))
    group = (problem.code, placed.place.pointer, problem.cause)
    counts = _counts_of(problem.severity, 1)
    findings = Findings(*counts, described=(((group, placed),),))
    yield from tally.keep(count, findings)


#: The keys of a field in rows, by its path in records.
RowPaths = Mapping[str, tuple[str, ...]]


def row_paths(variant: FormatVariant) -> RowPaths:
    """Return the paths of fields in rows of JSON, as far as they are known."""
    dialect, format_ = variant.dialect, variant.format
    is_json = dialect.container in {Container.ROWS, Container.WRAPPED}
    if not is_json or dialect.name != format_.dialects[0].name:
        return {}
    return {
        mapping.record_path: mapping.path
        for mapping in adapter_of(format_).fields
        if "*" not in mapping.path
    }


def where_of(placed: PlacedRecord, paths: RowPaths, *fields: str) -> Where:
    """Return the place of the first of some fields that the row has, with its line.

    It is the beginning of the row if there is none.
    """
    row = placed.row
    known = [paths[field] for field in fields if field in paths]
    for path in known if row.text[:1] == b"{" else ():
        try:
            start, end = row.bytes_of(path)
        except KeyError:
            continue
        return replace(row.place(start, end, path), pointer=""), row.excerpt(start, end)
    return row.place(0, 1, ()), None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one expectation, in words."""

    #: The key that states it, "" for one that always holds.
    key: str
    #: What is expected, such as "records at least 1,000".
    expected: str
    #: What was found, such as "1,204".
    found: str
    #: None if it is not known.
    is_met: bool | None
    #: The rule of its findings, "" if it has none of its own.
    code: str = ""
    #: The findings at records, and their rule if it is another one.
    records: RecordFindings | None = None
    record_code: str = ""
    #: Files as a whole that break it, with what is wrong with each.
    files: tuple[tuple[FileCount, str], ...] = ()
    #: What is wrong with the data set as a whole, each at the line that states it.
    messages: tuple[str, ...] = ()
    #: For each of these, what values of records tell of it, or nothing at all.
    hints: tuple[str, ...] = ()
    help: str = ""
    #: The value that is stated, as it is shown with findings in data.
    value: object = ""
    #: Whether its findings are true only if all records were read.
    needs_all: bool = False
    #: Whether `found` certainly holds no value of a record; and what is shown in its
    #: place where it may hold some.
    hides_values: bool = False
    found_without_values: str = ""
    #: The member of the key's value that it is about, such as a field, "" for all.
    item: str = ""
    #: Why it is not known whether it is met, if records were read and it is not.
    unknown: str = ""

    def without_records(self, number: int) -> "Outcome":
        """Return the outcome with the remark that `number` records are not compared."""
        if not number:
            return self
        left_out = f"{with_noun(number, 'invalid record')} not compared"
        return replace(self, found="; ".join(filter(None, (self.found, left_out))))

    def of_part(self) -> "Outcome":
        """Return the outcome where some records could not be read: it is never met."""
        found = self.records is not None and self.records.total
        is_broken = bool(found) and not self.needs_all
        return replace(self, is_met=False if is_broken else None, messages=(), hints=())
