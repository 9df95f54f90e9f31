"""The files of pictures: checked before a run, written after it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harpia_formats.evaluation.figures.answer_counts import AnswerCounts
from harpia_formats.evaluation.figures.drawing import (
    FigureError,
    NoLabelsError,
    check_matplotlib,
    png_of,
    settings,
    svg_of,
)
from harpia_formats.evaluation.figures.picture_kinds import Kind, kinds_of
from harpia_formats.files.io.outputs import FilesRead, OutputGroup, check_extra_output
from harpia_formats.files.io.sink import SinkError
from harpia_formats.files.io.urls import file_name_of, is_url, masked
from harpia_formats.model.spelling import hint_on

#: What may be the name of a kind in `KIND=FILE`: no part of a path or a URL.
_name = re.compile(r"[A-Za-z][\w-]*")
#: Bytes at the start of a file by which a picture of ours is known.
_BEGINNING = 4096
_SVG, _PNG = ".svg", ".png"
_MARK = b"harpia-formats "


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A file for a picture of some kind."""

    #: A path or URL.
    place: str
    kind: Kind

    @property
    def is_svg(self) -> bool:
        """Whether it is written as SVG, and not as PNG."""
        return file_name_of(self.place).lower().endswith(_SVG)


def picture_file(text: str, command: str) -> PictureFile:
    """Return the file and kind of picture of `[KIND=]FILE`; raises `FigureError`."""
    name, equals, place = text.partition("=")
    if not equals or not _name.fullmatch(name):
        return named_picture(None, text, command)
    return named_picture(name, place, command)


def named_picture(name: str | None, place: str, command: str) -> PictureFile:
    """Return the file for a picture of the kind with this name, else the first one.

    Raises `FigureError`.
    """
    kinds = kinds_of(command)
    name = name or next(iter(kinds))
    if name not in kinds:
        hint = hint_on(name, kinds)
        raise FigureError(f"{command} draws no picture called {name!r}{hint}")
    if not file_name_of(place).lower().endswith((_SVG, _PNG)):
        raise FigureError(
            f"{masked(place)!r}: a picture is written to a file that is called "
            f"{_SVG} or {_PNG}"
        )
    return PictureFile(place, kinds[name])


class PictureFiles:
    """The files for pictures of one run, which appear together once it is done.

    An earlier picture of ours is replaced, but no other file, and none that the run
    reads or writes.
    """

    def __init__(
        self,
        files: Sequence[PictureFile],
        reads: FilesRead,
        others: Iterable[Any] = (),
    ) -> None:
        """Take the files, what the run reads, and its other outputs.

        Raises `FigureError` or `SinkError` for a picture that cannot be drawn or
        written.
        """
        check_matplotlib()
        self._reads = reads
        self.files = files
        needs_answers = any(file.kind.needs_answers for file in self.files)
        #: The scores of single answers, None if no picture needs them.
        self.counts = AnswerCounts() if needs_answers else None
        taken = list(others)
        group = OutputGroup(overwrite=True, reads=reads)
        for file in self.files:
            check_extra_output(file.place, taken)
            _check_replaceable(file.place)
            group.claim(file.place)

    def check_labels(self) -> None:
        """Raise `FigureError` if a picture needs labels, which no metric scores."""
        if any(file.kind.needs_labels for file in self.files):
            raise NoLabelsError

    def write(self, result: Any) -> list[str]:
        """Draw and write the pictures of a result; return what is to be said of them.

        Raises `SinkError`.
        """
        notes = []
        group = OutputGroup(overwrite=True, reads=self._reads)
        try:
            for file in self.files:
                data, said = self._drawn(file, result)
                group.open(file.place).write(data)
                notes += [f"{masked(file.place)}: {note}" for note in said]
            group.commit()
        except BaseException:  # an interrupt, too, leaves no temporary file
            group.discard()
            raise
        return notes

    def _drawn(self, file: PictureFile, result: Any) -> tuple[bytes, Sequence[str]]:
        """Return the bytes of a picture, and what is not drawn in it."""
        counts = [self.counts] if file.kind.needs_answers else []
        with settings():
            drawing = file.kind.draw(result, *counts)
            if file.is_svg:
                return svg_of(drawing), drawing.notes
            data, notes = png_of(drawing)
            return data, (*drawing.notes, *notes)


def _check_replaceable(place: str) -> None:
    """Raise `SinkError` if there is a file at a path that is no picture of ours."""
    if is_url(place) or not Path(place).is_file():
        return
    with Path(place).open("rb") as file:
        data = file.read(_BEGINNING)
    is_ours = _MARK in data and data.startswith((b"<?xml", b"\x89PNG"))
    if data and not is_ours:
        reason = (
            "is there already and is no picture of harpia-formats, and is not replaced "
            "by one; remove it, or name another file"
        )
        raise SinkError(place, reason)
