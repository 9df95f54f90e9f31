"""The outputs of a run appear together, each at a place of its own."""

import io
from pathlib import Path

import pytest

from harpia_formats.files.io.file_sink import FileSink
from harpia_formats.files.io.outputs import FilesRead, OutputGroup
from harpia_formats.files.io.sink import SinkError, StreamSink


def opened(group: OutputGroup, *places: Path) -> None:
    """Claim and open places, and write the name of each to its file."""
    for place in places:
        group.claim(str(place))
        group.open(str(place)).write(place.name.encode())


def test_no_output_is_in_place_before_all_are_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file is complete on the disk before the first gets its final name."""
    events: list[str] = []
    for step in ("_finish", "_put_into_place"):
        usual = getattr(FileSink, step)

        def noted(sink: FileSink, step: str = step, usual: object = usual) -> None:
            events.append(step)
            usual(sink)  # type: ignore[operator]  # a method

        monkeypatch.setattr(FileSink, step, noted)
    group = OutputGroup(overwrite=False)
    opened(group, tmp_path / "a", tmp_path / "b", tmp_path / "c")
    group.commit()

    assert events == ["_finish"] * 3 + ["_put_into_place"] * 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]


def test_of_new_files_that_fail_together_none_remains(tmp_path: Path) -> None:
    """If the second file cannot be put into place, the first is removed again."""
    group = OutputGroup(overwrite=False)
    opened(group, tmp_path / "a", tmp_path / "b")
    (tmp_path / "b").write_bytes(b"theirs")
    with pytest.raises(SinkError, match="b: a file of that name has appeared"):
        group.commit()

    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert (tmp_path / "b").read_bytes() == b"theirs"


def test_an_error_names_the_files_that_were_replaced_before(tmp_path: Path) -> None:
    """If an old file was replaced before the error, the error says so."""
    (tmp_path / "a").write_bytes(b"old")
    group = OutputGroup(overwrite=True)
    opened(group, tmp_path / "a", tmp_path / "b")
    (tmp_path / "b").mkdir()
    with pytest.raises(SinkError, match=r"b: .*; replaced before: .*a$"):
        group.commit()


def test_a_file_that_fails_next_to_a_stream_is_the_error(tmp_path: Path) -> None:
    """A stream has no place from which it could be removed again."""
    group = OutputGroup(overwrite=False)
    group.add_stream(StreamSink(io.BytesIO()))
    opened(group, tmp_path / "a")
    (tmp_path / "a").write_bytes(b"theirs")
    with pytest.raises(SinkError, match="a: a file of that name has appeared"):
        group.commit()


def test_one_text_is_no_place_for_two_outputs() -> None:
    """A caller that names one place twice may do so with one and the same object."""
    group, place = OutputGroup(overwrite=True), "out.json"
    group.claim(place)
    with pytest.raises(SinkError, match="two outputs"):
        group.claim(place)


@pytest.mark.parametrize("other", ["out.json", "./out.json", "OUT.json", "link.json"])
def test_two_outputs_never_share_a_place(tmp_path: Path, other: str) -> None:
    """A place is refused for a second output, under any of its names."""
    (tmp_path / "link.json").symlink_to("out.json")
    group = OutputGroup(overwrite=True)
    group.claim(str(tmp_path / "out.json"))
    with pytest.raises(SinkError, match="two outputs"):
        group.claim(f"{tmp_path}/{other}")


def test_a_name_from_data_gets_no_place_of_an_input(tmp_path: Path) -> None:
    """Places that are taken, and those of other files, are not free."""
    given = str(tmp_path / "in.jsonl")
    group = OutputGroup(overwrite=True, reads=FilesRead([given]))
    group.claim(str(tmp_path / "out.jsonl"))

    assert not group.is_free(given)
    assert not group.is_free(str(tmp_path / "Out.jsonl"))
    assert group.is_free(str(tmp_path / "other.jsonl"))
