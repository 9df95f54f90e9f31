"""How a file that is no text, or a folder, becomes the text as which it is read.

An unpacker yields the parts of one text: members of an archive, files of a folder, rows
of a table, and what is put around them. The parts joined are framed as any file is.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec


class TextPart(msgspec.Struct, frozen=True):
    """A piece of the text as which a file is read, and where it stands.

    A part that goes on where the one before it ended in the same member continues it.
    A part of a member should begin on a line of its own in the joined text.
    """

    text: bytes
    #: The member of the archive or folder that holds it; "" for the file itself, or for
    #: what stands nowhere, such as the commas between members.
    member: str = ""
    #: The line in the member or file in which it begins, from 1.
    line: int = 1
    #: Bytes of the member or file before it; None at the beginning of a member, and,
    #: without a member, for what stands nowhere.
    offset: int | None = None
    #: Code points before it on its line in the member or file.
    column: int = 0

    @property
    def has_place(self) -> bool:
        """Whether it stands in a member, or in the file itself."""
        return bool(self.member) or self.offset is not None


def no_folder(names: frozenset[str]) -> bool:  # noqa: ARG001 - as other functions take it
    """Return that a folder is not one input, whatever its entries are called."""
    return False


def no_file(head: bytes, name: str) -> bool:  # noqa: ARG001 - as other functions take it
    """Return that a file is not unpacked, whatever it begins with."""
    return False


class Unpacker(msgspec.Struct, frozen=True):
    """How files or folders of one kind are read as text: names and places only."""

    #: What it unpacks, such as `inspect-eval`.
    name: str
    #: Given the first bytes of a file, some thousand, and its name: whether it is of
    #: this kind. It is asked for every file.
    recognizes: Callable[[bytes, str], bool] = no_file
    #: Given the names of the entries of a folder: whether the folder is one input of
    #: this kind, so that the files in it are not read by themselves.
    is_folder: Callable[[frozenset[str]], bool] = no_folder
    #: The place, as `module:name`, of a function that is given an open binary file that
    #: can seek, or the `Path` of a folder, and the name as shown to the user. It yields
    #: the `TextPart`s in an order that is the same in each call, and raises
    #: `SourceError` where the file cannot be read.
    open: str = ""
    #: Suffixes of its files, by which they are found in folders.
    suffixes: tuple[str, ...] = ()


def unpacker_of_file(
    unpackers: Iterable[Unpacker], head: bytes, name: str
) -> Unpacker | None:
    """Return what unpacks a file that begins with `head`, None if nothing does."""
    found = (one for one in unpackers if one.recognizes(head, name))
    return next(found, None)


def unpacker_of_folder(
    unpackers: Iterable[Unpacker], names: Iterable[str]
) -> Unpacker | None:
    """Return what reads a folder with these entries as one input, None if nothing."""
    entries = frozenset(names)
    return next((one for one in unpackers if one.is_folder(entries)), None)


def suffixes_of(unpackers: Sequence[Unpacker]) -> tuple[str, ...]:
    """Return the suffixes of all files that are unpacked, each once."""
    return tuple(dict.fromkeys(name for one in unpackers for name in one.suffixes))
