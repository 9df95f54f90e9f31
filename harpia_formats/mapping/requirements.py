"""Check before reading that a target requires nothing that the source never has."""

from collections.abc import Collection

from harpia_formats.model.adapter import Cardinality, FieldMapping, FormatAdapter
from harpia_formats.model.format import Format
from harpia_formats.model.record import FIELD_TYPES

#: Fields that can be made from other fields.
_sources_of = {
    "prompt": ("messages",),
    "messages": ("prompt",),
    "outputs.text": ("outputs.turns", "outputs"),
    "outputs.turns": ("outputs.text", "outputs"),
    "outputs.model": ("outputs",),
    "outputs": ("outputs.text", "outputs.turns"),
}
#: Fields that a metric computes.
_computed = frozenset({"outputs.scores.value", "outputs.scores.is_correct"})


class ConversionError(Exception):
    """A conversion that is not possible; the message says why. Nothing is written."""


def check_requirements(  # noqa: PLR0913 - two formats, and what is given beside
    source: Format,
    source_adapter: FormatAdapter,
    target: Format,
    target_adapter: FormatAdapter,
    constants: Collection[str],
    *,
    scored: bool,
) -> None:
    """Raise `ConversionError` if no row of `source` can become one of `target`.

    `constants` are the paths of fields that the user gives; `scored` tells whether
    answers without a score get one.
    """
    missing = [
        field
        for field in target_adapter.fields
        if _is_missing(field, source_adapter, constants, scored=scored)
    ]
    missing += _missing_answer(source_adapter, target_adapter, constants, missing)
    if not missing:
        return
    names = [field.name for field in missing]
    remedies = [f"--set {field.name}=VALUE" for field in missing]
    if {field.record_path for field in missing} & _computed and not scored:
        remedies = [
            f"--set {field.name}=VALUE"
            for field in missing
            if field.record_path not in _computed
        ]
        remedies.append("--score em or --score f1 for the score")
    raise ConversionError(
        f"{target.id} needs {_listed(names)}, which {source.id} does not have; "
        f"give {_listed(remedies)}"
    )


def _missing_answer(
    source: FormatAdapter,
    target: FormatAdapter,
    constants: Collection[str],
    missing: list[FieldMapping],
) -> list[FieldMapping]:
    """Return the field of the answer if the target requires another field of one."""
    asked = any(
        field.required and field.record_path.startswith("outputs.")
        for field in target.fields
    )
    if not asked or holds_answers(source) or "outputs.text" in constants:
        return []
    answer = (field for field in target.fields if field.record_path == "outputs.text")
    return [field for field in answer if field not in missing][:1]


def _is_missing(
    target_field: FieldMapping,
    source: FormatAdapter,
    constants: Collection[str],
    *,
    scored: bool,
) -> bool:
    if (
        not target_field.required
        or target_field.record_path == "id"
        or target_field.record_path in constants
    ):
        return False
    if scored and target_field.record_path in _computed:
        return False
    return not any(
        source.carries(path) or path in constants
        for path in (
            target_field.record_path,
            *_sources_of.get(target_field.record_path, ()),
        )
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def holds_answers(adapter: FormatAdapter) -> bool:
    """Tell whether rows have a place for answers."""
    return adapter.capacity.outputs is not Cardinality.NONE


def find_field_path(name: str, adapter: FormatAdapter) -> str | None:
    """Return the record path of the field called `name`, None if there is none.

    A name is a key of the format's rows, the path of a field, or the last part of one.
    """
    for field in adapter.fields:
        path = field.record_path
        if name in (field.name, path) and path in FIELD_TYPES:
            return path
    if name in FIELD_TYPES:
        return name
    if name.startswith(("params.", "metadata.")):
        return name
    paths = [field.record_path for field in adapter.fields if field.path[-1] == name]
    paths += [path for path in FIELD_TYPES if path.rpartition(".")[2] == name]
    named = {"response": "outputs.text", "score": "outputs.scores.value"}
    return next((path for path in paths if path in FIELD_TYPES), named.get(name))
