"""Metrics of labels: what their parameters mean, and how answers are read as labels.

The labels are those of references and answers after a normalisation, or those that the
parameter `labels` names. Then an answer with another text has no label: it is wrong.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.label_reading import (
    LONGEST,
    MOST_LABELS,
    OTHER,
    LabelCounts,
    LabelPair,
    LabelReading,
    LabelScores,
)
from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import FACTORS
from harpia_formats.evaluation.metrics.metric import (
    Measure,
    Statistics,
    UnscorableError,
)
from harpia_formats.evaluation.metrics.parameters import Parameters
from harpia_formats.evaluation.metrics.references import references_by_rule
from harpia_formats.evaluation.metrics.text.normalise import NORMALISATIONS
from harpia_formats.evaluation.metrics.text.text_cache import cached_by_text

#: The parameters of every metric of labels.
DEFAULTS = {"labels": None, "normalisation": "byob", "references": "any"}
#: What several references mean: the label of any of them is right, or of the first one.
RULES = ("any", "first")
#: Characters of given labels that a signature holds, and of the digest of longer ones.
_SHOWN, _DIGEST = 200, 12


def read_labels(parameters: Parameters, weights: str = "none") -> LabelReading:
    """Return how the labels of a metric are read; raises `MetricError`.

    `weights` is the name of the weights of distances between labels in their order.
    """
    chosen = parameters.choice("normalisation", tuple(NORMALISATIONS))
    rule = parameters.choice("references", RULES)
    normal = NORMALISATIONS[chosen]
    given = _given_labels(parameters, normal)
    label_of = cached_by_text(_label_function(normal, given))

    def pair(answer: str | None, references: Sequence[str]) -> LabelPair:
        found = [label_of(text) for text in references_by_rule(references, rule)]
        labels = [label for label in found if label != OTHER]
        if not labels:
            raise UnscorableError(
                "the reference is none of the labels"
                if given
                else f"a reference of more than {LONGEST} characters is no label"
            )
        mine = OTHER if answer is None else label_of(answer)
        return LabelPair(mine if mine in labels else labels[0], mine)

    options = f"norm:{chosen}|labels:{shown_labels(given)}|refs:{rule}"
    return LabelReading(options, pair, given, weights)


def _label_function(
    normal: Callable[[str], str], given: tuple[str, ...]
) -> Callable[[str], str]:
    """Return a function that returns the label of a text, `OTHER` if it has none."""
    known = frozenset(given)

    def label_of(text: str) -> str:
        found = normal(text)
        is_label = found in known if known else len(found) <= LONGEST
        return found if is_label else OTHER

    return label_of


def _given_labels(
    parameters: Parameters, normal: Callable[[str], str]
) -> tuple[str, ...]:
    """Return the labels that the parameters name; raises `MetricError`."""
    value = parameters.values["labels"]
    if value is None:
        return ()
    texts = re.split(r"\s*,\s*", value) if isinstance(value, str) else value
    found = (
        [normal(text) for text in map(label_text, texts) if text is not None]
        if isinstance(texts, list | tuple)
        else []
    )
    is_list = 1 < len(found) <= MOST_LABELS and len(found) == len(texts)
    if not is_list or len({*found, OTHER}) <= len(found):
        wanted = f"a list of 2 to {MOST_LABELS} texts that differ when normalised"
        raise parameters.wrong("labels", wanted)
    return tuple(found)


def label_text(value: Any) -> str | None:
    """Return a label of a parameter as text; None for a value that is no label."""
    if isinstance(value, str):
        return value
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_whole else None


def shown_labels(given: tuple[str, ...]) -> str:
    """Return given labels for a signature: their texts, or number and digest."""
    if not given:
        return "data"
    shown = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    # The parts of a signature are split at this character.
    shown = shown.replace("|", "\\u007c")
    if len(shown) <= _SHOWN:
        return shown
    from hashlib import sha256  # noqa: PLC0415 - most runs have no long list of labels

    digest = sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{len(given)}#{digest}"


def label_measure(  # noqa: PLR0913 - what a metric of labels consists of
    name: str,
    reading: LabelReading,
    scores: Callable[[LabelCounts], float | None],
    *,
    options: str = "",
    scale: str = "-1-1",
    undefined: str = "",
    is_by_label: bool = True,
) -> Measure:
    """Return a metric that is computed from counts by pair of labels.

    `scores` returns a score between -1 and 1 of counts, of which there are some, and
    None where it is not defined; `undefined` tells why. `options` are those in the
    signature beside those of the reading. `is_by_label` says whether a label with few
    references may change the score as much as any other. On the scale "-1-1" the
    score stays as it is.
    """
    factor = FACTORS.get(scale, 1)

    def scaled(counts: LabelCounts) -> tuple[float | None, ...]:
        value = scores(counts) if counts.total else None
        return (None if value is None else value * factor,)

    found = LabelScores(reading, scaled, undefined, is_by_label)

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        pair = reading.pair(answer, references)
        if not reading.given:
            raise TypeError(f"{name} adds up answers of labels that are given only")
        return found.row(pair, (*reading.given, OTHER))

    more = f"|{options}" if options else ""
    return Measure(
        (name,),
        f"{name}|{OWN_LIBRARY}{more}|{reading.options}|scale:{scale}",
        scale,
        statistics,
        lambda sums: found.scores_of(sums, (*reading.given, OTHER)),
        labels=found,
    )
