"""Find ids that look alike, and other references (X103-X105)."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from msgspec import UNSET

from harpia_formats.formats.rules.lazy_pattern import lazy_pattern
from harpia_formats.formats.rules.row_texts import text_columns
from harpia_formats.formats.rules.sample_rules import LOOK_ALIKE_ID, OTHER_REFERENCE
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.column import Column, JoinedTexts, as_column
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Format
from harpia_formats.model.lint import AcrossRows, Agreement, Disagreement
from harpia_formats.model.value_path import MESSAGE_KEYS, add_texts


def id_kind_lint(code: str, key: str) -> AcrossRows:
    """Return the check by rule `code` that ids under `key` are of one type."""

    def message(found: Disagreement) -> str:
        return (
            f"the id {short_json(found.row[key])} is {found.value}, and "
            f"{found.earlier} in {found.owner}"
        )

    return AcrossRows(
        code,
        Agreement.BY_KEY,
        ((key,),),
        message,
        'write all ids as text: some tools take 1 and "1" for the same, and some do '
        "not",
        key=((key,),),
        value_text=_kind_of,
        key_text=_number_text,
        concerns_none=_are_no_numbers,
    )


def _kind_of(value: Any) -> str | None:
    """Return the type of an id, None for what is none."""
    kind = type(value)
    if kind is str:
        return "text"
    return "a number" if kind in {int, float} else None


def _number_text(value: Any) -> str | None:
    """Return an id that is a whole number, or reads like one, as text; else None."""
    if type(value) is str:
        return value if value.removeprefix("-").isdecimal() else None
    if type(value) is float and value.is_integer():
        value = int(value)
    return str(value) if type(value) is int else None


def _are_no_numbers(columns: Sequence[Sequence[Any]]) -> bool:
    """Tell whether all ids in the first column are texts that read as no numbers."""
    ids = columns[0]
    return set(map(type, ids)) == {str} and not any(
        map(str.isdecimal, map(str.removeprefix, ids, repeat("-")))
    )


#: Letters of other scripts that look as Latin ones do.
_look_alikes = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеѕіјорсхуΑΒΕΖΗΙΚΜΝΟΡΤΥΧο",  # noqa: RUF001 - they look alike
    "ABESIJKMHOPCTXYaesijopcxyABEZHIKMNOPTYXo",
)
_invisible = lazy_pattern(
    "[\0-\x1f\x7f\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)


def look_alike(value: Any) -> str | None:
    """Return what an id looks like; None for what is no id.

    Ids that differ only in Unicode form (NFC, NFD), width, invisible characters, white
    space or letters of other scripts that look the same, look alike.
    """
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        return None
    if value.isascii() and value.isprintable() and " " not in value:
        return value
    seen = _invisible.sub("", unicodedata.normalize("NFC", value))
    return " ".join(seen.translate(_widths).translate(_look_alikes).split())


def id_lints(format_: Format) -> tuple[AcrossRows, ...]:
    """Return the check of the ids of records in a format."""
    if not format_.id_key:
        return ()
    path = (format_.id_key,)
    return (
        AcrossRows(
            LOOK_ALIKE_ID,
            Agreement.BY_KEY,
            value=(path,),
            value_text=_id_text,
            key=(path,),
            key_text=look_alike,
            are_plain=_are_plain,
            message=_same_look,
            help="give both records the same id, or ids that look different",
        ),
    )


def _are_plain(ids: Sequence[Any]) -> bool:
    """Tell whether ids look as they are, all of them."""
    texts = [each for each in ids if type(each) is str]
    joined = "".join(texts)
    is_plain = joined.isascii() and joined.isprintable() and " " not in joined
    return is_plain and all(type(each) in {str, int} for each in ids)


def _id_text(value: Any) -> str | None:
    if type(value) is int:
        return str(value)
    return value if type(value) is str else None


def _same_look(found: Disagreement) -> str:
    other = f" {short_json(found.earlier)}" if found.earlier else ""
    shown = ascii(found.value)
    same = f"the id{other} of {found.owner}"
    return f"the id {shown} looks like {same}, and differs from it"


class _Widths(dict[int, str]):
    """A table for `str.translate` that gives letters of any width their usual one."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        kind = unicodedata.decomposition(letter).partition(" ")[0]
        is_other = kind in {"<wide>", "<narrow>"}
        found = unicodedata.normalize("NFKC", letter) if is_other else letter
        self[code] = found
        return found


_widths = _Widths()


_question_fields = frozenset({"prompt", "messages"})
#: What a question may depend on besides its prompt.
_with = frozenset(
    "system choices contexts category outputs.scores.evaluation_name".split()
)
_expected = frozenset({"references"})


def other_reference_lints(
    adapter: FormatAdapter, normalize: Callable[[Row], Row] | None
) -> tuple[AcrossRows, ...]:
    """Return the check that a question has the same references in all records."""

    def at(names: frozenset[str]) -> list[tuple[str, ...]]:
        found = (each.path for each in adapter.fields if each.record_path in names)
        return list(dict.fromkeys(found))

    asked, expected = at(_question_fields), at(_expected)
    others = [path for path in at(_with) if path not in asked]
    if not (asked and expected):
        return ()
    # Fields may be in objects of lists.
    size = None if adapter.reads_by_fields else 1
    keys = [*asked, *others, *((key,) for key in adapter.asks_with)]
    key_texts = _Texts(tuple(_rest(path, size) for path in keys), len(asked))
    value_texts = _Texts(tuple(_rest(path, size) for path in expected), 0)
    return (
        AcrossRows(
            OTHER_REFERENCE,
            Agreement.BY_KEY,
            value=tuple(path[:size] for path in expected),
            message=lambda found: (
                f"the same question has another reference in {found.owner}"
            ),
            help="correct one of the two, or give both records all right answers",
            key=tuple(path[:size] for path in keys),
            key_text=key_texts.as_they_are,
            value_text=value_texts.as_a_set,
            key_texts=key_texts.all_as_they_are,
            value_texts=value_texts.all_as_a_set,
            takes_typed=True,
            normalize=normalize,
        ),
    )


def _rest(path: tuple[str, ...], size: int | None) -> tuple[str, ...]:
    return () if size is None else path[size:]


@dataclass(frozen=True, slots=True)
class _Texts:
    """Makes one text of values of a row."""

    #: The keys below each value at which the texts are, through items of lists.
    rests: tuple[tuple[str, ...], ...]
    #: How many of the first values ask something.
    asked: int

    def as_they_are(self, *values: Any) -> str | None:
        """Return the texts one after another, None if nothing is asked."""
        asked = self._of(values[: self.asked], 0)
        if not any(asked):
            return None
        return "\0".join((*asked, "", *self._of(values[self.asked :], self.asked)))

    def all_as_they_are(self, columns: Sequence[Sequence[Any]]) -> Sequence[str] | None:
        """Return what `as_they_are` does for each row; None if they are not alike."""
        asked = self._columns_of(columns[: self.asked], 0)
        others = self._columns_of(columns[self.asked :], self.asked)
        if asked is None or others is None or not any(map(all, asked)):
            return None
        between = Column([""] * len(asked[0]))
        return JoinedTexts([*asked, between, *others])

    def all_as_a_set(self, columns: Sequence[Sequence[Any]]) -> list[str | None] | None:
        """Return what `as_a_set` does for each row; None if they are not alike."""
        found = self._columns_of(columns, 0)
        if not found:
            return None
        if len(found) == 1:
            return [text.strip().casefold() or None for text in found[0]]
        return list(map(_set_of, zip(*found, strict=True)))

    def _columns_of(
        self, columns: Sequence[Sequence[Any]], before: int
    ) -> list[Column] | None:
        """Return a column for each text of a row; None if the rows are not alike."""
        found: list[Column] = []
        for number, column in enumerate(columns, before):
            rest = self.rests[number]
            values = as_column(column)
            if not rest and dict in values.kinds:
                return None
            texts = text_columns(values, rest, MESSAGE_KEYS)
            if texts is None:
                return None
            found += texts
        return found

    def as_a_set(self, *values: Any) -> str | None:
        """Return the texts in one order, but for case and white space at their ends.

        None if there are none.
        """
        return _set_of(self._of(values, 0))

    def _of(self, values: Sequence[Any], before: int) -> list[str]:
        texts: list[str] = []
        for number, value in enumerate(values, before):
            if type(value) is str and not self.rests[number]:
                texts.append(value)
            elif type(value) is dict and not self.rests[number]:
                texts.append(repr(value))
            elif value is not None and value is not UNSET:
                add_texts(value, self.rests[number], texts)
        return texts


def _set_of(texts: Iterable[str]) -> str | None:
    """Return texts in one order, None if all are empty; case does not count."""
    found = {text.strip().casefold() for text in texts} - {""}
    return "\0".join(sorted(found)) or None
