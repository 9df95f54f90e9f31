"""The files that a conversion writes: one, or one for each model."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, cast

from harpia_formats.conversion.containers import (
    Array,
    Columns,
    Lines,
    Table,
    Wrapped,
    Writer,
)
from harpia_formats.conversion.options import ContainerKind, Output
from harpia_formats.io.open_sink import open_sink
from harpia_formats.io.reader import error_reason
from harpia_formats.io.sink import Sink, SinkError, StreamSink, suffix_of
from harpia_formats.io.urls import is_url, masked
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.format import Container, Format

#: Stands in the name of an output for the model whose answers are in it.
MODEL = "{model}"
#: Files that are open at once.
MOST = 200
_unsafe = re.compile(r"[^\w.-]+")


@dataclass(slots=True)
class OutputFiles:
    """What is written, and where to."""

    target: Format
    adapter: FormatAdapter
    output: Output
    container: ContainerKind | None = None
    #: What each column is called, by its own name.
    columns: Mapping[str, str] = field(default_factory=dict)
    overwrite: bool = False
    #: Whether a header may come behind the first row.
    headed: bool = False
    _files: dict[str, tuple[Sink, Writer]] = field(default_factory=dict)
    _places: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.output, (str, PathLike)) and fspath(self.output) == "-":
            self.output = None

    @property
    def is_split(self) -> bool:
        """Whether there is a file for each model."""
        return isinstance(self.output, (str, PathLike)) and MODEL in fspath(self.output)

    @property
    def separator(self) -> bytes:
        """What stands between rows that are written together."""
        return self._writer(lambda _: None).separator

    def write(self, rows: Iterable[bytes], model: str = "") -> None:
        """Write some rows in pieces, of one model if there is a file for each."""
        with self._temporary(model):
            self._file(model)[1].block(rows)

    def commit(self, header: Row) -> list[str]:
        """Finish all files and put them into their places; return their names."""
        if not self.is_split:
            self._file("")
        for model, (_, writer) in self._files.items():
            with self._temporary(model):
                writer.close(header)
        for sink, _ in self._files.values():
            sink.commit()
        return [masked(each) for each in self._places.values() if each]

    def discard(self) -> None:
        """Leave nothing of what was written."""
        for sink, writer in self._files.values():
            with suppress(OSError):  # what it holds may not be written any more
                writer.drop()
            sink.discard()

    @contextmanager
    def _temporary(self, model: str) -> Iterator[None]:
        """Say of what file it is that a temporary file cannot be written."""
        try:
            yield
        except OSError as error:
            name = masked(self._places.get(model) or name_of(self.output))
            raise SinkError(
                name, f"{error_reason(error)}, in a temporary file"
            ) from error

    def _file(self, model: str) -> tuple[Sink, Writer]:
        found = self._files.get(model)
        if found is None:
            if len(self._files) >= MOST:
                reason = f"there are more than {MOST} models, each with its file"
                raise SinkError(masked(str(self.output)), reason)
            sink = self._sink(model)
            found = self._files[model] = sink, self._writer(sink.write)
        return found

    def _sink(self, model: str) -> Sink:
        if self.output is None:
            self._places[model] = ""
            return StreamSink(standard_output())
        if not isinstance(self.output, (str, PathLike)):
            self._places[model] = ""
            return StreamSink(self.output)
        name = fspath(self.output)
        if self.is_split:
            name = name.replace(MODEL, _unsafe.sub("_", model) or "model")
            if name in self._places.values():
                reason = f"{model!r} and another model have the same file"
                raise SinkError(masked(name), reason)
            check_output(name, overwrite=self.overwrite)
        self._places[model] = name
        return open_sink(name)

    def _writer(self, write: Any) -> Writer:
        dialect = self.target.dialects[0]
        if dialect.container is Container.WRAPPED:
            return Wrapped(write, dialect.rows_at)
        if dialect.container is Container.COLUMNS:
            return Columns(write, self.columns)
        if dialect.container is Container.TABLE:
            return Table(
                write,
                self.adapter.columns,
                self.adapter.required_columns,
                self.adapter.implied_columns,
                dict(self.columns),
                quotes_empty=self.adapter.blank_is_absent,
            )
        if self._is_array():
            return Array(write, headed=self.headed)
        return Lines(write, headed=self.headed)

    def _is_array(self) -> bool:
        if self.container is not None:
            return self.container is ContainerKind.ARRAY
        if isinstance(self.output, (str, PathLike)):
            suffix = suffix_of(masked(fspath(self.output)))
            if suffix in {".json", ".jsonl", ".ndjson"}:
                return suffix == ".json"
        return self.adapter.written_as_array


def standard_output() -> BinaryIO:
    """Return standard output as bytes; raises `SinkError`."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        reason = "it takes text only; name a file as the output"
        raise SinkError("standard output", reason)
    return cast("BinaryIO", stream)


def check_output(output: Output, *, overwrite: bool) -> None:
    """Refuse an output that is there already. Raises `SinkError`."""
    if not isinstance(output, (str, PathLike)) or fspath(output) == "-":
        return
    if MODEL in fspath(output):
        return
    if is_url(fspath(output)):
        from harpia_formats.io.remote.sink import check_remote_output  # noqa: PLC0415 - for remote files only

        check_remote_output(fspath(output), overwrite=overwrite)
        return
    path = Path(output)
    if path.is_dir():
        raise SinkError(str(path), "is a folder")
    if path.is_file() and not overwrite:
        raise SinkError(str(path), "is there already; --overwrite replaces it")


def name_of(output: Output) -> str:
    """Return what an output is called, as shown to the user."""
    if output is None or output == "-":
        return "<stdout>"
    if isinstance(output, (str, PathLike)):
        return masked(fspath(output))
    return str(getattr(output, "name", "<stream>"))
