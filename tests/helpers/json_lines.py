"""JSON Lines and JSON, written and read by the standard library alone."""

import json
from pathlib import Path
from typing import Any


def jsonl(*rows: Any, ensure_ascii: bool = True) -> bytes:
    """Return rows as JSON Lines, each of which ends with a line feed."""
    texts = (json.dumps(row, ensure_ascii=ensure_ascii) for row in rows)
    return "".join(f"{text}\n" for text in texts).encode()


def jsonl_rows(data: bytes | str | Path) -> list[Any]:
    """Return the value of each line of JSON Lines, which are data or a file."""
    data = data.read_bytes() if isinstance(data, Path) else data
    data = data.encode() if isinstance(data, str) else data
    return [json.loads(line) for line in data.splitlines()]


def strict_json(data: bytes) -> Any:
    """Return the value of JSON; NaN and infinity, which are no JSON, fail the test."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(data, parse_constant=refuse)
