"""Detect rows of questions and answers, apart from other vendors' records."""

from collections.abc import Mapping
from typing import Any

VENDOR = "NVIDIA NeMo Evaluator"
#: The name of the family of nemo-input and nemo-output.
FAMILY = "nemo"

#: Keys of other vendors' records; a row with any of them is not NeMo's.
FOREIGN_KEYS = frozenset(
    "interaction_type answer_attribution model_outputs messages conversation outputs "
    "instance_id".split()
)
#: Keys of answers; a row with any of them is no question.
ANSWER_KEYS = frozenset({"input", "response", "actual_response", "llm_name"})


def sign_of(row: Mapping[str, Any], *keys: str) -> str:
    """Return `keys` as text if `row` has them all and no other vendor's, else "".

    One of the values must not be a list: an object of lists holds columns, not a row.
    """
    if FOREIGN_KEYS & row.keys() or not all(key in row for key in keys):
        return ""
    if all(isinstance(row[key], list) for key in keys):
        return ""
    return " and ".join(f"`{key}`" for key in keys)
