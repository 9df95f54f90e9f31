"""The four recipes by which converters of EvalEval compute `sample_hash`.

No recipe is used by all of them, so a hash that any of them gives is accepted.
"""

from collections.abc import Callable
from hashlib import sha256
from json.encoder import encode_basestring_ascii


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of `text` as UTF-8, in hexadecimal."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical_list(raw: str, references: list[str]) -> str:
    """Return the hash of a compact object with all references: the documented one."""
    listed = ",".join(map(encode_basestring_ascii, references))
    return digest_of_text(
        f'{{"raw":{encode_basestring_ascii(raw)},"reference":[{listed}]}}'
    )


def canonical_first(raw: str, references: list[str]) -> str:
    """Return the hash of an object with the first reference, as for lm_eval."""
    first = encode_basestring_ascii(references[0])
    return digest_of_text(
        f'{{"raw": {encode_basestring_ascii(raw)}, "reference": {first}}}'
    )


def first_joined(raw: str, references: list[str]) -> str:
    """Return the hash of the question with the first reference behind it: HELM's."""
    return digest_of_text(raw + references[0])


def all_joined(raw: str, references: list[str]) -> str:
    """Return the hash of the question with all references behind it: Inspect's."""
    return digest_of_text(raw + "".join(references))


Recipe = Callable[[str, list[str]], str]

RECIPES: dict[str, Recipe] = {
    "A": canonical_list,
    "B": canonical_first,
    "C": first_joined,
    "D": all_joined,
}
#: Of what each recipe gives the hash, in words.
DESCRIBED = {
    "A": "the JSON text with input.raw and all references",
    "B": "the JSON text with input.raw and the first reference",
    "C": "input.raw with the first reference behind it",
    "D": "input.raw with all references behind it",
}
#: The recipes that need a reference.
_first_reference_recipes = frozenset({"B", "C"})


def recipe_of(digest: str, raw: str, references: list[str], likely: str = "A") -> str:
    """Return the letter of the recipe that gives `digest`, or "" if none does.

    The recipe `likely` is tried first.
    """
    if references and RECIPES[likely](raw, references) == digest:
        return likely
    for letter, recipe in RECIPES.items():
        if (references or letter not in _first_reference_recipes) and recipe(
            raw, references
        ) == digest:
            return letter
    return ""
