"""The formats and the rules: the built-in ones, and those of plug-ins.

A plug-in is looked for only by a name that is not built in, or for a full list.
"""

import re
from collections.abc import Collection, Iterable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import harpia_converters
from harpia_formats import entry_points
from harpia_formats.model.format import Format
from harpia_formats.rules import (
    Rule,
    UnknownRule,
    across,
    loss,
    rules_matching,
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

        names = self.names or [*FAMILIES, *all_formats(), *plugin_format_names()]
        near = get_close_matches(self.asked.lower(), names, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        known = ", ".join(names)
        return f"no format {self.kind}is called {self.asked!r}{hint} (known: {known})"


@cache
def all_formats() -> dict[str, Format]:
    """Return every built-in format by its id, in the order of their table."""
    return {each.id: each for each in harpia_converters.FORMATS}


def formats_named(name: str) -> tuple[Format, ...]:
    """Return the format with this id or alias, or all versions of a family.

    Raises `UnknownFormat`, and `PluginError` for a plug-in that cannot be used.
    """
    formats = all_formats()
    if name in formats:
        return (formats[name],)
    known_as = [each for each in formats.values() if name in each.aliases]
    if known_as:
        return tuple(known_as)
    if name in FAMILIES:
        return tuple(formats[each] for each in FAMILIES[name])
    found = _plugin_format(name)
    if found is None:
        raise UnknownFormat(name)
    return (found,)


def format_of(identifier: str) -> Format:
    """Return the format with this id, built in or of a plug-in.

    Raises `UnknownFormat`, and `PluginError` for a plug-in that cannot be used.
    """
    formats = all_formats()
    if identifier in formats:
        return formats[identifier]
    (found,) = formats_named(identifier)
    return found


def plugin_format_names() -> tuple[str, ...]:
    """Return the names of the formats of plug-ins; loads none of them."""
    return entry_points.plugin_names(entry_points.FORMATS)


def installed_formats() -> dict[str, Format]:
    """Return every format by its id, the built-in ones first, then those of plug-ins.

    Raises `PluginError` for a plug-in that cannot be used.
    """
    found = dict(all_formats())
    for name in plugin_format_names():
        format_ = _plugin_format(name)
        if format_ is not None:
            found.setdefault(format_.id, format_)
    return found


@cache
def _plugin_format(name: str) -> Format | None:
    """Return the format of the plug-in `name`, None if there is none.

    Raises `PluginError` if it cannot be used, or if a built-in format has its name.
    """
    group = entry_points.FORMATS
    found: Format | None = entry_points.plugin_named(group, name, Format)
    if found is None:
        return None
    reason = ""
    taken = _names_taken() & {name, found.id, *found.aliases}
    if name not in {found.id, *found.aliases}:
        reason = f"the id of the format is {found.id!r}"
    elif taken:
        reason = f"a built-in format is called {min(taken)!r}"
    elif found.family:
        reason = "a format of a plug-in has no family"
    if reason:
        raise entry_points.plugin_error(group, name, reason)
    return found


def _names_taken() -> set[str]:
    """Return the ids, aliases and families of the built-in formats."""
    aliases = (alias for each in all_formats().values() for alias in each.aliases)
    return {*FAMILIES, *all_formats(), *aliases}


def readable_formats() -> dict[str, Format]:
    """Return the built-in formats that are read as records, by their ids."""
    return {each.id: each for each in all_formats().values() if each.adapter}


def writable_formats() -> dict[str, Format]:
    """Return the built-in formats that records are written to, by their ids."""
    return {key: each for key, each in readable_formats().items() if not each.read_only}


def adapter_of(format_: Format) -> "FormatAdapter":
    """Return the adapter of a record format.

    Raises `PluginError` if a plug-in's format has none that can be used.
    """
    if format_.id not in all_formats():
        return _plugin_adapter(format_)
    adapter: FormatAdapter = _imported(format_.adapter)
    return adapter


@cache
def _plugin_adapter(format_: Format) -> "FormatAdapter":
    from harpia_formats.model.adapter import FormatAdapter  # noqa: PLC0415 - most commands convert nothing

    reason = ""
    try:
        adapter = _imported(format_.adapter)
    except Exception as error:  # noqa: BLE001 - the code of somebody else may do anything
        reason = f"{format_.adapter} raises {type(error).__name__}: {error}"
    else:
        if not isinstance(adapter, FormatAdapter):
            reason = f"{format_.adapter} is not a FormatAdapter"
        elif (adapter.write is None) is not format_.read_only:
            reason = "`read_only` must be true if, and only if, there is no `write`"
        else:
            return adapter
    names = (format_.id, *format_.aliases)
    name = next(each for each in names if each in plugin_format_names())
    raise entry_points.plugin_error(entry_points.FORMATS, name, reason)


def _imported(place: str) -> Any:
    """Return the object at `place`, which is written `module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def definitions_in(document: Any) -> dict[str, dict[str, Any]]:
    """Return the arguments of each judge that a vendor's document defines, by its name.

    The name of one that stands alone is empty. Raises `ValueError` for a definition
    that cannot be followed.
    """
    found: dict[str, dict[str, Any]] = {}
    for each in harpia_converters.DEFINITIONS:
        found |= _imported(each)(document)
    return found


def vendor_profiles() -> tuple[str, ...]:
    """Return the names of the profiles of vendors."""
    return tuple(harpia_converters.PROFILES)


def vendor_profile(name: str) -> "MetricProfile":
    """Return what a vendor means by the names of metrics."""
    profile: MetricProfile = _imported(harpia_converters.PROFILES[name])
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
    results: ResultFormat = _imported(found[first])
    return results


@cache
def all_rules() -> dict[str, Rule]:
    """Return every built-in rule by its code, those of vendors last."""
    ours = (text, table, schema, shape, across, loss, scoring)
    tables = (*(each.RULES for each in ours), harpia_converters.RULES)
    return {rule.code: rule for table in tables for rule in table}


def installed_rules() -> dict[str, Rule]:
    """Return every rule by its code, the built-in ones first, then those of plug-ins.

    Raises `PluginError` for a plug-in that cannot be used.
    """
    return {**all_rules(), **_plugin_rules()}


def rules_of(codes: Collection[str]) -> dict[str, Rule]:
    """Return the rules with these codes, built in or of plug-ins.

    Raises `KeyError`, and `PluginError` for a plug-in that cannot be used.
    """
    built_in = all_rules()
    known = built_in if built_in.keys() >= set(codes) else installed_rules()
    return {code: known[code] for code in codes}


def rules_for(
    formats: Iterable[Format] = (), asked: Iterable[str] = ()
) -> dict[str, Rule]:
    """Return the rules that a run needs over `formats`, with the rules `asked` for.

    They are the built-in ones, and those of plug-ins if one of `formats` or a code,
    prefix or name in `asked` is not built in. Raises `PluginError` for a plug-in that
    cannot be used.
    """
    built_in = all_rules()
    if any(each.id not in all_formats() for each in formats):
        return installed_rules()
    try:
        for each in asked:
            rules_matching(each, built_in)
    except UnknownRule:
        return installed_rules()
    return built_in


@cache
def _plugin_rules() -> dict[str, Rule]:
    """Return the rules of all plug-ins by their codes.

    The entry point of a plug-in is called as its codes begin: with two capital letters
    or more. Raises `PluginError`.
    """
    found: dict[str, Rule] = {}
    names = {each.name for each in all_rules().values()}
    for letters in entry_points.plugin_names(entry_points.RULES):
        rules = entry_points.plugin_named(entry_points.RULES, letters, tuple) or ()
        for rule in rules:
            reason = _why_no_rule(rule, letters, names)
            if reason or rule.code in found:
                reason = reason or f"two rules have the code {rule.code}"
                raise entry_points.plugin_error(entry_points.RULES, letters, reason)
            names.add(rule.name)
            found[rule.code] = rule
    return found


def _why_no_rule(rule: Any, letters: str, names: set[str]) -> str:
    """Return why a plug-in cannot have `rule`, "" if it can."""
    if not isinstance(rule, Rule):
        return f"it holds a {type(rule).__name__} and not only rules"
    if not re.fullmatch(r"[A-Z]{2,}", letters):
        return "its name must be the capital letters of its codes, two or more"
    if not re.fullmatch(rf"{letters}\d{{3}}", rule.code):
        return f"the code {rule.code!r} is not {letters} and three digits"
    if rule.name in names:
        return f"another rule is called {rule.name!r}"
    return ""
