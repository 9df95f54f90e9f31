"""Find questions that have another reference in an earlier record (X105)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from harpia_formats.formats.rules.across import OTHER_REFERENCE
from harpia_formats.formats.rules.row_members import add_texts
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.lint import AcrossRows, Agreement

_asked = frozenset({"prompt", "messages"})
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

    asked, expected = at(_asked), at(_expected)
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
