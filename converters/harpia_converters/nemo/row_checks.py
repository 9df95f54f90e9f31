"""What records of questions and of answers share: whose they are, what is doubtful."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.text.describe import path_text, short_json

VENDOR = "NVIDIA NeMo Evaluator"
#: What questions and answers are called together.
FAMILY = "nemo"
NO_CATEGORY, UNDOCUMENTED_KEY = "N101", "N102"
#: Every key of a question that NVIDIA documents.
QUESTION = frozenset({"prompt", "ideal_response", "category", "source"})

#: Keys of other vendors' records; one of them is enough, so that a record of theirs
#: that lacks another is still left to them.
_of_others = frozenset(
    "interaction_type answer_attribution model_outputs messages conversation outputs "
    "instance_id".split()
)


def sign_of(row: Mapping[str, Any], *keys: str) -> str:
    """Return `keys` as a sign if `row` is ours and has them all, else "".

    An object of lists holds columns and is no record, so one of them must hold
    something else.
    """
    if _of_others & row.keys() or not all(key in row for key in keys):
        return ""
    if all(isinstance(row[key], list) for key in keys):
        return ""
    return " and ".join(f"`{key}`" for key in keys)


def without_category(question: Mapping[str, Any], path: Path = ()) -> Iterator[Remark]:
    """Yield that the question at `path` has no category, if it has none."""
    if "category" not in question:
        yield Remark(
            NO_CATEGORY,
            path,
            f"{path_text((*path, 'category'))} is missing; NVIDIA's page requires it",
            'add "category": ""',
        )


def undocumented(
    owner: Mapping[str, Any], known: frozenset[str], path: Path = ()
) -> Iterator[Remark]:
    """Yield each key of the object at `path` that is not among the `known` ones."""
    for key in owner:
        if key not in known:
            yield Remark(
                UNDOCUMENTED_KEY,
                (*path, key),
                f"{short_json(key)} is not a key that is known here",
                f"use one of {', '.join(sorted(known))}, or remove it",
                at_key=True,
            )
