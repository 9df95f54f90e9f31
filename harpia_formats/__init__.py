"""Validate LLM-evaluation data, with line, column and reason.

>>> import harpia_formats
>>> report = harpia_formats.validate(b'{"score": NaN}')
>>> report.ok
False
>>> report.problems[0].code, report.problems[0].place.column
('J106', 11)
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harpia_formats.detected import Detected
from harpia_formats.problem import (
    Because,
    Excerpt,
    Fix,
    Place,
    Problem,
    Severity,
)
from harpia_formats.report import FileCount, Group, Report, ValidationFailed

__version__ = "0.1.0"

__all__ = [
    "Because",
    "Detected",
    "Excerpt",
    "FileCount",
    "Fix",
    "Group",
    "Place",
    "Problem",
    "Report",
    "Severity",
    "ValidationFailed",
    "detect",
    "iter_problems",
    "validate",
]


def validate(*inputs: Any, **options: Any) -> Report:
    """Validate `inputs` and return the report.

    An input is a path, a folder, a pattern, `-` for standard input, bytes, or an
    open binary file. The options are the fields of `harpia_formats.options.Options`,
    such as `format="eee@0.2.0"`, `schema="mine.json"`, `select=("J", "S")`,
    `examples=0`, `limit=1000`. What cannot be read is told in the report; an option
    that cannot be met raises `UnknownFormat`, `UnknownRule`, `SchemaError`,
    `CompanionError`, `MapError` or `ValueError`, which no input at all raises too; what
    is no input or no option raises `TypeError`.
    """
    from harpia_formats.options import Options  # noqa: PLC0415 - importing us is cheap
    from harpia_formats.validation import Validation  # noqa: PLC0415

    validation = Validation(inputs, Options(**options))
    problems = tuple(validation)
    return replace(validation.report(), problems=problems)


def iter_problems(*inputs: Any, **options: Any) -> Iterator[Problem]:
    """Yield the problems of `inputs` as they are found, all of them.

    The arguments are those of `validate`; nothing is capped unless asked for. At the
    end `ValidationFailed` is raised if something could not be read: without a report
    nothing else would say so.
    """
    from harpia_formats.options import Options  # noqa: PLC0415 - importing us is cheap
    from harpia_formats.validation import Validation  # noqa: PLC0415

    uncapped = {"examples": 0, "max_problems": 0} | options
    validation = Validation(inputs, Options(**uncapped))
    yield from validation
    report = validation.report()
    if report.failures:
        raise ValidationFailed(report)


def detect(*inputs: Any) -> tuple[Detected, ...]:
    """Return which format each file behind `inputs` is in, and why.

    The inputs are those of `validate`. Only the beginning of a file is read: 1,000
    records or 8 MB. What cannot be read is told by `reason`. No input at all raises
    `ValueError`, what is no input `TypeError`.
    """
    from harpia_formats.first_look import looked_at  # noqa: PLC0415 - importing us is cheap
    from harpia_formats.inputs import checked_inputs  # noqa: PLC0415

    return tuple(looked_at(checked_inputs(inputs)))
