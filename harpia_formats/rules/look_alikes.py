"""Find records that look like others, though their bytes differ (X102, X103)."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET

from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.format import Format
from harpia_formats.model.lint import AcrossRows, Agreement, Disagreement
from harpia_formats.rules.across import LOOK_ALIKE_ID, NEAR_DUPLICATE
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

#: Bytes that are removed for the first comparison: those of ASCII that are no letters
#: or digits, all but the first byte of other characters, and first bytes that
#: characters may have which are no letters.
_kept = frozenset(
    [byte for byte in range(128) if chr(byte).isalnum()]
    + [*range(0xC4, 0xCA), 0xD0, 0xD1, 0xD3, *range(0xE5, 0xEA), 0xEB, 0xEC]
)
_dropped = bytes(byte for byte in range(256) if byte not in _kept)
#: Bytes that are too few to tell texts apart.
_few = 24


def look_alike(value: Any) -> str | None:
    """Return what an id looks like; None for what is no id.

    Ids that differ only in Unicode form, invisible characters, white space or letters
    of other scripts that look the same, look alike.
    """
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        return None
    if value.isascii() and value.isprintable() and " " not in value:
        return value
    seen = _invisible.sub("", unicodedata.normalize("NFKC", value))
    return " ".join(seen.translate(_look_alikes).split())


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
            message=_same_look,
            help="give both records the same id, or ids that look different",
        ),
    )


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
    said = _Said(len(context), len(context) + len(asked), tuple(rests))
    return (
        AcrossRows(
            NEAR_DUPLICATE,
            Agreement.UNIQUE,
            value=tuple(path[:size] for path in paths),
            place=asked[0],
            value_text=said.exactly,
            rough_text=said.roughly,
            takes_typed=True,
            normalize=normalize,
            message=lambda found: f"the record says the same as {found.owner}",
            help="keep one of them: case and punctuation make no difference",
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

    def exactly(self, *values: Any) -> str | None:
        """Return what a row says, without white space, punctuation and symbols.

        None if it asks nothing.
        """
        said = self._said(values)
        if said is None:
            return None
        context, text = said
        folded = unicodedata.normalize("NFKC", text).casefold()
        return f"{context}\0\0{folded.translate(_letters)}"

    def roughly(self, *values: Any) -> str | None:
        """Return a text that is the same where `exactly` returns the same."""
        said = self._said(values)
        if said is None:
            return None
        context, text = said
        if not unicodedata.is_normalized("NFKC", text):
            text = unicodedata.normalize("NFKC", text)
        data = text.casefold().encode("utf-8", "surrogatepass")
        seen = data.translate(None, _dropped)
        if len(seen) < _few:
            return self.exactly(*values)
        return f"{context}\0{seen.decode('latin-1')}"

    def _said(self, values: tuple[Any, ...]) -> tuple[str, str] | None:
        """Return the context and the texts, None if nothing is asked."""
        texts: list[str] = []
        begin = end = 0
        for number, value in enumerate(values):
            if number == self.context:
                begin = len(texts)
            if number == self.asked:
                end = len(texts)
            rest = self.rests[number]
            if type(value) is str and not rest:
                texts.append(value)
            elif value is not None and value is not UNSET:
                texts.extend(_texts_at(value, rest))
        if not any(texts[begin : end or None]):
            return None
        return "\0".join(texts[:begin]), "\0".join(texts[begin:])


class _Letters(dict[int, str | None]):
    """A table for `str.translate` that keeps letters, marks and digits."""

    def __missing__(self, code: int) -> str | None:
        letter = chr(code)
        kept = unicodedata.category(letter)[0] in "LMN"
        found = self[code] = letter if kept else None
        return found


_letters = _Letters()


def _texts_at(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the texts at `path` of a row, decoded or typed, through items of lists."""
    for number, key in enumerate(path):
        if type(value) is list:
            for item in value:
                yield from _texts_at(item, path[number:])
            return
        value = member(value, key)
    if type(value) is str:
        yield value
    elif type(value) is list:
        for item in value:
            if type(item) is str:
                yield item
            elif item is not None:
                yield from _texts_at(member(item, "role"), ())
                yield from _texts_at(member(item, "content"), ())


#: The attribute of each key, of the classes of typed rows.
_attributes: dict[type, dict[str, str]] = {}


def member(value: Any, key: str) -> Any:
    """Return the member of an object, decoded or typed, None if there is none."""
    kind = type(value)
    if kind is dict:
        return value.get(key)
    names = _attributes.get(kind)
    if names is None:
        names = _attributes[kind] = _attributes_of(kind)
    name = names.get(key)
    return None if name is None else getattr(value, name)


def _attributes_of(kind: type) -> dict[str, str]:
    if not issubclass(kind, msgspec.Struct):
        return {}
    keys = kind.__struct_encode_fields__
    return dict(zip(keys, kind.__struct_fields__, strict=True))
