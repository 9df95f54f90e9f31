"""What the page asks for: each method answers one address with plain JSON values."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import BoundedSemaphore, Event
from time import monotonic, sleep
from typing import Any

from msgspec import UNSET

from harpia_formats._version import __version__
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.file_sink import temporary_folder
from harpia_formats.files.io.inputs import (
    checked_inputs,
    is_rereadable,
    sources_of_inputs,
)
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import STANDARD_INPUT, Source
from harpia_formats.formats.registry import all_unpackers, formats_named
from harpia_formats.view.copies import Copy, copy_of, is_longer
from harpia_formats.view.options import ViewError, ViewOptions, whole
from harpia_formats.view.record_details import (
    RowFindings,
    fields_of_record,
    raw_of,
    row_of,
)
from harpia_formats.view.selection import FileColumns, Filter, filter_of, summary
from harpia_formats.view.systems import Comparisons
from harpia_formats.view.text_search import Wanted
from harpia_formats.view.viewed_file import (
    Selected,
    ViewedFile,
    refuse_if_closed,
    until_closed,
)

#: Rows of one answer, by default and at most.
ROWS, MOST_ROWS = 100, 1_000
#: Records of other systems that are shown next to a record.
MOST_OTHERS = 20
#: Seconds after which a search for an id is given up: it keeps others waiting.
MOST_SECONDS = 5.0
#: Rows with the text of an id that are read at once.
_SOUGHT = 100
#: Keys of a query that ask for values of records.
_of_values = frozenset("text field is model category metric correct answer".split())


class ViewSession:
    """The files that are shown, from `start` to `close`.

    Raises `UnknownFormat` for a format that is none, `ViewError` for what cannot be
    opened, and `OptionError` without an input.
    """

    def __init__(self, inputs: Sequence[str], options: ViewOptions) -> None:
        """Find the files; nothing of them is read yet."""
        self.options = options
        if options.format is not None:
            formats_named(options.format)
        self._sources = list(_sources(inputs, options))
        self._stack = ExitStack()
        self._names = distinct_names([source.name for source in self._sources])
        #: Set once the session is closed, which ends what waits for its files.
        self._closed = Event()
        #: Where temporary files are written, from the start on.
        self.folder = ""
        self._files: list[ViewedFile] = []
        self._comparisons = Comparisons(self._files, options)

    def start(self) -> None:
        """Start reading all files.

        Raises `ViewError` if there is no room for temporary files.
        """
        self.folder = self._stack.enter_context(temporary_folder(None))
        for source, copy in self.copies():
            free = shutil.disk_usage(self.folder).free
            size = copy.size or 0
            if size > free and is_longer(source, free):
                raise ViewError(
                    f"{source.name}: a copy of {copy.of} needs {size:,} bytes, "
                    f"and {self.folder} has room for {free:,}"
                )
        turn = BoundedSemaphore(max(2, os.cpu_count() or 1))
        for number, source in enumerate(self._sources):
            base = Path(self.folder) / str(number)
            self._files.append(ViewedFile(source, self.options, base, turn))

    def close(self) -> None:
        """End all work, and delete what was written for it."""
        self._closed.set()
        self._comparisons.close()
        for file in self._files:
            file.stop_beginning()
        for file in self._files:
            file.close()
        with suppress(OSError):  # a question that just ends has written a file
            self._stack.close()
        end = monotonic() + MOST_SECONDS
        while self.folder and Path(self.folder).exists() and monotonic() < end:
            shutil.rmtree(self.folder, ignore_errors=True)
            sleep(_PAUSE)

    def copies(self) -> Iterator[tuple[Source, Copy]]:
        """Yield the files that are shown from a temporary copy, as far as is known."""
        for source in self._sources:
            copy = copy_of(source)
            if copy is not None:
                yield source, copy

    def files(self) -> dict[str, Any]:
        """Return what is known of all files."""
        return {
            "files": [self._file_shown(at) for at in range(len(self._files))],
            "redacted": self.options.redact,
            "notes": None if self.options.notes is None else str(self.options.notes),
            "version": __version__,
        }

    def _file_shown(self, at: int) -> dict[str, Any]:
        """Return what is known of one file."""
        file, redacted = self._files[at], self.options.redact
        state, found, copied = file.columns.state, file.found, file.copied
        records = (
            file.index.known if file.state in {"reading", "ready"} and found else 0
        )
        return {
            "index": at,
            "path": file.source.name,
            "name": self._names[at],
            "format": found.format or None if found else None,
            "dialect": found.dialect if found else "",
            "kind": found.kind
            if found and copied is None
            else "copy"
            if found
            else None,
            "bytes": file.progress.of or file.progress.done or None,
            "state": file.state,
            "reason": file.reason or None,
            "copy": None
            if found is None or copied is None
            else {"of": found.rows_of, "bytes": copied},
            "records": records,
            "indexed": {
                "done": file.progress.done,
                "of": file.progress.of,
                "complete": file.progress.is_complete or bool(file.reason),
            },
            "scanned": {"done": state.records, "complete": file.is_scanned},
            "validated": {
                "done": state.done,
                "of": state.of,
                "complete": file.is_scanned,
            },
            "unread": (file.unread or file.scan_reason) or None,
            "counts": state.counts,
            "rules": [
                {
                    "code": rule.code,
                    "name": rule.name,
                    "severity": rule.severity,
                    "count": rule.count,
                    "records": rule.records,
                }
                for rule in state.rules
            ],
            "models": [] if redacted else list(state.models),
            "metrics": [] if redacted else list(state.metrics),
            "categories": len(state.categories),
        }

    def rows(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return a part of the table."""
        file, asked = self._asked(query)
        selected = file.selected(asked)
        start, count = whole(query, "start", 0), whole(query, "count", ROWS)
        numbers = selected.selection.part(start, min(count, MOST_ROWS))
        rows = file.rows(numbers)
        shown = [
            {"position": start + at, "line": line, **self._row_shown(file, number, row)}
            for at, (number, row, line) in enumerate(
                zip(numbers, rows, file.index.lines_of(numbers), strict=True)
            )
        ]
        return {
            "total": selected.selection.count,
            "complete": selected.is_complete,
            "searched": _searched(file, selected),
            "rows": shown,
        }

    def _row_shown(self, file: ViewedFile, number: int, row: bytes) -> dict[str, Any]:
        """Return a row of the table."""
        bits = int(file.columns.column("rules", number, 1)[0])
        shown: dict[str, Any] = {
            "record": number,
            "bytes": len(row),
            "unread": None,
            "findings": [
                {"code": rule.code, "severity": rule.severity, "count": 1}
                for rule in file.columns.codes_of(bits)
            ],
        }
        if self.options.redact:
            return shown
        try:
            return {**shown, **row_of(file.record(row))}
        except ViewError as error:
            return {**shown, "unread": str(error), "raw": raw_of(row[:2_000])["raw"]}

    def summary(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return counts of the selected records."""
        file, asked = self._asked(query)
        selected = file.selected(asked)
        columns = FileColumns(file.index, file.columns)
        has_values = not self.options.redact
        counted = summary(columns, selected.selection, has_values=has_values)
        return {**counted, "complete": selected.is_complete and file.is_scanned}

    def record(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return everything about one record."""
        file, asked = self._asked(query)
        number = whole(query, "record", 1)
        row = file.row(number)
        selected = file.selected(asked)
        # The same question may still be found in a file that is being read.
        is_scanned = all(one.is_scanned for one in self._files)
        index, found = file.index, file.found
        assert found is not None  # noqa: S101 - there is a row
        bits = int(file.columns.column("rules", number, 1)[0])
        findings = RowFindings(
            found, file.progress.after, self.options.max_row_bytes, self.options.redact
        ).of(row, file.columns.codes_of(bits))
        shown = {
            "record": number,
            "line": index.line_of(number),
            "byte_offset": int(index.starts(number, 0)[0]),
            **self._neighbours(selected, number),
            "raw_bytes": len(row),
            "raw_of": "file" if found.rows_of == "file" else found.rows_of,
            "findings": findings,
            "unread": None,
            "fields": None,
            "others": [],
            "complete": selected.is_complete and is_scanned,
        }
        if self.options.redact:
            return shown
        shown.update(raw_of(row))
        shown["others"] = list(self._others(file, number))
        try:
            record = file.record(row)
        except ViewError as error:
            return {**shown, "id": None, "unread": str(error)}
        shown["id"] = row_of(record)["id"]
        return {**shown, "fields": fields_of_record(record)}

    def identity(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the number, the id and the model of a record, as verdicts have them.

        They are not cut as those that are shown. Of several files, each is a system.
        """
        file, number = self._file(query), whole(query, "record", 1)
        row = file.row(number)
        found: dict[str, Any] = {"record": number}
        if self.options.redact:
            return found
        model = None
        with suppress(ViewError):  # a row that is no record has neither
            record = file.record(row)
            if record.id is not UNSET:
                found["record_id"] = str(record.id)
            if len(record.outputs) == 1 and record.outputs[0].model is not UNSET:
                model = record.outputs[0].model
        if not model and len(self._files) > 1:
            model = file.source.name
        return {**found, "model": model} if model else found

    def _neighbours(self, selected: Selected, number: int) -> dict[str, Any]:
        """Return where a record is among the selected ones, and those next to it."""
        selection = selected.selection
        at = selection.position(number)
        if at is None:
            found: dict[str, int | None] = {
                "position": None,
                "previous": None,
                "next": None,
            }
        else:
            before = selection.part(at - 1, 1) if at else []
            found = {
                "position": at,
                "previous": before[0] if before else None,
                "next": next(iter(selection.part(at + 1, 1)), None),
            }
        return {**found, "total": selection.count}

    def _others(self, file: ViewedFile, number: int) -> Iterator[dict[str, Any]]:
        """Yield the records that ask the same as one, of all files."""
        key = file.columns.column("key", number, 1)
        if not key[0].tobytes().strip(b"\0"):
            return
        count = 0
        for at, other in enumerate(self._files):
            for record in self._comparisons.with_key(other, key):
                if (other, record) != (file, number) and count < MOST_OTHERS:
                    count += 1
                    name = Path(other.source.name).name
                    yield {"file": at, "record": record, "name": name}

    def raw(self, query: Mapping[str, str]) -> bytes:
        """Return the bytes of one row."""
        self._refuse_if_redacted("the bytes of a record")
        return self._file(query).row(whole(query, "record", 1))

    def find(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the record in a line, with a number or with an id."""
        file = self._file(query)
        index = file.index
        if query.get("line"):
            found = index.row_in_line(whole(query, "line", 1))
        elif query.get("record"):
            number = whole(query, "record", 1)
            found = number if 1 <= number <= index.known else None
        else:
            self._refuse_if_redacted("an id")
            with until_closed(self._closed):
                found = self._with_id(file, query.get("id", ""))
        if found is None:
            raise ViewError("there is no such record among those that are known")
        return {"record": found}

    def _with_id(self, file: ViewedFile, id_: str) -> int | None:
        """Return the first record with an id, None if there is none.

        Raises `ViewError` if that takes long, or the session is closed.
        """
        asked = Filter(wanted=Wanted(id_, heeds_case=True))
        end = monotonic() + MOST_SECONDS
        seen = 0
        while True:
            self._go_on(end)
            selected = file.selected(asked)
            while numbers := selected.selection.part(seen, _SOUGHT):
                for number, row in zip(numbers, file.rows(numbers), strict=True):
                    self._go_on(end)
                    if file.id_of(row) == id_:
                        return number
                seen += len(numbers)
            if selected.is_complete:
                return None
            work = selected.search.work if selected.search else None
            if work is None or work.wait(_PAUSE):
                self._closed.wait(_PAUSE)  # its last message is still to come

    def _go_on(self, end: float) -> None:
        """Raise `ViewError` behind the time `end`, and if the session is closed."""
        refuse_if_closed(self._closed)
        if monotonic() > end:
            raise ViewError("the search for the id takes long: search for it as a text")

    def systems(self) -> dict[str, Any]:
        """Return the systems whose answers can be compared."""
        self._refuse_if_redacted("answers")
        return self._comparisons.systems()

    def compare(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the questions that two systems answer, and their scores."""
        self._refuse_if_redacted("answers")
        return self._comparisons.rows(query)

    def compared_record(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the answers of two systems to one question, word by word."""
        self._refuse_if_redacted("answers")
        return self._comparisons.record(query)

    def compared_table(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the table that `score compare` prints of two systems."""
        self._refuse_if_redacted("answers")
        return self._comparisons.table(query)

    def cancel(self, query: Mapping[str, str]) -> None:
        """End the search of a query."""
        file, asked = self._asked(query)
        file.cancel(asked)

    def selected_bytes(self, query: Mapping[str, str]) -> Iterator[bytes]:
        """Yield the selected rows as a file in the container of their own."""
        self._refuse_if_redacted("rows")
        file, asked = self._asked(query)
        return file.selected_bytes(asked, self._closed)

    def format_of(self, query: Mapping[str, str]) -> str | None:
        """Return the format of the rows of `selected_bytes`, None if not known."""
        file = self._file(query)
        if file.found is None or not file.found.format:
            return None
        return "record" if file.found.rows_of == "records" else file.found.format

    def name_of(self, query: Mapping[str, str]) -> tuple[str, str]:
        """Return the name of a file without its folder, and its container."""
        file = self._file(query)
        kind = "lines" if file.found is None else file.found.kind
        return Path(file.source.name).name, kind

    def path_of(self, query: Mapping[str, str]) -> str:
        """Return the path of a file, as it was given or found. Raises `ViewError`."""
        return self._file(query).source.name

    def reason_of(self, query: Mapping[str, str]) -> str:
        """Return why a file cannot be shown, "" if it can. Raises `ViewError`."""
        return self._file(query).reason

    def _refuse_if_redacted(self, what: str) -> None:
        """Raise `ViewError` if values of records are not shown."""
        if self.options.redact:
            raise ViewError(f"{what} would show values, which `--redact` hides")

    def _asked(self, query: Mapping[str, str]) -> tuple[ViewedFile, Filter]:
        """Return the file and the filter of a query. Raises `ViewError`."""
        # An empty model or category asks for records that have an empty one.
        by_value = not _of_values.isdisjoint(query)
        by_value |= str(query.get("sort")).startswith("score:")
        if by_value and self.options.redact:
            raise ViewError("values of records are not looked at with `--redact`")
        return self._file(query), filter_of(query)

    def _file(self, query: Mapping[str, str]) -> ViewedFile:
        """Return the file of a query. Raises `ViewError`, also if all are closed."""
        refuse_if_closed(self._closed)
        at = whole(query, "file", 0)
        if not 0 <= at < len(self._files):
            raise ViewError("there is no such file")
        return self._files[at]


#: Seconds between two looks at what a search has found.
_PAUSE = 0.1


def distinct_names(paths: Sequence[str]) -> list[str]:
    """Return the names of files, with their folders where they are not distinct."""
    names = [Path(path).name for path in paths]
    return [
        path if names.count(name) > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]


def _sources(inputs: Sequence[str], options: ViewOptions) -> Iterator[Source]:
    """Yield the files that are named. Raises `ViewError` for what cannot be opened."""
    exclusion = Exclusion(options.exclude)
    given = checked_inputs(inputs)
    for source in sources_of_inputs(given, exclusion, all_unpackers()):
        if isinstance(source, SourceError):
            raise ViewError(f"{source.path}: {source.reason}")
        if not is_rereadable(source):  # several processes read it
            name = source.name
            what = "standard input" if name == STANDARD_INPUT else f"the pipe {name}"
            raise ViewError(f"{what} cannot be shown: name a file")
        yield source


def _searched(file: ViewedFile, selected: Selected) -> dict[str, Any] | None:
    """Return how far the search of a selection is, None without one."""
    search = selected.search
    if search is None:
        return None
    return {
        "done": search.rows,
        "of": file.index.known,
        "reason": search.reason or None,
    }
