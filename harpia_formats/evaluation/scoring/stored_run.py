"""Show the scores that the answers of files hold already."""

from collections.abc import Collection, Generator, Iterable, Sequence
from dataclasses import replace

from harpia_formats.conversion.mapping.choices import ReferenceFrom
from harpia_formats.conversion.mapping.requirements import holds_answers
from harpia_formats.conversion.options import Output as OutputPlace
from harpia_formats.evaluation.scoring.input_files import reading_of
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.evaluation.scoring.result_format import Observer, ResultFormat
from harpia_formats.evaluation.scoring.scoring_run import Scoring
from harpia_formats.evaluation.scoring.stored_metrics import (
    StoredMetrics,
    is_of_questions,
)
from harpia_formats.files.io.inputs import Input, rereadable_input, rewind_inputs
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import Cardinality
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import FileCount
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError


def scoring_of(
    inputs: Iterable[Input],
    to: str | ResultFormat | None = None,
    output: OutputPlace = None,
    options: ScoreOptions | None = None,
    observers: Sequence[Observer] = (),
) -> Scoring:
    """Return the run that computes scores, or shows those that are stored.

    Each of the `observers` gets all answers with their scores. Raises what `Scoring`
    raises.
    """
    if options is None or not options.stored:
        return Scoring(inputs, to, output, options, observers)
    return StoredScoring(inputs, to, output, options, observers)


class StoredScoring(Scoring):
    """A run that shows stored scores: the mean of each quantity, by system and group.

    The inputs are read twice, since the quantities must be known before they are added
    up. Raises `ScoreError` for options that need answers, and what `Scoring` raises.
    """

    def __init__(
        self,
        inputs: Iterable[Input],
        to: str | ResultFormat | None,
        output: OutputPlace,
        options: ScoreOptions,
        observers: Sequence[Observer] = (),
    ) -> None:
        _check(options)
        # The names of stored metrics are not those of ours.
        without = replace(options, metrics=(), parameters={})
        super().__init__(inputs, to, output, without, observers)
        self._wanted, self._parameters = options.metrics, options.parameters
        target = self._target
        if target is not None and target.holds_records:
            raise ScoreError(
                f"{target.id} holds records, which have these scores already: write "
                f"them with `convert --to {target.id}`"
            )

    def _run(self) -> Generator[Problem | None, None, None]:
        self._inputs = [rereadable_input(source) for source in self._inputs]
        found = StoredMetrics(self._wanted, self._options.by, self._parameters)
        reading = self._read_before(
            found.add,
            check_scores,
        )
        if reading is None:
            yield from self._answers.problems.pop_last()
            return
        self._models.check()
        self._metrics = found.metrics()
        self._stored_outcomes = found.outcomes
        rewind_inputs(self._inputs)
        self._reading = reading_of(self._inputs, self._options)
        self._answers = self._new_answers()
        yield from self._score_answers()

    def _open_output(self, variant: FormatVariant, count: FileCount) -> None:
        """Note the file that is read. Raises `ScoreError` if it holds no scores."""
        check_scores(variant, count)
        self._answers.count = count
        self._source = self._source or variant.format
        holds = adapter_of(variant.format).capacity.outputs
        self._answers.holds_models = holds is Cardinality.MANY
        self._opened_writer()


def check_scores(variant: FormatVariant, count: FileCount) -> None:
    """Raise `ScoreError` for a file whose format holds no scores."""
    adapter = adapter_of(variant.format)
    if adapter.carries("outputs.scores.value"):
        return
    help_ = "leave it out"
    if holds_answers(adapter):
        help_ += "; without `--stored` scores are computed"
    raise ScoreOptionsError(
        f"{count.path}: {variant.format.id} holds no scores; {help_}"
    )


def _check(options: ScoreOptions) -> None:
    """Raise `ScoreError` for options that stored scores cannot follow."""
    if options.missing == Missing.ZERO:
        raise ScoreError(
            "a stored score that is no number never counts as 0: leave out "
            "`--missing zero`"
        )
    check_computed(
        options,
        [
            name
            for name in options.parameters
            if not is_of_questions(name.split(".")[0])
        ],
    )


def check_computed(options: ScoreOptions, parameters: Collection[str]) -> None:
    """Raise `ScoreError` for options that only computed scores follow.

    `parameters` are the names of those that no stored score follows.
    """
    given = {
        "--profile": options.profile is not None,
        "--config": options.config is not None,
        "--param": bool(parameters),
        "--skip-unknown": options.skip_unknown,
        "--reference-from gt": options.reference_from == ReferenceFrom.GT,
    }
    refused = next((option for option, is_given in given.items() if is_given), "")
    if refused:
        raise ScoreError(
            f"`--stored` takes scores as they are stored: leave out `{refused}`"
        )
