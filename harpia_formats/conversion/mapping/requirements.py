"""Check that rows of a source have what a target requires."""

from collections.abc import Collection, Sequence

from msgspec import UNSET, Struct

from harpia_formats.conversion.mapping.compiled_fields import VERDICTS, listed
from harpia_formats.model.adapter import Cardinality, FieldMapping, FormatAdapter
from harpia_formats.model.field_outcomes import Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.problem import ConversionOptionsError
from harpia_formats.model.record import (
    FIELD_TYPES,
    OPEN_OBJECTS,
    Record,
    field_paths,
)

#: Fields that can be made from other fields.
_sources_of = {
    "prompt": ("messages",),
    "messages": ("prompt",),
    "outputs.text": ("outputs.turns", "outputs"),
    "outputs.turns": ("outputs.text", "outputs"),
    "outputs.model": ("outputs",),
    "outputs": ("outputs.text", "outputs.turns"),
    "outputs.scores.is_correct": ("outputs.scores.value",),
}
#: Fields whose members have no paths of their own.
_plain_fields = frozenset(FIELD_TYPES) - OPEN_OBJECTS - {"extra", "outputs.extra"}
#: What the paths of members of open objects begin with.
_open = tuple(f"{path}." for path in sorted(OPEN_OBJECTS))


class RowRequirements(Struct, frozen=True):
    """Fields that the target requires, and that only some rows of the source have."""

    #: The path in a record of each field, and its name.
    fields: tuple[tuple[str, str], ...] = ()
    help: str = ""

    def check(self, record: Record) -> None:
        """Raise `Unconvertible` if `record` lacks a field that the target requires."""
        # Most records have all of them, which is seen without their paths.
        if all(_has_one(record, path) for path, _ in self.fields):
            return
        paths = set(field_paths(record))
        missing = [
            (path, name)
            for path, name in self.fields
            if not paths.intersection(fulfilling(path))
        ]
        if missing:
            names = listed([f"`{name}`" for _, name in missing])
            reason = f"the record has nothing for {names}"
            raise Unconvertible(missing[0][0], reason, self.help)


def check_requirements(  # noqa: PLR0913 - two formats, and what is given with them
    source: Format,
    source_adapter: FormatAdapter,
    target: Format,
    target_adapter: FormatAdapter,
    constants: Collection[str],
    *,
    scored: bool,
) -> None:
    """Raise `ConversionError` if rows of `source` lack what `target` requires.

    `constants` are the paths of fields that the user gives; `scored` tells whether
    answers without a score get one.
    """
    missing = missing_fields(source_adapter, target_adapter, constants, scored=scored)
    if missing:
        names = listed([field.name for field in missing])
        raise ConversionOptionsError(
            f"{target.id} needs {names}, which {source.id} does not have; "
            f"{_help(missing, scored=scored)}"
        )


def row_requirements(  # noqa: PLR0913 - two formats, and what is given with them
    source: Format,
    source_adapter: FormatAdapter,
    target: Format,
    target_adapter: FormatAdapter,
    constants: Collection[str],
    *,
    scored: bool,
    mapped: Collection[str] = (),
) -> RowRequirements:
    """Return what has to be checked in each row, whose other keys may hold it.

    These are its extra fields, and the keys of the fields at the paths `mapped`. Raises
    `ConversionError` as `check_requirements` does if rows of `source` have no extra
    fields, and neither that format nor a mapped key holds what is required.
    """
    if source_adapter.extras_path is None:
        given = {*constants, *mapped}
        check_requirements(
            source, source_adapter, target, target_adapter, given, scored=scored
        )
        if not mapped:
            return RowRequirements()
    missing = missing_fields(source_adapter, target_adapter, constants, scored=scored)
    fields = tuple((field.record_path, field.name) for field in missing)
    return RowRequirements(fields, _help(missing, scored=scored))


#: The requirements of rows that lack nothing.
NO_REQUIREMENTS = RowRequirements()


def missing_fields(
    source: FormatAdapter,
    target: FormatAdapter,
    constants: Collection[str],
    *,
    scored: bool,
) -> list[FieldMapping]:
    """Return the fields that `target` requires and `source` has no place for."""
    missing = [
        field
        for field in target.fields
        if _is_missing(field, source, target, constants, scored=scored)
    ]
    return missing + _missing_answer(source, target, constants, missing)


def _help(missing: Sequence[FieldMapping], *, scored: bool) -> str:
    """Return which options give the fields in `missing`."""
    paths = {field.name: field.record_path for field in missing}
    is_unscored = not scored and not VERDICTS.isdisjoint(paths.values())
    names = [
        name for name, path in paths.items() if not is_unscored or path not in VERDICTS
    ]
    constants = " ".join(f"--set {name}=VALUE" for name in names)
    remedies = [f"`{constants}`"] if names else []
    if is_unscored:
        remedies.append("`--score em` or `--score f1` for the score")
    return f"give {' and '.join(remedies)}" if remedies else ""


def _has_one(record: Record, path: str) -> bool:
    """Tell whether a record has a field that is enough for the field at `path`.

    False if it may have one that only its paths tell.
    """
    return any(_has(record, one) for one in fulfilling(path))


def _has(record: Record, path: str) -> bool:
    """Tell whether a record has the field at `path`, which holds no other fields."""
    if path not in _plain_fields:
        return False
    owner, _, name = path.rpartition(".")
    if not owner:
        return getattr(record, name) is not UNSET
    if owner == "outputs":
        return any(getattr(output, name) is not UNSET for output in record.outputs)
    return any(
        getattr(score, name) is not UNSET
        for output in record.outputs
        for score in output.scores or ()
    )


def fulfilling(path: str) -> tuple[str, ...]:
    """Return the paths of fields of which one is enough for the field at `path`."""
    return (path, *_sources_of.get(path, ()))


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
    target: FormatAdapter,
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
    if scored and target_field.record_path in VERDICTS:
        return False
    # One place may be for several fields, of which one is enough.
    place = target_field.path
    fields = (field.record_path for field in target.fields if field.path == place)
    return not any(
        source.carries(path) or path in constants
        for field in fields
        for path in fulfilling(field)
    )


def holds_answers(adapter: FormatAdapter) -> bool:
    """Tell whether rows have a place for answers."""
    return adapter.capacity.outputs is not Cardinality.NONE


def find_field_path(name: str, adapter: FormatAdapter) -> str | None:
    """Return the record path of the field called `name`, None if there is none.

    A name is a key of the format's rows, the path of a field, or the last part of one.
    """
    for field in adapter.fields:
        path = field.record_path
        is_field = path in FIELD_TYPES or path.startswith(_open)
        if name in (field.name, path) and is_field:
            return path
    if name in FIELD_TYPES:
        return name
    if name.startswith(_open):
        return name
    for field in adapter.fields:
        if field.record_path in OPEN_OBJECTS and name.startswith(f"{field.name}."):
            return field.record_path + name.removeprefix(field.name)
    paths = [field.record_path for field in adapter.fields if field.path[-1] == name]
    paths += [path for path in FIELD_TYPES if path.rpartition(".")[2] == name]
    named = {"response": "outputs.text", "score": "outputs.scores.value"}
    return next((path for path in paths if path in FIELD_TYPES), named.get(name))
