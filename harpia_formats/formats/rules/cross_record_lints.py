"""Find near duplicates, ids that look alike, and other references (X102-X105)."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, chain, repeat
from string import ascii_letters
from typing import Any

import stringzilla  # type: ignore[import-not-found]  # ships no types
from msgspec import UNSET

from harpia_formats.formats.rules.row_texts import text_columns
from harpia_formats.formats.rules.sample_rules import (
    LOOK_ALIKE_ID,
    NEAR_DUPLICATE,
    OTHER_REFERENCE,
)
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Format
from harpia_formats.model.lint import AcrossRows, Agreement, Disagreement
from harpia_formats.model.value_path import MESSAGE_KEYS, add_texts

#: Letters that case folding can make of letters beyond ASCII.
_folded = frozenset(b"hijstwyHIJSTWY")
#: First bytes of characters that have no case and are all letters: Chinese and Korean.
_caseless = frozenset([*range(0xE4, 0xEA), 0xEB, 0xEC])
#: Bytes that count in the first comparison: these, and ASCII letters and digits.
_kept_bytes = frozenset({*b"0123456789", *ascii_letters.encode()} - _folded | _caseless)
#: Characters that begin as these do, and are symbols.
_symbols = b"\xe4\xb7"
#: Further characters, which do not count.
_others = re.compile(rb"(?:[\xc2-\xe3\xea\xed-\xf4]|\xe4\xb7)[\x80-\xbf]+")
#: Punctuation in Chinese texts, which does not count either.
_wide_marks = (
    "\uff0c\u3002\uff1b\uff1f\uff1a\u3001\uff01"
    "\uff08\uff09\u201c\u201d\u300a\u300b\u3000"
)


def _table(weight: Callable[[int], int]) -> bytes:
    """Return a table of the weights of bytes: equal for both cases, 0 if not kept."""
    pairs = ((byte, ord(chr(byte).lower())) for byte in range(128))
    lower = {**{byte: byte for byte in range(256)}, **dict(pairs)}
    return bytes(
        weight(lower[byte]) if byte in _kept_bytes else 0 for byte in range(256)
    )


ONES = _table(lambda _: 1)
#: Two for the first byte of a character of three bytes that counts.
_twos_of_caseless = bytes(2 * (byte in _caseless) for byte in range(256))
_ones_of_later_bytes = bytes(int(byte & 0xC0 == 0x80) for byte in range(256))  # noqa: PLR2004 - bits of UTF-8


def _weight(byte: int, way: int) -> int:
    """Return a number from 1 to 251 that looks random."""
    return (byte * byte * 181 + byte * way) // 7 % 251 + 1


#: Weights by which the bytes of a text are summed up, in several ways.
WEIGHTS = tuple(
    bytes(
        _weight(byte, way) if byte & 0xC0 == 0x80 else weight  # noqa: PLR2004 - bits of UTF-8
        for byte, weight in enumerate(_table(partial(_weight, way=way)))
    )
    for way in (37, 101, 197)
)
#: Characters of texts whose exact forms are kept. With them the near-duplicates of rows
#: that come again and again take a third of the time.
KNOWN = 4 * 1024 * 1024
#: Bytes that are too few to tell texts apart.
FEW = 24


def sums_of(data: bytes, slices: Sequence[slice], weights: bytes) -> list[int]:
    """Return the sum of the weights of the bytes in each slice of `data`."""
    view = memoryview(stringzilla.translate(data, weights))
    return [*map(stringzilla.bytesum, map(view.__getitem__, slices))]


def sum_of(data: bytes, weights: bytes) -> int:
    """Return the sum of the weights of the bytes in `data`."""
    found: int = stringzilla.bytesum(stringzilla.translate(data, weights))
    return found


def counted_bytes(text: str) -> bytes:
    """Return a text in NFKC with no character beyond ASCII but those that count."""
    if not text.isascii():
        for mark in _wide_marks:
            text = text.replace(mark, " ")
    data = normal_bytes(text)
    if data.isascii() or (
        sum_of(data, _twos_of_caseless) == sum_of(data, _ones_of_later_bytes)
        and stringzilla.find(data, _symbols) < 0
    ):
        return data
    return _others.sub(b"", data)


def normal_bytes(text: str) -> bytes:
    """Return the NFKC of a text in UTF-8."""
    data = text.encode("utf-8", "replace")
    if stringzilla.utf8_find_denormalized(data, "NFKC") is None:
        return data
    return bytes(stringzilla.utf8_norm(data, "NFKC"))


#: Fields that near-duplicates share as they are.
_context = frozenset(
    "category outputs.model outputs.scores.metric outputs.scores.evaluation_id "
    "outputs.scores.evaluation_name outputs.scores.result_id".split()
)
#: Fields that they share but for case, white space and punctuation: those that ask, of
#: which a record has one, and others.
_asked_fields = frozenset({"prompt", "messages", "outputs.turns"})
_answered_fields = frozenset(
    "system references gt choices contexts outputs.text".split()
)

#: The types of values that are texts, or nothing.
_plain_types = frozenset({str, type(None), type(UNSET)})
#: Between the texts of two rows.
_mark = "\1"


class _Letters(dict[int, str | None]):
    """A table for `str.translate` that keeps letters, marks, digits and symbols."""

    def __missing__(self, code: int) -> str | None:
        letter = chr(code)
        kept = unicodedata.category(letter)[0] in "LMNS"
        found = self[code] = letter if kept else None
        return found


#: What is kept of texts, with brackets and other marks of formulas, programs and names
#: such as C# or 50%. NUL is between two texts, and grave accents are quotes.
_letters = _Letters(
    {0: "\0", ord("`"): None} | {ord(c): c for c in "#*/%&@\\()[]{}-.,:!'"}
)
#: Marks of these that mean nothing where they stand. What is left out of it has a
#: meaning in numbers and formulas: points, commas and colons before a digit, or between
#: two digits with a space; hyphens before a digit or between single letters; "!" in
#: "!="; "'" in "f'(x)".
_meaningless = re.compile(
    r"[.,:](?!\d|(?<=\d.) \d)"
    r"|-(?! ?\d|(?<=\b\w-)\w\b|(?<=\b\w -) \w\b)"
    r"|!(?!=|(?<=\b[^\W\d_]!)|(?<=[)\]]!)|(?<=\d!)\s*[=+*/^?<>-])"
    r"|'(?!\(|(?<=\w')s\b|(?<=\bwe')(?:re|ll|d)\b|(?<=\b(?:can|won)')t\b"
    r"|(?<=\bshe')(?:ll|d)\b|(?<=\bhe')(?:ll|d)\b|(?<=\bi')(?:ll|d)\b)"
)
#: A number with "!" behind it at the end of a text, after what makes a formula of it.
_factorial = re.compile(
    r"((?:[=+*/^(-]\s*|\b(?:is|of|compute|calculate|evaluate|find|simplify|by)\s+)\d+)!"
    r"(?=\s*(?:\0|\Z))",
    re.IGNORECASE,
)
#: Words that mean another thing in capitals, such as names of countries.
_capitals = re.compile(
    r"\b(?:US|IT|WHO|AIDS|ACT|ARM|CAT|GAP|LA|MA|PA|PET|PIN|RAM|SAD|SAT)\b"
)
_small_letter = re.compile(r"[^\W\d_A-Z]")
#: What is put before a word that is kept in capitals, and for a "!" that is kept.
_kept_mark = "\u2303"


def near_duplicate_lints(
    adapter: FormatAdapter, normalize: Callable[[Row], Row] | None
) -> tuple[AcrossRows, ...]:
    """Return the check that no two records say the same."""
    names: dict[tuple[str, ...], set[str]] = {}
    for each in adapter.fields:
        names.setdefault(each.path, set()).add(each.record_path)
    context = [path for path, held in names.items() if held & _context]
    asked = [path for path, held in names.items() if held & _asked_fields]
    others = [path for path, held in names.items() if held & _answered_fields]
    if not asked:
        return ()
    # The other paths may be of fields in objects of lists.
    size = None if adapter.reads_by_fields else 1
    paths = list(dict.fromkeys((*context, *asked, *others)))
    rests = [() if size is None else path[size:] for path in paths]
    said = SaidTexts(
        len(context), len(context) + len(asked), tuple(rests), is_nested=any(rests)
    )
    return (
        AcrossRows(
            NEAR_DUPLICATE,
            Agreement.UNIQUE,
            value=tuple(path[:size] for path in paths),
            place=asked[0],
            value_text=said.exactly,
            rough_text=said.roughly,
            rough_texts=said.all_roughly,
            takes_typed=True,
            normalize=normalize,
            message=lambda found: f"the record says the same as {found.owner}",
            help="keep one of them: case and most punctuation make no difference",
        ),
    )


class _KnownTexts(dict[tuple[str, str], str]):
    """The exact texts of what rows said, of up to `KNOWN` characters in all."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        super().__init__()
        self._held = 0

    def add(self, said: tuple[str, str], exact: str) -> None:
        """Keep a text if there is room for it."""
        size = len(said[1]) + len(exact)
        if self._held + size <= KNOWN:
            self._held += size
            self[said] = exact


@dataclass(frozen=True, slots=True)
class SaidTexts:
    """Makes one text of what a row says, of its values."""

    #: How many values are the context, and how many are that or ask something.
    context: int
    asked: int
    #: The keys below each value at which the texts are, through items of lists.
    rests: tuple[tuple[str, ...], ...]
    #: Whether some of the texts are in objects of lists.
    is_nested: bool = False
    #: What was returned for texts: rows that say the same often have the same texts.
    known: _KnownTexts = field(default_factory=_KnownTexts, compare=False)

    def exactly(self, *values: Any) -> str | None:
        """Return what a row says, without white space and meaningless punctuation.

        None if it asks nothing.
        """
        said = self._said(values)
        if said is None:
            return None
        found = self.known.get(said)
        if found is not None:
            return found
        context, text = said
        marked = _marked(normal_bytes(text).decode())
        folded = _meaningless.sub("", marked.casefold())
        parts = filter(None, folded.translate(_letters).split("\0"))
        exact = "\0".join((context, "", *parts))
        self.known.add(said, exact)
        return exact

    def roughly(self, *values: Any) -> str | None:
        """Return a text that is the same where `exactly` returns the same."""
        said = self._said(values)
        if said is None:
            return None
        context, text = said
        data = counted_bytes(text)
        size = sum_of(data, ONES)
        if size < FEW:
            return self.exactly(*values)
        first, second, third = (sum_of(data, weights) for weights in WEIGHTS)
        return f"{context}\0{size} {first} {second} {third}"

    def all_roughly(self, columns: Sequence[Sequence[Any]]) -> list[str | None]:
        """Return what `roughly` does for each row, given a column for each value.

        The texts of all rows are normalized and summed up at once.
        """
        rows = list(zip(*columns, strict=True))
        said = self._all_said(columns) or list(map(self._said, rows))
        joined = _mark.join([each[1] for each in said if each is not None])
        data = counted_bytes(joined)
        ends = list(accumulate(len(text) + 1 for text in data.split(_mark.encode())))
        if len(ends) != len(said) - said.count(None):  # a text has the mark itself
            return [self.roughly(*values) for values in rows]
        slices = [*map(slice, [0, *ends[:-1]], [end - 1 for end in ends])]
        sums = zip(*(sums_of(data, slices, each) for each in (ONES, *WEIGHTS)))  # noqa: B905 - all are as long
        found: list[str | None] = []
        for values, each in zip(rows, said, strict=True):
            if each is None:
                found.append(None)
                continue
            size, first, second, third = next(sums)
            if size < FEW:
                found.append(self.exactly(*values))
            else:
                found.append(f"{each[0]}\0{size} {first} {second} {third}")
        return found

    def _all_said(self, columns: Sequence[Sequence[Any]]) -> list[Any] | None:
        """Return what `_said` does for each row; None if the rows are not alike."""
        texts: list[list[Sequence[str]]] = []
        for column, rest in zip(columns, self.rests, strict=True):
            found = text_columns(column, rest, MESSAGE_KEYS)
            if found is None:
                return None
            texts.append(found)
        context = list(chain.from_iterable(texts[: self.context]))
        asked = list(chain.from_iterable(texts[self.context : self.asked]))
        if not any(map(all, asked)):  # in some row nothing may be asked
            return None
        others = list(chain.from_iterable(texts[self.asked :]))
        contexts = map("\0".join, zip(*context, strict=True)) if context else repeat("")
        said = map("\0".join, zip(*asked, *others, strict=True))
        return list(zip(contexts, said, strict=False))

    def _said(self, values: tuple[Any, ...]) -> tuple[str, str] | None:
        """Return the context and the texts, None if nothing is asked."""
        context = self._texts(values[: self.context], 0)
        asked = self._texts(values[self.context : self.asked], self.context)
        if not asked or not any(asked):
            return None
        others = self._texts(values[self.asked :], self.asked)
        return "\0".join(context), "\0".join(asked + others)

    def _texts(self, values: tuple[Any, ...], before: int) -> list[str]:
        """Return the texts in values of a row, which has so many `before` them."""
        if not self.is_nested and _plain_types.issuperset(map(type, values)):
            return [value for value in values if type(value) is str]
        texts: list[str] = []
        for number, value in enumerate(values, before):
            if type(value) is str and not self.rests[number]:
                texts.append(value)
            elif value is not None and value is not UNSET:
                add_texts(value, self.rests[number], texts)
        return texts


def _marked(text: str) -> str:
    """Return a text with marks where case or "!" has a meaning, and quotes as "'".

    In a text in capitals only, capitals mean nothing, unless it is a single word.
    """
    text = text.replace("\u2019", "'")
    if "!" in text:
        text = _factorial.sub(rf"\1{_kept_mark}", text)
    if _capitals.search(text) is None:
        return text
    return "\0".join(
        _capitals.sub(rf"{_kept_mark}\g<0>", part)
        if _small_letter.search(part) or " " not in part.strip()
        else part
        for part in text.split("\0")
    )


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


#: Letters of other scripts that look as Latin ones do.
_look_alikes = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеѕіјорсхуΑΒΕΖΗΙΚΜΝΟΡΤΥΧο",  # noqa: RUF001 - they look alike
    "ABESIJKMHOPCTXYaesijopcxyABEZHIKMNOPTYXo",
)
_invisible = re.compile(
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
    beside = [path for path in at(_with) if path not in asked]
    if not (asked and expected):
        return ()
    # Fields may be in objects of lists.
    size = None if adapter.reads_by_fields else 1
    keys = [*asked, *beside, *((key,) for key in adapter.asks_with)]
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

    def as_a_set(self, *values: Any) -> str | None:
        """Return the texts in one order, but for case and white space at their ends.

        None if there are none.
        """
        texts = {text.strip().casefold() for text in self._of(values, 0)} - {""}
        return "\0".join(sorted(texts)) or None

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
