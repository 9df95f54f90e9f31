"""Which formats and which rules there are."""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import harpia_converters
from harpia_formats.model.format import Format
from harpia_formats.rules import (
    Rule,
    across,
    loss,
    schema,
    scoring,
    shape,
    table,
    text,
)

if TYPE_CHECKING:  # most commands convert nothing
    from harpia_formats.model.adapter import FormatAdapter
    from harpia_formats.model.metric_profile import MetricProfile
    from harpia_formats.scoring.results.format import ResultFormat

#: Names that stand for several versions; the first is taken where nothing tells.
FAMILIES: dict[str, tuple[str, ...]] = {}
for _each in harpia_converters.FORMATS:
    if _each.family:
        FAMILIES[_each.family] = (*FAMILIES.get(_each.family, ()), _each.id)


class UnknownFormat(Exception):  # noqa: N818 - reads as what happened
    """A format id that there is not; carries it and the ids that there are."""

    def __init__(self, asked: str, names: tuple[str, ...] = (), kind: str = "") -> None:
        super().__init__(asked, names, kind)
        self.asked = asked
        self.names = names
        self.kind = kind

    def __str__(self) -> str:
        from difflib import get_close_matches  # noqa: PLC0415 - for mistakes only

        names = self.names or [*FAMILIES, *all_formats()]
        near = get_close_matches(self.asked.lower(), names, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        known = ", ".join(names)
        return f"no format {self.kind}is called {self.asked!r}{hint} (known: {known})"


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
    return {each.id: each for each in all_formats().values() if each.adapter}


def adapter_of(format_: Format) -> "FormatAdapter":
    """Return how rows of a record format and records become each other."""
    module, _, name = format_.adapter.partition(":")
    adapter: FormatAdapter = getattr(import_module(module), name)
    return adapter


def definitions_in(document: Any) -> dict[str, dict[str, Any]]:
    """Return the arguments of each judge that a vendor's document defines, by its name.

    The name of one that stands alone is empty. Raises `ValueError` for a definition
    that cannot be followed.
    """
    found: dict[str, dict[str, Any]] = {}
    for each in harpia_converters.DEFINITIONS:
        module, _, name = each.partition(":")
        found |= getattr(import_module(module), name)(document)
    return found


def vendor_profiles() -> tuple[str, ...]:
    """Return the names of the profiles of vendors."""
    return tuple(harpia_converters.PROFILES)


def vendor_profile(name: str) -> "MetricProfile":
    """Return what a vendor means by the names of metrics."""
    module, _, attribute = harpia_converters.PROFILES[name].partition(":")
    profile: MetricProfile = getattr(import_module(module), attribute)
    return profile


def result_formats() -> dict[str, str]:
    """Return where each format of results is, as `module:name`, by its id."""
    return {each.id: each.results for each in all_formats().values() if each.results}


def result_format_named(name: str) -> "ResultFormat":
    """Return how results of this id are written; raises `UnknownFormat`."""
    found = result_formats()
    # Of a family the first one is written, as where records are converted.
    first = next((each for each in FAMILIES.get(name, ()) if each in found), name)
    if first not in found:
        raise UnknownFormat(name, tuple(found), "of results ")
    module, _, attribute = found[first].partition(":")
    results: ResultFormat = getattr(import_module(module), attribute)
    return results


@cache
def all_rules() -> dict[str, Rule]:
    """Return every rule by its code, ours first."""
    ours = (text, table, schema, shape, across, loss, scoring)
    tables = (*(each.RULES for each in ours), harpia_converters.RULES)
    return {rule.code: rule for table in tables for rule in table}
