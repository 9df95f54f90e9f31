"""String check: whether an answer equals, contains, starts or ends with a reference.

Source: the string check of the NeMo Evaluator SDK. Texts are compared without
normalisation. A record scores 1 or 0, and the metric is their mean.
"""

from collections.abc import Callable, Mapping
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import mean_measure
from harpia_formats.evaluation.metrics.metric import Measure, Metric
from harpia_formats.evaluation.metrics.parameters import read_parameters
from harpia_formats.evaluation.metrics.references import (
    CHECK_RULES,
    score_over_references,
)

#: The comparison of an answer, on the left, with a reference.
OPERATIONS: Mapping[str, Callable[[str, str], bool]] = {
    "equals": lambda left, right: left == right,
    "not equals": lambda left, right: left != right,
    "contains": lambda left, right: right in left,
    "not contains": lambda left, right: right not in left,
    "startswith": str.startswith,
    "endswith": str.endswith,
}
ALIASES = {"==": "equals", "!=": "not equals", "<>": "not equals"}
#: Operations that must hold for every reference.
NEGATIONS = frozenset({"not equals", "not contains"})
DEFAULTS = {"operation": "equals", "references": None, "ignore_case": False}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("string-check", DEFAULTS, given)
    name = parameters.choice("operation", (*OPERATIONS, *ALIASES))
    operation = ALIASES.get(name, name)
    rule = "min" if operation in NEGATIONS else "max"
    if parameters.values["references"] is not None:
        rule = parameters.choice("references", CHECK_RULES)
    holds, folds = OPERATIONS[operation], parameters.flag("ignore_case")

    def check(answer: str, reference: str) -> float:
        if folds:
            return float(holds(answer.casefold(), reference.casefold()))
        return float(holds(answer, reference))

    signature = f"string-check|{OWN_LIBRARY}|op:{operation.replace(' ', '-')}"
    signature += f"{'|case:folded' if folds else ''}|refs:{rule}"
    return mean_measure(
        "string-check",
        signature,
        score_over_references(check, rule),
        is_binary=True,
        same_answer=str.casefold if folds else str,
    )


METRIC = Metric(
    "string-check",
    "The share of answers that equal, contain, start with or end with a reference, "
    "or do not, case and all.",
    DEFAULTS,
    _measure_of,
)
