"""Check the rows of questions and answers for keys (N101, N102)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.text.describe import path_text, short_json

NO_CATEGORY, UNDOCUMENTED_KEY = "N101", "N102"
#: The documented keys of a question.
QUESTION_KEYS = frozenset({"prompt", "ideal_response", "category", "source"})


def category_remarks(question: Mapping[str, Any], path: Path = ()) -> Iterator[Remark]:
    """Yield a remark if the question at `path` has no category."""
    if "category" not in question:
        yield Remark(
            NO_CATEGORY,
            path,
            f"{path_text((*path, 'category'))} is missing; NVIDIA's page requires it",
            'add "category": ""',
        )


def key_remarks(
    owner: Mapping[str, Any], known: frozenset[str], path: Path = ()
) -> Iterator[Remark]:
    """Yield a remark for each key of the object at `path` that is not in `known`."""
    for key in owner:
        if key not in known:
            yield Remark(
                UNDOCUMENTED_KEY,
                (*path, key),
                f"{short_json(key)} is not a documented key",
                f"use one of {', '.join(sorted(known))}, or remove it",
                at_key=True,
            )
