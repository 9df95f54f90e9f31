"""The valid fixtures and the schemas of formats, read by the standard library alone."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from json_lines import jsonl_rows

ROOT = Path(__file__).parents[2]


def valid_files(format_id: str) -> list[Path]:
    """Return the valid fixtures of a format, in the order of their names."""
    return sorted((ROOT / "fixtures" / format_id / "valid").iterdir())


def valid_rows(format_id: str) -> list[Any]:
    """Return the rows of the valid fixtures of a format that are JSON Lines."""
    files = [path for path in valid_files(format_id) if path.suffix == ".jsonl"]
    return [row for path in files for row in jsonl_rows(path)]


@cache
def schema_file(schema_id: str) -> Any:
    """Return the schema in the file of `schemas` that is named after its id."""
    (path,) = (ROOT / "schemas").glob(f"*/{schema_id}.schema.json")
    return json.loads(path.read_bytes())
