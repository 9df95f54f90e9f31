"""Find records that look like others, though their bytes differ (X102, X103)."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, repeat
from string import ascii_letters
from typing import Any

import msgspec
import stringzilla  # type: ignore[import-not-found]  # ships no types
from msgspec import UNSET

from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.format import Format
from harpia_formats.model.lint import AcrossRows, Agreement, Disagreement
from harpia_formats.rules.across import LOOK_ALIKE_ID, NEAR_DUPLICATE
from harpia_formats.rules.text_columns import text_columns
from harpia_formats.text.describe import short_json

#: Fields that near-duplicates share as they are.
_context = frozenset(
    "category outputs.model outputs.scores.metric outputs.scores.evaluation_id "
    "outputs.scores.evaluation_name outputs.scores.result_id".split()
)
#: Fields that they share but for case, white space and punctuation: those that ask, of
#: which a record has one, and others.
_asked = frozenset({"prompt", "messages", "outputs.turns"})
_answered = frozenset("system references gt choices contexts outputs.text".split())

#: Letters of other scripts that look as Latin ones do.
_look_alikes = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеѕіјорсхуΑΒΕΖΗΙΚΜΝΟΡΤΥΧο",  # noqa: RUF001 - they look alike
    "ABESIJKMHOPCTXYaesijopcxyABEZHIKMNOPTYXo",
)
_invisible = re.compile(
    "[\0-\x1f\x7f\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)

#: Letters that case folding can make of letters beyond ASCII.
_folded = frozenset(b"hijstwyHIJSTWY")
#: First bytes of characters that have no case and are all letters: Chinese and Korean.
_caseless = frozenset([*range(0xE4, 0xEA), 0xEB, 0xEC])
#: Bytes that count in the first comparison: these, and ASCII letters and digits.
_kept = frozenset({*b"0123456789", *ascii_letters.encode()} - _folded | _caseless)
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
    return bytes(weight(lower[byte]) if byte in _kept else 0 for byte in range(256))


_ones = _table(lambda _: 1)
#: Two for the first byte of a character of three bytes that counts.
_twos_of_caseless = bytes(2 * (byte in _caseless) for byte in range(256))
_ones_of_later_bytes = bytes(int(byte & 0xC0 == 0x80) for byte in range(256))  # noqa: PLR2004 - bits of UTF-8


def _weight(byte: int, way: int) -> int:
    """Return a number from 1 to 251 that looks random."""
    return (byte * byte * 181 + byte * way) // 7 % 251 + 1


#: Weights by which the bytes of a text are summed up, in several ways.
_weights = tuple(
    bytes(
        _weight(byte, way) if byte & 0xC0 == 0x80 else weight  # noqa: PLR2004 - bits of UTF-8
        for byte, weight in enumerate(_table(partial(_weight, way=way)))
    )
    for way in (37, 101, 197)
)
#: The types of values that are texts, or nothing.
_plain_types = frozenset({str, type(None), type(UNSET)})
#: Between the texts of two rows.
_mark = "\1"
#: Bytes that are too few to tell texts apart.
_few = 24


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


def near_duplicate_lints(
    adapter: FormatAdapter, normalize: Callable[[Row], Row] | None
) -> tuple[AcrossRows, ...]:
    """Return the check that no two records say the same."""
    names: dict[tuple[str, ...], set[str]] = {}
    for each in adapter.fields:
        names.setdefault(each.path, set()).add(each.record_path)
    context = [path for path, held in names.items() if held & _context]
    asked = [path for path, held in names.items() if held & _asked]
    others = [path for path, held in names.items() if held & _answered]
    if not asked:
        return ()
    # The other paths may be of fields in objects of lists.
    size = None if adapter.reads_by_fields else 1
    paths = list(dict.fromkeys((*context, *asked, *others)))
    rests = [() if size is None else path[size:] for path in paths]
    said = _Said(
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


@dataclass(frozen=True, slots=True)
class _Said:
    """Makes one text of what a row says, of its values."""

    #: How many values are the context, and how many are that or ask something.
    context: int
    asked: int
    #: The keys below each value at which the texts are, through items of lists.
    rests: tuple[tuple[str, ...], ...]
    #: Whether some of the texts are in objects of lists.
    is_nested: bool = False

    def exactly(self, *values: Any) -> str | None:
        """Return what a row says, without white space and meaningless punctuation.

        None if it asks nothing.
        """
        said = self._said(values)
        if said is None:
            return None
        context, text = said
        folded = _meaningless.sub("", normal_bytes(text).decode().casefold())
        parts = filter(None, folded.translate(_letters).split("\0"))
        return "\0".join((context, "", *parts))

    def roughly(self, *values: Any) -> str | None:
        """Return a text that is the same where `exactly` returns the same."""
        said = self._said(values)
        if said is None:
            return None
        context, text = said
        data = _counted_bytes(text)
        size = _sum_of(data, _ones)
        if size < _few:
            return self.exactly(*values)
        first, second, third = (_sum_of(data, weights) for weights in _weights)
        return f"{context}\0{size} {first} {second} {third}"

    def all_roughly(self, columns: Sequence[Sequence[Any]]) -> list[str | None]:
        """Return what `roughly` does for each row, given a column for each value.

        The texts of all rows are normalized and summed up at once.
        """
        rows = list(zip(*columns, strict=True))
        said = self._all_said(columns) or list(map(self._said, rows))
        joined = _mark.join([each[1] for each in said if each is not None])
        data = _counted_bytes(joined)
        ends = list(accumulate(len(text) + 1 for text in data.split(_mark.encode())))
        if len(ends) != len(said) - said.count(None):  # a text has the mark itself
            return [self.roughly(*values) for values in rows]
        slices = [*map(slice, [0, *ends[:-1]], [end - 1 for end in ends])]
        sums = zip(*(_sums_of(data, slices, each) for each in (_ones, *_weights)))  # noqa: B905 - all are as long
        found: list[str | None] = []
        for values, each in zip(rows, said, strict=True):
            if each is None:
                found.append(None)
                continue
            size, first, second, third = next(sums)
            if size < _few:
                found.append(self.exactly(*values))
            else:
                found.append(f"{each[0]}\0{size} {first} {second} {third}")
        return found

    def _all_said(self, columns: Sequence[Sequence[Any]]) -> list[Any] | None:
        """Return what `_said` does for each row; None if the rows are not alike."""
        texts: list[list[Sequence[str]]] = []
        for column, rest in zip(columns, self.rests, strict=True):
            found = text_columns(column, rest, _message_keys)
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
                _add_texts(value, self.rests[number], texts)
        return texts


def _sums_of(data: bytes, slices: Sequence[slice], weights: bytes) -> list[int]:
    """Return the sum of the weights of the bytes in each slice of `data`."""
    view = memoryview(stringzilla.translate(data, weights))
    return [*map(stringzilla.bytesum, map(view.__getitem__, slices))]


def _sum_of(data: bytes, weights: bytes) -> int:
    """Return the sum of the weights of the bytes in `data`."""
    found: int = stringzilla.bytesum(stringzilla.translate(data, weights))
    return found


def _counted_bytes(text: str) -> bytes:
    """Return a text in NFKC with no character beyond ASCII but those that count."""
    if not text.isascii():
        for mark in _wide_marks:
            text = text.replace(mark, " ")
    data = normal_bytes(text)
    if data.isascii() or (
        _sum_of(data, _twos_of_caseless) == _sum_of(data, _ones_of_later_bytes)
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


class _Letters(dict[int, str | None]):
    """A table for `str.translate` that keeps letters, marks, digits and symbols."""

    def __missing__(self, code: int) -> str | None:
        letter = chr(code)
        kept = unicodedata.category(letter)[0] in "LMNS"
        found = self[code] = letter if kept else None
        return found


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
#: What is kept of texts, with brackets and other marks of formulas, programs and names
#: such as C# or 50%. NUL is between two texts, and grave accents are quotes.
_letters = _Letters(
    {0: "\0", ord("`"): None} | {ord(c): c for c in "#*/%&@\\()[]{}-.,:!'"}
)
#: Marks of these that mean something only in numbers and formulas, elsewhere: points,
#: commas and colons but before a digit, or between two digits that a space parts;
#: hyphens but before a digit or between single letters; "!" but in "!="; "'" but in
#: "f'(x)".
_meaningless = re.compile(
    r"[.,:](?!\d|(?<=\d.) \d)"
    r"|-(?! ?\d|(?<=\b\w-)\w\b|(?<=\b\w -) \w\b)"
    r"|!(?!=)|'(?!\()"
)


def _add_texts(
    value: Any, path: tuple[str, ...], texts: list[str], begin: int = 0
) -> None:
    """Add the texts at `path` of a row, decoded or typed, through items of lists.

    The value is what the keys before number `begin` lead to.
    """
    for number in range(begin, len(path)):
        if type(value) is list:
            for item in value:
                _add_texts(item, path, texts, number)
            return
        value = member(value, path[number])
    if type(value) is str:
        texts.append(value)
    elif type(value) is list:
        _add_items(value, texts)


def _add_items(items: list[Any], texts: list[str]) -> None:
    """Add the texts in a list, and the roles and contents of messages in it."""
    for item in items:
        if type(item) is str:
            texts.append(item)
        elif item is not None:
            found = [member(item, key) for key in _message_keys]
            texts += [text for text in found if type(text) is str]


_message_keys = ("role", "content")
#: The attribute of each key, of the classes of typed rows, and the most such classes.
_attributes: dict[type, dict[str, str]] = {}
_most_classes = 256


def member(value: Any, key: str) -> Any:
    """Return the member of an object, decoded or typed, None if there is none."""
    kind = type(value)
    if kind is dict:
        return value.get(key)
    names = _attributes.get(kind)
    if names is None:
        if len(_attributes) >= _most_classes:
            _attributes.clear()
        names = _attributes[kind] = _attributes_of(kind)
    name = names.get(key)
    return None if name is None else getattr(value, name)


def _attributes_of(kind: type) -> dict[str, str]:
    if not issubclass(kind, msgspec.Struct):
        return {}
    keys = kind.__struct_encode_fields__
    return dict(zip(keys, kind.__struct_fields__, strict=True))
