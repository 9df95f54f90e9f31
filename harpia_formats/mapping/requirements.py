"""What a format must have and another one never has: told before anything is read."""

from collections.abc import Collection

from harpia_formats.model.adapter import Cardinality, FieldMapping, FormatAdapter
from harpia_formats.model.format import Format
from harpia_formats.model.record import FIELD_TYPES

#: Fields that others can give.
_given_by = {
    "prompt": ("messages",),
    "messages": ("prompt",),
    "outputs.text": ("outputs.turns", "outputs"),
    "outputs.turns": ("outputs.text", "outputs"),
    "outputs.model": ("outputs",),
    "outputs": ("outputs.text", "outputs.turns"),
}
#: What a metric gives.
_of_scores = frozenset({"outputs.scores.value", "outputs.scores.is_correct"})


class ConversionError(Exception):
    """A conversion that cannot be done, and why; nothing is written."""


def check_requirements(  # noqa: PLR0913 - two formats, and what is given beside
    source: Format,
    source_spoke: FormatAdapter,
    target: Format,
    target_spoke: FormatAdapter,
    constants: Collection[str],
    *,
    scored: bool,
) -> None:
    """Raise `ConversionError` if no row of `source` can become one of `target`."""
    missing = [
        each
        for each in target_spoke.fields
        if _is_missing(each, source_spoke, constants, scored=scored)
    ]
    missing += _missing_answer(source_spoke, target_spoke, constants, missing)
    if not missing:
        return
    names = [each.name for each in missing]
    cures = [f"--set {each.name}=VALUE" for each in missing]
    if {each.record_path for each in missing} & _of_scores and not scored:
        cures = [
            f"--set {each.name}=VALUE"
            for each in missing
            if each.record_path not in _of_scores
        ]
        cures.append("--score em or --score f1 for the score")
    raise ConversionError(
        f"{target.id} needs {_listed(names)}, which {source.id} does not have; "
        f"give {_listed(cures)}"
    )


def _missing_answer(
    source: FormatAdapter,
    target: FormatAdapter,
    constants: Collection[str],
    missing: list[FieldMapping],
) -> list[FieldMapping]:
    """Return where the answer goes, if there is none for what rows say of one."""
    asked = any(
        each.required and each.record_path.startswith("outputs.")
        for each in target.fields
    )
    if not asked or holds_answers(source) or "outputs.text" in constants:
        return []
    answer = (each for each in target.fields if each.record_path == "outputs.text")
    return [each for each in answer if each not in missing][:1]


def _is_missing(
    given: FieldMapping,
    source: FormatAdapter,
    constants: Collection[str],
    *,
    scored: bool,
) -> bool:
    if (
        not given.required
        or given.record_path == "id"
        or given.record_path in constants
    ):
        return False
    if scored and given.record_path in _of_scores:
        return False
    return not any(
        source.carries(each) or each in constants
        for each in (given.record_path, *_given_by.get(given.record_path, ()))
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def holds_answers(adapter: FormatAdapter) -> bool:
    """Tell whether rows have room for what models answered."""
    return adapter.capacity.outputs is not Cardinality.NONE


def find_field_path(name: str, adapter: FormatAdapter) -> str | None:
    """Return the path of the field that `name` means, None if it means none.

    It is a key of the format's rows, the path of a field, or the last part of one.
    """
    for each in adapter.fields:
        if name in (each.name, each.record_path) and each.record_path in FIELD_TYPES:
            return each.record_path
    if name in FIELD_TYPES:
        return name
    for start in ("params.", "metadata."):
        if name.startswith(start):
            return name
    ends = [each.record_path for each in adapter.fields if each.path[-1] == name]
    ends += [each for each in FIELD_TYPES if each.rpartition(".")[2] == name]
    named = {"response": "outputs.text", "score": "outputs.scores.value"}
    return next((each for each in ends if each in FIELD_TYPES), named.get(name))
