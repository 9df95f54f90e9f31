"""The records of a file by their ids, to read the rows of another file with them.

They are kept in a temporary database, which is on disk where it is large, so that
memory is bounded.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any
from weakref import finalize

from msgspec import UNSET

from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.record import Record, record_of
from harpia_formats.validation.companion_error import CompanionError

#: Records that are stored at once.
_BATCH = 1_000
_tables = (
    "CREATE TABLE partner (number INTEGER PRIMARY KEY, id BLOB UNIQUE, record BLOB)",
    # A row may be read more than once, such as to report why it is not written.
    "CREATE TABLE missing (id BLOB PRIMARY KEY) WITHOUT ROWID",
)


class Partners:
    """The records of one file, found by their ids.

    Raises `CompanionError` if a record has no id, or that of another one.
    """

    def __init__(self, name: str, records: Iterable[Record]) -> None:
        self.name = name
        # Without a name the database is temporary and is removed when it is closed.
        self._base = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        finalize(self, self._base.close)
        for table in _tables:
            self._base.execute(table)
        #: How many records there are.
        self.count = 0
        rows = self._rows(iter(records))
        while batch := list(islice(rows, _BATCH)):
            self._store(batch)
        # One transaction for the ids that are missing; it ends with the database.
        self._base.execute("BEGIN")
        self._met = bytearray(self.count + 1)

    @property
    def missing(self) -> int:
        """How many ids rows asked for of which there is no record."""
        (count,) = self._base.execute("SELECT count(*) FROM missing").fetchone()
        return int(count)

    @property
    def unmet(self) -> int:
        """How many records no row asked for."""
        return self.count - sum(self._met)

    def of(self, id_: Any) -> Record | None:
        """Return the record with this id, None if there is none; both are counted."""
        query, key = "SELECT number, record FROM partner WHERE id = ?", (encode(id_),)
        found = self._base.execute(query, key).fetchone()
        if found is None:
            self._base.execute("INSERT OR IGNORE INTO missing VALUES (?)", key)
            return None
        number, text = found
        self._met[number] = 1
        return record_of(decode(text))

    def notes(self) -> Iterator[str]:
        """Yield how many ids of rows, and how many records, had no partner."""
        if missing := self.missing:
            ids = (
                "1 id of a row has" if missing == 1 else f"{missing:,} ids of rows have"
            )
            yield f"{ids} no partner in {self.name}"
        if unmet := self.unmet:
            of = f"of {self.name}"
            records = (
                f"1 record {of} has" if unmet == 1 else f"{unmet:,} records {of} have"
            )
            yield f"{records} no partner among the records that were read"

    def _rows(self, records: Iterator[Record]) -> Iterator[tuple[int, bytes, bytes]]:
        for record in records:
            if record.id is UNSET:
                raise CompanionError(self.name, "has a record without an id")
            self.count += 1
            yield self.count, encode(record.id), encode(record)

    def _store(self, rows: list[tuple[int, bytes, bytes]]) -> None:
        self._base.execute("BEGIN")
        for row in rows:
            try:
                self._base.execute("INSERT INTO partner VALUES (?, ?, ?)", row)
            except sqlite3.IntegrityError:
                id_ = row[1].decode()
                raise CompanionError(self.name, f"has the id {id_} twice") from None
        self._base.execute("COMMIT")
