"""Prepare records for a target: the prompt that was sent, one filter, a derived answer.

A task of likelihoods has no text of an answer. Where a row must have one, the choice
with the highest likelihood is the answer that the task took; of anything else of this
kind no answer is known, and an empty one would be a false statement.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.mapping.choices import ALL_FILTERS, Choices, Prompt
from harpia_formats.conversion.mapping.stored_choices import (
    UnknownChoiceError,
    likeliest_choice,
    likelihoods_of,
)
from harpia_formats.model.adapter import EMPTY_FOR_NULL, Cardinality, FormatAdapter
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import Output, Record


@lru_cache(maxsize=4096)
def tool_signature(metric: str, tool: str, version: str = "", **parts: str) -> str:
    """Return the signature of a score of `metric` that `tool` stored.

    `metric` is the name that the tool gives it, `tool` is the name of its package, such
    as `lm-eval` or `inspect_ai`, and `version` is "" if the file does not say it. The
    parts say which of several scores of that name it is: the `filter` of lm-eval, the
    `scorer` of Inspect, the `perturbation` of HELM. A part without a value is left out.
    The form is that of the signatures of our own metrics, so that scores of two tools
    or versions are never taken for comparable ones.

    >>> tool_signature("exact_match", "lm-eval", "0.4.13", filter="strict-match")
    'exact_match|impl:lm-eval-0.4.13|filter:strict-match'
    >>> tool_signature("f1_score", "helm", perturbation="")
    'f1_score|impl:helm'
    """
    library = f"{tool}-{version}" if version else tool
    named = (f"{name}:{value}" for name, value in parts.items() if value)
    return "|".join(map(_escaped, (metric, f"impl:{library}", *named)))


def extraction(text: str, method: str) -> dict[str, Any]:
    """Return the attribution of `text`, which a `method` found in an answer's text."""
    return {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": text,
        "extraction_method": method,
        "is_terminal": True,
    }


@lru_cache(maxsize=4096)
def part_of(signature: str, name: str) -> str:
    """Return the value of a part of a signature, "" if it has none of the name.

    >>> part_of("exact_match|impl:lm-eval-0.4.13|filter:strict-match", "filter")
    'strict-match'
    """
    start = f"{name}:"
    parts = signature.split("|")[1:]
    found = next((part for part in parts if part.startswith(start)), start)
    return found.removeprefix(start).replace("%7C", "|")


def _escaped(part: str) -> str:
    """Return a part of a signature without the character that ends parts."""
    return part.replace("|", "%7C")


#: The detail of the outcome of choices that no prompt names either.
UNANSWERABLE = "the question cannot be answered without them"
#: The beginning of the detail of the outcome of what other filters have, before the
#: name.
OTHER_FILTERS = "all but those of the filter "
_DERIVED = "derived: the choice of the highest likelihood"
_no_answer_help = (
    "`--on-invalid skip` leaves such records out; a format with choices and scores, "
    "such as record, keeps them whole"
)


def has_empty_answers(target: FormatAdapter) -> bool:
    """Tell whether rows of a format have an empty text for an answer without one."""
    return any(
        mapping.record_path == "outputs.text" and mapping.codec is EMPTY_FOR_NULL
        for mapping in target.fields
    )


def of_outputs(name: str, test: str = "{}") -> str:
    """Return the expression that tells whether a field of an output meets a `test`.

    Most records have one output, which needs no loop.
    """
    first, each = test.format(f"outputs[0].{name}"), test.format(f"output.{name}")
    several = f"any([{each} for output in outputs])"
    return f"({first} if len(outputs) == 1 else {several})"


@dataclass(slots=True)
class Preparation:
    """Changes the records of one conversion before they are fitted to rows."""

    target: FormatAdapter
    choices: Choices
    _is_formatted: bool = field(init=False)
    _needs_text: bool = field(init=False)
    _lacks_choices: bool = field(init=False)
    _chooses_filter: bool = field(init=False)

    def __post_init__(self) -> None:
        filter_ = self.choices.filter
        has_one_score = self.target.capacity.scores is Cardinality.ONE
        self._is_formatted = self.choices.prompt is Prompt.FORMATTED
        self._needs_text = has_empty_answers(self.target)
        self._lacks_choices = not self.target.carries("choices")
        self._chooses_filter = has_one_score if filter_ is None else not self._has_all

    @property
    def _has_all(self) -> bool:
        return self.choices.filter == ALL_FILTERS

    @property
    def unprepared_checks(self) -> Iterator[str]:
        """The expressions that are true of a record that `prepared` leaves as it is.

        They are of the `record` and its `outputs`.
        """
        if self._is_formatted or (
            self._chooses_filter and self.choices.filter is not None
        ):
            yield "False"
        if self.choices.model is not None:
            yield "all([output.model == MODEL for output in outputs])"
        if self._lacks_choices:
            yield "not record.choices"
        if self._chooses_filter:
            has_one = "len(outputs) == 1 and len(outputs[0].scores or ()) < 2"
            yield f"(not outputs or {has_one})"
        if self._needs_text:
            yield f"not {of_outputs('text', '{} is None')}"

    def prepared(self, record: Record, outcomes: FieldOutcomes) -> Record:
        """Return `record` as it is to be fitted; what changes is added to `outcomes`.

        Raises `Unconvertible` for an answer that is not known, and for a record without
        a score of the chosen filter.
        """
        if self.choices.model is not None:
            record = _with_answers_of(self.choices.model, record, outcomes)
        if self._is_formatted:
            record = self._with_formatted_prompt(record, outcomes)
        if self._lacks_choices and record.choices and not _names_choices(record):
            outcomes.dropped("choices", UNANSWERABLE)
        if self._chooses_filter and record.outputs:
            record = _with_filter(record, self.choices.filter, outcomes)
        if self._needs_text and None in [one.text for one in record.outputs]:
            record = _with_derived_text(record, outcomes)
        return record

    def _with_formatted_prompt(self, record: Record, outcomes: FieldOutcomes) -> Record:
        """Return `record` with the prompt that the model got, where that is known.

        Raises `Unconvertible` if the answers are to several prompts.
        """
        given = dict.fromkeys(
            output.formatted_prompt
            for output in record.outputs
            if output.formatted_prompt is not UNSET
        )
        asked = () if record.messages is UNSET else record.messages
        others = [turn for turn in asked if turn.get("role") != "system"]
        if not given or [turn.get("role") for turn in others] not in ([], ["user"]):
            return record
        if len(given) > 1:
            reason = (
                "its answers are to several formatted prompts, and a record has one"
            )
            raise Unconvertible("prompt", reason, "choose one model with `--model`")
        (prompt,) = given
        if prompt == record.prompt:
            return record
        name = "prompt" if record.messages is UNSET else "messages"
        is_new = getattr(record, name) is UNSET
        note = outcomes.defaulted if is_new else outcomes.changed
        note(name, "the formatted prompt")
        if not self.target.carries("outputs.formatted_prompt"):
            outcomes.merged("outputs.formatted_prompt", "is the prompt")
        messages: Any = UNSET
        if record.messages is not UNSET:
            messages = [
                {**turn, "content": prompt} if turn.get("role") == "user" else turn
                for turn in record.messages
            ]
            return replace(record, messages=messages)
        return replace(record, prompt=prompt)


def _with_answers_of(model: str, record: Record, outcomes: FieldOutcomes) -> Record:
    """Return `record` with the answers of a model only."""
    outputs = [output for output in record.outputs if output.model == model]
    if len(outputs) == len(record.outputs):
        return record
    outcomes.dropped("outputs", "of another model")
    return replace(record, outputs=outputs)


def filters_of(outputs: Iterable[Output]) -> list[str]:
    """Return the filters of which answers have scores."""
    scores = [score for output in outputs for score in output.scores or ()]
    named = (part_of(score.signature or "", "filter") for score in scores)
    return [name for name in dict.fromkeys(named) if name]


def _methods_of(outputs: Iterable[Output]) -> list[str]:
    """Return the methods by which something was extracted of answers."""
    steps = [step for output in outputs for step in output.attribution or ()]
    named = dict.fromkeys(map(_method_of, steps))
    return [name for name in named if name is not None]


def _method_of(step: Any) -> str | None:
    """Return the method of a step of an extraction, None if it is no text."""
    name = step.get("extraction_method") if isinstance(step, dict) else None
    return name if isinstance(name, str) else None


def _with_filter(record: Record, wanted: str | None, outcomes: FieldOutcomes) -> Record:
    """Return `record` with the scores and extractions of one filter, the first if None.

    What belongs to no filter stays. Raises `Unconvertible` if no score is of `wanted`.
    """
    names = filters_of(record.outputs)
    if wanted is not None and not names:
        names = _methods_of(record.outputs)
    if wanted is None:
        if len(names) < 2:  # noqa: PLR2004 - several
            return record
        wanted = names[0]
    elif wanted not in names:
        has = f"those are of {', '.join(names)}" if names else "none names a filter"
        reason = f"no score of the record is of the filter {wanted!r}: {has}"
        raise Unconvertible("outputs.scores", reason, "choose another with `--filter`")
    others = frozenset(names) - {wanted}
    return replace(
        record,
        outputs=[
            _without_filters(one, others, wanted, outcomes) for one in record.outputs
        ],
    )


def _without_filters(
    output: Output, others: frozenset[str], wanted: str, outcomes: FieldOutcomes
) -> Output:
    """Return an answer without the scores and extractions of the filters `others`."""
    kept = attribution_without(output, others)
    scores: Any = output.scores
    if scores is not UNSET:
        scores = [
            score
            for score in scores
            if part_of(score.signature or "", "filter") not in others
        ]
    how = f"{OTHER_FILTERS}{wanted}"
    if output.scores and len(scores) < len(output.scores):
        outcomes.dropped("outputs.scores", how)
    if output.attribution and len(kept) < len(output.attribution):
        outcomes.dropped("outputs.attribution", how)
    return replace(output, scores=scores, attribution=kept)


def attribution_without(output: Output, filters: frozenset[str]) -> Any:
    """Return where the scored answer was found, without what `filters` extracted."""
    if output.attribution is UNSET:
        return UNSET
    return [step for step in output.attribution if _method_of(step) not in filters]


def _names_choices(record: Record) -> bool:
    """Tell whether what a record asks names its choices one after the other."""
    texts = [] if record.prompt is UNSET else [record.prompt]
    for turn in () if record.messages is UNSET else record.messages:
        content = turn.get("content")
        texts.append(content if isinstance(content, str) else str(content))
    asked, at = "\n".join(texts), 0
    for choice in record.choices or ():
        at = _end_of(choice, asked, at)
        if at < 0:
            return False
    return True


def _end_of(choice: str, text: str, at: int) -> int:
    """Return where `choice` ends in `text` behind `at`, as words of its own; or -1."""
    while (begin := text.find(choice, at)) >= 0:
        end = begin + len(choice)
        if not (_joined_at(text, begin) or _joined_at(text, end)):
            return end
        at = begin + 1
    return -1


def _joined_at(text: str, at: int) -> bool:
    """Tell whether a place is inside a word or a number of ASCII characters."""
    pair = text[at - 1 : at + 1] if at else ""
    return pair.isalnum() and pair.isascii() and len(pair) == 2  # noqa: PLR2004 - a pair


def _with_derived_text(record: Record, outcomes: FieldOutcomes) -> Record:
    """Return `record` with the chosen option as the text of its only answer.

    A record without likelihoods is returned as it is. Raises `Unconvertible` if the
    option cannot be known.
    """
    extras = () if record.extra is UNSET else record.extra.values()
    if len(record.outputs) != 1 or "resps" not in chain.from_iterable(extras):
        return record
    (output,) = record.outputs
    text, how = _chosen(record, output)
    outcomes.changed("outputs.text", how)
    return replace(record, outputs=[replace(output, text=text)])


def _chosen(record: Record, output: Output) -> tuple[str, str]:
    """Return the option that was chosen, and how it is known; raises `Unconvertible`.

    As lm-eval does it: the first one of the highest likelihood, for each character of
    the option where `acc_norm` is the only accuracy.
    """
    choices = record.choices or []
    if not choices:
        raise _unknown("the task computed likelihoods, and the record has no choices")
    likelihoods = likelihoods_of(record) or []
    accuracies = {
        score.metric: score.value
        for score in output.scores or ()
        if score.metric in {"acc", "acc_norm"}
    }
    how, metric = _DERIVED, "acc"
    try:
        best = likeliest_choice(choices, likelihoods)
        if "acc_norm" in accuracies:
            by_length = likeliest_choice(choices, likelihoods, by_length=True)
            if "acc" not in accuracies:
                best, metric = by_length, "acc_norm"
                how = f"{_DERIVED} per character (acc_norm)"
            elif choices[by_length] != choices[best]:
                how = f"{_DERIVED} (acc), where acc_norm chooses another"
    except UnknownChoiceError as error:
        raise _unknown(str(error)) from error
    stored = accuracies.get(metric)
    is_right = choices[best] in (record.references or ())
    if record.references and stored in (0, 1) and is_right != bool(stored):
        raise _unknown(
            f"{metric} is {stored:g}, but the choice of the highest likelihood is "
            f"{'right' if is_right else 'wrong'}"
        )
    return choices[best], how


def _unknown(reason: str) -> Unconvertible:
    whole = f"no text was written, and which choice was taken is not known: {reason}"
    return Unconvertible("outputs.text", whole, _no_answer_help)


def with_gt_as_reference(record: Record, outcomes: FieldOutcomes) -> Record:
    """Return `record` with its `gt` as its only reference, if it has one.

    `gt` stays what it is; references that it replaces are added to the outcomes.
    """
    if record.gt is UNSET or record.references == [record.gt]:
        return record
    if record.references is UNSET:
        outcomes.defaulted("references", "of gt, by `--reference-from`")
    else:
        outcomes.changed("references", "gt instead, by `--reference-from`")
    return replace(record, references=[record.gt])
