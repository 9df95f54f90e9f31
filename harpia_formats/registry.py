"""Which formats and which rules there are."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

import harpia_converters
from harpia_formats.format import Format
from harpia_formats.rules import Rule, across, loss, schema, shape, table, text

if TYPE_CHECKING:  # most commands convert nothing
    from harpia_formats.spoke import Spoke

#: Names that stand for several versions; the first is taken where nothing tells.
FAMILIES: dict[str, tuple[str, ...]] = {}
for _each in harpia_converters.FORMATS:
    if _each.family:
        FAMILIES[_each.family] = (*FAMILIES.get(_each.family, ()), _each.id)


class UnknownFormat(Exception):  # noqa: N818 - reads as what happened
    """A format id that there is not; carries it and the ids that there are."""

    def __init__(self, asked: str) -> None:
        super().__init__(asked)
        self.asked = asked

    def __str__(self) -> str:
        from difflib import get_close_matches  # noqa: PLC0415 - for mistakes only

        names = [*FAMILIES, *all_formats()]
        near = get_close_matches(self.asked.lower(), names, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"no format is called {self.asked!r}{hint} (known: {', '.join(names)})"


@cache
def all_formats() -> dict[str, Format]:
    """Return every format by its id, in the order of their table."""
    return {each.id: each for each in harpia_converters.FORMATS}


def formats_named(name: str) -> tuple[Format, ...]:
    """Return the format with this id or alias, or all versions of a family.

    Raises `UnknownFormat`.
    """
    formats = all_formats()
    if name in formats:
        return (formats[name],)
    known_as = [each for each in formats.values() if name in each.aliases]
    if known_as:
        return tuple(known_as)
    if name in FAMILIES:
        return tuple(formats[each] for each in FAMILIES[name])
    raise UnknownFormat(name)


def record_formats() -> dict[str, Format]:
    """Return the formats whose rows are records, which convert, by their ids."""
    return {each.id: each for each in all_formats().values() if each.spoke}


def spoke_of(format_: Format) -> "Spoke":
    """Return how rows of a record format and records become each other."""
    module, _, name = format_.spoke.partition(":")
    spoke: Spoke = getattr(import_module(module), name)
    return spoke


@cache
def all_rules() -> dict[str, Rule]:
    """Return every rule by its code, ours first."""
    ours = (text, table, schema, shape, across, loss)
    tables = (*(each.RULES for each in ours), harpia_converters.RULES)
    return {rule.code: rule for table in tables for rule in table}
