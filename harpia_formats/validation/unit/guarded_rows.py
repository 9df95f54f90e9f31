"""Validate rows by a schema that may take forever, in a process that can be killed.

Rows are sent to the process many at a time. If it is silent for long, it is killed, and
the rows whose verdicts are missing are sent one by one: a row that takes longer than
its time limit gets no verdict, and all others get theirs.
"""

import gc
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from time import monotonic
from typing import Any

import msgspec

from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.files.workers.killable import (
    CallTimedOut,
    KillableProcess,
    ProcessDied,
)
from harpia_formats.formats.schema.bundled_schemas import Schema, SchemaError
from harpia_formats.formats.schema.user_schema import (
    CheckedSchema,
    check_depth,
    check_schema,
)
from harpia_formats.validation.unit.row_checks import Disagreement, RowChecks, Verdict
from harpia_formats.validation.unit.row_validator import RowValidator

UNDETERMINED = "V901"
#: Seconds that the check of a schema may take, and building a validator from it.
CHECK_SECONDS = 10.0
#: Seconds after which a process that was sent many rows is taken to hang at one.
SILENCE = 1.0
#: Rows that are validated between two looks at the clock, unless they take long.
ROWS_AT_ONCE = 16
#: Rows after which their verdicts are sent, if they take no time.
ROWS_A_PART = 512
#: Rows that are sent alone after one that took too long.
ROWS_ALONE = 20

_decode = msgspec.json.Decoder().decode


class RowSettings(msgspec.Struct, frozen=True):
    """What rows are validated by, as plain data."""

    schema: Schema
    #: Equal for all files of a run, and of no other run.
    key: str
    formats: bool
    repeated_keys: bool
    asks_schema: bool
    cross_check: bool

    def validator(self) -> RowValidator:
        """Return a validator that validates in this process."""
        second_opinion = None
        if self.cross_check:
            from harpia_formats.validation.unit.cross_check import second_opinion_of  # noqa: PLC0415 - a tenth of a second, when asked for

            second_opinion = second_opinion_of(self.schema, formats=self.formats)
        checks = RowChecks(
            formats=self.formats,
            repeated_keys=self.repeated_keys,
            asks_schema=self.asks_schema,
            second_opinion=second_opinion,
        )
        return RowValidator(self.schema, checks)


class _Shared(threading.local):
    """The process of this thread, which serves all files one after the other."""

    process: KillableProcess | None = None


_shared = _Shared()


def _process() -> KillableProcess:
    """Return the process of this thread."""
    if _shared.process is None:
        _shared.process = KillableProcess()
    return _shared.process


def end_process() -> None:
    """End the process of this thread, if there is one."""
    process, _shared.process = _shared.process, None
    if process is not None:
        process.close()


def check_schema_in_time(name: str, schema: Any) -> CheckedSchema:
    """Return a schema as `check_schema` does, or raise `SchemaError` after a while.

    `name` is its name in the error.
    """
    # What is nested too deeply cannot be sent to another process.
    check_depth(name, schema)
    limit = CHECK_SECONDS
    try:
        (checked,) = _process().call(_checked, name, schema, timeout=limit)
    except CallTimedOut:
        checked = f"cannot be used: checking it takes longer than {limit:g} s"
    except ProcessDied:
        checked = "cannot be used: the process that checked it died"
    if isinstance(checked, CheckedSchema):
        return checked
    end_process()
    raise SchemaError(name, checked)


def _checked(name: str, schema: Any) -> Iterator[CheckedSchema | str]:
    """Yield a checked schema, or why it cannot be used; runs in the other process."""
    try:
        yield check_schema(name, schema)
    except SchemaError as error:
        yield error.reason


class GuardedRows(RowValidator):
    """Validates rows as `RowValidator` does, with a time limit for each row."""

    def __init__(self, settings: RowSettings, seconds: float) -> None:
        """Take what rows are validated by, and the seconds that a row may take."""
        super().__init__(schema=True, checks=RowChecks())
        self._settings = settings
        self._seconds = seconds
        #: Rows to come that are sent alone.
        self._alone = 0

    def validate(
        self,
        chunk: Chunk,
        *,
        shares: bool = False,  # noqa: ARG002 - other processes share nothing
    ) -> Verdict:
        """Return what is wrong with the rows of `chunk`, in order.

        A row that takes too long is a finding of its own. Raises `Disagreement` if the
        reference engine is asked and differs.
        """
        verdict = Verdict()
        self._validate_all(chunk.rows, verdict)
        verdict.records = len(chunk) - len(verdict.blank)
        return verdict

    def validate_decoded(self, number: int, value: Any, verdict: Verdict) -> None:
        """Add what is wrong with a decoded record to `verdict`.

        Raises `Disagreement` as `validate` does.
        """
        found = Verdict()
        self._validate_all([msgspec.json.encode(value)], found)
        verdict.findings += [replace(one, row=number) for one in found.findings]

    def _validate_all(self, rows: Sequence[bytes], verdict: Verdict) -> None:
        """Validate rows, many at a time as long as none takes long.

        The `records` of the verdict are the rows that are done, blank ones too.
        """
        while verdict.records < len(rows):
            if self._alone:
                self._alone -= 1
                self._validate_alone(rows, verdict)
                continue
            try:
                self._validate_rest(rows, verdict, self._silence())
            except (CallTimedOut, ProcessDied):
                # The row is among those whose verdicts would have come next.
                self._alone = ROWS_A_PART

    def _validate_alone(self, rows: Sequence[bytes], verdict: Verdict) -> None:
        """Validate the next row in its time."""
        number = verdict.records
        try:
            self._validate_rest(rows[: number + 1], verdict, self._seconds)
        except CallTimedOut:
            message = f"the schema takes longer than {self._seconds:g} s on this row"
        except ProcessDied:
            message = "the process that validated this row died"
        else:
            return
        from harpia_formats.model.format import Remark  # noqa: PLC0415 - for such rows only
        from harpia_formats.validation.diagnosis.root_causes import Finding  # noqa: PLC0415 - for such rows only

        help_ = (
            "simplify the schema: doubled or recursive references and patterns with "
            "look-around multiply its work; or give each row more time "
            "(`--row-timeout`)"
        )
        remark = Remark(UNDETERMINED, (), message, help_)
        verdict.findings.append(Finding(UNDETERMINED, number, remark))
        verdict.records += 1
        self._alone = ROWS_ALONE

    def _validate_rest(
        self, rows: Sequence[bytes], verdict: Verdict, seconds: float
    ) -> None:
        """Validate the rows that are not done.

        The process may be silent for so many seconds. Raises `CallTimedOut`,
        `ProcessDied` and `Disagreement`.
        """
        process, settings = _process(), self._settings
        # Imports and compiling are no part of a row's time.
        list(process.call(_load, settings, timeout=CHECK_SECONDS))
        arguments = settings, rows[verdict.records :], self._silence() / 4
        answers = process.call(_verdicts, *arguments, timeout=seconds)
        for answer in answers:
            if isinstance(answer, bool):
                raise Disagreement(schema_validator=answer)
            done = verdict.records
            verdict.blank += [done + number for number in answer.blank]
            for row, findings in groupby(answer.findings, lambda one: one.row):
                some, text = list(findings), rows[done + row]
                value = None if some[0].is_fault else _decode(text)
                verdict.findings += [
                    replace(one, row=done + row, value=value) for one in some
                ]
            verdict.records += answer.records

    def _silence(self) -> float:
        """Return the seconds of silence after which rows are sent alone."""
        return min(SILENCE, self._seconds)


class _Loaded:
    """The validator that was used last in the other process."""

    key: str = ""
    validator: RowValidator | None = None


def _load(settings: RowSettings) -> Iterator[None]:
    """Build the validator if it is another one than before; yield nothing."""
    if _Loaded.validator is None or _Loaded.key != settings.key:
        gc.disable()  # see `workers.engine`
        _Loaded.validator, _Loaded.key = settings.validator(), settings.key
        import harpia_formats.validation.diagnosis.cached_causes  # noqa: PLC0415 - as below
        import harpia_formats.validation.diagnosis.root_causes  # noqa: F401, PLC0415 - they take a part of a row's time
    yield from ()


def _verdicts(
    settings: RowSettings, rows: list[bytes], pause: float
) -> Iterator[Verdict | bool]:
    """Yield the verdicts on rows in parts, at least one after each `pause` in seconds.

    The `records` of a part are its rows, blank ones too, and its findings carry no
    values. If the reference engine disagrees on a row, the verdict of the schema
    validator on it comes last. Runs in the other process.
    """
    validator = _Loaded.validator or settings.validator()
    done = part_start = 0
    part, at_once, since = Verdict(), ROWS_AT_ONCE, monotonic()
    while done < len(rows):
        some, begun = rows[done : done + at_once], monotonic()
        try:
            found = validator.validate(Chunk(b"", Cursor(), some))
        except Disagreement as error:
            yield error.schema_validator
            return
        before = done - part_start
        part.blank += [before + number for number in found.blank]
        part.findings += [
            replace(finding, row=before + finding.row, value=None)
            for finding in found.findings
        ]
        done += len(some)
        now = monotonic()
        at_once = 1 if now - begun > pause / 4 else ROWS_AT_ONCE
        is_long = now - since > pause or done - part_start >= ROWS_A_PART
        if is_long or done == len(rows):
            part.records = done - part_start
            yield part
            part, part_start, since = Verdict(), done, monotonic()
