"""Formats, rules, metrics and reporters that other packages add by entry points."""

import re
from collections.abc import Collection, Generator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from harpia_formats.files.io.file_kinds import (
    KIND_BYTES,
    TextPart,
    Unpacker,
    kind_of,
    unpacker_of_file,
)
from harpia_formats.files.io.reader import SourceError
from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Format
from harpia_formats.model.problem import HarpiaFormatsError

if TYPE_CHECKING:  # it takes long to import
    from importlib.metadata import EntryPoint

    from harpia_formats.model.adapter import FormatAdapter
    from harpia_formats.model.format import UnsafeRepairs


#: The groups of entry points.
FORMATS = "harpia_formats.formats"
RULES = "harpia_formats.rules"
METRICS = "harpia_formats.metrics"
REPORTERS = "harpia_formats.reporters"
UNPACKERS = "harpia_formats.unpackers"
EXPECTATIONS = "harpia_formats.expectations"
_GROUPS = (FORMATS, RULES, METRICS, REPORTERS, UNPACKERS, EXPECTATIONS)

Kind = TypeVar("Kind")


class PluginError(HarpiaFormatsError):
    """A plug-in that cannot be used: its group, entry point, package and the reason."""

    hides_values = True

    def __init__(self, group: str, name: str, package: str, reason: str) -> None:
        super().__init__(group, name, package, reason)
        self.group = group
        self.name = name
        self.package = package
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"the entry point {self.name!r} in {self.group} of the package "
            f"{self.package} cannot be used: {self.reason}"
        )


def plugin_names(group: str) -> tuple[str, ...]:
    """Return the names of the entry points in `group`, sorted; loads none of them."""
    return tuple(sorted(_entry_points(group)))


def check_names(group: str, built_in: Collection[str]) -> None:
    """Raise `PluginError` if an entry point in `group` has a name that is built in."""
    for name in plugin_names(group):
        if name in built_in:
            raise plugin_error(group, name, f"{name!r} is the name of a built-in one")


@cache
def plugin_named(group: str, name: str, kind: type[Kind]) -> Kind | None:
    """Return the object of the entry point `name` in `group`, None if there is none.

    Raises `PluginError` if it cannot be loaded, is not of the type `kind`, or if two
    packages have an entry point of this name.
    """
    found = _entry_points(group).get(name, ())
    if not found:
        return None
    if len(found) > 1:
        others = " and ".join(package_of(entry) for entry in found[1:])
        reason = f"{others} has an entry point of the same name"
        raise plugin_error(group, name, reason)
    try:
        loaded = found[0].load()
    # The code of another package may raise anything while it is imported.
    except (Exception, SystemExit) as error:
        reason = f"{found[0].value} raises {type(error).__name__}: {error}"
        raise plugin_error(group, name, reason) from error
    if not isinstance(loaded, kind):
        found_kind = type(loaded).__name__
        reason = f"{found[0].value} is a {found_kind} and not a {kind.__name__}"
        raise plugin_error(group, name, reason)
    return loaded


def plugin_error(group: str, name: str, reason: str) -> PluginError:
    """Return the error that says why an entry point that is there cannot be used."""
    return PluginError(group, name, package_of(_entry_points(group)[name][0]), reason)


def package_of(entry: "EntryPoint") -> str:
    """Return the name and the version of the package that has an entry point."""
    return "?" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def package_that_raised(error: BaseException) -> str:
    """Return the package with the plug-in whose code raised `error`, "" if none did.

    Code that a plug-in called, but for that of this project, counts as its own.
    """
    packages = {
        entry.module.partition(".")[0]: package_of(entry)
        for group in _GROUPS
        for entries in _entry_points(group).values()
        for entry in entries
    }
    trace, found = error.__traceback__, ""
    while trace is not None:
        top = trace.tb_frame.f_globals.get("__name__", "").partition(".")[0]
        # The packages of this project that are no plug-ins begin so.
        found = packages.get(top, "" if top.startswith("harpia_") else found)
        trace = trace.tb_next
    return found


def packaged_schema(identifier: str) -> bytes:
    """Return the schema `package:name`: the file `name.schema.json` in a package.

    Raises `ImportError` if there is no such package, and `OSError` for the file.
    """
    from importlib.resources import files  # noqa: PLC0415 - takes long; only for plug-ins

    package, _, name = identifier.partition(":")
    return (files(package) / f"{name}.schema.json").read_bytes()


@cache
def _entry_points(group: str) -> "dict[str, tuple[EntryPoint, ...]]":
    """Return the entry points in `group` by name, several where packages clash."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - 50 ms, for plug-ins only

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in entry_points(group=group):
        found[entry.name] = (*found.get(entry.name, ()), entry)
    return found


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
    return getattr(_module_named(module), name)


#: Returns a module; each file asks several times for the adapter of its format.
_module_named = cache(import_module)


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


def is_unpacked_by_plugin(head: bytes, name: str) -> bool:
    """Return whether a plug-in unpacks a file that begins with `head`.

    None is asked about files that are JSON or CSV, or that may be. Raises
    `PluginError`.
    """
    if kind_of(head, name) is None:
        return False
    return unpacker_of_file(_unpackers(), head, name) is not None


def text_by_plugin(file: BinaryIO, name: str) -> Generator[TextPart, None, None]:
    """Yield the text that the unpacker of a plug-in makes of a file."""
    head = file.read(KIND_BYTES)
    file.seek(0)
    unpacker = unpacker_of_file(_unpackers(), head, name)
    if unpacker is None:
        raise SourceError(name, "was changed while it was read")
    module, _, function = unpacker.open.partition(":")
    yield from getattr(import_module(module), function)(file, name)


@cache
def _unpackers() -> tuple[Unpacker, ...]:
    """Return the unpackers of all plug-ins; raises `PluginError`."""
    found = (
        plugin_named(UNPACKERS, name, Unpacker) for name in plugin_names(UNPACKERS)
    )
    return tuple(unpacker for unpacker in found if unpacker is not None)


#: Stands for the unpackers of all plug-ins, which are loaded when it is asked.
OF_PLUGINS = Unpacker(
    "of a plug-in",
    is_unpacked_by_plugin,
    open="harpia_formats.formats.extensions:text_by_plugin",
)
