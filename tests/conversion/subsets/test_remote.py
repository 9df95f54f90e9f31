"""Rows of remote files."""

import gzip
import importlib.util
import io
import sys
from pathlib import Path
from types import ModuleType

import pytest

from harpia_formats import head, sample

pytest.importorskip("fsspec", reason="the extra remote is not installed")
pytest.importorskip("aiohttp", reason="the extra remote is not installed")


def loaded(name: str) -> ModuleType:
    """Return a module of the folder of tests."""
    path = Path(__file__).parents[2] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_head_asks_for_the_beginning_only() -> None:
    """Of a remote file the first rows cost the first bytes; a sample reads it twice."""
    server = loaded("web_server")
    row = b'{"id":%d,"prompt":"' + b"x" * 300 + b'"}\n'
    lines = [row % number for number in range(20_000)]
    data = b"".join(lines)
    files = {"/a.jsonl": data, "/a.jsonl.gz": gzip.compress(data)}
    with server.serving(server.Web(files=files)) as web:
        for name in files:
            output = io.BytesIO()
            head(f"{web.url}{name}", 2, output=output)
            assert output.getvalue() == b"".join(lines[:2])
        ranges = [asked.removeprefix("bytes=") for _, asked in web.asked if asked]
        assert max(int(each.split("-")[1]) for each in ranges) < len(data) / 10
        output = io.BytesIO()
        assert sample(f"{web.url}/a.jsonl.gz", 5, output=output).rows == len(lines)
        assert all(line + b"\n" in lines for line in output.getvalue().splitlines())
