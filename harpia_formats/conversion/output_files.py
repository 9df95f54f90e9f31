"""What a conversion writes: its format, and one file or one for each model."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain, count
from os import PathLike, fspath
from pathlib import Path
from typing import cast

from msgspec import Struct, field

from harpia_formats.conversion.containers.csv_writers import CsvWriter, TableEncoder
from harpia_formats.conversion.containers.json_writers import (
    ArrayWriter,
    ColumnWriter,
    LineWriter,
    WrappedArrayWriter,
)
from harpia_formats.conversion.containers.row_writer import (
    EncodedRows,
    RowEncoder,
    RowWriter,
    WriteBytes,
)
from harpia_formats.conversion.mapping.requirements import holds_answers
from harpia_formats.conversion.options import ContainerKind, ConvertOptions, Output
from harpia_formats.files.io.outputs import OutputGroup, path_component
from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.sink import (
    Sink,
    SinkError,
    StreamSink,
    check_folder,
    check_name,
    standard_output,
    suffix_of,
)
from harpia_formats.files.io.urls import is_url, masked
from harpia_formats.formats.detection.sample import delimiter_of
from harpia_formats.formats.extensions import imported
from harpia_formats.formats.registry import (
    FAMILIES,
    UnknownFormat,
    adapter_of,
    formats_named,
    plugin_format_names,
    writable_formats,
)
from harpia_formats.model.adapter import FormatAdapter, Row
from harpia_formats.model.column_map import column_names
from harpia_formats.model.format import Container, Format
from harpia_formats.model.problem import ConversionError, ConversionOptionsError
from harpia_formats.model.spelling import hint_on, is_near

#: Records that are searched for an answer before a format is chosen.
SAMPLED_RECORDS = 1_000


def targets_named(name: str) -> tuple[Format, ...]:
    """Return the record formats that `name` stands for, the default first.

    Raises `ConversionError` for one that cannot be written, and `PluginError` for one
    of a plug-in that cannot be used.
    """
    known = writable_formats()
    try:
        named = formats_named(name)
    except UnknownFormat as error:
        names = [*FAMILIES, *known, *plugin_format_names()]
        hint = hint_on(name, names)
        raise ConversionError(f"no format is called {name!r}{hint}") from error
    found = tuple(
        format_ for format_ in named if format_.adapter and not format_.read_only
    )
    if not found:
        listed = ", ".join(known)
        if any(format_.adapter for format_ in named):
            raise ConversionError(
                f"{name} can be read but not written (to write: {listed})"
            )
        raise ConversionError(f"{name} is a document, not records (known: {listed})")
    return found


def depends_on_answers(formats: tuple[Format, ...]) -> bool:
    """Tell whether the choice of a format depends on whether records have answers."""
    return len({holds_answers(adapter_of(format_)) for format_ in formats}) > 1


def choose_target(formats: tuple[Format, ...], *, answered: bool) -> Format:
    """Return the first of `formats` with a place for answers, or without, as asked."""
    return next(
        (
            format_
            for format_ in formats
            if holds_answers(adapter_of(format_)) is answered
        ),
        formats[0],
    )


def header_needs_rows(format_: Format) -> bool:
    """Tell whether a file's header is in its first row, so that it needs one."""
    carries_metrics = "metrics" in adapter_of(format_).header_fields
    return carries_metrics and not format_.dialects[0].rows_at


#: Is replaced in the name of an output by the model whose answers are in the file.
MODEL = "{model}"
_word = re.compile(r"\{(\w+)\}")
#: Files that may be open at once.
MAX_FILES = 200
_text_suffixes = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv"})
_table_suffixes = frozenset({".parquet", ".arrow", ".feather"})
#: The format of rows in any columns, by the suffix that no other kind of file has.
_targets = {".csv": "csv", ".tsv": "csv"} | dict.fromkeys(_table_suffixes, "parquet")


class NoTargetError(ConversionOptionsError):
    """No format to write is given, and the name of the output says none."""


def target_of(output: Output) -> str:
    """Return the format that the name of an output says.

    Raises `NoTargetError` if it says none.
    """
    suffix = ""
    if isinstance(output, (str, PathLike)):
        suffix = suffix_of(masked(fspath(output)))
    if found := _targets.get(suffix):
        return found
    why = (
        f"; {suffix} is the suffix of several formats"
        if suffix in _text_suffixes
        else ""
    )
    raise NoTargetError(f"`--to` is missing: Format to write{why}")


def output_files(
    target: Format,
    output: Output,
    options: ConvertOptions,
    group: OutputGroup,
    *,
    maps_output: bool,
) -> "OutputFiles":
    """Return the output files of a conversion to `target`, as its options ask.

    `maps_output` tells that `columns` names those of the output. Raises
    `ConversionError`, `MapError` and `SinkError` for options that cannot be met.
    """
    adapter, container = adapter_of(target), options.container
    columns = options.columns if maps_output else None
    names = column_names(adapter, target.id, columns or {})
    is_rows = target.dialects[0].container is Container.ROWS and not target.row_writer
    if container is not None and not is_rows:
        raise ConversionError(f"a file of {target.id} is neither array nor lines")
    is_table = target.dialects[0].container is Container.TABLE
    if options.csv_safe and not is_table:
        raise ConversionError(f"`--csv-safe` is for tables in CSV, and not {target.id}")
    return OutputFiles(
        target,
        adapter,
        output,
        group,
        None if container is None else ContainerKind(container),
        names,
        overwrite=options.overwrite,
        headed=header_needs_rows(target),
        csv_safe=options.csv_safe,
    )


class OutputFiles(Struct):
    """Opens the output files, and writes rows to them; their group commits them."""

    target: Format
    adapter: FormatAdapter
    output: Output
    group: OutputGroup
    container: ContainerKind | None = None
    #: The name of each column in the file, by its name in the format.
    columns: Mapping[str, str] = field(default_factory=dict)
    overwrite: bool = False
    #: Whether the header becomes a member of the first row.
    headed: bool = False
    #: Whether cells of a table that a spreadsheet would run get a mark.
    csv_safe: bool = False
    #: What the user should know of the names of files.
    notes: list[str] = field(default_factory=list)
    _files: dict[str, tuple[Sink, RowWriter]] = field(default_factory=dict)
    _places: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.output, (str, PathLike)):
            if fspath(self.output) == "-":
                self.output = None
                return
            if not self.is_split:
                self.group.claim(fspath(self.output))
            self._note_other_suffix(masked(fspath(self.output)))

    def _note_other_suffix(self, name: str) -> None:
        """Note that the name of an output says that it is of another kind."""
        suffix = suffix_of(name)
        if self.target.row_writer and suffix in _text_suffixes:
            self.notes.append(f"{name} is a Parquet file, not {suffix}")
        elif not self.target.row_writer and suffix in _table_suffixes:
            self.notes.append(
                f"{name} is text of {self.target.id}, not {suffix}; `--to parquet` "
                "writes a table"
            )

    @property
    def is_split(self) -> bool:
        """Whether each model has a file of its own."""
        return isinstance(self.output, (str, PathLike)) and MODEL in fspath(self.output)

    @property
    def is_begun(self) -> bool:
        """Whether a part was written that cannot be removed, as of a stream or pipe."""
        return any(sink.is_begun for sink, _ in self._files.values())

    def encoder(self, model: str = "") -> RowEncoder:
        """Return what encodes the next rows of the file of a model."""
        file = self._files.get(model)
        writer = self._new_writer(lambda _: None) if file is None else file[1]
        return writer.encoder

    def write(self, blocks: Iterable[EncodedRows], model: str = "") -> None:
        """Write encoded rows to the file of a model; raises `SinkError`."""
        with self._naming_temporary_file(model):
            self._file(model)[1].add(blocks)

    def close(self, header: Row) -> list[str]:
        """Write what belongs to the end of each file, and return their names.

        Raises `SinkError`, and `MapError` if two columns have one name.
        """
        if not self.is_split:
            self._file("")
        for model, (_, writer) in self._files.items():
            with self._naming_temporary_file(model):
                writer.close(header)
        return [masked(name) for name in self._places.values() if name]

    def discard(self) -> None:
        """Remove everything that was written."""
        for model, (_, writer) in self._files.items():
            with suppress(OSError):  # closing a temporary file may fail on a full disk
                writer.discard()
            self.group.remove(self._places[model])

    @contextmanager
    def _naming_temporary_file(self, model: str) -> Iterator[None]:
        """Raise `SinkError` with the name of the output if a temporary file fails."""
        try:
            yield
        except BrokenPipeError:  # of an output, for temporary files are no pipes
            raise
        except OSError as error:
            name = masked(self._places.get(model) or name_of(self.output))
            raise SinkError(
                name, f"{error_reason(error)}, in a temporary file"
            ) from error

    def _file(self, model: str) -> tuple[Sink, RowWriter]:
        """Return the file of a model, which is opened at the first call."""
        file = self._files.get(model)
        if file is None:
            if len(self._files) >= MAX_FILES:
                reason = f"there are more than {MAX_FILES} models, each with its file"
                raise SinkError(masked(str(self.output)), reason)
            sink = self._open_sink(model)
            file = self._files[model] = sink, self._new_writer(sink.write)
        return file

    @property
    def _plain_name(self) -> str:
        """The path of the output without a secret, "" for a stream."""
        if not isinstance(self.output, (str, PathLike)):
            return ""
        return masked(fspath(self.output))

    def _open_sink(self, model: str) -> Sink:
        if not isinstance(self.output, (str, PathLike)):
            self._places[model] = ""
            is_standard = self.output is None
            stream = standard_output() if self.output is None else self.output
            if is_standard and self.target.row_writer and stream.isatty():
                reason = f"{self.target.id} is binary, and this is a terminal; name "
                raise SinkError("standard output", f"{reason}a file as the output")
            name = "standard output" if is_standard else name_of(self.output)
            sink = StreamSink(stream, name)
            self.group.add_stream(sink)
            return sink
        name = self._place_of(model) if self.is_split else fspath(self.output)
        self._places[model] = name
        return self.group.open(name)

    def _place_of(self, model: str) -> str:
        """Return the path of the file of a model, which no other output has.

        Raises `SinkError` if the file exists and is not to be overwritten.
        """
        template = fspath(cast("str | PathLike[str]", self.output))
        component = path_component(model, "model")
        usual = template.replace(MODEL, component)
        places = chain(
            (usual,), (template.replace(MODEL, f"{component}-{n}") for n in count(2))
        )
        place = next(place for place in places if self.group.is_free(place))
        if place != usual:
            shown = masked(place)
            taken = f"{masked(usual)} has another use"
            self.notes.append(f"the answers of {model!r} are in {shown}: {taken}")
        check_output(place, overwrite=self.overwrite)
        self.group.claim(place)
        return place

    def _new_writer(self, write: WriteBytes) -> RowWriter:
        dialect = self.target.dialects[0]
        if self.target.row_writer:
            return self._own_writer(write)
        if dialect.container is Container.WRAPPED:
            return WrappedArrayWriter(write, dialect.rows_at)
        if dialect.container is Container.COLUMNS:
            return ColumnWriter(write, self.columns)
        if dialect.container is Container.TABLE:
            encoder = TableEncoder(
                self.adapter.columns,
                self.adapter.required_columns,
                self.adapter.implied_columns,
                quotes_empty=self.adapter.blank_is_absent,
                csv_safe=self.csv_safe,
                delimiter=delimiter_of(None, self._plain_name),
            )
            return CsvWriter(write, encoder, self.columns)
        if self._writes_array():
            return ArrayWriter(write, headed=self.headed)
        return LineWriter(write, headed=self.headed)

    def _own_writer(self, write: WriteBytes) -> RowWriter:
        """Return the writer that only the target has."""
        suffix = suffix_of(self._plain_name)
        writer: RowWriter = imported(self.target.row_writer)(write, suffix)
        return writer

    def _writes_array(self) -> bool:
        """Tell by the option, the name of the output, or the format."""
        if self.container is not None:
            return self.container is ContainerKind.ARRAY
        suffix = suffix_of(self._plain_name)
        if suffix in {".json", ".jsonl", ".ndjson"}:
            return suffix == ".json"
        return self.adapter.written_as_array


def check_output(output: Output, *, overwrite: bool) -> None:
    """Raise `SinkError` if an output cannot be made.

    One that exists already cannot unless `overwrite` is true.
    """
    if not isinstance(output, (str, PathLike)) or fspath(output) == "-":
        return
    _check_words(fspath(output))
    if MODEL in fspath(output):
        return
    if is_url(fspath(output)):
        from harpia_formats.files.io.remote_sink import check_remote_output  # noqa: PLC0415 - for remote files only

        check_remote_output(fspath(output), overwrite=overwrite)
        return
    path = Path(output)
    check_name(path)
    if path.is_dir():
        raise SinkError(str(path), "is a folder")
    if path.is_file() and not overwrite:
        raise SinkError(str(path), "already exists; `--overwrite` replaces it")
    check_folder(path)


def check_names_file(place: str) -> None:
    """Raise `SinkError` for `-`, if it is the place of what is written next to rows."""
    if place == "-":
        reason = "only rows go to standard output (./- is a file of that name)"
        raise SinkError(place, reason)


def _check_words(name: str) -> None:
    """Raise `SinkError` if a word in braces in the name is `MODEL` misspelt."""
    for word in _word.findall(name):
        if is_near(word, MODEL.strip("{}")):
            reason = f"{{{word}}} is no word of the name; did you mean {MODEL}?"
            raise SinkError(masked(name), reason)


def name_of(output: Output) -> str:
    """Return the name of an output as shown to the user."""
    if output is None or output == "-":
        return "<stdout>"
    if isinstance(output, (str, PathLike)):
        return masked(fspath(output))
    return str(getattr(output, "name", "<stream>"))
