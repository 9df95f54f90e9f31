"""What is written for the fields of a record, and which ones a record lacks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.compiled_table import Leaf
from harpia_formats.model.adapter import ChangedValue, FieldMapping
from harpia_formats.model.field_fates import FieldFates, Unconvertible

#: Fields that no constant can fill: they differ from answer to answer.
_VERDICT = "outputs.scores.is_correct"
VERDICTS = frozenset({"outputs.scores.value", _VERDICT})


def written_value(given: FieldMapping, held: Any, value: Any, fates: FieldFates) -> Any:
    """Return what is written for the value `held` of a field, and note its fate.

    `value` is what its codec returns. Raises `Unconvertible` if a row must have the
    field and there is no value.
    """
    if type(value) is ChangedValue:
        if held is not None or value.value is not UNSET:
            fates.changed(given.record_path, value.how)
        value = value.value
        noted = held is not None
    else:
        noted = False
    if value is not UNSET:
        return value
    value = default_of(given, fates)
    if value is UNSET and held is None:
        fates.null(given.record_path)
    elif value is UNSET and held is not UNSET and not noted:
        fates.changed(given.record_path, "left out")
    return value


def default_of(given: FieldMapping, fates: FieldFates) -> Any:
    """Return what is written for a field that a record lacks, and note it.

    Raises `Unconvertible` if a row must have the field and there is no default.
    """
    if given.default is not UNSET:
        fates.defaulted(given.record_path, given.default_text)
    elif given.required:
        raise lacking([given], given.record_path)
    return given.default


def lacking(fields: Iterable[FieldMapping], path: str) -> Unconvertible:
    """Return the error that a record lacks `fields`; `path` is that of the first."""
    paths = {given.name: given.record_path for given in fields}
    names = list(paths)
    reason = "the record has nothing for " + listed([f"`{name}`" for name in names])
    # A score may be given where the verdict of each answer is known, which no constant
    # decides.
    no_constants = VERDICTS if _VERDICT in paths.values() else frozenset[str]()
    constants = [name for name in names if paths[name] not in no_constants]
    help_ = ""
    if constants:
        them = "it" if len(names) == 1 else "them"
        them = them if constants == names else listed(constants)
        options = listed([f"--set {name}=VALUE" for name in constants])
        help_ = f"give {them} with {options}"
    if "outputs.scores.value" in paths.values():
        how = "compute the score with --score em or --score f1"
        help_ += f", or {how}" if help_ else how
    elif len(constants) < len(names):
        how = "say with --correct-from NUMBER from which score on an answer is correct"
        help_ += f", and {how}" if help_ else how
    return Unconvertible(path, reason, help_)


def missing_in(leaves: Iterable[Leaf], owners: Sequence[Any]) -> Iterator[FieldMapping]:
    """Yield the fields that a row must have and that have no value.

    `owners` has the owner of the fields of each level, None for one that is missing.
    """
    for leaf in leaves:
        given, owner = leaf.field, owners[leaf.level]
        if not given.required or given.default is not UNSET or leaf.key_name:
            continue
        value = UNSET if owner is None else getattr(owner, leaf.name)
        if value is not UNSET and given.codec is not None:
            value = given.codec.write(value)
        if (value.value if type(value) is ChangedValue else value) is UNSET:
            yield given


def listed(names: list[str]) -> str:
    """Return names as one text, with "and" in front of the last one."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
