"""The four recipes by which converters of EvalEval compute `sample_hash`.

No recipe is used by all of them, so a hash that any of them gives is accepted.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical_list(raw: str, references: list[str]) -> str:
    """Return the hash of a compact object with all references: the documented one."""
    return _digest(_object_of(raw, references, (",", ":")))


def canonical_first(raw: str, references: list[str]) -> str:
    """Return the hash of an object with the first reference, as for lm_eval."""
    return _digest(_object_of(raw, references[0], (", ", ": ")))


def first_joined(raw: str, references: list[str]) -> str:
    """Return the hash of the question with the first reference behind it: HELM's."""
    return _digest(raw + references[0])


def all_joined(raw: str, references: list[str]) -> str:
    """Return the hash of the question with all references behind it: Inspect's."""
    return _digest(raw + "".join(references))


def _object_of(raw: str, reference: Any, separators: tuple[str, str]) -> str:
    members = {"raw": raw, "reference": reference}
    return json.dumps(members, sort_keys=True, separators=separators)


Recipe = Callable[[str, list[str]], str]

RECIPES: dict[str, Recipe] = {
    "A": canonical_list,
    "B": canonical_first,
    "C": first_joined,
    "D": all_joined,
}
#: The recipes that need a reference.
_first_reference_recipes = frozenset({"B", "C"})


def recipe_of(digest: str, raw: str, references: list[str]) -> str:
    """Return the letter of the recipe that gives `digest`, or "" if none does."""
    for letter, recipe in RECIPES.items():
        if (references or letter not in _first_reference_recipes) and recipe(
            raw, references
        ) == digest:
            return letter
    return ""
