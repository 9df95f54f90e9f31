"""A session of one small file in memory, for tests of what stands around a session."""

import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harpia_formats.view.options import ViewError

#: Rows of the format `nemo-output`, which other formats can hold with losses.
ROWS = [
    {
        "input": {
            "prompt": f"Question {number}?",
            "ideal_response": "yes",
            "category": "c",
            "source": "s",
        },
        "response": "yes" if number % 2 else "no",
        "llm_name": "org/model",
    }
    for number in range(1, 6)
]

Query = Mapping[str, str]


class FakeSession:
    """Answers as a session does, from `ROWS`."""

    def __init__(self, name: str = "answers.jsonl", count: int = 1) -> None:
        """Have `count` files of this name."""
        self.name = name
        self.count = count
        #: What is called, in its order.
        self.called: list[str] = []
        #: What a question raises.
        self.error: Exception | None = None
        #: Questions wait for it, and for the end of the session.
        self.go = threading.Event()
        self.go.set()
        self.is_closed = False
        self.reason = ""
        self.kind = "lines"
        self.format: str | None = None

    def files(self) -> dict[str, Any]:
        """Return what is known of the files."""
        one = {
            "path": self.name,
            "name": Path(self.name).name,
            "state": "failed" if self.reason else "ready",
            "reason": self.reason or None,
        }
        return {"files": [{**one, "index": number} for number in range(self.count)]}

    def name_of(self, query: Query) -> tuple[str, str]:
        """Return the name of the file, and how its rows stand."""
        text = query.get("file", "0")
        if not (text.isascii() and text.isdecimal() and int(text) < self.count):
            raise ViewError("there is no such file")
        return Path(self.name).name, self.kind

    def path_of(self, query: Query) -> str:
        """Return the path of the file."""
        self.name_of(query)
        return self.name

    def reason_of(self, query: Query) -> str:
        """Return why the file is not shown."""
        self.name_of(query)
        return self.reason

    def format_of(self, query: Query) -> str | None:
        """Return the format of the file."""
        del query
        return self.format

    def rows(self, query: Query) -> dict[str, Any]:
        """Return the selected rows."""
        return {**self._asked("rows", query), "total": len(self._selected(query))}

    def summary(self, query: Query) -> dict[str, Any]:
        """Return the query."""
        return self._asked("summary", query)

    def record(self, query: Query) -> dict[str, Any]:
        """Return a record."""
        self._asked("record", query)
        text = query.get("record", "0")
        number = int(text) if text.isdecimal() else 0
        if not 1 <= number <= len(ROWS):
            raise ViewError(f"there is no record {text}")
        outputs = [{"model": "org/model"}]
        return {"record": number, "id": f"q{number}", "fields": {"outputs": outputs}}

    def identity(self, query: Query) -> dict[str, Any]:
        """Return by what a note knows a record."""
        found = self.record(query)
        return {"record": found["record"], "record_id": found["id"], "model": "m"}

    def raw(self, query: Query) -> bytes:
        """Return the bytes of a record."""
        number = self.record(query)["record"]
        return json.dumps(ROWS[number - 1]).encode()

    def find(self, query: Query) -> dict[str, Any]:
        """Return the query."""
        return self._asked("find", query)

    def systems(self) -> dict[str, Any]:
        """Return nothing."""
        return self._asked("systems", {})

    def compare(self, query: Query) -> dict[str, Any]:
        """Return the query."""
        return self._asked("compare", query)

    def compared_record(self, query: Query) -> dict[str, Any]:
        """Return the query."""
        return self._asked("compared_record", query)

    def compared_table(self, query: Query) -> dict[str, Any]:
        """Return the query."""
        return self._asked("compared_table", query)

    def cancel(self, query: Query) -> None:
        """Note that a search was ended."""
        self._asked("cancel", query)

    def selected_bytes(self, query: Query) -> Iterator[bytes]:
        """Yield the rows that have the text of the query."""
        self._asked("selected_bytes", query)
        for row in self._selected(query):
            yield json.dumps(row).encode() + b"\n"

    def close(self) -> None:
        """Let all questions end."""
        self.is_closed = True
        self.go.set()

    def _selected(self, query: Query) -> list[dict[str, Any]]:
        text = query.get("text", "")
        return [row for row in ROWS if text in json.dumps(row)]

    def _asked(self, name: str, query: Query) -> dict[str, Any]:
        """Note a question, and return its query as what is answered."""
        self.called.append(name)
        self.go.wait()
        if self.error is not None:
            raise self.error
        return {"asked": name, "query": dict(query)}
