"""Check that the rows of a file fit together (E301-E307)."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any

from msgspec import UNSET

from harpia_converters.eee.lint.identity import recipe_of_row
from harpia_converters.eee.lint.wording import quoted
from harpia_converters.eee.sample_hash import DESCRIBED
from harpia_converters.eee.versions import Version
from harpia_formats.formats.rules.id_kinds import id_kind_lint
from harpia_formats.model.lint import AcrossRows, Agreement, Disagreement

EVALUATION, MODEL, ID_TYPE = "E301", "E302", "E303"
HASH, NAME, RECIPE = "E304", "E305", "E306"
EPOCHS = "E307"

_absent = frozenset({type(UNSET), type(None)})
_id, _hash, _name = ("sample_id",), ("sample_hash",), ("evaluation_name",)
_raw, _reference = ("input", "raw"), ("input", "reference")
_result, _epoch = ("evaluation_result_id",), ("metadata", "epoch")


def rules_of(version: Version) -> tuple[AcrossRows, ...]:
    """Return the checks across rows of `version`."""
    return _common if version.is_closed else (*_common, _id_type)


def _one_value(code: str, key: str, whole: str) -> AcrossRows:
    """Return the check that all rows have the same value of `key`, as has `whole`."""

    def message(found: Disagreement) -> str:
        return (
            f"{key} is {quoted(found.row[key])}, and {quoted(found.earlier)} in "
            f"{found.owner}"
        )

    return AcrossRows(
        code,
        Agreement.ONE_VALUE,
        ((key,),),
        message,
        f"a file of samples is of one {whole}: split it by {key}",
    )


def _sample_key(name: Any, result: Any, sample: Any) -> str | None:
    """Return what names a sample in all runs, None for a row without it."""
    if type(name) is not str or type(sample) not in {str, int}:
        return None
    return f"{name}\0{result if type(result) is str else ''}\0{sample!r}"


def _input_text(raw: Any, reference: Any) -> str | None:
    """Return a text that is the same for equal questions and references only."""
    if type(raw) is not str:
        return None
    if type(reference) is str:
        return f"{len(raw)} {raw}{reference}"
    return f"{len(raw)} {raw}{reference!r}" if type(reference) is list else None


def _result_key(result: Any, name: Any) -> str | None:
    """Return what names a result: its id, else its name however it is spelled."""
    if type(result) is str and result:
        return f"id {result}"
    if type(name) is not str:
        return None
    return _plain_name(name)


@lru_cache(maxsize=256)
def _plain_name(name: str) -> str:
    """Return a name without case and what joins its words."""
    plain = name.casefold()
    for separator in "_- ":
        plain = plain.replace(separator, "")
    return f"name {plain}"


def _of_hash_and_input(found: Disagreement) -> str:
    return (
        "sample_hash is that of another question or reference, too, which "
        f"{found.owner} has"
    )


def _of_sample_and_hash(found: Disagreement) -> str:
    return (
        f"the sample_id {quoted(found.row['sample_id'])} has another sample_hash in "
        f"{found.owner}: it is another question or reference"
    )


def _of_name(found: Disagreement) -> str:
    row = found.row
    result = row.get("evaluation_result_id")
    whose = f"the result {quoted(result)}" if result else "it"
    return (
        f"evaluation_name is {quoted(row['evaluation_name'])}, and {found.owner} calls "
        f"{whose} {quoted(found.earlier)}"
    )


def _of_recipe(found: Disagreement) -> str:
    return f"sample_hash is of {found.value}, and of {found.earlier} in {found.owner}"


def _recipe_text(digest: Any, raw: Any, reference: Any) -> str | None:
    """Return the recipe of a row's hash, None where none gives it."""
    if type(digest) is not str or type(raw) is not str:
        return None
    if type(reference) is not str and type(reference) is not list:
        return None
    if type(reference) is list and not all(type(each) is str for each in reference):
        return None
    found = recipe_of_row(digest, raw, reference)
    # With one reference, C and D give the same.
    return DESCRIBED["C" if found == "D" else found] if found else None


def _text_of_epoch(
    sample: Any, run: Any, name: Any, result: Any, epoch: Any
) -> str | None:
    """Return what names a sample of one run whose row has an epoch, else None."""
    if epoch is UNSET or epoch is None or type(run) is not str:
        return None
    key = _sample_key(name, result, sample)
    return None if key is None else f"{run}\0{key}"


def _have_no_epochs(columns: Sequence[Sequence[Any]]) -> bool:
    """Tell whether no row has a value in the last column."""
    return _absent.issuperset(map(type, columns[-1]))


def _are_no_numbers(columns: Sequence[Sequence[Any]]) -> bool:
    """Tell whether all ids in the first column are texts that read as no numbers."""
    ids = columns[0]
    return set(map(type, ids)) == {str} and not any(
        map(str.isdecimal, map(str.removeprefix, ids, repeat("-")))
    )


def _of_epochs(found: Disagreement) -> str:
    return (
        f"the sample_id {quoted(found.row['sample_id'])} is that of {found.owner}, and "
        "only metadata.epoch may tell the two apart"
    )


_id_type = id_kind_lint(ID_TYPE, "sample_id")
_common = (
    _one_value(EVALUATION, "evaluation_id", "run"),
    _one_value(MODEL, "model_id", "model"),
    AcrossRows(
        HASH,
        Agreement.BY_KEY,
        (_raw, _reference),
        _of_hash_and_input,
        "compute sample_hash anew: samples of different runs are matched by it",
        key=(_hash,),
        value_text=_input_text,
    ),
    AcrossRows(
        HASH,
        Agreement.BY_KEY,
        (_hash,),
        _of_sample_and_hash,
        "give different samples different ids, or compute sample_hash anew",
        key=(_name, _result, _id),
        key_text=_sample_key,
    ),
    AcrossRows(
        NAME,
        Agreement.BY_KEY,
        (_name,),
        _of_name,
        "give all rows of a result the same evaluation_name",
        key=(_result, _name),
        key_text=_result_key,
    ),
    AcrossRows(
        RECIPE,
        Agreement.ONE_VALUE,
        (_hash, _raw, _reference),
        _of_recipe,
        "compute all hashes of a file alike: those of different recipes never match",
        value_text=_recipe_text,
    ),
    AcrossRows(
        EPOCHS,
        Agreement.UNIQUE,
        (_id, ("evaluation_id",), _name, _result, _epoch),
        _of_epochs,
        "give each epoch a sample_id of its own, such as s0-epoch-2, or keep one row",
        value_text=_text_of_epoch,
        concerns_none=_have_no_epochs,
    ),
)
