"""Report answers that have no score, or a score that differs from the stored one."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec import UNSET

from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.evaluation.metrics import METRICS
from harpia_formats.evaluation.scoring.measures.metric_samples import holds_documents
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    ScoredAnswer,
)
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.formats.detection.unexpected_format import (
    likely_map_of,
    likely_references_of,
)
from harpia_formats.formats.registry import all_rules, format_of
from harpia_formats.formats.rules import Rule
from harpia_formats.formats.rules.scoring_rules import (
    NO_ANSWER,
    NO_FIELD,
    NO_REFERENCE,
    NO_VERDICT,
    UNSCORABLE,
)
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Output, Record
from harpia_formats.model.safe_text import safe
from harpia_formats.model.vendor_metrics import ScoreError
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.unit.findings import KILLED, KILLED_HELP

#: The codes of what a record lacks, whichever answer is scored.
_OF_RECORDS = frozenset({NO_REFERENCE, NO_FIELD})
#: Characters of the name of a model in a message.
_SHOWN = 80


def model_to_name(record: Record, output: Output) -> str:
    """Return the model of an answer if the record has answers of several, else ""."""
    are_same = all(one.model == output.model for one in record.outputs)
    return "" if output.model is UNSET or are_same else output.model


@dataclass(slots=True)
class AnswerProblems:
    """Counts findings on answers, and keeps the first ones until they are asked for."""

    options: ScoreOptions
    models: ModelSelection
    tally: Tally
    measured: tuple[ComputedMetric, ...]
    #: Problems that `pop` has not yielded yet.
    pending: list[Problem] = field(default_factory=list)
    #: Why the first answer without a score is refused, while the model is unknown.
    _refusal: ScoreError | None = None
    #: The record of the last message on a record, by its file and number, and all such
    #: messages on it.
    _record: tuple[int, int] = (0, 0)
    _reported: set[str] = field(default_factory=set)
    _rules: dict[str, Rule] = field(default_factory=all_rules)

    def add(self, code: str, answer: ScoredAnswer, message: str) -> None:
        """Report a finding on an answer."""
        rule = self._rules[code]

        def problem() -> Problem:
            place = answer.placed.row.place(0, 1, ())
            facts = rule.code, rule.name, rule.severity, place, message
            return Problem(*facts, help=self._help(code, answer))

        kept = self.tally.add(answer.count, rule, problem)
        if kept is not None:
            self.pending.append(kept)

    def _help(self, code: str, answer: ScoredAnswer) -> str:
        """Return what to do about a finding: an option that scores a record, mostly."""
        record = answer.placed.record
        if code == KILLED:
            return KILLED_HELP
        if code == NO_REFERENCE:
            # Of other formats a key may be one that they read themselves.
            name = answer.count.format
            has_columns = name is not None and format_of(name).general
            is_open = has_columns and not self.options.columns
            key = likely_references_of(record) if is_open else ""
            return f"if it is there, read it with {key}" if key else ""
        if code != NO_ANSWER:
            return ""
        if holds_documents(record):
            names = [
                name for name in METRICS if "retrieved" in METRICS[name].parameters
            ]
            return f"retrieved documents are scored by `--metrics {','.join(names)}`"
        if self.options.columns:
            return ""
        proposed = likely_map_of(record)
        return f"read columns as fields with {proposed}" if proposed else ""

    def add_unscored(
        self, code: str, answer: ScoredAnswer, message: str, model: str
    ) -> None:
        """Report an answer without a score; raises `ScoreError` if it is refused.

        What a record lacks is reported once, however many answers it has; of any other
        message `model` is the model of the answer, "" if the record shows it.
        """
        if model and code not in _OF_RECORDS:
            message = f"{message} (model {safe(model, _SHOWN)})"
        if self.options.missing is not None:
            if code not in _OF_RECORDS or self._is_new(answer, message):
                self.add(code, answer, message)
            return
        place = self.tally.in_member(answer.placed.row.place(0, 1, ()))
        error = ScoreError(
            f"{place.full_path}:{place.line}: {message}; "
            f'missing="skip" leaves answers without a score out{self._other_way(code)}'
        )
        self._refusal = self._refusal or error
        if not self._is_model_unknown:
            raise self._refusal

    def _is_new(self, answer: ScoredAnswer, message: str) -> bool:
        """Tell whether a message on a record is its first one with this text."""
        record = (id(answer.count), answer.placed.number)
        if record != self._record:
            self._record, self._reported = record, set()
        is_new = message not in self._reported
        self._reported.add(message)
        return is_new

    def _other_way(self, code: str) -> str:
        """Return how else than left out an answer may count, as the end of a text."""
        may_be_wrong = {
            f"{metric.request.label}.unreadable": "wrong"
            for metric in self.measured
            if metric.leaves_unreadable_out
        }
        if code == UNSCORABLE and may_be_wrong:
            given = json.dumps(may_be_wrong)
            return f", and parameters={given} counts unreadable ones as wrong"
        is_missing = code in {NO_ANSWER, NO_VERDICT}
        return ', and missing="zero" scores missing answers 0' if is_missing else ""

    @property
    def _is_model_unknown(self) -> bool:
        """Whether a model is wanted of which no answer was read yet."""
        return self.models.wanted is not None and not self.models.found

    def check_model(self) -> None:
        """Check that the wanted model has answers, after the last record.

        Raises `ConversionError` if not, and `ScoreError` if an answer without a score
        is refused.
        """
        self.models.check()
        if self._refusal is not None:
            raise self._refusal

    def pop(self) -> Iterator[Problem]:
        """Yield the new problems, and forget them.

        They are kept while no answer of the wanted model was read: if there is none,
        that is the error, and not that answers are missing.
        """
        if not self._is_model_unknown:
            yield from self.pop_last()

    def pop_last(self) -> Iterator[Problem]:
        """Yield the problems that are left, after the last record."""
        pending, self.pending = self.pending, []
        yield from pending
