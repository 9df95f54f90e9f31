"""Documents without records among the files that are read for their records."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from harpia_formats.conversion.reading.companions import is_companion_format
from harpia_formats.files.io.inputs import Input
from harpia_formats.files.io.source import Source
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import readable_formats
from harpia_formats.model.errors import ConversionError
from harpia_formats.model.report import NO_RECORDS, FileCount

#: Called with the format of a file before its first record.
Begin = Callable[[FormatVariant, FileCount], None]


class NoRecordsError(ConversionError):
    """A file is a document without records; carries the id of its format."""

    def __init__(self, message: str, format_: str) -> None:
        super().__init__(message)
        self.format = format_


def checked_begin(begin: Begin, count: FileCount) -> Callable[[FormatVariant], None]:
    """Return `begin` for one file, with a check of the format.

    It raises `NoRecordsError` if the rows of the format are no records.
    """

    def begin_if_records(variant: FormatVariant) -> None:
        if not variant.format.adapter:
            raise NoRecordsError(
                f"{count.path} is {variant.format.id}, a document without records; "
                f"records are in: {', '.join(readable_formats())}",
                variant.format.id,
            )
        begin(variant, count)

    return begin_if_records


class Documents:
    """The documents that are passed over, because they are met in folders.

    EvalEval's aggregate, for one, is beside its samples. One with which the rows of
    other inputs are read may also be named.
    """

    def __init__(self, inputs: Iterable[Input]) -> None:
        inputs = list(inputs)
        self._is_alone = len(inputs) == 1
        #: Files that the user named.
        self._named = {
            Path(input_).absolute()
            for input_ in inputs
            if isinstance(input_, (str, PathLike))
        }

    @contextmanager
    def passing_over(self, source: Source, count: FileCount) -> Iterator[None]:
        """End the reading of a document in a folder; raises `NoRecordsError` if not."""
        try:
            yield
        except NoRecordsError as error:
            origin = source.origin
            is_named = not isinstance(origin, Path) or origin.absolute() in self._named
            is_beside = not self._is_alone and is_companion_format(error.format)
            if is_named and not is_beside:
                raise
            count.skipped = NO_RECORDS
            count.reason = "holds no records"
