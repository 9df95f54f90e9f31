"""Expectations of other packages, by entry points."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.expectations.outcomes import Outcome, RecordFindings
from harpia_formats.expectations.preflight_plan import Stated
from harpia_formats.expectations.record_limits import RecordLimit
from harpia_formats.formats.extensions import (
    EXPECTATIONS,
    plugin_error,
    plugin_named,
    plugin_names,
)
from harpia_formats.formats.rules.preflight_rules import OWN_EXPECTATION
from harpia_formats.model.describe import short_literal, with_noun
from harpia_formats.model.lint import (
    Expectation,
    ExpectationCheck,
    ExpectationResult,
)
from harpia_formats.model.report import FileCount
from harpia_formats.model.spelling import nearest


@dataclass(frozen=True, slots=True)
class StatedExpectation:
    """An expectation of another package with the value that the file gives it."""

    name: str
    value: Any
    expectation: Expectation

    def check(self) -> ExpectationCheck:
        """Return a new check. Raises `ValueError` if the value cannot be used.

        Raises `PluginError` for anything else.
        """
        try:
            found = self.expectation.prepare(self.value)
        except ValueError:
            raise
        except Exception as error:  # code of another package may raise anything
            reason = f"it raises {type(error).__name__}: {error}"
            raise plugin_error(EXPECTATIONS, self.name, reason) from error
        if not isinstance(found, ExpectationCheck):
            reason = f"`prepare` returned a {type(found).__name__}, no ExpectationCheck"
            raise plugin_error(EXPECTATIONS, self.name, reason)
        return found


def own_expectation(name: str, value: Any, stated: Stated) -> StatedExpectation:
    """Return an expectation of another package. Raises `PreflightError`."""
    expectation = plugin_named(EXPECTATIONS, name, Expectation)
    if expectation is None:
        known = plugin_names(EXPECTATIONS)
        near = nearest(name, known)
        hint = f"known: {', '.join(known)}" if known else "no package adds one"
        hint = f"did you mean {near}?" if near else hint
        reason = f"there is no expectation {name!r} of a package that is installed"
        raise stated.error(f"{reason}; {hint}")
    found = StatedExpectation(name, value, expectation)
    try:
        found.check()
    except ValueError as error:
        raise stated.error(f"{name}: {error}") from error
    return found


class OwnExpectation(RecordLimit):
    """The check of a data set by an expectation of another package."""

    def __init__(self, stated: StatedExpectation, most: int) -> None:
        self._stated = stated
        self._check = stated.check()
        self._findings = RecordFindings(most)
        self._has_begun = False

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Let the expectation check a record."""
        self._has_begun = True
        message = self._called(self._check.take, placed.record, kind=str)
        if message:
            self._findings.add(
                count,
                placed.number,
                lambda: (placed.row.place(0, 1, ()), None),
                lambda: message,
            )

    def outcomes(self) -> Iterator[Outcome]:
        """Yield what the expectation found."""
        result = ExpectationResult(None, "no record was read")
        if self._has_begun:
            result = self._called(self._check.result, kind=ExpectationResult)
        wrong = self._findings.total
        found = result.found
        if wrong:
            found = "; ".join(
                filter(None, (found, f"{with_noun(wrong, 'finding')} in records"))
            )
        yield Outcome(
            "own",
            self._check.expected or self._stated.name,
            found,
            False if wrong else result.is_met,
            OWN_EXPECTATION,
            records=self._findings,
            messages=tuple(result.messages),
            help=self._stated.expectation.summary,
            value=short_literal(self._stated.value),
            item=self._stated.name,
            needs_all=True,
            found_without_values="not met" if wrong else "",
            unknown="" if result.is_met is not None else found,
        )

    def _called(self, function: Callable[..., Any], *values: Any, kind: type) -> Any:
        """Return what a function of another package does. Raises `PluginError`."""
        try:
            found = function(*values)
        except Exception as error:  # code of another package may raise anything
            reason = f"it raises {type(error).__name__}: {error}"
            raise plugin_error(EXPECTATIONS, self._stated.name, reason) from error
        if not isinstance(found, kind):
            reason = f"it returned a {type(found).__name__} and not a {kind.__name__}"
            raise plugin_error(EXPECTATIONS, self._stated.name, reason)
        return found
