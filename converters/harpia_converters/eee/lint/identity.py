"""Check what a row is about: version label, model, `sample_hash` (E101-E103)."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

from msgspec import UNSET

from harpia_converters.eee.lint.members import Question, fits
from harpia_converters.eee.lint.wording import quoted
from harpia_converters.eee.sample_hash import (
    DESCRIBED,
    RECIPES,
    Recipe,
    digest_of_text,
    recipe_of,
)
from harpia_converters.eee.versions import FIRST_LABELS, V0_2_0, Version
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import RowLint

LABEL, MODEL, HASH = "E101", "E102", "E103"

_hash_form = re.compile(r"[0-9a-f]{64}")
#: Mistakes in computing a hash that can be recognised.
_wrong_recipes: dict[str, Recipe] = {
    f"of {DESCRIBED['A']}, without ASCII escapes": lambda raw, references: (
        digest_of_text(
            json.dumps(
                {"raw": raw, "reference": references},
                ensure_ascii=False,
                separators=(",", ":"),
            )
        )
    ),
    "of input.raw alone": lambda raw, _: digest_of_text(raw),
}
#: Models whose name was found right that are remembered.
_remembered = 256


def is_model_name(name: str) -> bool:
    """Tell whether `name` is `org/name`: parts between slashes, none of them blank."""
    parts = name.split("/")
    return len(parts) > 1 and all(part and part == part.strip() for part in parts)


class _LastRecipe:
    """The recipe that gave the last hash, to be tried first for the next one."""

    letter = next(iter(RECIPES))


@lru_cache(maxsize=512)
def _recipe_of_text(digest: str, raw: str, reference: str) -> str:
    return _recipe_of_list(digest, raw, [reference])


def _recipe_of_list(digest: str, raw: str, references: list[str]) -> str:
    found = recipe_of(digest, raw, references, _LastRecipe.letter)
    if found:
        _LastRecipe.letter = found
    return found


def recipe_of_row(digest: str, raw: str, reference: str | list[str]) -> str:
    """Return the letter of the recipe of a row's hash, "" if none gives it."""
    if type(reference) is str:
        return _recipe_of_text(digest, raw, reference)
    references = cast("list[str]", reference)
    if len(references) == 1:
        return _recipe_of_text(digest, raw, references[0])
    return _recipe_of_list(digest, raw, references)


def lint(version: Version) -> RowLint:
    """Return the check of what a row of `version` is about."""
    check = _Check(version)
    codes = LABEL, MODEL, HASH
    return RowLint(codes, check.remarks, check.is_clean, takes_refused=True)


class _Check:
    """Checks rows of one version; it remembers names, which only makes it faster."""

    def __init__(self, version: Version) -> None:
        self._labels = version.labels
        if version is V0_2_0:
            self._labels |= FIRST_LABELS
        self._written = version.label
        self._models: set[str] = set()

    def is_clean(self, row: Any) -> bool:
        """Tell whether a typed row has nothing that `remarks` yields."""
        if row.schema_version not in self._labels:
            return False
        if row.model_id not in self._models and not self._is_model(row.model_id):
            return False
        given, asked = row.sample_hash, row.input
        return (
            given is UNSET
            or given is None
            or bool(recipe_of_row(given, asked.raw, asked.reference))
        )

    def remarks(self, row: Any) -> Iterator[Remark]:
        """Yield what is wrong with the label, the model and the hash of a row."""
        if type(row) is not dict:
            return
        label = row.get("schema_version")
        if type(label) is str and label not in self._labels:
            yield Remark(
                LABEL,
                ("schema_version",),
                f"schema_version is {quoted(label)}, which is no label of rows of this "
                "shape",
                f'write "{self._written}", or check with --format the version that the '
                "label names",
            )
        model = row.get("model_id")
        if type(model) is str and not is_model_name(model):
            yield Remark(
                MODEL,
                ("model_id",),
                f"model_id must be organisation/model, found {quoted(model)}",
                "write the name as in model_info.id of the aggregate, such as "
                '"meta-llama/Llama-3.1-8B"',
            )
        given = row.get("sample_hash")
        asked: Any = row.get("input")
        if type(given) is str and fits(asked, Question):
            yield from _of_hash(given, asked["raw"], asked["reference"])

    def _is_model(self, name: str) -> bool:
        """Tell whether `name` is the name of a model, and remember it if so."""
        if not is_model_name(name):
            return False
        if len(self._models) < _remembered:
            self._models.add(name)
        return True


def _of_hash(given: str, raw: str, reference: Any) -> Iterator[Remark]:
    """Yield a remark on a hash that no recipe gives."""
    if recipe_of_row(given, raw, reference):
        return
    place = ("sample_hash",)
    references = [reference] if type(reference) is str else reference
    how = "compute it anew from input.raw and input.reference, or leave it out"
    if not _hash_form.fullmatch(given):
        if recipe_of(given.lower(), raw, references):
            how = "write it in lower case"
        found = f"sample_hash must be 64 hexadecimal digits, found {quoted(given)}"
        yield Remark(HASH, place, found, how)
        return
    found = next(
        (
            name
            for name, recipe in _wrong_recipes.items()
            if recipe(raw, references) == given
        ),
        "",
    )
    yield Remark(
        HASH,
        place,
        f"sample_hash is {found}, which no converter computes"
        if found
        else "sample_hash is not that of input.raw and input.reference in any of "
        f"{len(RECIPES)} ways in which converters compute it",
        how,
    )
