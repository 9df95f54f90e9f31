"""Find records that say the same, but for case, white space and punctuation (X102)."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, repeat
from typing import Any

from msgspec import UNSET

from harpia_formats.formats.rules.across import NEAR_DUPLICATE
from harpia_formats.formats.rules.byte_sums import (
    FEW,
    ONES,
    WEIGHTS,
    counted_bytes,
    normal_bytes,
    sum_of,
    sums_of,
)
from harpia_formats.formats.rules.row_members import MESSAGE_KEYS, add_texts
from harpia_formats.formats.rules.text_columns import text_columns
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.lint import AcrossRows, Agreement

#: Fields that near-duplicates share as they are.
_context = frozenset(
    "category outputs.model outputs.scores.metric outputs.scores.evaluation_id "
    "outputs.scores.evaluation_name outputs.scores.result_id".split()
)
#: Fields that they share but for case, white space and punctuation: those that ask, of
#: which a record has one, and others.
_asked = frozenset({"prompt", "messages", "outputs.turns"})
_answered = frozenset("system references gt choices contexts outputs.text".split())

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
_kept = "\u2303"


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

    def exactly(self, *values: Any) -> str | None:
        """Return what a row says, without white space and meaningless punctuation.

        None if it asks nothing.
        """
        said = self._said(values)
        if said is None:
            return None
        context, text = said
        marked = _marked(normal_bytes(text).decode())
        folded = _meaningless.sub("", marked.casefold())
        parts = filter(None, folded.translate(_letters).split("\0"))
        return "\0".join((context, "", *parts))

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
        text = _factorial.sub(rf"\1{_kept}", text)
    if _capitals.search(text) is None:
        return text
    return "\0".join(
        _capitals.sub(rf"{_kept}\g<0>", part)
        if _small_letter.search(part) or " " not in part.strip()
        else part
        for part in text.split("\0")
    )
