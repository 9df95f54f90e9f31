"""Unpackers of plug-ins, asked for files that are neither text nor known otherwise."""

from collections.abc import Generator
from functools import cache
from importlib import import_module
from typing import BinaryIO

from harpia_formats.files.io.file_kinds import KIND_BYTES, kind_of
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.unpacking import TextPart, Unpacker, unpacker_of_file
from harpia_formats.formats.extensions.entry_points import (
    UNPACKERS,
    plugin_named,
    plugin_names,
)


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
    open="harpia_formats.formats.extensions.unpackers:text_by_plugin",
)
