"""The verdicts of an LLM judge as metrics: numbers that records hold already."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.evaluation.scoring.answers import WIN, WINNER
from harpia_formats.evaluation.scoring.measures.outcomes import Outcome, SampleOutcomes
from harpia_formats.evaluation.scoring.measures.select_metrics import (
    SelectedMetrics,
    metric_that_is_read,
)
from harpia_formats.evaluation.scoring.measures.stored_metrics import Quantity, no_zero
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.evaluation.scoring.significance.intervals import number_or_none
from harpia_formats.files.io.inputs import Input, is_rereadable
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.formats.rules.scoring_rules import NO_VERDICT
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.record import Output, Record, metric_of
from harpia_formats.model.report import FileCount
from harpia_formats.model.vendor_metrics import (
    ScoreError,
    ScoreOptionsError,
    declared_scale,
)

#: The names of texts that an error lists.
_LISTED = 5


class VerdictsFound(Exception):  # noqa: N818 - not an error
    """An input holds verdicts, whose names must be known before they are scored."""


def holds_verdicts(adapter: FormatAdapter) -> bool:
    """Tell whether rows hold scores of answers, but not the answers."""
    has_scores = adapter.carries("outputs.scores.value")
    return has_scores and not adapter.carries("outputs.text")


@dataclass(slots=True)
class VerdictMetrics:
    """Collects the numbers in verdicts by their names, to make a metric of each.

    Raises `ScoreError` for options that verdicts cannot follow, and for inputs that are
    no files. `target` is the id of the format of results, "" if none are written.
    """

    options: ScoreOptions
    inputs: InitVar[Iterable[Input]]
    target: InitVar[str]
    #: The numbers by their names.
    _found: dict[str, Quantity] = field(default_factory=dict)
    #: The number of rows, of those without a result, and why the first has none.
    _rows: int = 0
    _failed: int = 0
    _first_error: str = ""
    #: The names of texts in the first result that has any.
    _texts: tuple[str, ...] = ()

    def __post_init__(self, inputs: Iterable[Input], target: str) -> None:
        given = {
            "--metrics": bool(self.options.metrics),
            "--profile": self.options.profile is not None,
            "--config": self.options.config is not None,
            "--param": bool(self.options.parameters),
            f"--to {target}": bool(target),
        }
        refused = next((option for option, is_given in given.items() if is_given), "")
        if refused:
            is_chosen = bool(self.options.metrics)
            hint = ", or add `--stored` to choose verdicts" if is_chosen else ""
            raise ScoreOptionsError(
                "the input holds verdicts of a judge, which are scored as they are, "
                f"and compared with verdicts only: leave out `{refused}`{hint}"
            )
        if not all(map(is_rereadable, inputs)):
            raise ScoreOptionsError(
                "the input holds verdicts of a judge, which are read twice: give a file"
            )

    def check_file(self, variant: FormatVariant, count: FileCount) -> None:  # noqa: ARG002 - of any file
        """Raise `ScoreError` for a format of answers, not of verdicts."""
        if not holds_verdicts(adapter_of(variant.format)):
            raise ScoreOptionsError(
                f"{variant.format.id} holds answers, and another input verdicts of a "
                "judge: score them one by one"
            )

    def add(self, record: Record) -> None:
        """Add the verdicts of a record."""
        if not self._texts:
            result = next(_results(record), {})
            self._texts = tuple(
                name for name, value in result.items() if isinstance(value, str)
            )
        for output in record.outputs:
            self._rows += 1
            if output.error:
                self._failed += 1
                self._first_error = self._first_error or output.error
            for score in output.scores or []:
                if number_or_none(score.value) is None:
                    continue
                name = metric_of(score)
                one = self._found.setdefault(name, Quantity(name, []))
                if (score.signature or "") not in one.signatures:
                    one.signatures.append(score.signature or "")
                one.add(score, is_zero=False)

    def metrics(self, reading: Reading) -> SelectedMetrics:  # noqa: ARG002 - its records were added
        """Return the mean of each number.

        The scale is known of true and false, and of what the definition of the judge
        declares to be from 0 to 1. Values never show it: ratings from 1 to 5 may all be
        1. Raises `ScoreError` if there is no number, if one was made in several ways,
        and if a missing one counts as 0 without a known scale.
        """
        if not self._found:
            raise ScoreError(self._why_nothing())
        measured = []
        for name, one in self._found.items():
            if len(one.signatures) > 1:
                shown = " and ".join(
                    signature or "none" for signature in one.signatures
                )
                raise ScoreError(
                    f"the verdicts called {name} were made in several ways, and have "
                    f"no common score: {shown}"
                )
            (signature,) = one.signatures
            is_share = one.are_booleans or declared_scale(name, signature) == "0-1"
            if self.options.missing == Missing.ZERO and not is_share:
                raise ScoreError(no_zero(name))
            signature = f"{signature or 'judge|impl:unknown'}|verdict:{name}"
            scale = "0-1" if is_share else "any"
            measured.append(
                metric_that_is_read(name, signature, scale, is_bounded=is_share)
            )
        return SelectedMetrics(tuple(measured))

    def _why_nothing(self) -> str:
        """Return why no number was found."""
        if not self._rows:
            return "there are no verdicts to score"
        if self._failed == self._rows:
            rows = "the only row" if self._rows == 1 else f"all {self._rows:,} rows"
            return (
                f"there is no verdict to score: {rows} failed, first with: "
                f"{self._first_error}"
            )
        failed = f" ({self._failed:,} rows failed)" if self._failed else ""
        hint = ""
        if self._texts:
            names = ", ".join(self._texts[:_LISTED])
            hint = (
                f", but texts ({names}): if they are labels, "
                "`score agreement --field NAME` compares them with those of "
                "another judge or of people"
            )
        return f"the verdicts hold no number that could be scored{failed}{hint}"

    def outcomes(self, record: Record, output: Output) -> SampleOutcomes:
        """Return the number of each name in a verdict, or why there is none."""
        values = {
            metric_of(score): number_or_none(score.value)
            for score in output.scores or []
        }
        reason = "there is no number"
        pair = next(_results(record, "order"), {})
        if output.error:
            reason = f"there is no verdict: {output.error}"
        elif WINNER in pair and WIN not in pair:
            reason = "there is no verdict on the pair in the other order"
        found = [values.get(name) for name in self._found]
        is_missing = None in found
        is_zero = is_missing and self.options.missing == Missing.ZERO
        missing: Outcome = ((0.0, 1.0), (0.0,)) if is_zero else reason
        return SampleOutcomes(
            tuple(
                missing if value is None else ((value, 1.0), (value,))
                for value in found
            ),
            ((NO_VERDICT, reason),) * is_missing,
            is_zero=is_zero,
        )


def _results(record: Record, *required: str) -> Iterator[Mapping[str, Any]]:
    """Yield the result of each verdict that comes with the `required` keys."""
    for members in () if record.extra is UNSET else record.extra.values():
        result = members.get("result")
        if isinstance(result, Mapping) and all(key in members for key in required):
            yield result
