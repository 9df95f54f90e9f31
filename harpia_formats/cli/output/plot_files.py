"""The pictures that `--plot` names: checked before the run, written after it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from harpia_formats.cli.output.streams import print_notes, write_stderr
from harpia_formats.model.result import Result

if TYPE_CHECKING:  # most runs draw nothing: start-up time
    from harpia_formats.evaluation.figures.files import PictureFiles
    from harpia_formats.evaluation.scoring.results.format import Observer


class PlotFiles:
    """The files for pictures of one run, which appear together once it is done."""

    _files: "PictureFiles | None" = None

    def __init__(
        self,
        given: Iterable[str] | None,
        command: str,
        inputs: Sequence[str],
        others: Iterable[Any] = (),
        *,
        exclude: Sequence[str] = (),
    ) -> None:
        """Take the values of `--plot`, the command, its inputs and its other files.

        Raises `FigureError` or `SinkError` for a picture that cannot be drawn or
        written.
        """
        if given:
            from harpia_formats.evaluation.figures.files import (  # noqa: PLC0415 - most runs draw nothing: start-up time
                PictureFiles,
                picture_file,
            )
            from harpia_formats.files.io.files_read import FilesRead  # noqa: PLC0415 - most runs draw nothing: start-up time
            from harpia_formats.formats.registry import all_unpackers  # noqa: PLC0415 - most runs draw nothing: start-up time

            reads = FilesRead(inputs, exclude=exclude, unpackers=all_unpackers())
            files = [picture_file(text, command) for text in given]
            self._files = PictureFiles(files, reads, others)

    @property
    def observers(self) -> "list[Observer]":
        """What gets the answers of the run, if a picture needs them."""
        counts = None if self._files is None else self._files.counts
        return [] if counts is None else [counts.begin]

    def check_labels(self, *, are_scored: bool) -> None:
        """Raise `FigureError` if a picture needs labels, and none `are_scored`."""
        if self._files is not None and not are_scored:
            self._files.check_labels()

    def write(self, result: Result, *, is_whole: bool) -> None:
        """Draw a result, and tell what is not drawn; raises `SinkError`.

        Nothing is drawn unless it `is_whole`.
        """
        if self._files is None:
            return
        if not is_whole:
            write_stderr("no picture: there is no result to draw\n")
            return
        print_notes(self._files.write(result))
