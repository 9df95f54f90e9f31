"""Multiple choice: the share of answers that name a right choice of their record.

An answer names a choice by the rules of
`harpia_formats.evaluation.metrics.text.choices`. A reference is a letter, the text of a
choice, or its number. An answer that names none or several choices is wrong, as
leaderboards count it, or left out; nothing is guessed.
"""

from functools import lru_cache

from harpia_formats.evaluation.metrics.metric import (
    OWN_LIBRARY,
    RULES,
    Measure,
    Metric,
    Parameters,
    Sample,
    UnscorableError,
    references_by_rule,
    sample_mean_measure,
)
from harpia_formats.evaluation.metrics.text.choices import (
    KINDS,
    Choices,
    NoChoiceError,
)

DEFAULTS = {
    "index": None,
    "reference": "any",
    "unreadable": "wrong",
    "references": "max",
    "scale": "0-1",
}
#: How an answer counts that names no choice, or several.
UNREADABLE = ("wrong", "left-out")
#: Answers whose choices are kept, since they are asked for twice.
CHOICES = 8
NEEDS = ("answer", "references", "choices")


def _measure_of(parameters: Parameters) -> Measure:
    """Return the metric with its parameters; raises `MetricError`."""
    first = _first_index(parameters)
    kind = parameters.choice("reference", ("any", *KINDS))
    unreadable = parameters.choice("unreadable", UNREADABLE)
    rule, scale = parameters.choice("references", RULES), parameters.scale()
    kinds = KINDS if kind == "any" else (kind,)

    def score(sample: Sample) -> float:
        choices = Choices(tuple(sample.choices), first)
        right = {
            _right_choice(choices, reference, kinds)
            for reference in references_by_rule(sample.references, rule)
        }
        return float(choice_in(sample) in right)

    @lru_cache(CHOICES)
    def read(answer: str, texts: tuple[str, ...]) -> int | str:
        """Return the choice that an answer names, or why it names none."""
        try:
            return Choices(texts, first).in_answer(answer)
        except NoChoiceError as error:
            return str(error)

    def choice_in(sample: Sample) -> int | None:
        """Return the choice that an answer names, None if that is wrong."""
        found = read(sample.answer or "", tuple(sample.choices))
        if isinstance(found, int):
            return found
        if unreadable == "wrong":
            return None
        raise UnscorableError(found)

    def named_choice(sample: Sample) -> str:
        return f"{choice_in(sample)}"

    signature = (
        f"multiple-choice|{OWN_LIBRARY}|index:{'no' if first is None else first}"
        f"|reference:{kind}|unreadable:{unreadable}|refs:{rule}"
    )
    return sample_mean_measure(
        "multiple-choice",
        signature,
        score,
        NEEDS,
        scale,
        is_binary=True,
        same_answer=named_choice,
        reads=(lambda sample: choice_in(sample) is not None)
        if unreadable == "wrong"
        else None,
    )


def _first_index(parameters: Parameters) -> int | None:
    """Return the number of the first choice, None if numbers name no choice."""
    value = parameters.values["index"]
    if value is None or (value in {0, 1} and not isinstance(value, bool)):
        return None if value is None else int(value)
    raise parameters.wrong("index", "0 or 1, the number of the first choice, or null")


def _right_choice(choices: Choices, reference: str, kinds: tuple[str, ...]) -> int:
    """Return the index of the choice that a reference is; raises `UnscorableError`."""
    if "index" in kinds and kinds != KINDS and choices.first is None:
        choices = Choices(choices.texts, 0)
    found = choices.named(reference, kinds)
    if len(found) == 1:
        return found.pop()
    if found:
        raise UnscorableError(
            f"the reference {reference:.40} may be several choices: the parameter "
            f"reference says which of {', '.join(KINDS)} it is"
        )
    hint = ""
    if choices.first is None and reference.strip().isdecimal():
        hint = ": the parameter index says whether the first one is 0 or 1"
    raise UnscorableError(f"the reference {reference:.40} is no choice{hint}")


METRIC = Metric.of(
    "multiple-choice",
    "The share of answers that name a right one of the choices of their record, by "
    "letter, text or number; an answer that names none or several is wrong, or left "
    "out (unreadable).",
    DEFAULTS,
    _measure_of,
)
