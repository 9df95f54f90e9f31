"""Show the scores that the answers of files hold already."""

from collections.abc import Iterable, Sequence

from harpia_formats.conversion.options import Output as OutputPlace
from harpia_formats.evaluation.scoring.measures.stored_metrics import StoredMetrics
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.evaluation.scoring.results.result_format import (
    Observer,
    ResultFormat,
    result_format_named,
)
from harpia_formats.evaluation.scoring.scoring_run import Scoring
from harpia_formats.files.io.inputs import Input
from harpia_formats.model.vendor_metrics import ScoreError


def scoring_of(
    inputs: Iterable[Input],
    to: str | ResultFormat | None = None,
    output: OutputPlace = None,
    options: ScoreOptions | None = None,
    observers: Sequence[Observer] = (),
) -> Scoring:
    """Return the run that computes scores, or shows those that are stored.

    Each of the `observers` gets all answers with their scores. Raises what `Scoring`
    raises, and `ScoreError` for options that stored scores cannot follow.
    """
    if options is None or not options.stored:
        return Scoring(inputs, to, output, options, observers)
    if options.missing == Missing.ZERO:
        raise ScoreError(
            "a stored score that is no number never counts as 0: leave out "
            "`--missing zero`"
        )
    source = StoredMetrics(options)
    target = result_format_named(to) if isinstance(to, str) else to
    if target is not None and target.holds_records:
        raise ScoreError(
            f"{target.id} holds records, which have these scores already: write them "
            f"with `convert --to {target.id}`"
        )
    return Scoring(inputs, target, output, options, observers, source=source)
