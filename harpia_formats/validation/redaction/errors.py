"""Take the values of records out of exceptions."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb

from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.io.sink import SinkError
from harpia_formats.model.errors import HarpiaFormatsError
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import ValidationFailed, validation_failed
from harpia_formats.validation.redaction.reports import Redaction


class HiddenError(HarpiaFormatsError):
    """An error whose message may hold values of records, and is not shown.

    It has the name of the exception, and in which line of harpia-formats it was raised.
    """

    hides_values = True

    def __init__(self, name: str, where: str) -> None:
        super().__init__(name, where)
        self.name = name
        self.where = where

    def __str__(self) -> str:
        return (
            f"{self.name} in {self.where}: its message may hold values of records, "
            "and is shown only without --redact"
        )


class HiddenBug(Exception):  # noqa: N818 - a bug is no error of the user
    """An exception that no data should cause, without its message."""


@contextmanager
def errors_without_values(redaction: Redaction) -> Generator[None, None, None]:
    """Replace an exception raised inside whose message may hold a value of a record.

    Raises `HiddenError` for an error of harpia-formats, `SourceError` and
    `ValidationFailed` without values, and `HiddenBug` for an exception that is none;
    errors of the system and of imports stay as they are.
    """
    found: Exception | None = None
    try:
        yield
    except (OSError, ImportError):
        raise
    except HarpiaFormatsError as error:
        if _is_shown(error, redaction):
            raise
        found = _hidden(error, redaction)
    except Exception as error:  # noqa: BLE001 - its message may hold a value
        found = HiddenBug(f"{type(error).__name__} in {_places(error)}")
    if found is None:
        return
    try:
        raise found from None
    finally:
        found.__context__ = None  # the error replaced, with its message


def problems_without_values(
    found: Generator[Problem, None, None], redaction: Redaction
) -> Generator[Problem, None, None]:
    """Yield problems without values, and raise errors without them.

    `found` is closed when this is.
    """
    try:
        with errors_without_values(redaction):
            for problem in found:
                yield redaction.problem(problem)
    finally:
        found.close()


def _is_shown(error: HarpiaFormatsError, redaction: Redaction) -> bool:
    is_output = isinstance(error, SinkError)
    return error.hides_values and not (is_output and redaction.named_by_values)


def _hidden(error: HarpiaFormatsError, redaction: Redaction) -> HarpiaFormatsError:
    if isinstance(error, ValidationFailed):
        return validation_failed(redaction.report(error.report))
    if isinstance(error, SourceError):
        path, mark, member = error.path.partition("!")
        name = f"{path}{mark}{redaction.member(member)}" if mark else path
        return SourceError(name, redaction.reason(error.reason))
    shown = error.without_values()
    if isinstance(error, SinkError):  # whose place may be named by a value
        is_shown = _is_of_system(error)
        shown = SinkError(redaction.named_by_values, error.reason) if is_shown else None
    return shown or HiddenError(type(error).__name__, _places(error, 1))


def _is_of_system(error: SinkError) -> bool:
    """Tell whether the reason of an error is a text of the system, without names."""
    cause = error.__cause__
    if not isinstance(cause, OSError) or cause.strerror is None:
        return False
    return error.reason == error_reason(cause)


def _places(error: Exception, most: int = 5) -> str:
    """Return the lines that raised an error, the innermost first."""
    frames = extract_tb(error.__traceback__, -most)
    return ", ".join(
        f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames)
    )
