"""The kinds of pictures and their files: checked before a run, written after it."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harpia_formats.evaluation.figures.drawing import (
    NO_LABELS,
    PDF,
    PNG,
    SVG,
    Drawing,
    FigureError,
    bytes_of,
    check_matplotlib,
    settings,
)
from harpia_formats.files.io.outputs import FilesRead, OutputGroup, check_extra_output
from harpia_formats.files.io.sink import SinkError
from harpia_formats.files.io.urls import file_name_of, is_url, masked
from harpia_formats.model.spelling import hint_on


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of picture."""

    name: str
    #: What it shows, for help texts.
    summary: str
    #: The command whose result it is drawn of: `score` or `score compare`.
    command: str
    #: The name of the function from a result to a drawing.
    function: str
    #: Whether it needs a metric of labels.
    needs_labels: bool = False

    def draw(self, result: Any) -> Drawing:
        """Return the drawing of a result; call it within `settings`."""
        from harpia_formats.evaluation.figures import pictures  # noqa: PLC0415 - only where one is drawn

        make: Callable[[Any], Drawing] = getattr(pictures, self.function)
        return make(result)


#: The kinds. The first one of a command is drawn if none is named.
KINDS = (
    Kind("scores", "scores with intervals by model and group", "score", "draw_scores"),
    Kind(
        "confusion",
        "confusion matrix of labels",
        "score",
        "draw_confusions",
        needs_labels=True,
    ),
    Kind(
        "scores",
        "scores with intervals by system, a panel for each benchmark",
        "score plan",
        "draw_benchmarks",
    ),
    Kind(
        "differences",
        "differences with intervals by pair of systems",
        "score compare",
        "draw_differences",
    ),
)
#: What is drawn no more, and what there is in its place.
_REMOVED = {
    "distributions": "`scores` draws means with intervals, and "
    "`harpia_formats.score_answers` has the score of each answer",
    "lengths": "`harpia_formats.score_answers` has the length and the scores of each "
    "answer",
    "questions": "`differences` draws their mean with its interval, and "
    "`harpia_formats.score_answers` has the scores by question",
}
#: What may be the name of a kind in `KIND=FILE`: no part of a path or a URL.
_name = re.compile(r"[A-Za-z][\w-]*")
#: Bytes at the start of a file by which a picture of ours is known, and in a PDF all.
_BEGINNING = 4096
_MARK = b"harpia-formats "
_STARTS = (b"<?xml", b"\x89PNG", b"%PDF")


def kinds_of(command: str) -> dict[str, Kind]:
    """Return the kinds that are drawn of the result of a command."""
    return {kind.name: kind for kind in KINDS if kind.command == command}


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A file for a picture of some kind."""

    #: A path or URL.
    place: str
    kind: Kind

    @property
    def suffix(self) -> str:
        """The end of its name, by which its format is chosen."""
        return Path(file_name_of(self.place)).suffix.lower()

    def drawn(self, result: Any) -> tuple[bytes, Sequence[str]]:
        """Return the bytes of the picture of a result, and what is not drawn in it."""
        with settings(self.suffix):
            return bytes_of(self.kind.draw(result), self.suffix)


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
    if name in _REMOVED:
        raise FigureError(f"no picture is called {name!r} any more: {_REMOVED[name]}")
    if name not in kinds:
        hint = hint_on(name, kinds)
        raise FigureError(f"{command} draws no picture called {name!r}{hint}")
    file = PictureFile(place, kinds[name])
    if file.suffix not in (SVG, PNG, PDF):
        raise FigureError(
            f"{masked(place)!r}: a picture is written to a file that is called "
            f"{SVG}, {PNG} or {PDF}"
        )
    return file


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
        self._files = files
        self._group = OutputGroup(overwrite=True, reads=reads)
        taken = list(others)
        for file in files:
            check_extra_output(file.place, taken)
            _check_replaceable(file.place)
            self._group.claim(file.place)

    def check_labels(self) -> None:
        """Raise `FigureError` if a picture needs labels, which no metric scores."""
        if any(file.kind.needs_labels for file in self._files):
            raise FigureError(NO_LABELS)

    def write(self, result: Any) -> list[str]:
        """Draw and write the pictures of a result; return the notes on them.

        Raises `SinkError`.
        """
        notes = []
        try:
            for file in self._files:
                data, remarks = file.drawn(result)
                self._group.open(file.place).write(data)
                notes += [f"{masked(file.place)}: {note}" for note in remarks]
            self._group.commit()
        except BaseException:  # an interrupt, too, leaves no temporary file
            self._group.discard()
            raise
        return notes


def _check_replaceable(place: str) -> None:
    """Raise `SinkError` if there is a file at a path that is no picture of ours."""
    if is_url(place) or not Path(place).is_file():
        return
    with Path(place).open("rb") as file:
        data = file.read(_BEGINNING)
        if data.startswith(b"%PDF"):
            # What it is of stands behind the picture.
            file.seek(-min(_BEGINNING, Path(place).stat().st_size), 2)
            data += file.read()
    if data and not (_MARK in data and data.startswith(_STARTS)):
        reason = (
            "already exists and is no picture of harpia-formats, and is not replaced "
            "by one; remove it, or name another file"
        )
        raise SinkError(place, reason)
