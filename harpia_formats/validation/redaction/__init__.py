"""Problems, reports and errors without the values of records, for `redact`.

A run whose options ask for it hands everything over through a `Redaction`, after which
whatever shows it, such as a reporter, has no value to show.
"""

from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from harpia_formats.model.problem import Problem

if TYPE_CHECKING:  # most runs show values: start-up time
    from harpia_formats.validation.redaction.redacted_reports import Redaction


def redaction_of(options: Any, schema: Any = None) -> "Redaction | None":
    """Return what takes the values of records out of what a run finds.

    It is None unless `redact` of the options is true. `schema` is that of the user, if
    records are validated against one.
    """
    return redacting(schema, is_on=options.redact)


def redacting(schema: Any = None, *, is_on: bool) -> "Redaction | None":
    """Return what takes values out of what is shown, None unless that `is_on`."""
    if not is_on:
        return None
    from harpia_formats.validation.redaction.redacted_reports import Redaction  # noqa: PLC0415 - most runs show values

    return Redaction(schema)


def errors_shown(redaction: "Redaction | None") -> AbstractContextManager[None]:
    """Return what raises errors as they may be shown; as is if `redaction` is None."""
    if redaction is None:
        return nullcontext()
    from harpia_formats.validation.redaction.redacted_reports import (  # noqa: PLC0415 - most runs show values
        errors_without_values,
    )

    return errors_without_values(redaction)


def problems_shown(
    problems: Generator[Problem, None, None], redaction: "Redaction | None"
) -> Generator[Problem, None, None]:
    """Return the problems of a run as they may be shown; all if `redaction` is None."""
    if redaction is None:
        return problems
    from harpia_formats.validation.redaction.redacted_reports import (  # noqa: PLC0415 - most runs show values
        problems_without_values,
    )

    return problems_without_values(problems, redaction)
