"""String check: whether an answer stands in a relation to a reference, as it is."""

from collections.abc import Callable, Mapping
from typing import Any

from harpia_formats.metrics.mean import mean_measure
from harpia_formats.metrics.metric import Measure, Metric
from harpia_formats.metrics.parameters import read_parameters
from harpia_formats.metrics.references import CHECK_RULES, score_over_references

#: Of an answer, on the left, and a reference.
OPERATIONS: Mapping[str, Callable[[str, str], bool]] = {
    "equals": lambda left, right: left == right,
    "not equals": lambda left, right: left != right,
    "contains": lambda left, right: right in left,
    "not contains": lambda left, right: right not in left,
    "startswith": str.startswith,
    "endswith": str.endswith,
}
ALIASES = {"==": "equals", "!=": "not equals", "<>": "not equals"}
#: What is true only if it is true of every reference.
NEGATIONS = frozenset({"not equals", "not contains"})
DEFAULTS = {"operation": "equals", "references": None}


def _measure_of(given: Mapping[str, Any]) -> Measure:
    parameters = read_parameters("string-check", DEFAULTS, given)
    asked = parameters.choice("operation", (*OPERATIONS, *ALIASES))
    operation = ALIASES.get(asked, asked)
    rule = "min" if operation in NEGATIONS else "max"
    if parameters.values["references"] is not None:
        rule = parameters.choice("references", CHECK_RULES)
    holds = OPERATIONS[operation]

    def check(answer: str, reference: str) -> float:
        return float(holds(answer, reference))

    signature = f"string-check|op:{operation.replace(' ', '-')}|refs:{rule}"
    return mean_measure("string-check", signature, score_over_references(check, rule))


METRIC = Metric(
    "string-check",
    "The share of answers that equal, contain, start with or end with a reference, "
    "or do not, case and all.",
    DEFAULTS,
    _measure_of,
)
