"""Export the selected rows as they are, or converted into another format.

A conversion runs in a process of its own, which is killed with the server. Its result
is kept for the download that follows the table of losses.
"""

import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, Protocol
from urllib.parse import quote, urlencode

from harpia_formats.conversion.output_files import targets_named
from harpia_formats.conversion.subsets.head_and_sample import RowOutputs
from harpia_formats.files.io.outputs import path_component
from harpia_formats.files.io.reader import ROW_LIMIT, error_reason
from harpia_formats.files.io.sink import StreamSink, standard_output, suffix_of
from harpia_formats.files.workers.killable import (
    CallFailed,
    KillableProcess,
    ProcessDied,
)
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.format import Container, Format
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.report import ValidationFailed
from harpia_formats.view.options import ViewError, ViewOptions
from harpia_formats.view.selection import WITH_ANOTHER, refuse_lone_keys

#: The state of the page, as its address has it.
Query = Mapping[str, str]
#: Conversions whose results are kept.
MOST_KEPT = 4
#: Bytes of a file that are sent at once.
_BLOCK = 256 * 1024
#: Seconds between two looks at whether a conversion has ended.
_PAUSE = 0.05
#: The keys of a query that choose rows by themselves.
_choosing = frozenset(
    "text field metric model category correct answer rule severity sort order".split()
)
#: Further keys of an address of the page: which file, and what is shown but rows.
_of_page = frozenset("file view open columns pair a b compared by verdict".split())
#: Keys of a query that do not choose rows.
_others = frozenset({"start", "count", "to", "record"})
_containers = {
    Container.TABLE: ".csv",
    Container.WRAPPED: ".json",
    Container.COLUMNS: ".json",
    Container.DOCUMENT: ".json",
}
#: The media types of downloads, by the suffix of their names.
_types = {
    ".csv": "text/csv; charset=utf-8",
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".txt": "text/plain; charset=utf-8",
}


class Selection(Protocol):
    """What is needed of a session: the rows of a query, and what they are."""

    def files(self) -> dict[str, Any]:
        """Return what is known of the files."""

    def path_of(self, query: Query) -> str:
        """Return the path of a file. Raises `ViewError`."""

    def reason_of(self, query: Query) -> str:
        """Return why a file cannot be shown, "" if it can. Raises `ViewError`."""

    def name_of(self, query: Query) -> tuple[str, str]:
        """Return the name of a file, and its container. Raises `ViewError`."""

    def format_of(self, query: Query) -> str | None:
        """Return the format of the rows, None if it is not known."""

    def selected_bytes(self, query: Query) -> Iterator[bytes]:
        """Yield the selected rows as a file in the same container."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file that is sent: its name and its bytes."""

    name: str
    blocks: Iterator[bytes]
    #: What the blocks are read from.
    source: Any

    def close(self) -> None:
        """Close what the blocks are read from, where it can be."""
        close = getattr(self.source, "close", None)
        if close is not None:
            close()

    @property
    def headers(self) -> dict[str, str]:
        """The headers of its response."""
        plain = self.name.encode("ascii", "replace").decode().replace("?", "_")
        return {
            "Content-Type": _types.get(
                PurePath(self.name).suffix, "application/octet-stream"
            ),
            "Content-Disposition": f'attachment; filename="{plain}"; '
            f"filename*=UTF-8''{quote(self.name)}",
        }


@dataclass(frozen=True, slots=True)
class _Converted:
    """A conversion that was done: its file, None if nothing was written, and losses."""

    path: Path | None
    losses: dict[str, Any]


class TakeAway:
    """Makes downloads of the rows of a session. Several threads may use it."""

    def __init__(self, session: Selection, options: ViewOptions, folder: str) -> None:
        """Keep conversions in `folder`, which its owner removes after `close`."""
        self._session = session
        self._options = options
        self._folder = Path(folder)
        self._process = KillableProcess()
        #: One conversion at a time: each has a process and two files.
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[Any, ...], _Converted] = OrderedDict()
        self._count = 0
        self._is_closed = False

    def rows(self, query: Query) -> Download:
        """Return the selected rows as they are in the file; raises `ViewError`."""
        self._check_redacted()
        blocks = self._session.selected_bytes(query)
        # An error must come before an answer; and then it is known what the file is.
        first = next(blocks, b"")
        stem, suffix = _named(self._session.name_of(query))
        return Download(f"{stem}-rows{suffix}", chain([first], blocks), blocks)

    def converted(self, query: Query, target: str) -> Download:
        """Return the selected rows in the format `target`; raises `ViewError`."""
        with self._lock:
            done = self._conversion(query, target)
            if done.path is None:
                raise ViewError(done.losses["reason"])
            # An open file can be read after it is removed from those that are kept.
            file = done.path.open("rb")
        return Download(done.path.name, iter(partial(file.read, _BLOCK), b""), file)

    def losses(self, query: Query, target: str) -> dict[str, Any]:
        """Return what is lost where the selected rows are converted into `target`.

        Raises `ViewError` if they cannot be.
        """
        with self._lock:
            return self._conversion(query, target).losses

    def raw(self, query: Query, read: Callable[[Query], bytes]) -> Download:
        """Return the bytes of one record, which `read` returns; raises `ViewError`."""
        self._check_redacted()
        stem, _ = _named(self._session.name_of(query))
        record = path_component(query.get("record", ""), "record")
        return Download(f"{stem}-{record}.txt", iter([read(query)]), None)

    def command(self, query: Query) -> str:
        """Return the command line that exports what the page exports."""
        name, kind = self._session.name_of(query)
        _, rows_suffix = _named((name, kind))
        state = {key: query[key] for key in query if _chooses(query, key)}
        words = ["harpia-formats", "view", self._session.path_of(query)]
        if self._options.format is not None:
            words += ["--from", self._options.format]
        delimiter, limit = self._options.delimiter, self._options.max_row_bytes
        limited = [] if limit == ROW_LIMIT else ["--max-row-bytes", str(limit)]
        if delimiter is not None:
            words += ["--delimiter", delimiter]
        words += [*limited, "--query", urlencode(state), "--output"]
        target = query.get("to", "")
        if not target:
            return shlex.join([*words, f"rows{rows_suffix}"])
        suffix = suffix_of_format(targets_named(target)[0])
        convert = ["harpia-formats", "convert", "--from", self._format(query)]
        if kind == "table" and delimiter is None and rows_suffix == ".tsv":
            delimiter = "tab"  # standard input has no name that would say so
        if kind == "table" and delimiter is not None:
            convert += ["--delimiter", delimiter]
        convert += [
            *limited,
            "--to",
            target,
            "--on-invalid",
            "skip",
            "-o",
            f"rows{suffix}",
        ]
        return f"{shlex.join([*words, '-'])} | {shlex.join(convert)}"

    def close(self) -> None:
        """Cancel the conversion that runs, and delete those that are kept."""
        self._is_closed = True
        while not self._lock.acquire(timeout=_PAUSE):
            self._process.close()
        self._process.close()
        for done in self._kept.values():
            _remove(done)
        self._kept.clear()
        self._lock.release()

    def _check_redacted(self) -> None:
        if self._options.redact:
            raise ViewError("with `--redact`, no rows are taken away")

    def _format(self, query: Query) -> str:
        """Return the format of the rows; raises `ViewError` if it is not known."""
        found = self._session.format_of(query)
        if found is None:
            raise ViewError("the format of the file is not known, so it stays as it is")
        return found

    def _conversion(self, query: Query, target: str) -> _Converted:
        """Return the conversion of the selected rows, which may be kept from before."""
        self._check_redacted()
        reason = self._session.reason_of(query)
        if reason:
            raise ViewError(reason)
        chosen = sorted((key, query[key]) for key in query.keys() - _others)
        key = (target, *chosen)
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        found = self._new_conversion(query, target)
        self._kept[key] = found
        while len(self._kept) > MOST_KEPT:
            _remove(self._kept.popitem(last=False)[1])
        return found

    def _new_conversion(self, query: Query, target: str) -> _Converted:
        """Convert the selected rows in another process."""
        # Families of formats have several targets, one of which the rows choose.
        written = suffix_of_format(targets_named(target)[0])
        blocks = self._session.selected_bytes(query)
        first = next(blocks, b"")  # then it is known what the file is
        name, kind = self._session.name_of(query)
        stem, suffix = _named((name, kind))
        options = {
            "from_": self._format(query),
            "delimiter": self._options.delimiter,
            "max_row_bytes": self._options.max_row_bytes,
        }
        self._count += 1
        folder = self._folder / str(self._count)
        source = folder / "rows" / f"{stem}{suffix}"
        output = folder / f"{stem}-{path_component(target, 'rows')}{written}"
        try:
            source.parent.mkdir(parents=True)
            with source.open("wb") as rows:
                rows.writelines(chain([first], blocks))
            losses = self._in_process(source, output, target, options)
        except OSError as error:
            reason = f"the rows cannot be converted: {error_reason(error)}"
            raise ViewError(reason) from error
        finally:
            source.unlink(missing_ok=True)
        _name_source(losses, str(source), name)
        return _Converted(output if losses["ok"] else None, losses)

    def _in_process(self, *arguments: Any) -> dict[str, Any]:
        """Return what `conversion_losses` yields in another process."""
        if self._is_closed:
            raise ViewError(_ended)
        try:
            values = self._process.call(
                conversion_losses, *arguments, timeout=float("inf")
            )
            found: dict[str, Any]
            (found,) = values
        except ProcessDied:
            raise ViewError(_ended) from None
        except CallFailed as error:
            raise RuntimeError(str(error)) from error
        else:
            return found


_ended = "the conversion was ended before its end"


def conversion_losses(
    source: Path, output: Path, target: str, options: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Convert a file, and yield once what was lost and whether it was written.

    Rows that are not valid, or cannot be converted, are left out and counted.
    """
    from harpia_formats.api.functions import convert  # noqa: PLC0415 - the server itself converts nothing

    try:
        report = convert(
            source, to=target, output=output, on_invalid="skip", jobs=1, **options
        )
        reason = ""
    except ValidationFailed as error:
        report, reason = error.result, str(error).partition("\n")[0]
    except HarpiaFormatsError as error:
        yield {"losses": [], "ok": False, "rows": 0, "skipped": 0, "reason": str(error)}
        return
    yield {
        "losses": report.table(),
        "ok": bool(report.written),
        "rows": report.rows,
        "skipped": report.skipped,
        "reason": reason,
        "format": report.target,
    }


def suffix_of_format(target: Format) -> str:
    """Return the suffix of the names of files in a format."""
    if target.row_writer:
        return ".parquet"
    known = _containers.get(target.dialects[0].container)
    if known is None:
        known = ".json" if adapter_of(target).written_as_array else ".jsonl"
    return known


def write_selection(
    session: Selection,
    query: Query,
    output: str,
    *,
    inputs: Sequence[str],
    overwrite: bool,
) -> tuple[str, ...]:
    """Write the selected rows to a path, a URL, or `-` for standard output.

    The file appears complete or not at all. Return what the user should know of it.
    Raises `SinkError`, also if the output is one of the `inputs`, and `ViewError`, also
    for a query of which a part would choose nothing.
    """
    _check_chooses(query, len(session.files()["files"]))
    if output == "-":
        sink = StreamSink(standard_output())
        for block in session.selected_bytes(query):
            sink.write(block)
        sink.commit()
        return ()
    outputs = RowOutputs(inputs, overwrite=overwrite)
    outputs.claim(output)
    try:
        file = outputs.group.open(output)
        for block in session.selected_bytes(query):
            file.write(block)
        outputs.commit()
    except BaseException:  # an interrupt, too, leaves no temporary file
        outputs.discard()
        raise
    return tuple(outputs.group.notes)


def _chooses(query: Query, key: str) -> bool:
    """Return whether a key of a query has a part in which rows are chosen."""
    return key in _choosing or bool(query.get(WITH_ANOTHER.get(key, "")))


def _check_chooses(query: Query, files: int) -> None:
    """Raise `ViewError` if more rows would be chosen than a query seems to say.

    That is what a key does that is unknown, or stands alone, and a query that does not
    say which of several `files` it is about.
    """
    for key in sorted(query.keys() - _choosing - WITH_ANOTHER.keys() - _of_page):
        known = ", ".join(sorted({*_choosing, *WITH_ANOTHER, "file"}))
        raise ViewError(f"no rows are chosen by {key!r}, but by: {known}")
    refuse_lone_keys(query)
    if files > 1 and not query.get("file"):
        raise ViewError(
            f"there are {files} files, and the rows of one are written: add `file=0` "
            f"to the query for the first, up to `file={files - 1}`"
        )


def _named(file: tuple[str, str]) -> tuple[str, str]:
    """Return the name of a file without its suffixes, and the suffix of its rows.

    `file` is its name and how its rows stand: a table is taken away as one, an array or
    a document as one, and all else as lines.
    """
    name, kind = file
    stem = path_component(name.partition(".")[0], "rows")
    if kind == "table":
        found = suffix_of(name)
        return stem, found if found in {".csv", ".tsv"} else ".csv"
    return stem, ".json" if kind in {"array", "document"} else ".jsonl"


def _remove(done: _Converted) -> None:
    """Remove the file of a conversion."""
    if done.path is not None:
        done.path.unlink(missing_ok=True)


def _name_source(losses: dict[str, Any], source: str, name: str) -> None:
    """Put the name of the file that the user has opened in place of `source`."""
    losses["reason"] = losses["reason"].replace(source, name)
    for row in losses["losses"]:
        row["path"] = name
