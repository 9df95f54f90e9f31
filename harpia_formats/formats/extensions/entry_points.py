"""Load the formats, rules, metrics, reporters and others that other packages add.

A package adds one by an entry point in the group of its kind. Entry points are read
only for a name that is not built in, or for a full list: reading them takes some 50 ms.
"""

from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from harpia_formats.model.errors import HarpiaFormatsError

if TYPE_CHECKING:  # it takes long to import
    from importlib.metadata import EntryPoint

#: The groups of entry points.
FORMATS = "harpia_formats.formats"
RULES = "harpia_formats.rules"
METRICS = "harpia_formats.metrics"
REPORTERS = "harpia_formats.reporters"
UNPACKERS = "harpia_formats.unpackers"
EXPECTATIONS = "harpia_formats.expectations"

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
