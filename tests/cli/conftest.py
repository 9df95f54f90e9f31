import json
from pathlib import Path

import pytest


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with `schema.json`, `rows.jsonl` and `good.jsonl`.

    Of the five rows the second and third break the schema, and the fourth is not JSON.
    The rows of `good.jsonl` are valid.
    """
    schema = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
    rows = b'{"a":1}\n{"a":"x"}\n{"a":"y"}\n{"a":NaN}\n{"a":2}\n'
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    (tmp_path / "rows.jsonl").write_bytes(rows)
    (tmp_path / "good.jsonl").write_bytes(b'{"a":1}\n{"a":2}\n')
    return tmp_path
