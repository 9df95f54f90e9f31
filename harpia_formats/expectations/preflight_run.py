"""Check all data sets of a preflight file, and the relations between them."""

import json
import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import repeat
from pathlib import Path

from harpia_formats.expectations.data_set_run import DataSetRun
from harpia_formats.expectations.outcomes import Outcome, add_problem
from harpia_formats.expectations.preflight_error import PreflightError
from harpia_formats.expectations.preflight_keys import BY_NAME
from harpia_formats.expectations.preflight_plan import (
    Asked,
    DataSet,
    Plan,
    PreflightOptions,
    Stated,
)
from harpia_formats.expectations.relations import relations_of
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.file_sink import write_file
from harpia_formats.files.io.inputs import sources_of_inputs
from harpia_formats.files.io.reader import SourceError, error_reason, read_side_input
from harpia_formats.files.io.source import Source
from harpia_formats.formats.registry import all_rules, all_unpackers
from harpia_formats.formats.rules import Rule
from harpia_formats.model.describe import with_noun
from harpia_formats.model.problem import Place, Problem, Severity, pointer_of
from harpia_formats.model.report import Check, FileCount, Group, Report, State
from harpia_formats.model.safe_text import safe
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.redaction import problems_shown, redaction_of

_SCHEMA = "harpia-formats/preflight-state/1"


def read_last_run(path: str) -> dict[str, int]:
    """Return the number of records of each data set; {} before the first run.

    Raises `PreflightError` for a file that is something else, which is never
    overwritten.
    """
    try:
        data = read_side_input(Path(path))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise PreflightError(path, 0, "", error_reason(error)) from error
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    counts = found.get("records") if isinstance(found, dict) else None
    if (
        not isinstance(counts, dict)
        or found.get("schema") != _SCHEMA
        or not all(type(number) is int and number >= 0 for number in counts.values())
    ):
        reason = "is not the state of a preflight; name another file, or delete it"
        raise PreflightError(path, 0, "", reason)
    return counts


def write_last_run(path: str, records: Mapping[str, int]) -> None:
    """Write the number of records of each data set, all or nothing.

    Raises `SinkError`.
    """
    document = {"schema": _SCHEMA, "records": dict(records)}
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    write_file(path, [text.encode("utf-8", "surrogatepass")], overwrite=True)


#: What a preflight file is called as a format.
FORMAT = "preflight"


class Preflight:
    """One preflight: iterate for the problems, then ask for the report.

    Raises `PreflightError` when it is made for a file that states what cannot be used
    or checked, as far as that is seen from the beginnings of the data; else while it
    runs.
    """

    def __init__(
        self,
        plan: Plan,
        options: PreflightOptions | None = None,
        outputs: frozenset[Path] = frozenset(),
    ) -> None:
        """Take the plan, the options, and absolute paths of files that are written."""
        self._plan = plan
        self._options = options or PreflightOptions()
        self._rules = all_rules()
        self._redaction = redaction_of(self._options)
        self._unread = list(_unread_inputs(plan))
        last = read_last_run(plan.state) if plan.state else {}
        if plan.state:
            outputs |= {Path(os.path.abspath(plan.state))}  # noqa: PTH100 - as the others
        self._runs = [DataSetRun(one, self._options, outputs) for one in plan.data_sets]
        for run in self._runs:
            run.last_records = last.get(run.data_set.name)
        self._of_file = Tally(self._options.examples, self._options.max_problems)
        self._file: FileCount | None = None
        self._checks: list[Check] = []
        self._is_read = False
        try:
            related = self._prepare_relations()
            for run in self._runs:
                if not self._unread or "format" in run.data_set.values:
                    run.check(related.get(run.data_set.name, []))
        except BaseException:
            self.close()
            raise

    def _prepare_relations(self) -> dict[str, list[Asked]]:
        """Have data sets keep what relations compare.

        Returns what relations of others ask for of a data set, by its name.
        """
        asked: dict[str, list[Asked]] = {}
        for run in self._runs:
            for key, relation, name in relations_of(run.data_set):
                relation.prepare(run.keys, self._run_of(name).keys)
                asked.setdefault(name, []).append((key, run.data_set.stated(key)))
        return asked

    def _run_of(self, name: str) -> DataSetRun:
        return next(run for run in self._runs if run.data_set.name == name)

    def __iter__(self) -> Iterator[Problem]:
        return problems_shown(self._problems(), self._redaction)

    def _problems(self) -> Generator[Problem, None, None]:
        most, kept = self._options.max_problems, 0
        try:
            for problem in self._run():
                kept += 1
                if not most or kept <= most:
                    yield problem
        finally:
            self.close()

    def close(self) -> None:
        """Delete temporary files; needed only for one that is not iterated."""
        for run in self._runs:
            run.close()

    def _run(self) -> Iterator[Problem]:
        if not self._unread:
            for run in self._runs:
                yield from run
                yield from self._of_data_set(run)
            self._is_read = True
        for run in self._runs:
            if self._unread:
                self._checks += self._checks_of(run.data_set, run.outcomes())
            for key, relation, name in relations_of(run.data_set):
                other = self._run_of(name)
                outcome = relation.outcome(key, run.keys, other.keys)
                unread = run.invalid_records + other.invalid_records
                yield from self._problems_of(
                    outcome.without_records(unread), run, other
                )

    def _of_data_set(self, run: DataSetRun) -> Iterator[Problem]:
        """Yield the problems of a data set that was read, and note its checks."""
        for outcome in run.outcomes():
            yield from self._problems_of(outcome, run)

    def _problems_of(self, outcome: Outcome, *runs: DataSetRun) -> Iterator[Problem]:
        """Note the check of an outcome, and yield its problems."""
        data_set = runs[0].data_set
        of_records = outcome.key and BY_NAME[outcome.key].of_records
        if of_records and any(run.has_unread_records for run in runs):
            outcome = outcome.of_part()
        self._checks += self._checks_of(data_set, [outcome])
        # What is missing may be in what could not be read.
        is_known = not (self._unread or any(run.report().failures for run in runs))
        if outcome.is_met is not False or not is_known:
            return
        stated = data_set.stated(outcome.key)
        tallies = [run.tally for run in runs]
        because = stated.because(outcome.value)
        rule = self._rules[outcome.code]
        own = self._rules[outcome.record_code or outcome.code]
        cause = ""
        if data_set.only_warns(outcome.key, outcome.item):
            # Its findings are a group of their own: others of the key may be errors.
            cause = pointer = f"{because.pointer}{pointer_of((outcome.item,))}"
            because = replace(because, pointer=pointer)
            rule = replace(rule, severity=Severity.WARNING)
            own = replace(own, severity=Severity.WARNING)
        if outcome.records is not None:
            redact = self._redaction is not None
            yield from outcome.records.problems(
                own, because, outcome.help, tallies, redact=redact
            )
        for count, message in outcome.files:
            place = Place.at_start(count.path)
            problem = _problem(rule, place, message, outcome.help)
            problem = replace(problem, because=(because,), cause=because.pointer)
            yield from add_problem(tallies[0], count, problem)
        hints = outcome.hints if outcome.hints and not self._redaction else repeat("")
        for message, hint in zip(outcome.messages, hints, strict=False):
            problem = _problem(rule, stated.place(), message + hint, outcome.help)
            problem = replace(problem, excerpt=stated.excerpt(), cause=cause)
            yield from add_problem(self._of_file, self._counted_file(), problem)

    def _counted_file(self) -> FileCount:
        """Return the counts of the preflight file, in which problems are placed."""
        if self._file is None:
            self._file = self._of_file.begin(self._plan.path)
            self._file.format, self._file.complete = FORMAT, True
        return self._file

    def _checks_of(
        self, data_set: DataSet, outcomes: Iterable[Outcome]
    ) -> Iterator[Check]:
        for outcome in outcomes:
            stated = data_set.stated(outcome.key)
            state = State.MET if outcome.is_met else State.BROKEN
            if outcome.is_met is None:
                state = State.UNDECIDED
            is_known = outcome.is_met is False or outcome.unknown
            if is_known and data_set.only_warns(outcome.key, outcome.item):
                state = State.WARNED
            found = outcome.found
            if self._redaction is not None and not outcome.hides_values:
                found = outcome.found_without_values
            check = _check(
                data_set, outcome.key, outcome.expected, found, state, stated
            )
            yield replace(check, reason=outcome.unknown)

    def save_state(self) -> None:
        """Keep the numbers of records for the next run, if this one succeeded.

        Raises `SinkError`.
        """
        if self._plan.state and self._is_read and self.report().ok:
            counts = {run.data_set.name: run.records for run in self._runs}
            write_last_run(self._plan.state, counts)

    def report_before(self) -> Report:
        """Return the report before anything is read: each expectation is undecided."""
        found = self.report()
        checks: list[Check] = []
        for run in self._runs:
            expected = [*run.outcomes()]
            expected += [
                relation.before(key, name)
                for key, relation, name in relations_of(run.data_set)
            ]
            checks += self._checks_of(run.data_set, expected)
        undecided = (replace(one, state=State.UNDECIDED, reason="") for one in checks)
        return replace(found, checks=tuple(undecided))  # nothing is found yet

    def report(self) -> Report:
        """Return the report of what was read so far."""
        reports = [run.report() for run in self._runs] if not self._unread else []
        files = [file for report in reports for file in report.files]
        files += [error for _, error in self._unread]
        own = self._of_file.report()
        groups = [group for report in (*reports, own) for group in report.groups]
        report = Report(
            files=(*files, *own.files),
            groups=_joined(groups),
            problems=(),
            excluded=sum(report.excluded for report in reports),
            unmatched=tuple(one for report in reports for one in report.unmatched),
        )
        found = replace(report, checks=tuple(self._final_checks(report)))
        return found if self._redaction is None else self._redaction.report(found)

    def _final_checks(self, report: Report) -> Iterator[Check]:
        """Yield the checks by data set, none of them met if a file was not read."""
        for run in self._runs:
            found = self._unread_of(run)
            yield self._files_check(run, found, is_all=not report.failures)
            for check in self._checks:
                if check.data_set != run.data_set.name:
                    continue
                is_open = bool(found) or not self._is_read
                is_open |= bool(report.failures) and check.state is State.MET
                yield (
                    replace(check, state=State.UNDECIDED, reason="")
                    if is_open
                    else check
                )
            undetermined = sum(file.undetermined for file in run.report().files)
            if undetermined and self._is_read:
                shown = f"{with_noun(undetermined, 'record')} without one"
                yield _check(
                    run.data_set,
                    "",
                    "a verdict on each record",
                    shown,
                    State.BROKEN,
                    run.data_set.stated(""),
                )

    def _unread_of(self, run: DataSetRun) -> list[FileCount]:
        """Return the files of a data set that could not be read."""
        if self._unread:
            name = run.data_set.name
            return [error for owner, error in self._unread if owner == name]
        return list(run.report().failures)

    def _files_check(
        self, run: DataSetRun, unread: list[FileCount], *, is_all: bool
    ) -> Check:
        """Return the check that all files of a data set were read."""
        files = [one for one in run.report().files if not one.skipped]
        found, state = with_noun(len(files), "file"), State.MET
        if unread:
            reason = unread[0].reason or ""
            if self._redaction is not None:
                reason = self._redaction.reason(reason)
            reason = f"{unread[0].path}: {reason}"
            more = f" and {len(unread) - 1:,} more" if len(unread) > 1 else ""
            found, state = f"{reason}{more}", State.BROKEN
        elif not is_all:
            state = State.UNDECIDED
        stated = run.data_set.stated("files")
        return _check(
            run.data_set, "files", "files read to the end", found, state, stated
        )


def _unread_inputs(plan: Plan) -> Iterator[tuple[str, FileCount]]:
    """Yield what data sets name that cannot be found, with the name of the data set."""
    for data_set in plan.data_sets:
        exclusion = Exclusion(data_set.values.get("exclude", ()))
        for source in sources_of_inputs(data_set.inputs(), exclusion, all_unpackers()):
            if isinstance(source, SourceError):
                yield data_set.name, FileCount(source.path, reason=source.reason)


def _joined(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Return the groups of all data sets, those of a file that several have as one."""
    found: dict[tuple[str, ...], Group] = {}
    for group in groups:
        kind = group.path, group.code, group.severity, group.pointer, group.key
        first = found.get((*kind, group.cause), replace(group, count=0))
        found[(*kind, group.cause)] = replace(first, count=first.count + group.count)
    return tuple(found.values())


def _problem(rule: Rule, place: Place, message: str, help_: str) -> Problem:
    return Problem(
        rule.code,
        rule.name,
        rule.severity,
        place,
        message,
        help=help_,
        hides_values=True,  # it is about a whole file, or about the preflight file
    )


def _check(  # noqa: PLR0913, PLR0917 - a check has so many parts
    data_set: DataSet, key: str, expected: str, found: str, state: State, stated: Stated
) -> Check:
    return Check(
        data_set.name,
        key,
        expected,
        found,
        state,
        stated.path,
        stated.line,
        hides_values=True,  # with `redact`, what was found has none already
    )


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
