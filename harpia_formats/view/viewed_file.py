"""One file that is shown: its index, the scan of its records, searches, selections."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any
from weakref import finalize

from msgspec import UNSET

from harpia_formats.files.io.source import FileState, Source, state_of_path
from harpia_formats.formats.registry import all_formats
from harpia_formats.model.record import Record
from harpia_formats.validation.redaction.redacted_reports import reason_without_names
from harpia_formats.view.background import Background
from harpia_formats.view.options import ViewError, ViewOptions
from harpia_formats.view.record_reader import RecordReader, columns_of, why_unread
from harpia_formats.view.record_scan import RecordColumns, scan_file
from harpia_formats.view.row_index import (
    FoundFile,
    IndexFailure,
    IndexProgress,
    Message,
    RowIndex,
    index_file,
    joined,
)
from harpia_formats.view.selection import FileColumns, Filter, Selection, select
from harpia_formats.view.text_search import (
    LIMIT,
    SearchedRows,
    SearchProgress,
    Wanted,
    compiled,
    search_rows,
)

#: Selections of a file, and searches in it, that are kept.
KEPT = 8
#: Seconds for which a selection of a file that is still read is not computed again.
FRESH = 0.4


@dataclass(slots=True, weakref_slot=True)
class Search:
    """A search through the rows of a file."""

    path: Path
    work: Background | None = None
    rows: int = 0
    found: int = 0
    #: Whether the user ended it.
    is_cancelled: bool = False

    def receive(self, message: SearchProgress) -> None:
        """Record how far it is."""
        self.rows, self.found = message.rows, message.found

    @property
    def is_running(self) -> bool:
        """Whether more rows may be found."""
        return self.work is not None and self.work.is_running

    @property
    def reason(self) -> str:
        """Why it does not search all rows, "" if it does."""
        if self.is_cancelled:
            return "the search was ended before the last row"
        failure = self.work.failure if self.work else ""
        if failure == "it took too long":
            return f"the search was given up: a row took more than {LIMIT:g} seconds"
        return failure and f"the search failed: {failure}"


@dataclass(frozen=True, slots=True)
class Selected:
    """The records known so far that a filter asks for."""

    selection: Selection
    search: Search | None
    #: Whether no other record can be among them later.
    is_complete: bool


@dataclass(slots=True)
class _Kept:
    """A selection that was computed, and of how much."""

    selection: Selection
    version: tuple[Any, ...]
    at: float


class ViewedFile:
    """One open file; its methods may be called by several threads."""

    def __init__(
        self,
        source: Source,
        options: ViewOptions,
        base: Path,
        turn: AbstractContextManager[Any],
    ) -> None:
        """Begin to read a file; what is found out goes to files that begin so.

        Each of its processes begins once it has its `turn`.
        """
        self.source = source
        self._options = options
        self.base = str(base)
        self._state = _state_of(source)
        self.columns = RecordColumns(self.base)
        self.found: FoundFile | None = None
        self.progress = IndexProgress(0, 0)
        self._reason = ""
        self._index: RowIndex | None = None
        self._reader: RecordReader | None = None
        self._lock = Lock()
        self._selecting = Lock()
        self._is_closed = False
        self._searches: OrderedDict[Wanted, Search] = OrderedDict()
        self._kept: OrderedDict[Filter, _Kept] = OrderedDict()
        self._names = 0
        name = str(source.origin) if isinstance(source.origin, Path) else source.name
        self._path = name
        self._indexing = Background(
            index_file, name, options, self.base, receive=self._receive, turn=turn
        )
        self._scanning = Background(scan_file, name, options, self.base, turn=turn)

    def stop_beginning(self) -> None:
        """Keep work on the file that has not started from starting."""
        self._is_closed = True
        for work in (self._indexing, self._scanning):
            work.cancel()

    def close(self) -> None:
        """End all work on the file."""
        self.stop_beginning()
        for work in (self._indexing, self._scanning):
            work.stop()
        with self._lock:
            searches = list(self._searches.values())
        for search in searches:
            if search.work is not None:
                search.work.stop()
        if self._index is not None:
            self._index.close()

    def _receive(self, message: Message) -> None:
        """Take what the index says."""
        if isinstance(message, FoundFile):
            self.found = message
        elif isinstance(message, IndexFailure):
            self._reason = message.reason
        else:
            self.progress = message

    @property
    def reason(self) -> str:
        """Why the file cannot be shown, or not all of it; "" if it can."""
        if self.has_changed:
            return "the file was changed while it is open: start again to see it"
        failure = self._indexing.failure
        own = self._shown(self._reason)
        if not own and self.found is not None and self.found.kind == "nothing":
            return "the file is neither JSON nor a table that can be read"
        return own or (failure and f"it cannot be indexed: {failure}")

    @property
    def has_changed(self) -> bool:
        """Whether the file is not what it was when it was opened."""
        try:
            return _state_of(self.source) != self._state
        except OSError:
            return True

    @property
    def state(self) -> str:
        """`reading`, `ready`, `changed` or `failed`."""
        if self.has_changed:
            return "changed"
        if self.reason:
            return "failed"
        return "ready" if self.progress.is_complete else "reading"

    @property
    def scan_reason(self) -> str:
        """Why not all is known of the records, "" if it is or will be."""
        failure = self._scanning.failure
        own = self._shown(self.columns.state.reason)
        return own or (failure and f"the records were not scanned: {failure}")

    @property
    def unread(self) -> str:
        """Why the scan reads no records, "" if it does or that is not known yet."""
        return self._shown(self.columns.state.unread)

    def _shown(self, reason: str) -> str:
        """Return why something of the file is not read; `redact` hides what it quotes.

        Members of archives, for one, are named after the ids of samples.
        """
        return reason_without_names(reason) if self._options.redact else reason

    @property
    def _unread(self) -> str:
        """Why values of the records are not known, "" if they are or will be."""
        assert self.found is not None  # noqa: S101 - there are rows
        format_ = all_formats().get(self.found.format)
        return self.unread or why_unread(format_)

    @property
    def is_scanned(self) -> bool:
        """Whether all that can be known of the records is known."""
        return self.columns.state.is_complete or not self._scanning.is_running

    @property
    def copied(self) -> int | None:
        """The bytes of the temporary copy of the rows, None without one."""
        if self.found is None or self.found.rows_of == "file":
            return None
        path = Path(f"{self.base}.copy")
        return path.stat().st_size if path.exists() else 0

    @property
    def index(self) -> RowIndex:
        """The rows of the file.

        Raises `ViewError` if it has changed, or nothing is known of it yet.
        """
        if self.has_changed:
            raise ViewError(self.reason)
        with self._lock:
            if self._index is None:
                if self.found is None or self.found.kind == "nothing":
                    reason = self.reason or "the file is still being opened"
                    raise ViewError(f"{self.source.name}: {reason}")
                self._index = RowIndex(self._text, self.base, self.found.kind)
            return self._index

    @property
    def _text(self) -> str:
        """The file that has the rows: the file itself, or a copy."""
        is_copied = self.found is not None and self.found.rows_of != "file"
        return f"{self.base}.copy" if is_copied else self._path

    def row(self, number: int) -> bytes:
        """Return the bytes of a row. Raises `ViewError`."""
        (row,) = self.rows([number])
        return row

    def rows(self, numbers: list[int]) -> Iterator[bytes]:
        """Yield the bytes of some rows, of which a bounded part is in memory.

        Raises `ViewError` if there is no such row, and if the file has changed.
        """
        index = self.index
        if numbers and not (min(numbers) >= 1 and max(numbers) <= index.known):
            raise ViewError("there is no record of this number")
        yield from index.rows(numbers)
        if self.has_changed:  # what was read may be a mixture
            raise ViewError(self.reason)

    def record(self, row: bytes) -> Record:
        """Return a row as a record. Raises `ViewError`."""
        assert self.found is not None  # noqa: S101 - there are rows
        if self._reader is None:
            self._reader = RecordReader(self.found)
        return self._reader.read(row, self.columns.state.surroundings)

    def id_of(self, row: bytes) -> str | None:
        """Return the id of a row, even if it is not a record; None without one."""
        try:
            id_ = self.record(row).id
            return None if id_ is UNSET else str(id_)
        except ViewError:
            assert self._reader is not None  # noqa: S101 - it has read the row
            return self._reader.id_of(row)

    def selected(self, asked: Filter) -> Selected:
        """Return the records that a filter asks for, and start the search for them.

        Raises `ViewError` for a filter that cannot be applied.
        """
        index = self.index
        # Asked first: if they are true, all that is read below is final.
        is_read = self.progress.is_complete or bool(self.reason)
        is_scanned = self.is_scanned
        if asked.needs_records and index.known and (reason := self._unread):
            raise ViewError(f"values of the records are not known: {reason}")
        if not self._indexing.is_running:
            # No search waits for rows that an index which failed never adds.
            Path(f"{self.base}.end").touch()
        search = self._search(asked.wanted) if asked.is_search else None
        is_complete = is_read and not (search is not None and search.is_running)
        is_complete &= is_scanned or not asked.needs_columns
        state = self.columns.state
        version = (
            index.known,
            state.records if asked.needs_columns else 0,
            state.done if asked.needs_columns else 0,
            search.found if search else 0,
            is_complete,
        )
        with self._selecting:
            kept = self._kept.get(asked)
            if kept is not None:
                is_fresh = not is_complete and monotonic() - kept.at < FRESH
                if kept.version == version or is_fresh:
                    self._kept.move_to_end(asked)
                    return Selected(kept.selection, search, is_complete)
            self._names += 1
            path = Path(f"{self.base}.rows{self._names}")
            file = FileColumns(index, self.columns, is_scanned)
            made = select(file, asked, path, search.path if search else None)
            self._kept[asked] = _Kept(made, version, monotonic())
            self._kept.move_to_end(asked)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return Selected(made, search, is_complete)

    def _search(self, wanted: Wanted) -> Search:
        """Return a search, which is started if there was none like it."""
        compiled(wanted)  # a wrong expression is refused at once
        with self._lock:
            if self._is_closed:
                raise ViewError("the page is being closed")
            search = self._searches.get(wanted)
            if search is not None:
                self._searches.move_to_end(wanted)
                return search
            # A search that nobody looks at any more takes time from this one.
            for name, other in list(self._searches.items()):
                if other.is_running:
                    Thread(target=_end, args=(other,), daemon=True).start()
                    del self._searches[name]
            self._names += 1
            search = Search(Path(f"{self.base}.found{self._names}"))
            search.path.touch()
            finalize(search, search.path.unlink, missing_ok=True)
            assert self.found is not None  # noqa: S101 - there is an index
            rows = SearchedRows(
                self._text,
                self.base,
                self.found.kind,
                columns_of(self.found),
                self.found.delimiter or ",",
                self.found.reads_nan,
            )
            search.work = Background(
                search_rows,
                rows,
                wanted,
                str(search.path),
                patience=LIMIT,
                receive=search.receive,
            )
            self._searches[wanted] = search
            if len(self._searches) > KEPT:
                self._searches.popitem(last=False)
            return search

    def cancel(self, asked: Filter) -> None:
        """End the search that a filter asks for, if it runs."""
        with self._lock:
            search = self._searches.get(asked.wanted)
        if search is not None and search.is_running:
            _end(search)

    def selected_bytes(self, asked: Filter, closed: Event) -> Iterator[bytes]:
        """Yield the selected rows as a file in the container of this one.

        It waits until all of them are known. Raises `ViewError`, also if some cannot be
        known: the file ends too early, a search was ended, or all is `closed`.
        """
        with until_closed(closed):
            yield from self._selected_bytes(asked, closed)

    def _selected_bytes(self, asked: Filter, closed: Event) -> Iterator[bytes]:
        """Yield a file of the selected rows once all of them are known."""
        while self.found is None and not self._indexing.wait(_PAUSE):
            refuse_if_closed(closed)
        refuse_if_closed(closed)
        while not (selected := self.selected(asked)).is_complete:
            if selected.search is not None:
                assert selected.search.work is not None  # noqa: S101 - it was started
                selected.search.work.wait(FRESH)
            self._indexing.wait(FRESH)
            if asked.needs_columns:
                self._scanning.wait(FRESH)
            refuse_if_closed(closed)  # what is ended does not become complete
        reason = self.reason or (selected.search and selected.search.reason)
        if asked.needs_columns:
            reason = reason or self.scan_reason
        if reason:
            raise ViewError(f"{self.source.name}: {reason}")
        assert self.found is not None  # noqa: S101 - there are rows

        def rows() -> Iterator[bytes]:
            for start in range(0, selected.selection.count, _ROWS):
                refuse_if_closed(closed)
                yield from self.rows(selected.selection.part(start, _ROWS))

        yield from self._around(rows(), self.found)

    def _around(self, rows: Iterator[bytes], found: FoundFile) -> Iterator[bytes]:
        """Yield rows with what stands around all rows; raises `ViewError`."""
        before, after = self.index.around()
        # An array or a table without rows is written as it is.
        if self.index.known or found.kind == "lines":
            yield from joined(rows, found, before, after)
        else:
            yield from before
        if self.has_changed:  # what was read may be a mixture
            raise ViewError(self.reason)


#: Rows that are taken away at once, and seconds between two looks at a new file.
_ROWS, _PAUSE = 1_000, 0.02


@contextmanager
def until_closed(closed: Event) -> Iterator[None]:
    """Raise `ViewError` for errors that come from files which are closed meanwhile."""
    try:
        yield
    except Exception:
        refuse_if_closed(closed)
        raise


def refuse_if_closed(closed: Event) -> None:
    """Raise `ViewError` once the session of a file is closed."""
    if closed.is_set():
        raise ViewError("the page was ended")


def _end(search: Search) -> None:
    """End a search before its last row."""
    search.is_cancelled = True
    if search.work is not None:
        search.work.stop()


def _state_of(source: Source) -> FileState | None:
    """Return the state of a file of this machine, None for what is none.

    Raises `OSError` if there is none any more.
    """
    return state_of_path(source.origin) if isinstance(source.origin, Path) else None
