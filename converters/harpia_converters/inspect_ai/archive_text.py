"""The text of a log that is a zip archive: that of the same log in JSON.

Source: `inspect_ai/log/_recorders/eval.py` of UKGovernmentBEIS/inspect_ai, commit
499e6152e7b8fc8cbd8ac5283536572aa6e4ab17.
"""

import re
from array import array
from collections.abc import Iterator
from typing import BinaryIO

from harpia_formats.files.io.file_kinds import TextPart
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.zip_archive import (
    ZipDirectory,
    check_expansion,
    member_pieces,
    read_directory,
)

HEADER, REDUCTIONS = "header.json", "reductions.json"
#: What is there instead of the header while the run goes on, and after it crashed.
START = "_journal/start.json"
#: What such a log lacks apart from results.
_STARTED = b',\n"status": "started"'
#: What tells a log in an archive, which may be of any version, from one in JSON.
_OF_ARCHIVE = b',\n"log_format": "eval"'
_sample = re.compile(r"samples/(.+)_epoch_(\d+)\.json", re.DOTALL)
#: A member of a sample that is spread over several members.
_spread = re.compile(r"samples/.+_epoch_\d+/sample\.json", re.DOTALL)
_text_id = re.compile(rb'\s*\{\s*"id"\s*:\s*"')
#: Digits to which the tool fills integers by which it sorts.
_WIDTH = 20
#: Bytes of a header, at most; it holds no samples.
LARGEST = 64 * 1024 * 1024
_SPACE = b" \t\r\n"


def text_of_log(file: BinaryIO, name: str) -> Iterator[TextPart]:
    """Yield the text of the log in the archive called `name`.

    It is the header with `samples`, in the order in which the tool reads them, and
    `reductions`. Raises `SourceError` where the archive cannot be read.
    """
    return _Log(file, name).parts()


class _Log:
    """A log whose directory was read."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._directory = ZipDirectory()
        #: The members apart from samples, by their names.
        self._others: dict[str, int] = {}

    def parts(self) -> Iterator[TextPart]:
        """Yield the parts of its text."""
        self._directory = read_directory(self._file, self._name)
        check_expansion(self._directory, self._name)
        samples = self._sample_members()
        yield from self._header()
        yield TextPart(_OF_ARCHIVE)
        yield TextPart(b',\n"samples": [')
        glue = b"\n"
        for number in samples:
            yield TextPart(glue)
            yield from self._member(number)
            glue = b"\n,\n"
        yield TextPart(b"\n]")
        if REDUCTIONS in self._others:
            yield TextPart(b',\n"reductions":\n')
            yield from self._member(self._others[REDUCTIONS])
        yield TextPart(b"\n}\n")

    def _sample_members(self) -> "array[int]":
        """Return the numbers of the members that are samples, by epoch, then by id.

        Raises `SourceError` if samples are spread over several members.
        """
        keys: list[str] = []
        id_width: int | None = None
        for number in range(len(self._directory)):
            member = self._directory.name(number)
            found = _sample.fullmatch(member)
            if found is None:
                self._note_other(member, number)
                continue
            id_, epoch = found.groups()
            if id_.isdecimal():
                if id_width is None:
                    id_width = self._id_width(number)
                id_ = id_.zfill(id_width)
            keys.append(f"{epoch:>0{_WIDTH}}\0{id_}\0{number:0{_WIDTH}}")
        keys.sort()
        return array("Q", (int(key[-_WIDTH:]) for key in keys))

    def _note_other(self, member: str, number: int) -> None:
        """Note a member that is no sample."""
        if _spread.fullmatch(member):
            reason = (
                "is a log in Inspect's chunked form, which has several members for "
                "each sample and is not read; give a log that Inspect wrote in its "
                "usual form, with one member for each sample, or as .json"
            )
            raise SourceError(self._name, reason)
        if member in {HEADER, REDUCTIONS, START}:
            self._others[member] = number

    def _id_width(self, number: int) -> int:
        """Return to how many digits ids are filled: not at all if they are texts."""
        member = self._directory.member(number)
        try:
            first = next(member_pieces(self._file, member, self._name), b"")
        except SourceError:  # reported when it is read
            first = b""
        return 0 if _text_id.match(first) else _WIDTH

    def _header(self) -> Iterator[TextPart]:
        """Yield the header without the brace that closes it."""
        name = HEADER if HEADER in self._others else START
        if name not in self._others:
            reason = f"is a zip archive without {HEADER} and {START}"
            raise SourceError(self._name, f"{reason}, so it is no log of Inspect")
        member = self._directory.member(self._others[name])
        if member.size > LARGEST:
            raise SourceError(self._name, f"its member {name} is too large")
        text = b"".join(member_pieces(self._file, member, self._name)).rstrip(_SPACE)
        if not (text.lstrip(_SPACE).startswith(b"{") and text.endswith(b"}")):
            raise SourceError(self._name, f"its member {name} is not a JSON object")
        yield TextPart(text[:-1], name)
        if name == START:
            yield TextPart(_STARTED)

    def _member(self, number: int) -> Iterator[TextPart]:
        """Yield the text of a member."""
        member = self._directory.member(number)
        offset = 0
        for piece in member_pieces(self._file, member, self._name):
            yield TextPart(piece, member.name, offset=offset)
            offset += len(piece)
