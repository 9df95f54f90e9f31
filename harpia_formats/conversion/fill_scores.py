"""Score the answers of a record that have no score."""

from dataclasses import dataclass
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.options import (
    FILLING_METRICS,
    ConvertOptions,
    FillingMeasure,
)
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.problem import ConversionError
from harpia_formats.model.record import Output, Record, Score


@dataclass(frozen=True, slots=True)
class ScoreFiller:
    """Gives each answer without a score the score of one metric."""

    name: str
    measure: FillingMeasure

    def __call__(self, record: Record, outcomes: FieldOutcomes) -> Record:
        """Return `record` with a score for each answer.

        Raises `Unconvertible` where a record lacks the answer or the references.
        """
        outputs = [
            self._with_scores(record, output, outcomes) for output in record.outputs
        ]
        return replace(record, outputs=outputs)

    def _with_scores(
        self, record: Record, output: Output, outcomes: FieldOutcomes
    ) -> Output:
        scores = output.scores or [Score()]
        if all(score.value is not UNSET for score in scores):
            return output
        answer = answer_text(output)
        if answer is None or not record.references:
            lacking, name = ("an answer", "outputs.text")
            if answer is not None:
                lacking, name = ("a reference", "references")
            reason = f"the record has no score, and {self.name} needs {lacking}"
            # A null is a value, which no constant replaces.
            is_null = answer is None and output.text is None
            help_ = "" if is_null else f"give it with `--set {name}=VALUE`"
            raise Unconvertible("outputs.scores.value", reason, help_)
        (value,) = self.measure.scores(
            self.measure.statistics(answer, record.references)
        )
        outcomes.defaulted("outputs.scores.value", f"`--score {self.name}`")
        filled = [
            score if score.value is not UNSET else self._filled(score, value, outcomes)
            for score in scores
        ]
        return replace(output, scores=filled)

    def _filled(
        self, score: Score, value: float | None, outcomes: FieldOutcomes
    ) -> Score:
        changes: dict[str, Any] = {"value": value}
        if score.is_correct is UNSET:
            outcomes.defaulted("outputs.scores.is_correct", "whether the score is 1")
            changes["is_correct"] = value == 1.0
        for name, given in (
            ("metric", self.name),
            ("signature", self.measure.signature),
        ):
            # A value under the name of another metric would be taken for its score.
            known = getattr(score, name)
            if known == given:
                continue
            note = outcomes.defaulted if known is UNSET else outcomes.changed
            note(f"outputs.scores.{name}", f"`--score {self.name}`")
            changes[name] = given
        return replace(score, **changes)


def answer_text(output: Output) -> str | None:
    """Return the text of an answer, or of the last assistant turn of a conversation."""
    if isinstance(output.text, str):
        return output.text
    for turn in reversed(output.turns or []):
        if turn.get("role") == "assistant" and isinstance(turn.get("content"), str):
            return str(turn["content"])
    return None


def score_filler(options: ConvertOptions) -> ScoreFiller | None:
    """Return the filler with the metric `options.score`, None if none is asked for.

    Raises `ConversionError` for another metric than those that can fill scores, and
    where `options.filling_measure` is not given.
    """
    name = options.score
    if name is None:
        return None
    if name not in FILLING_METRICS:
        known = ", ".join(FILLING_METRICS)
        raise ConversionError(f"no metric is called {name!r} (known: {known})")
    if options.filling_measure is None:
        raise ConversionError(f"the measure of {name} is missing")
    return ScoreFiller(name, options.filling_measure(name))
