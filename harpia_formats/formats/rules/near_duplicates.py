"""Find near duplicates: records that say the same (X102)."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from string import ascii_letters
from struct import Struct
from typing import Any

import stringzilla  # type: ignore[import-not-found]  # ships no types
from msgspec import UNSET

from harpia_formats.formats.rules.lazy_pattern import lazy_pattern
from harpia_formats.formats.rules.row_texts import text_columns
from harpia_formats.formats.rules.sample_rules import NEAR_DUPLICATE
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.column import Column, JoinedTexts
from harpia_formats.model.lint import (
    AcrossRows,
    Agreement,
    RoughTexts,
)
from harpia_formats.model.value_path import MESSAGE_KEYS, add_texts

#: Letters that case folding can make of letters beyond ASCII.
_folded = frozenset(b"hijstwyHIJSTWY")
#: ASCII letters and digits, the bytes that count in the first comparison.
_kept_bytes = frozenset({*b"0123456789", *ascii_letters.encode()} - _folded)
#: High bytes in UTF-16 of characters that have no case and are all letters: Chinese and
#: Korean. They count, too.
_caseless = frozenset([*range(0x40, 0x4D), *range(0x4E, 0xA0), *range(0xB0, 0xD0)])
#: The first bytes of these in UTF-8.
_wide_bytes = b"\xe4\xe5\xe6\xe7\xe8\xe9\xeb\xec"
#: Punctuation in Chinese texts, which does not count, with tables that make one mark of
#: all of it, and letters. The first table makes that mark of more characters with the
#: same last bytes, of which none counts in its NFKC and none is composed with others.
_wide_marks = "\u3001\u3002\u300a\u300b\uff0c\uff1b\uff1f\uff1a\uff01\uff08\uff09"
_wide_mark = _wide_marks[0].encode()
_as_wide_mark = bytes.maketrans(
    b"\xef\xbc" + bytes({mark.encode()[-1] for mark in _wide_marks}),
    _wide_mark[:2] + _wide_mark[2:] * len({mark.encode()[-1] for mark in _wide_marks}),
)
_as_letters = bytes.maketrans(b"\xe3\xef", _wide_bytes[:1] * 2)


#: Between the texts of two rows that are all ASCII, and of others.
_mark, _other_mark = "\1", "\ue001"
#: Their weight, which nothing else has: not even others that begin as they do.
_end = b"\xff"
#: What begins as a mark does, and surrogates without their pair, which UTF-8 has not.
_no_letters = lazy_pattern("[\1\ue000-\uefff\ud800-\udfff]")


def _weights(way: int) -> bytes:
    """Return a table of weights: equal for both cases, 0 for what is not kept."""
    found = bytearray(256)
    for byte in _kept_bytes:
        (lower,) = bytes((byte,)).lower()
        found[byte] = _weight(lower, way)
    found[ord(_mark)] = found[_other_mark.encode()[0]] = ord(_end)
    return bytes(found)


def _wide_weights(way: int) -> bytes:
    """Return a table of weights of high bytes in UTF-16, which are large."""
    found = bytearray(256)
    for byte in _caseless:
        found[byte] = max(_weight(byte, way), LARGE)
    found[ord(_other_mark) >> 8] = ord(_end)
    return bytes(found)


def _weight(byte: int, way: int) -> int:
    return (byte * byte * 181 + byte * way) // 7 % 251 + 1


#: Characters that are too few to tell texts apart, and a weight that few exceed.
FEW, LARGE = 24, 125
_light = FEW * LARGE
#: A sum of weights from which on ASCII letters tell texts apart without Chinese ones.
_plenty = 4 * _light
#: Weights by which the characters of a text are summed up, in several ways.
_ways = (37, 101, 197)
WEIGHTS, WIDE_WEIGHTS = tuple(map(_weights, _ways)), tuple(map(_wide_weights, _ways))
#: Characters of texts whose exact forms are kept. With them the near-duplicates of rows
#: that come again and again take a third of the time.
KNOWN = 4 * 1024 * 1024


def _sums_of(texts: Column | JoinedTexts) -> list[list[int]]:
    """Return the sums of each text in each way.

    Chinese characters count where ASCII letters are few, as to count them takes long.
    That they do by their high bytes in UTF-16 takes a third of the time that it takes
    to remove all others from UTF-8. Raises `UnicodeEncodeError` for a surrogate without
    its pair.
    """
    if texts.is_ascii:
        found = _weighed(_mark.join(texts), WEIGHTS)
        return found if len(found[0]) == len(texts) else _sums_of_others(texts)
    data = _other_mark.encode().join(texts.encoded)
    is_normal = _is_normal(data)
    if not is_normal:
        data = bytes(stringzilla.utf8_norm(data, "NFKC"))
    found = _weighed(data, WEIGHTS)
    if len(found[0]) != len(texts):
        return _sums_of_others(texts)
    few = [row for row, weight in enumerate(found[0]) if weight < _plenty]
    if few and stringzilla.find_first_of(data, _wide_bytes) >= 0:
        joined = _other_mark.join(texts) if is_normal else data.decode()
        wide = _weighed(joined.encode("utf-16-le")[1::2], WIDE_WEIGHTS)
        for sums, others in zip(found, wide, strict=True):
            for row in few:
                sums[row] += others[row]
    return found


def _sums_of_others(texts: Iterable[str]) -> list[list[int]]:
    """Return the sums of texts of which one has what is like a mark, or no UTF-8."""
    return _sums_of(Column(_no_letters.sub(" ", text) for text in texts))


def _is_normal(data: bytes) -> bool:
    """Tell whether a text in UTF-8 is its NFKC, but for punctuation in Chinese texts.

    That is taken for letters: some of it is not normal, and some takes long to check.
    """
    rough = stringzilla.translate(data, _as_wide_mark)
    count = stringzilla.count(rough, _wide_mark[:1])
    if count and count == stringzilla.count(rough, _wide_mark):
        data = stringzilla.translate(data, _as_letters)
    return stringzilla.utf8_find_denormalized(data, "NFKC") is None


def _weighed(data: str | bytes, tables: Iterable[bytes]) -> list[list[int]]:
    """Return the sum of each part of `data` between marks, by each table of weights."""
    weighed = bytearray(len(data))  # a new one each time takes more than twice as long
    found = []
    for weights in tables:
        stringzilla.translate(data, weights, out=weighed)
        parts = stringzilla.split(weighed, _end)
        found.append(list(map(stringzilla.bytesum, parts)))
    return found


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
_meaningless = lazy_pattern(
    r"[.,:](?!\d|(?<=\d.) \d)"
    r"|-(?! ?\d|(?<=\b\w-)\w\b|(?<=\b\w -) \w\b)"
    r"|!(?!=|(?<=\b[^\W\d_]!)|(?<=[)\]]!)|(?<=\d!)\s*[=+*/^?<>-])"
    r"|'(?!\(|(?<=\w')s\b|(?<=\bwe')(?:re|ll|d)\b|(?<=\b(?:can|won)')t\b"
    r"|(?<=\bshe')(?:ll|d)\b|(?<=\bhe')(?:ll|d)\b|(?<=\bi')(?:ll|d)\b)"
)
#: A number with "!" behind it at the end of a text, after what makes a formula of it.
_factorial = lazy_pattern(
    r"((?:[=+*/^(-]\s*|\b(?:is|of|compute|calculate|evaluate|find|simplify|by)\s+)\d+)!"
    r"(?=\s*(?:\0|\Z))",
    re.IGNORECASE,
)
#: Words that mean another thing in capitals, such as names of countries.
_capitals = lazy_pattern(
    r"\b(?:US|IT|WHO|AIDS|ACT|ARM|CAT|GAP|LA|MA|PA|PET|PIN|RAM|SAD|SAT)\b"
)
_small_letter = lazy_pattern(r"[^\W\d_A-Z]")
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
    compared = ComparedTexts(
        len(context), len(context) + len(asked), tuple(rests), is_nested=any(rests)
    )
    return (
        AcrossRows(
            NEAR_DUPLICATE,
            Agreement.UNIQUE,
            value=tuple(path[:size] for path in paths),
            place=asked[0],
            value_text=compared.exactly,
            roughly=compared.roughly,
            takes_typed=True,
            normalize=normalize,
            message=lambda found: f"the record says the same as {found.owner}",
            help="keep one of them: case and most punctuation make no difference",
        ),
    )


_hash: Callable[[str | bytes, int], int] = stringzilla.hash
_pack = Struct("=3Q").pack


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # stringzilla crashes on surrogates


def _digest_of(text: str) -> int:
    return _hash(_encoded(text), 0)


class _KnownTexts(dict[tuple[str, str], str]):
    """The exact texts of rows, by their texts, of up to `KNOWN` characters in all."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        super().__init__()
        self._held = 0

    def add(self, texts: tuple[str, str], exact: str) -> None:
        """Keep a text if there is room for it."""
        size = len(texts[1]) + len(exact)
        if self._held + size <= KNOWN:
            self._held += size
            self[texts] = exact


@dataclass(frozen=True, slots=True)
class _SaidTexts(Sequence[tuple[str, str]]):
    """The context and the texts of each row."""

    contexts: Sequence[str]
    texts: Column | JoinedTexts

    def __len__(self) -> int:
        return len(self.contexts)

    def __getitem__(self, row: Any) -> Any:
        return self.contexts[row], self.texts[row]


@dataclass(frozen=True, slots=True)
class ComparedTexts:
    """Makes one text of the values of a row that are compared."""

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
        texts = self._texts_of(values)
        return None if texts is None else self._exact(texts)

    def _exact(self, texts: tuple[str, str]) -> str:
        found = self.known.get(texts)
        if found is not None:
            return found
        context, text = texts
        marked = _marked(normal_bytes(text).decode())
        folded = _meaningless.sub("", marked.casefold())
        parts = filter(None, folded.translate(_letters).split("\0"))
        exact = "\0".join((context, "", *parts))
        self.known.add(texts, exact)
        return exact

    def roughly(self, columns: Sequence[Sequence[Any]]) -> RoughTexts:
        """Return what rows say roughly, given columns of values.

        The texts of all rows are normalized and summed up at once.
        """
        # Rows that say the same are read again one by one, which columns make slower.
        alike = self._all_texts_of(columns) if len(columns[0]) > 1 else None
        if alike is not None:
            return RoughTexts(*self._digests(alike), alike)
        texts = list(map(self._texts_of, zip(*columns, strict=True)))
        rows = [each for each in texts if each is not None]
        if not rows:
            return RoughTexts([], [], texts)
        said = _SaidTexts(
            [context for context, _ in rows], Column(text for _, text in rows)
        )
        return RoughTexts(*self._digests(said), texts)

    def _digests(self, rows: "_SaidTexts") -> tuple[list[int], list[int]]:
        """Return the digests of rows: those of rough texts, and those of whole ones."""
        texts = rows.texts
        digests = {context: _digest_of(context) for context in set(rows.contexts)}
        seeds = list(map(digests.__getitem__, rows.contexts))
        data: Iterable[str | bytes] = texts
        try:
            sums = _sums_of(texts)
            if not texts.is_ascii:
                data = texts.encoded
        except UnicodeEncodeError:  # a surrogate without its pair
            data = map(_encoded, texts)
            sums = _sums_of_others(texts)
        rough = list(map(_hash, map(_pack, *sums), seeds))
        if min(sums[0]) < _light:
            for row, weight in enumerate(sums[0]):
                if weight < _light:
                    rough[row] = _digest_of(self._exact(rows[row]))
        return rough, list(map(_hash, data, seeds))

    def _all_texts_of(self, columns: Sequence[Sequence[Any]]) -> "_SaidTexts | None":
        """Return what `_texts_of` does for each row; None if the rows are not alike."""
        texts: list[list[Column]] = []
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
        if all(column.count(column[0]) == len(column) for column in context):
            contexts = ["\0".join(column[0] for column in context)] * len(asked[0])
        else:
            contexts = list(map("\0".join, zip(*context, strict=True)))
        return _SaidTexts(contexts, JoinedTexts([*asked, *others]))

    def _texts_of(self, values: tuple[Any, ...]) -> tuple[str, str] | None:
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
