"""The notes on records: verdicts of a person, as lines of the format judge-verdicts.

Each note is one line. The first one on a record is appended in one write; a later one
takes its place in a new file that replaces the old one, since `score` counts every
line. So a run that is killed leaves whole lines, and two servers may share a file.
`right` of a result is true or false, and missing where the verdict is another one.
"""

import fcntl
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harpia_formats.files.io.encodings import SUFFIXES
from harpia_formats.files.io.outputs import FilesRead, check_extra_output
from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.urls import is_url, real_path
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.safe_text import json_text
from harpia_formats.view.options import ViewError

#: How the notes were made, which tells them from the verdicts of a judge.
SIGNATURE = "notes|by:hand"
#: The verdicts that `score` counts.
_right = {"right": True, "wrong": False}
#: Code points of a verdict and of a text, at most.
MOST_VERDICT, MOST_TEXT = 100, 100_000
#: Keys that each line of the format has.
_keys = frozenset({"record", "attempts", "cached", "result"})

#: A verdict and a text.
Note = dict[str, str]


class NotesError(HarpiaFormatsError):
    """The file of notes cannot be used; the text says why."""

    hides_values = True


class Notes:
    """The notes in a file, by the name of the file of a record and its number.

    Several threads may use it.
    """

    def __init__(self, place: str | os.PathLike[str], inputs: Sequence[str]) -> None:
        """Read the notes in a file, which may not be there yet.

        Raises `NotesError` if it is in another format, and `SinkError` if it cannot be
        written or is one of the `inputs`.
        """
        self.path = Path(place)
        name = os.fspath(place)
        compressed = SUFFIXES
        if name == "-" or is_url(name) or name.lower().endswith(compressed):
            raise NotesError(f"{name}: notes are appended to a plain file on this disk")
        FilesRead(inputs, unpackers=all_unpackers()).check(name)
        check_extra_output(name, ())
        if self.path.exists() and not os.access(self.path, os.W_OK):
            raise NotesError(f"{name}: permission denied")
        self._lock = threading.Lock()
        self._notes: dict[tuple[str, int], Note] = {}
        #: The file that was read, and the bytes of it.
        self._known: tuple[int, int] | None = None
        self._read = 0
        self._is_open = False
        self._catch_up()

    def of_file(self, file: str) -> dict[str, Note]:
        """Return the notes on the records of a file by their numbers, as text."""
        with self._lock:
            self._catch_up()
            return {
                str(number): note
                for (name, number), note in self._notes.items()
                if name == self._place_of(file)
            }

    def of_record(self, file: str, number: int) -> Note | None:
        """Return the note on a record, None if there is none."""
        with self._lock:
            self._catch_up()
            return self._notes.get((self._place_of(file), number))

    def add(
        self, file: str, record: Mapping[str, Any], note: Mapping[str, Any]
    ) -> None:
        """Write a note on a record, which replaces an earlier one.

        An empty verdict with an empty text takes it back. `record` has the `record`, a
        number, and maybe its `record_id` and `model`. Raises `ViewError` for another
        note, and if it cannot be written.
        """
        checked, place = _checked(note), self._place_of(file)
        row = _verdict(place, record, checked)
        line = f"{json_text(row)}\n".encode() if any(checked.values()) else b""
        with self._lock:
            try:
                with self._held_against_others() as descriptor:
                    self._catch_up()
                    if (place, record["record"]) in self._notes:
                        self._replace((place, record["record"]), line)
                    else:
                        self._append(descriptor, line)
            except OSError as error:
                reason = f"the note is not written: {error_reason(error)}"
                raise ViewError(reason) from error
            self._catch_up()

    def _place_of(self, file: str) -> str:
        """Return the path of a file from the folder of the notes, as a line has it.

        It is the same from whichever folder the two are opened. It may be no text.
        """
        found = file
        if not is_url(file):
            found = os.path.relpath(file, self.path.absolute().parent)
        return found.encode(errors="backslashreplace").decode()

    @contextmanager
    def _held_against_others(self) -> Iterator[int]:
        """Open the file to append to it; no other server writes to it meanwhile."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        while True:
            descriptor = os.open(self.path, flags, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                # Another server may have replaced the file before it was held.
                if os.path.samestat(os.fstat(descriptor), self.path.stat()):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)

    def _append(self, descriptor: int, line: bytes) -> None:
        """Write a line behind what is there, to the disk."""
        data = b"\n" + line if self._is_open and line else line
        written = os.write(descriptor, data)
        if written < len(data):
            # A part of a line would make the file unreadable.
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
            raise OSError("there is no room for it")
        os.fsync(descriptor)

    def _replace(self, place: tuple[str, int], line: bytes) -> None:
        """Write a new file with a line in the place of those on a record."""
        rows = self.path.read_bytes().splitlines(keepends=True)
        kept = b"".join(row for row in rows if _place_of_note(row) != place)
        between = b"" if kept.endswith(b"\n") or not (kept and line) else b"\n"
        # The target of a link is replaced, not the link.
        target = Path(real_path(self.path))
        new = target.with_name(f".{target.name}.new")
        try:
            with new.open("wb") as file:
                file.write(kept + between + line)
                file.flush()
                os.fsync(file.fileno())
            new.chmod(target.stat().st_mode)
            new.replace(target)
        finally:
            new.unlink(missing_ok=True)

    def _catch_up(self) -> None:
        """Read what was appended since the last time, or all of another file.

        Raises `NotesError` if a line is no verdict, or the file cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                known = status.st_dev, status.st_ino
                if known != self._known or status.st_size < self._read:
                    self._notes.clear()
                    self._known, self._read = known, 0
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            self._notes.clear()
            self._known, self._read, self._is_open = None, 0, False
            return
        except OSError as error:
            raise NotesError(f"{self.path}: {error_reason(error)}") from error
        if not data:
            return
        self._is_open = not data.endswith(b"\n")
        for line in data.split(b"\n"):
            self._take(line)
        self._read += len(data)

    def _take(self, line: bytes) -> None:
        """Take the note of a line; verdicts of a judge are passed over."""
        if not line.strip():
            return
        try:
            row = decode(line)
        except NOT_JSON:
            row = None
        if not isinstance(row, dict) or not row.keys() >= _keys:
            raise NotesError(
                f"{self.path} is no file of notes: it has a line that is no verdict "
                "in JSON (judge-verdicts)"
            )
        result, number = row["result"], row["record"]
        if row.get("signature") != SIGNATURE or not isinstance(result, dict):
            return
        if not isinstance(number, int) or isinstance(number, bool):
            raise NotesError(
                f"{self.path}: a line has a note whose record is no whole number"
            )
        place = str(row.get("file", "")), number
        note = {key: str(result.get(key, "")) for key in ("verdict", "text")}
        if any(note.values()):
            self._notes[place] = note
        else:
            self._notes.pop(place, None)


def _place_of_note(line: bytes) -> tuple[str, int] | None:
    """Return the file and the record of a line that is a note, None for another one."""
    try:
        row = decode(line)
    except NOT_JSON:
        return None
    if not isinstance(row, dict) or row.get("signature") != SIGNATURE:
        return None
    return str(row.get("file", "")), row.get("record", 0)


def _checked(note: Mapping[str, Any]) -> Note:
    """Return the verdict and the text of a note; raises `ViewError` for others."""
    verdict, text = note.get("verdict", ""), note.get("text", "")
    if not isinstance(verdict, str) or not isinstance(text, str):
        raise ViewError("a note has a verdict and a text")
    if len(verdict) > MOST_VERDICT or len(text) > MOST_TEXT:
        raise ViewError(
            f"a verdict has at most {MOST_VERDICT} characters, a text {MOST_TEXT:,}"
        )
    return {"verdict": verdict, "text": text}


def _verdict(file: str, record: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Return the line of a note."""
    right = _right.get(note["verdict"])
    return {
        "row": record["record"],
        "record": record["record"],
        **dict(_identity(record)),
        "status": "ok",
        "attempts": 0,
        "cached": False,
        "error": None,
        "signature": SIGNATURE,
        "file": file,
        "result": {**({} if right is None else {"right": right}), **note},
    }


def _identity(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield by what `score` knows the record: its id and the model of its answer."""
    for key, kinds in (("record_id", (str, int)), ("model", str)):
        value = record.get(key)
        if isinstance(value, kinds) and not isinstance(value, bool):
            yield key, value
