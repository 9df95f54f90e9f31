import io
from pathlib import Path
from typing import Any

import pytest

from harpia_formats.files.io.inputs import checked_inputs, sources_of_inputs
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source


def names(*given: Any) -> list[str]:
    """Return the names of the sources behind inputs, all of which name something."""
    found = list(sources_of_inputs(checked_inputs(given)))
    assert all(isinstance(each, Source) for each in found)
    return [each.name for each in found if isinstance(each, Source)]


def test_every_kind_of_input_names_a_source(tmp_path: Path) -> None:
    """Paths, bytes, open files and sources are inputs, in the order given."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n")
    stream, source = io.BytesIO(b"{}"), Source("mine", b"{}")

    expected = [str(path), "<data>", "<stream>", "mine"]
    assert names(path, b"{}", stream, source) == expected


def test_input_named_twice_is_read_once(tmp_path: Path) -> None:
    """A path or stream named twice is one source; equal bytes are two."""
    path, stream = tmp_path / "a.jsonl", io.BytesIO(b"{}")
    path.write_bytes(b"{}\n")

    assert names(path, tmp_path, str(path)) == [str(path)]
    assert names(stream, stream) == ["<stream>"]


def test_equal_names_are_numbered() -> None:
    """Each source has a name of its own."""
    assert names(b"1", b"1", b"2") == ["<data>", "<data> (2)", "<data> (3)"]


def test_input_that_names_nothing_does_not_stop_the_others(tmp_path: Path) -> None:
    """For a path that does not exist, the error comes in its place."""
    missing = tmp_path / "nope.jsonl"
    first, second = sources_of_inputs([missing, b"{}"])

    assert isinstance(first, SourceError)
    assert (first.path, first.reason) == (str(missing), "does not exist")
    assert isinstance(second, Source)


@pytest.mark.parametrize("given", [1, None, io.StringIO("{}"), ["a.jsonl"]])
def test_wrong_input_types_are_refused(given: Any) -> None:
    """A number, a text stream or a list is a `TypeError`."""
    with pytest.raises(TypeError, match=f"not {type(given).__name__}"):
        checked_inputs([given])


def test_no_input_is_refused() -> None:
    """No input at all is a `ValueError`."""
    with pytest.raises(ValueError, match="nothing to read"):
        checked_inputs([])
