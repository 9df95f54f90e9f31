"""A small file that is one object is validated at once, as other files in parts are."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from fixture_files import ROOT
from harpia_formats import validate
from harpia_formats.files.io import source as read_source
from harpia_formats.files.io.source import Source
from harpia_formats.validation.single_objects import MOST, SingleObjects
from harpia_formats.validation.unit.row_validator import RowValidator
from worker_units import small_units

VALID = ROOT / "fixtures" / "eee-aggregate" / "valid"
AGGREGATE = (VALID / "full-0.3.0.json").read_bytes()
DOCUMENT = json.loads(AGGREGATE)
COMPACT = json.dumps(DOCUMENT).encode()
ROW = (ROOT / "fixtures/eee@0.3.0/valid/runs.jsonl").read_bytes().splitlines()[0]
#: Files of every format, valid and not, that are small.
SMALL = [
    path
    for path in sorted(ROOT.glob("fixtures/*/*valid/**/*"))
    if path.is_file() and path.stat().st_size < 20_000
]
#: What is put into them somewhere.
PIECES = (
    *(b"\n", b"\r\n", b" ", b"\xef\xbb\xbf", b"// c\n", b"{", b"}", b"]", b",", b'"'),
    *(b'"a":1,', b'"a":1,"a":1,', b'"evaluation_id":1,', b'"messages":[],', b"{}\n"),
    *(b"NaN", b"\xff", b"\x00", b"\\u003a", b'"kind":"x",', b"[" * 201, b"9" * 400),
)
#: Options that change what is found in rows, or in files.
OPTIONS: tuple[dict[str, Any], ...] = (
    *({}, {}, {"lint": True}, {"strict": True}, {"fail_fast": True}, {"limit": 1}),
    *({"format": "eee-aggregate"}, {"ignore": ("J105",)}, {"select": ("J",)}),
    *({"max_row_bytes": 900}, {"skip_unrecognised": True}, {"row_lengths": True}),
)


def done_at_once(patch: pytest.MonkeyPatch, *, at_once: bool = True) -> dict[str, bool]:
    """Return a dictionary that will tell of each file whether it was validated at once.

    Each is tried, whatever files before it were; none is if not `at_once`.
    """
    found: dict[str, bool] = {}
    usual = SingleObjects.result

    def noted(self: SingleObjects, source: Source, run: Any) -> Any:
        self._pause = 0
        result = usual(self, source, run) if at_once else None
        found[source.name] = result is not None
        return result

    patch.setattr(SingleObjects, "result", noted)
    return found


@st.composite
def changed_files(draw: st.DrawFn) -> bytes:
    """Draw the bytes of a small file that may have been changed at one place."""
    data = draw(st.sampled_from(SMALL)).read_bytes()
    at, left_out = draw(st.integers(0, len(data))), draw(st.sampled_from([0, 0, 1, 9]))
    piece = draw(st.sampled_from([b"", *PIECES]))
    if draw(st.booleans()):  # at its beginning or end, or inside of its first object
        at = draw(st.sampled_from([0, data.find(b"{") + 1, len(data)]))
    return data[:at] + piece + data[at + left_out :]


@given(
    st.lists(changed_files(), min_size=1, max_size=6),
    st.sampled_from(["a.json", "b.jsonl", "c.csv", "d_aggregate.json", "e.json.gz"]),
    st.sampled_from(OPTIONS),
)
def test_files_are_validated_at_once_as_in_parts(
    texts: list[bytes], name: str, options: dict[str, Any]
) -> None:
    """Counts and findings are those of a run that validates no file at once."""
    reports = []
    with TemporaryDirectory() as folder:
        for number, text in enumerate(texts):
            (Path(folder) / f"{number}{name}").write_bytes(text)
        for at_once in (True, False):
            with pytest.MonkeyPatch.context() as patch:
                tried = done_at_once(patch, at_once=at_once)
                reports.append(validate(folder, jobs=1, **options).to_dict())
                assert tried or options.get("fail_fast")

    assert reports[0] == reports[1]


def with_key(text: bytes) -> bytes:
    """Return an aggregate with a further member, as text, in front."""
    return AGGREGATE.replace(b"{", b"{" + text + b",", 1)


@for_each_case(
    "name, data",
    {
        "a.json": AGGREGATE,
        "compact.json": COMPACT,
        "line.json": COMPACT + b"\n",
        "spaces.json": AGGREGATE + b" \n\n\t",
        "old.json": (VALID / "minimal-0.2.0.json").read_bytes(),
        "row.json": ROW,
        "row.jsonl": ROW + b"\n",
        "no-suffix": AGGREGATE,
    }.items(),
)
def test_plain_objects_are_validated_at_once(
    name: str, data: bytes, tmp_path: Path
) -> None:
    """A valid object is, alone in its file, on one line or on several."""
    (tmp_path / name).write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        tried = done_at_once(patch)
        report = validate(tmp_path / name, jobs=1)

    assert [*tried.values()] == [True]
    assert report.files[0].valid == 1
    assert report.files[0].bytes == len(data)


@for_each_case(
    "name, data",
    {
        "mark.json": b"\xef\xbb\xbf" + AGGREGATE,
        "blank.json": b"\n" + AGGREGATE,
        "comment.json": b"// c\n" + AGGREGATE,
        "blank-lines.jsonl": COMPACT + b"\n\n",
        "several.json": AGGREGATE * 2,
        "array.json": b"[" + AGGREGATE + b"]",
        "cut.json": AGGREGATE[:-9],
        "empty.json": b"",
        "twice.json": with_key(b'"a": 1, "a": 1'),
        "deep.json": with_key(b'"a": ' + b"[" * 300 + b"]" * 300),
        "nan.json": with_key(b'"a": NaN'),
        "large.json": with_key(b'"a": "' + b"x" * MOST + b'"'),
        "wrong.json": with_key(b'"evaluation_results": 1, "x": 1'),
        "suffix.csv": AGGREGATE,
        "suffix.json.gz": AGGREGATE,
        "unknown.json": b'{"a": 1}',
        "own.json": b'{"schema": "harpia-formats/report/1"}',
        "wide.json": COMPACT.decode().encode("utf-16"),
        "columns.json": (ROOT / "fixtures/haystack/valid/documents.json").read_bytes(),
    }.items(),
)
def test_other_files_are_validated_in_parts(
    name: str, data: bytes, tmp_path: Path
) -> None:
    """A file with anything to report, or that is more than an object, is not."""
    (tmp_path / name).write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        tried = done_at_once(patch)
        validate(tmp_path, jobs=1, allow_no_files=True)

    assert [*tried.values()] == [False]


def test_files_that_are_none_are_seldom_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a hundred files of lines few are tried, and all objects behind a valid one."""
    tried = []
    read = read_source.small_text

    def noted(source: Source, most: int) -> bytes | None:
        tried.append(Path(source.name).name)
        return read(source, most)

    monkeypatch.setattr("harpia_formats.validation.single_objects.small_text", noted)
    for number in range(100):
        (tmp_path / f"a{number:02}.jsonl").write_bytes(ROW + b"\n" + ROW)
    for number in range(40):
        (tmp_path / f"b{number:02}.json").write_bytes(AGGREGATE)
    report = validate(tmp_path, jobs=1)
    objects = [name for name in tried if name.startswith("b")]

    assert sum(file.valid for file in report.files) == 140
    assert len(tried) - len(objects) < 16
    assert objects == [f"b{number:02}.json" for number in range(40)][-len(objects) :]
    assert len(objects) > 20


def test_workers_validate_files_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that workers validate do without the stages, too."""
    for number in range(4):
        (tmp_path / f"{number}.json").write_bytes(AGGREGATE)
    small_units(monkeypatch, whole_files=100_000)
    monkeypatch.setattr(RowValidator, "validate", None)
    report = validate(tmp_path, jobs=2)

    assert [(file.valid, file.complete) for file in report.files] == [(1, True)] * 4


def test_change_while_a_file_is_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is written to meanwhile is read in parts, and its end says so."""
    path = tmp_path / "a.json"
    path.write_bytes(AGGREGATE)
    state_of = read_source.state_of_path

    def later(path: Path) -> Any:
        state = state_of(path)
        assert state is not None
        return state._replace(written=state.written + 1)

    monkeypatch.setattr(read_source, "state_of_path", later)
    (file,) = validate(path, jobs=1).files

    assert file.reason is not None
    assert file.reason.startswith("was changed while it was read")


def test_fault_of_ours_is_left_to_the_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in the quick check of a record is no error of the run."""

    def fail(*_: Any) -> bool:
        raise KeyError("lost")

    monkeypatch.setattr(RowValidator, "accepts", fail)
    (tmp_path / "a.json").write_bytes(AGGREGATE)
    report = validate(tmp_path, jobs=1)

    assert (report.errors, report.files[0].valid) == (0, 1)
