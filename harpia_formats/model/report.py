"""The report of a validation: exact counts, and examples up to a cap."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from errno import ENOENT
from os import strerror
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from harpia_formats.model.problem import (
    MISSING,
    Because,
    HarpiaFormatsError,
    Problem,
    Severity,
)
from harpia_formats.model.result import Result
from harpia_formats.model.safe_text import escaped, safe

if TYPE_CHECKING:  # most runs count no lengths: start-up time
    from harpia_formats.model.bins import LengthCounts


class State(StrEnum):
    """Whether an expectation is met."""

    MET = "met"
    BROKEN = "broken"
    #: Not met, or not known, which the preflight file allows with a warning.
    WARNED = "warned"
    #: Not known, because a file, or a record of it, could not be read, or nothing was
    #: there to be compared.
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation on a data set, and what was found."""

    #: The name of the data set.
    data_set: str
    #: The key that states it, "" for one that holds without being stated.
    key: str
    #: What is expected, such as "records at least 1,000".
    expected: str
    #: What was found, such as "1,204".
    found: str
    state: State
    #: The file that states it, and the line there.
    path: str = ""
    line: int = 1
    #: Whether `found` certainly holds no value of a record.
    hides_values: bool = False
    #: Why it is not known whether it is met, "" if not all records were read.
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the check by the report contract."""
        return {
            **_members(self, "data_set", "key", "expected", "found"),
            "state": self.state.value,
            **_members(self, "path", "line"),
        }


#: How many errors are shown, and the most code points of the path and message of one.
SHOWN, PATH, MESSAGE = 3, 4096, 300


def first_errors(count: int, problems: Iterable[Problem]) -> str:
    """Return how many errors there are, and the first ones of the examples.

    The first is in the first line, so that a log that shows one line has it. Of equal
    errors in a file, such as a key that is missing in many records, one is shown.
    """
    first: dict[tuple[str, ...], Problem] = {}
    for problem in problems:
        if problem.severity is Severity.ERROR and len(first) < SHOWN:
            place = problem.place
            first.setdefault((place.path, problem.code, problem.cause), problem)
    noun = "error" if count == 1 else "errors"
    line = f"{count:,} {noun}"
    if not first:
        return line
    shown = [_line(problem) for problem in first.values()]
    more = count - len(shown)
    lines = [f"{line}, first {shown[0]}", *shown[1:]]
    if more > 0:
        lines.append(f"and {more:,} more")
    return "\n  ".join(lines)


def _line(problem: Problem) -> str:
    """Return the place, the rule and the message of a problem in one line."""
    place = problem.place
    message = safe(" ".join(problem.message.splitlines()), MESSAGE)
    path = safe(place.full_path, PATH)
    return f"{path}:{place.line}:{place.column} {safe(problem.code)}: {message}"


SCHEMA = "harpia-formats/report/1"
#: The rule on records on which harpia-formats itself failed.
INTERNAL_ERROR = "V902"
#: The rule on the number of records in all files.
TOO_FEW_RECORDS = "J115"
#: The rules on a file without records, and on a broken array, which may lack some.
BROKEN_FILE = frozenset({"J111", "J112"})

#: The format of a schema file.
JSON_SCHEMA = "json-schema"

#: The columns of the table of problems.
_COLUMNS = "path line column record record_id pointer code name severity message help"

#: The counts of a file in a report.
_COUNTS = "records valid invalid undetermined errors warnings notes".split()

#: What a document without records is called where it is passed over.
NO_RECORDS = "a file without records"


@dataclass(slots=True)
class FileCount:
    """The exact counts of one file."""

    path: str
    #: The id of the format that its records were validated as; None if unrecognised.
    format: str | None = None
    #: The dialect of the format, "" for the first one.
    dialect: str = ""
    records: int = 0
    #: Records with at least one error.
    invalid: int = 0
    #: Records for which the schema engine reached no verdict.
    undetermined: int = 0
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    #: Bytes read, after decompression; of records that are read up to one that ends the
    #: run, by an error or a loss, those before it.
    bytes: int = 0
    #: Whether the file was read to its end.
    complete: bool = False
    #: Why it was not, unless an option stopped it.
    reason: str | None = None
    #: The codes of rules that leave records without a verdict and are not reported.
    unreported: tuple[str, ...] = ()
    #: What it is, such as "a Parquet file", if it was passed over for that reason.
    skipped: str = ""
    #: Findings that the baseline holds, which are in no other count; None without one.
    baseline: int | None = None
    #: The lengths of its rows in bytes, if they were counted; of rows as JSON only.
    lengths: "LengthCounts | None" = None

    @property
    def valid(self) -> int:
        """Records without an error, at least 0.

        The rows of several components share their numbers, and each can be invalid.
        """
        return max(0, self.records - self.invalid - self.undetermined)

    def add_unreported(self, codes: Iterable[str]) -> None:
        """Note the codes of rules that are not reported and leave no verdict."""
        self.unreported = tuple(sorted({*self.unreported, *codes}))

    def count(self, severity: Severity, times: int = 1) -> None:
        """Count problems of `severity`."""
        if severity is Severity.ERROR:
            self.errors += times
        elif severity is Severity.WARNING:
            self.warnings += times
        else:
            self.notes += times


@dataclass(slots=True)
class Group:
    """Equal findings in one file: of one code, at one pointer, with one cause."""

    path: str
    code: str
    name: str
    severity: Severity
    #: Pointer with array indices as `*`.
    pointer: str
    count: int
    line: int
    column: int
    record: int | None
    #: The key that is missing at the pointer, if a key is missing.
    key: str = ""
    #: What the problems of the group share apart from code and pointer.
    cause: str = ""
    #: The message of the first one.
    message: str = ""
    #: How many more the baseline holds; None without one.
    baseline: int | None = None
    #: The member of an archive or folder that the first one is in.
    member: str = ""


@dataclass(frozen=True, slots=True)
class BaselineUse:
    """How a validation used its baseline."""

    path: str
    #: Findings that it holds.
    held: int
    #: Findings that it has beyond those that were found.
    unused: int
    #: The files of these, as it names them.
    unused_in: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Report(Result):
    """The outcome of a validation."""

    columns: ClassVar = tuple(_COLUMNS.split())

    files: tuple[FileCount, ...]
    groups: tuple[Group, ...]
    #: The examples, in order.
    problems: tuple[Problem, ...]
    #: How many files `exclude` left out.
    excluded: int = 0
    #: The patterns of `exclude` that matched no file.
    unmatched: tuple[str, ...] = ()
    #: How the baseline was used; None without one.
    baseline: BaselineUse | None = None
    #: The expectations that were checked, of a preflight; they cover every finding.
    checks: tuple[Check, ...] = ()

    @property
    def errors(self) -> int:
        """Errors in all files."""
        return sum(file.errors for file in self.files)

    @property
    def warnings(self) -> int:
        """Warnings in all files."""
        return sum(file.warnings for file in self.files)

    @property
    def failures(self) -> tuple[FileCount, ...]:
        """Files that could not be read to their end."""
        return tuple(
            file for file in self.files if file.reason is not None and not file.skipped
        )

    @property
    def skipped(self) -> tuple[FileCount, ...]:
        """Files that were passed over because of what they are."""
        return tuple(file for file in self.files if file.skipped)

    @property
    def has_internal_errors(self) -> bool:
        """Whether harpia-formats itself failed on some records (V902)."""
        return any(group.code == INTERNAL_ERROR for group in self.groups)

    @property
    def lacks_records(self) -> bool:
        """Whether there are fewer records than `min_records` asks for (J115)."""
        return any(group.code == TOO_FEW_RECORDS for group in self.groups)

    @property
    def may_lack_records(self) -> bool:
        """Whether an error is that a file has no records, or an array is broken."""
        return any(
            group.code in BROKEN_FILE and group.severity is Severity.ERROR
            for group in self.groups
        )

    @property
    def ok(self) -> bool:
        """Whether every file was read and no error was found.

        A preflight is ok if every expectation is met, but for those that only warn:
        one may allow some errors.
        """
        undetermined = any(file.undetermined for file in self.files)
        if self.failures or undetermined:
            return False
        if self.checks:
            return all(
                check.state in {State.MET, State.WARNED} for check in self.checks
            )
        return not self.errors

    @property
    def ok_without_invalid(self) -> bool:
        """Whether nothing is wrong once the invalid records are left out.

        That is not so if a record has no verdict, or an error is one of a whole file.
        """
        of_rows = all(file.invalid or not file.errors for file in self.files)
        return of_rows and self.ok_without_rows

    @property
    def ok_without_rows(self) -> bool:
        """Whether nothing is wrong but with single records, which may be valid."""
        errors = [one for one in self.groups if one.severity is Severity.ERROR]
        of_files = any(error.record is None for error in errors)
        undetermined = any(file.undetermined for file in self.files)
        is_partial = self.failures or self.lacks_records or self.may_lack_records
        return not (of_files or is_partial or undetermined)

    def raise_for_errors(self) -> None:
        """Raise `ValidationFailed` unless the report is `ok`."""
        if not self.ok:
            raise validation_failed(self)

    def no_verdict_lines(self) -> list[str]:
        """Return why records have no verdict if no finding and no unread file says."""
        has_reason = bool(self.errors or self.failures)
        return no_verdict_lines(self.files, has_reason=has_reason)

    def headline(self) -> str:
        """Return the counts in one line."""
        sums = self.summary()
        names = ("files", "records", "invalid", "undetermined", "errors", "warnings")
        counts = [
            f"{sums[name]:,} {name.removesuffix('s') if sums[name] == 1 else name}"
            for name in names
        ]
        if self.failures:
            counts.append(f"{len(self.failures):,} not read to the end")
        return f"{'ok' if self.ok else 'not ok'}, {', '.join(counts)}"

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each problem that was kept as an example."""
        found = map(problem_as_dict, self.problems)
        return [{key: row[key] for key in self.columns} for row in found]

    def shown_tables(self) -> Iterable[tuple[str, Sequence[Mapping[str, Any]]]]:
        """Return the tables that a notebook shows: files, findings and examples."""
        from harpia_formats.model.notebook import report_tables  # noqa: PLC0415 - only notebooks show it

        return report_tables(self.files, self.groups, self.table())

    def to_dict(self) -> dict[str, Any]:
        """Return the report by its contract, as `--output-format json` writes it."""
        return report_as_dict(self, [problem_as_dict(one) for one in self.problems])

    def summary(self) -> dict[str, int]:
        """Return the sums over all files, by the report contract."""
        sums = {
            key: sum(getattr(file, key) for file in self.files)
            for key in (*_COUNTS, "bytes")
        }
        found = {"files": len(self.files), **sums}
        if self.baseline is not None:
            found["baseline"] = self.baseline.held
            found["baseline_unused"] = self.baseline.unused
        return found


class ValidationFailed(HarpiaFormatsError):  # noqa: N818 - the public name
    """Data has errors, or could not be read, so that there is no result.

    It has the `report` on the data and the `result` so far, None if there is none.
    """

    def __init__(self, report: Report, result: Any = None, reason: str = "") -> None:
        super().__init__(report, result, reason)
        self.report = report
        self.result = result
        #: Why there is no result, if it is not because of the data.
        self.reason = reason

    def __str__(self) -> str:
        report = self.report
        if self.reason:
            return escaped(self.reason)
        failures = report.failures
        sentences = [safe(f"{file.path}: {file.reason}", PATH) for file in failures[:1]]
        if len(failures) > 1:
            sentences.append(f"{len(failures):,} files could not be read to their end")
        sentences += map(escaped, report.no_verdict_lines())
        if report.errors:
            sentences.append(first_errors(report.errors, report.problems))
        return "; ".join(sentences)


class MissingFileError(ValidationFailed, FileNotFoundError):
    """A file does not exist, so that there is no result."""

    errno = ENOENT
    strerror = strerror(ENOENT)
    __str__ = ValidationFailed.__str__

    @property
    def filename(self) -> str:
        """The name of the first file that does not exist."""
        failures = self.report.failures
        return next(
            file.path for file in failures if (file.reason or "").startswith(MISSING)
        )


def validation_failed(
    report: Report, result: Any = None, reason: str = ""
) -> ValidationFailed:
    """Return the error for a run without a result.

    It is a `FileNotFoundError` as well if a file does not exist.
    """
    reasons = (file.reason or "" for file in report.failures)
    is_missing = any(each.startswith(MISSING) for each in reasons)
    kind = MissingFileError if is_missing and not reason else ValidationFailed
    return kind(report, result, reason)


def problem_as_dict(problem: Problem) -> dict[str, Any]:
    """Return `problem` by the report contract."""
    place = problem.place
    fix = problem.fix
    return {
        "path": place.full_path,
        "line": place.line,
        "column": place.column,
        "end_column": place.end_column,
        "byte_offset": place.byte_offset,
        "record": place.record,
        "record_id": place.record_id,
        "pointer": place.pointer,
        "code": problem.code,
        "name": problem.name,
        "severity": problem.severity.value,
        "message": problem.message,
        "because": list(map(_because_as_dict, problem.because)),
        "help": problem.help,
        "schema_pointer": problem.schema_pointer,
        "fix": fix and {"kind": fix.kind, "pointer": fix.pointer, "value": fix.value},
    }


def _because_as_dict(because: Because) -> dict[str, Any]:
    found = _members(because, "pointer", "value", "line", "column")
    return {**found, "path": because.path} if because.path else found


def _members(owner: object, *names: str) -> dict[str, Any]:
    """Return members of an object by their names."""
    return {name: getattr(owner, name) for name in names}


def group_as_dict(group: Group) -> dict[str, Any]:
    """Return `group` by the report contract."""
    first = _members(group, "line", "column", "record")
    if group.member:
        first["member"] = group.member
    return {
        **_members(group, "path", "code", "pointer", "key", "count"),
        **({} if group.baseline is None else {"baseline": group.baseline}),
        "first": first,
    }


def file_as_dict(file: FileCount) -> dict[str, Any]:
    """Return `file` by the report contract."""
    return {
        **_members(file, "path", "format", "dialect", *_COUNTS),
        **({} if file.baseline is None else {"baseline": file.baseline}),
        "complete": file.complete,
        "reason": f"skipped: it {file.reason}" if file.skipped else file.reason,
    }


def report_as_dict(report: Report, problems: list[dict[str, Any]]) -> dict[str, Any]:
    """Return `report` by the report contract, with `problems` as its examples.

    `problems` are those of the run, each made by `problem_as_dict`: a run hands them
    over one by one, before its report.
    """
    found = {
        "schema": SCHEMA,
        "files": [file_as_dict(file) for file in report.files],
        "groups": [group_as_dict(group) for group in report.groups],
        "problems": problems,
        "summary": report.summary(),
    }
    if report.checks:
        found["checks"] = [check.as_dict() for check in report.checks]
    return found


#: The rule on files in no known format, and the one on another delimiter of a table.
UNKNOWN_FORMAT, OTHER_DELIMITER = "S301", "J307"
#: Files that are named.
NAMED = 3
_of_code = {
    UNKNOWN_FORMAT: (
        "the format is not known",
        "name it with `--from`, or use `--skip-unrecognised`",
    ),
    OTHER_DELIMITER: (
        "the table has another delimiter",
        "name it with `--delimiter`",
    ),
}


class CountedFile(Protocol):
    """A file with the number of its records that have no verdict."""

    path: str
    undetermined: int
    unreported: tuple[str, ...]


def no_verdict_lines(counts: Iterable[CountedFile], *, has_reason: bool) -> list[str]:
    """Return a sentence for each rule that is not reported and leaves no verdict.

    Without such a rule one sentence has the number of the records without a verdict,
    unless the report `has_reason` to be not `ok`: an error, or an unread file.
    """
    files = [file for file in counts if file.undetermined]
    codes = sorted({code for file in files for code in file.unreported})
    if codes:
        return [_of_rule(code, files) for code in codes]
    return [_records_of(files)] if files and not has_reason else []


def _of_rule(code: str, files: Iterable[CountedFile]) -> str:
    """Return which records a rule leaves without a verdict, and what can be done."""
    left = [file for file in files if code in file.unreported]
    cause, cure = _of_code.get(code, ("", ""))
    why = f"{cause}, by {code}, which" if cause else f"{code} was found, which"
    select = f"report {code}: add it to `--select`, or take it out of `--ignore`"
    cures = f"{cure}, or {select}" if cure else select
    return f"{_records_of(left)}: {why} is not reported; {cures}"


def _records_of(files: list[CountedFile]) -> str:
    """Return how many records of some files have no verdict."""
    records = sum(file.undetermined for file in files)
    names = ", ".join(file.path for file in files[:NAMED]) + ", …" * (
        len(files) > NAMED
    )
    are = "record has" if records == 1 else "records have"
    return f"{names}: {records:,} {are} no verdict"
