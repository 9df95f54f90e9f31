"""All checks of `--lint` on rows of EvalEval, for each of the three shapes.

With those of what a row is about (E101-E103) and across the rows of a file (E301-E307).
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from typing import Any, ClassVar

from msgspec import UNSET

from harpia_converters.eee import (
    file_counts,
    key_lints,
    result_lints,
    turn_lints,
    versions,
)
from harpia_converters.eee.row_members import (
    DESCRIBED,
    HASHED,
    RECIPES,
    Question,
    Recipe,
    RowCheck,
    are_digests_of_texts,
    digest_of_text,
    fits,
    quoted,
    recipe_of,
)
from harpia_converters.eee.versions import FIRST_LABELS, V0_2_0, Version
from harpia_formats.formats.rules.cross_record_lints import id_kind_lint
from harpia_formats.formats.rules.sample_rules import SCORED_EMPTY
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import (
    AcrossRows,
    Agreement,
    Disagreement,
    Lints,
    RowLint,
    SameMistake,
)

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
#: What reads the label, the model, the hash, the question and the reference of rows.
_identity = tuple(
    map(
        attrgetter,
        ("schema_version", "model_id", "sample_hash", "input.raw", "input.reference"),
    )
)
_absent = frozenset({type(UNSET), type(None)})
#: Models whose name was found right that are remembered.
_remembered = 256


def is_model_name(name: str) -> bool:
    """Tell whether `name` is `org/name`: parts between slashes, none of them blank."""
    parts = name.split("/")
    return len(parts) > 1 and all(part and part == part.strip() for part in parts)


class _LastRecipe:
    """The recipe that gave the last hash, to be tried first for the next one."""

    letter = next(iter(RECIPES))


#: The questions, the references and the recipes of the last hashes: several rules ask.
_last: dict[str, tuple[str, str | list[str], str]] = {}
_most_last = 512


def recipe_of_row(digest: str, raw: str, reference: str | list[str]) -> str:
    """Return the letter of the recipe of a row's hash, "" if none gives it."""
    known = _last.get(digest)
    if known is not None and known[0] == raw and known[1] == reference:
        return known[2]
    references = [reference] if isinstance(reference, str) else reference
    found = recipe_of(digest, raw, references, _LastRecipe.letter)
    if found:
        _LastRecipe.letter = found
    if len(_last) >= _most_last:  # those of the rows that are checked now remain
        for old in list(islice(_last, _most_last // 2)):
            _last.pop(old, None)  # another thread may remove it, too
    _last[digest] = raw, reference, found
    return found


class _LastColumns:
    """The hashes, questions and references that one recipe gave, and its letter."""

    # One value, as another thread may replace it at any time.
    known: ClassVar[tuple[tuple[Sequence[Any], ...], str]] = (), ""


def _have_one_recipe(
    digests: Sequence[str], raws: Sequence[str], references: Sequence[str | list[str]]
) -> bool:
    """Return whether one recipe gives the hash of each row; if so, remember it.

    This takes a third of the time of asking for the recipe of each.
    """
    letter = recipe_of_row(digests[0], raws[0], references[0])
    lists = [[each] if isinstance(each, str) else each for each in references]
    if not (letter and all(lists)):
        return False
    if not are_digests_of_texts(digests, map(HASHED[letter], raws, lists)):
        return False
    _LastColumns.known = (digests, raws, references), letter
    return True


class _IdentityCheck(RowCheck):
    """Checks what a row is about; it remembers names, which only makes it faster."""

    codes = LABEL, MODEL, HASH

    def __init__(self, version: Version) -> None:
        super().__init__(version)
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

    def suspects(self, rows: Sequence[Any]) -> Collection[int] | None:
        """Return none of some typed rows if all are certainly clean."""
        labels, models, digests, raws, references = (
            list(map(get, rows)) for get in _identity
        )
        if not self._labels.issuperset(labels):
            return None
        if not all(map(self._is_model, set(models) - self._models)):
            return None
        if _absent.issuperset(map(type, digests)):
            return ()
        are_texts = set(map(type, digests)) == {str}
        return () if are_texts and _have_one_recipe(digests, raws, references) else None

    def _remarks(self, row: dict[str, Any]) -> Iterator[Remark]:
        """Yield what is wrong with the label, the model and the hash of a row."""
        label = row.get("schema_version")
        if type(label) is str and label not in self._labels:
            yield Remark(
                LABEL,
                ("schema_version",),
                f"schema_version is {quoted(label)}, which is no label of rows of this "
                "shape",
                f'write "{self._written}", or check with `--from` the version that '
                "the label names",
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


EVALUATION, OTHER_MODEL, ID_TYPE = "E301", "E302", "E303"
OTHER_HASH, NAME, RECIPE = "E304", "E305", "E306"
EPOCHS = "E307"

_id, _hash, _name = ("sample_id",), ("sample_hash",), ("evaluation_name",)
_raw, _reference = ("input", "raw"), ("input", "reference")
_result, _epoch = ("evaluation_result_id",), ("metadata", "epoch")


def across_rules_of(version: Version) -> tuple[AcrossRows, ...]:
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


def _sample_keys(columns: Sequence[Sequence[Any]]) -> list[str] | None:
    """Return what `_sample_key` does for rows of one result; None for others."""
    names, results, samples = columns
    if names.count(names[0]) < len(names) or results.count(results[0]) < len(results):
        return None
    start = _sample_key(names[0], results[0], "")
    if start is None or not {str, int}.issuperset(map(type, samples)):
        return None
    start = start.removesuffix("''")
    return [f"{start}{sample!r}" for sample in samples]


def _input_text(raw: Any, reference: Any, digest: Any) -> str | None:
    """Return a text that is the same for equal questions and references only.

    So it is for rows with the same hash. Where that is of one reference its recipe and
    the length of the question stand for both, which takes a third of the time.
    """
    if type(raw) is not str:
        return None
    if type(reference) is str:
        letter = recipe_of_row(digest, raw, reference) if type(digest) is str else ""
        return _known_input(letter, raw) or f"{len(raw)} {raw}{reference}"
    if type(reference) is not list:
        return None
    is_one = len(reference) == 1 and type(reference[0]) is str
    if is_one and type(digest) is str:
        letter = recipe_of_row(digest, raw, reference)
        if letter:
            return f"[{_known_input(letter, raw)}"
    return f"{len(raw)} {raw}{reference!r}"


def _known_input(letter: str, raw: str) -> str:
    """Return what tells apart the inputs of one hash with one reference.

    `letter` is that of its recipe; the text is "" without one.
    """
    return f"{_letters_of_one[letter]}{len(raw)}" if letter else ""


#: The letter of each recipe: with one reference, C and D give the same.
_letters_of_one = {letter: "C" if letter == "D" else letter for letter in RECIPES}


def _input_texts(columns: Sequence[Sequence[Any]]) -> list[str] | None:
    """Return what `_input_text` does, if each row has the known hash of one reference.

    None if one has not.
    """
    raws, references, digests = columns
    kinds = set(map(type, references))
    are_one = kinds == {str} or (kinds == {list} and set(map(len, references)) == {1})
    letters = _known_letters(digests, raws, references) if are_one else ()
    if not letters or not all(letters):
        return None
    mark = "" if kinds == {str} else "["
    starts: dict[str | None, str] = {
        letter: mark + of_one for letter, of_one in _letters_of_one.items()
    }
    rows = zip(map(starts.get, letters), map(len, raws), strict=True)
    return [f"{start}{size}" for start, size in rows]


def _result_key(result: Any, name: Any) -> str | None:
    """Return what names a result: its id, else its name however it is spelled."""
    if type(result) is str and result:
        return f"id {result}"
    if type(name) is not str:
        return None
    return _plain_name(name)


#: What joins the words of a name, and where it joins no two numbers.
_joins, _no_numbers = re.compile("[_ -]+"), re.compile(r"(?<!\d)_|_(?!\d)")


@lru_cache(maxsize=256)
def _plain_name(name: str) -> str:
    """Return a name without case and what joins its words, but two numbers."""
    plain = _joins.sub("_", name.casefold())
    return f"name {_no_numbers.sub('', plain)}"


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


#: How each recipe is described, and none: with one reference, C and D give the same.
_described: dict[str, str | None] = {**DESCRIBED, "D": DESCRIBED["C"], "": None}


def _recipe_text(digest: Any, raw: Any, reference: Any) -> str | None:
    """Return the recipe of a row's hash, None where none gives it."""
    if type(digest) is not str or type(raw) is not str:
        return None
    if type(reference) is not str and type(reference) is not list:
        return None
    if type(reference) is list and not all(type(each) is str for each in reference):
        return None
    return _described[recipe_of_row(digest, raw, reference)]


def _recipe_texts(columns: Sequence[Sequence[Any]]) -> list[str | None]:
    """Return what `_recipe_text` does for each row, mostly by what is known of it."""
    letters = _known_letters(*columns)
    return [
        _recipe_text(*row) if letter is None else _described[letter]
        for letter, row in zip(letters, zip(*columns, strict=True), strict=True)
    ]


def _known_letters(
    digests: Sequence[Any], raws: Sequence[Any], references: Sequence[Any]
) -> list[str | None]:
    """Return what `recipe_of_row` returned for each row, None where it was not asked.

    This takes a quarter of the time of asking it again.
    """
    given, letter = _LastColumns.known
    if (digests, raws, references) == given:
        return [letter] * len(digests)
    rows = zip(map(_last.get, digests), raws, references, strict=True)
    return [
        known[2]
        if known is not None and known[0] is raw and known[1] is reference
        else None
        for known, raw, reference in rows
    ]


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


def _of_epochs(found: Disagreement) -> str:
    return (
        f"the sample_id {quoted(found.row['sample_id'])} is that of {found.owner}, and "
        "only metadata.epoch may tell the two apart"
    )


_id_type = id_kind_lint(ID_TYPE, "sample_id")
_common = (
    _one_value(EVALUATION, "evaluation_id", "run"),
    _one_value(OTHER_MODEL, "model_id", "model"),
    AcrossRows(
        OTHER_HASH,
        Agreement.BY_KEY,
        (_raw, _reference, _hash),
        _of_hash_and_input,
        "compute sample_hash anew: samples of different runs are matched by it",
        key=(_hash,),
        value_text=_input_text,
        value_texts=_input_texts,
    ),
    AcrossRows(
        OTHER_HASH,
        Agreement.BY_KEY,
        (_hash,),
        _of_sample_and_hash,
        "give different samples different ids, or compute sample_hash anew",
        key=(_name, _result, _id),
        key_text=_sample_key,
        key_texts=_sample_keys,
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
        value_texts=_recipe_texts,
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


#: Empty prompts and references, which E122 is on, and types of ids: E303.
_covered = frozenset({"V306", "V307", "X104"})


_checks: tuple[type[RowCheck], ...] = (
    _IdentityCheck,
    turn_lints.TurnCheck,
    result_lints.AttributionCheck,
    result_lints.ResultCheck,
    key_lints.TextCheck,
    key_lints.KeyCheck,
    turn_lints.AnswerCheck,
)


def lints_of(version: Version) -> Lints:
    """Return the checks of rows of `version`."""
    checks = [kind(version) for kind in _checks]
    return Lints(
        tuple(
            RowLint(
                check.codes,
                check.remarks,
                check.is_clean,
                check.suspects,
                takes_refused=True,
            )
            for check in checks
        ),
        across_rules_of(version),
        file_counts.FILE_LINTS,
        same=(
            SameMistake(SCORED_EMPTY, key_lints.EMPTY, _are_of_no_answer),
            SameMistake(turn_lints.NUM_TURNS, result_lints.TURN, _are_of_lost_turns),
        ),
        covers=_covered,
    )


def _are_of_no_answer(_: Remark, empty: Remark, __: Any) -> bool:
    """Tell whether an empty text is what was extracted of an empty answer."""
    return empty.path[0] == "answer_attribution"


def _are_of_lost_turns(_: Remark, turn: Remark, row: Any) -> bool:
    """Tell whether the turn of an answer is not there because some turns are not.

    They are not in a row that is called single_turn, nor where the turn is one of
    those that num_turns counts.
    """
    if row["interaction_type"] == "single_turn":
        return True
    counted = row["evaluation"].get("num_turns")
    place = row["answer_attribution"][turn.path[1]]["turn_idx"]
    turns = row.get("interactions") or row.get("messages") or ()
    return counted is not None and len(turns) <= place < counted


LINTS_0_2_0 = lints_of(versions.V0_2_0)
LINTS_0_2_0_TAG = lints_of(versions.V0_2_0_TAG)
LINTS_0_3_0 = lints_of(versions.V0_3_0)
