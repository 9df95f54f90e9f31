"""The run that compares scores: computed ones, or those that answers hold already."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harpia_formats.evaluation.scoring.compare_runs import ScoreComparison
from harpia_formats.evaluation.scoring.compare_stored import StoredComparison
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.stored_run import check_computed
from harpia_formats.files.io.inputs import Input
from harpia_formats.model.metric_profile import ScoreOptionsError


def comparison_of(  # noqa: PLR0913 - inputs, and how they are compared
    inputs: Iterable[Input],
    options: ScoreOptions,
    models: Sequence[str] = (),
    test: str | None = None,
    baseline: str | None = None,
    *,
    force: bool = False,
) -> ScoreComparison | StoredComparison:
    """Return the run that compares the scores of systems.

    `force` compares stored scores that may have been computed differently. Raises
    `ScoreError` for options that cannot be combined.
    """
    if not options.stored:
        if force:
            raise ScoreOptionsError(
                "--force is about stored scores, and needs --stored"
            )
        return ScoreComparison(inputs, options, models, test, baseline)
    check_computed(options, options.parameters)
    options = replace(options, stored=False)
    return StoredComparison(inputs, options, models, test, baseline, force=force)
