"""Add the causes for which a schema refuses rows to the verdict on these rows."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from harpia_formats.formats.schema.load import Schema
from harpia_formats.validation.diagnosis.row_limits import (
    FINDINGS,
    MORE_ERRORS,
    more_findings,
)
from harpia_formats.validation.unit.row_checks import RowChecks, Verdict

if TYPE_CHECKING:  # imported only where a row has a problem: start-up time
    from harpia_formats.validation.diagnosis.cached_causes import CachedCauses
    from harpia_formats.validation.diagnosis.root_causes import Cause
    from harpia_formats.validation.diagnosis.wide_records import WideErrors

#: Returns the errors of the schema validator on a value.
ErrorsOf = Callable[[Any], Iterable[Any]]
#: The rule on a key that is nearly the right one.
MISSPELT = "S103"


class RowCauses:
    """Finds the causes of schema errors, and remembers those that many rows have."""

    def __init__(self, schema: Schema, checks: RowChecks) -> None:
        """Take the schema, and what is checked beside it."""
        self._schema = schema
        self._checks = checks
        #: Built at the first error.
        self._cached: CachedCauses | None = None
        #: Built at the first row with very many values that is not valid.
        self._wide: WideErrors | None = None

    def add_by_pattern(self, number: int, value: Any, verdict: Verdict) -> bool:
        """Add the causes in a row like rows before it; return whether it is like any.

        `number` is the index of the row, and `value` the row decoded.
        """
        causes = self._cached and self._cached.causes_by_pattern(value)
        if causes:
            self._add(number, value, causes, verdict)
        return bool(causes)

    def add(self, number: int, value: Any, errors: list[Any], verdict: Verdict) -> None:
        """Add the causes in a row with these errors of the schema validator."""
        if self._cached is None:
            from harpia_formats.validation.diagnosis.cached_causes import CachedCauses  # noqa: PLC0415 - imported only where a row has a problem

            checks = self._checks
            self._cached = CachedCauses(
                self._schema, checks.advise, formats=checks.formats
            )
        self._add(number, value, self._cached.causes_of(value, errors), verdict)

    def add_of_wide(
        self, number: int, value: Any, errors_of: ErrorsOf, verdict: Verdict
    ) -> bool:
        """Add the first causes in a row with very many errors, and that it has more.

        Return whether it has so many. `errors_of` returns the errors of a value.
        """
        if self._wide is None:
            from harpia_formats.validation.diagnosis.wide_records import WideErrors  # noqa: PLC0415 - for few rows only

            self._wide = WideErrors(self._schema, errors_of, self._checks.advise)
        causes = self._wide.many(value)
        if causes is None:
            return False
        self._add(number, value, tuple(causes), verdict, has_more=True)
        return True

    def _add(
        self,
        number: int,
        value: Any,
        causes: "tuple[Cause, ...]",
        verdict: Verdict,
        *,
        has_more: bool = False,
    ) -> None:
        """Add the causes as findings, or that it is a record of another format.

        `has_more` tells that the row has more causes than these.
        """
        from harpia_formats.validation.diagnosis.finding import (  # noqa: PLC0415 - imported only where a row has a problem
            Finding,
            SharedFindings,
        )

        # A misspelt key is the cause, even if the row looks like one of another format.
        misspelt = any(cause.code == MISSPELT for cause in causes)
        other = None
        if self._checks.find_other_format is not None and not misspelt:
            other = self._checks.find_other_format(value)
        findings, shared = verdict.findings, verdict.shared
        if other:
            findings.append(Finding(other.code, number, other, value))
            return
        if has_more or len(causes) > FINDINGS:
            few = SharedFindings(number, causes[:FINDINGS], value)
            more = more_findings(MORE_ERRORS, number, "schema errors", value)
            findings += [*few.findings(), more]
            return
        found = SharedFindings(number, causes, value)
        # A row with a repeated key has a finding already.
        is_first = not (findings and findings[-1].row == number)
        if shared is not None and is_first:
            shared.append(found)
        else:
            findings += found.findings()
