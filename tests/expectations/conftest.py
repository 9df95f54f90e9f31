import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

#: Writes rows as lines of JSON into a file below the folder of the test.
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return what writes a file of records: `write("a.jsonl", {...}, {...})`."""

    def write_rows(name: str, *rows: dict[str, Any]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps({"outputs": [], **row}) + "\n" for row in rows)
        path.write_text("".join(lines), encoding="utf-8")
        return path

    return write_rows
