"""Load the formats and rules of plug-ins, and check that they clash with no other."""

import re
from collections.abc import Collection
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from harpia_formats.formats.extensions.entry_points import (
    FORMATS,
    RULES,
    PluginError,
    check_names,
    packaged_schema,
    plugin_error,
    plugin_named,
    plugin_names,
)
from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Format

if TYPE_CHECKING:  # most commands convert and repair nothing
    from harpia_formats.model.adapter import FormatAdapter
    from harpia_formats.model.repair import UnsafeRepairs


def plugin_format(name: str, built_in: Collection[str]) -> Format | None:
    """Return the format of the plug-in `name`, None if there is no such plug-in.

    Raises `PluginError` if it cannot be used, or if its id or an alias is one of the
    names `built_in`.
    """
    check_names(FORMATS, built_in)
    found: Format | None = plugin_named(FORMATS, name, Format)
    if found is None:
        return None
    names = {found.id, *found.aliases}
    taken = names.intersection(built_in)
    reason = ""
    if name not in names:
        reason = f"the id of the format is {found.id!r}"
    elif taken:
        reason = f"a built-in format is called {min(taken)!r}"
    elif found.family:
        reason = "a format of a plug-in has no family"
    else:
        reason = _why_no_schema(found)
    if reason:
        raise plugin_error(FORMATS, name, reason)
    return found


@cache
def _why_no_schema(format_: Format) -> str:
    """Return why a schema of a plug-in's format cannot be read, "" if all can."""
    import msgspec  # noqa: PLC0415 - built-in formats need no such check

    schemas = [dialect.schema for dialect in format_.dialects]
    schemas += [dialect.strict for dialect in format_.dialects]
    for schema in schemas:
        if ":" not in schema:
            continue
        try:
            msgspec.json.decode(packaged_schema(schema))
        except (ImportError, OSError, TypeError, ValueError) as error:
            return f"its schema {schema} cannot be read: {error}"
    return ""


@cache
def plugin_adapter(format_: Format) -> "FormatAdapter":
    """Return the adapter of a plug-in's format.

    Raises `PluginError` if it cannot be used.
    """
    from harpia_formats.model.adapter import FormatAdapter  # noqa: PLC0415 - most commands convert nothing

    adapter = _imported_for(format_, format_.adapter)
    if not isinstance(adapter, FormatAdapter):
        raise _format_error(format_, f"{format_.adapter} is not a FormatAdapter")
    if (adapter.write is None) is not format_.read_only:
        reason = "`read_only` must be true if, and only if, there is no `write`"
        raise _format_error(format_, reason)
    return adapter


@cache
def plugin_repairs(format_: Format) -> "UnsafeRepairs":
    """Return the unsafe repairs of a plug-in's format, which has some.

    Raises `PluginError` if they cannot be used.
    """
    repairs: UnsafeRepairs = _imported_for(format_, format_.unsafe_repairs)
    if not callable(repairs):
        raise _format_error(format_, f"{format_.unsafe_repairs} is not a function")
    return repairs


def _imported_for(format_: Format, place: str) -> Any:
    """Return the object at a `place` that a plug-in's format names.

    Raises `PluginError` if there is none.
    """
    try:
        return imported(place)
    except Exception as error:  # code of another package may raise anything
        reason = f"{place} raises {type(error).__name__}: {error}"
        raise _format_error(format_, reason) from error


def _format_error(format_: Format, reason: str) -> PluginError:
    """Return that a plug-in's format cannot be used, and why."""
    names = (format_.id, *format_.aliases)
    name = next(name for name in names if name in plugin_names(FORMATS))
    return plugin_error(FORMATS, name, reason)


def imported(place: str) -> Any:
    """Return the object at `place`, which is written `module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def plugin_rules(built_in: Collection[Rule]) -> dict[str, Rule]:
    """Return the rules of all plug-ins by their codes.

    The name of an entry point is the two or more capital letters that its codes begin
    with. Raises `PluginError` if one cannot be used, or if two rules have the same
    code or name, those `built_in` included.
    """
    found: dict[str, Rule] = {}
    names = {rule.name for rule in built_in}
    for letters in plugin_names(RULES):
        for rule in plugin_named(RULES, letters, tuple) or ():
            reason = _why_no_rule(rule, letters, names)
            if not reason and rule.code in found:
                reason = f"two rules have the code {rule.code}"
            if reason:
                raise plugin_error(RULES, letters, reason)
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
