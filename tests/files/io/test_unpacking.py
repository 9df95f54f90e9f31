"""Files and folders that are unpacked: one input, read as one text, places in members.

The unpackers are made for the tests: an archive, or a folder with a list of its files,
is an array of the files in it.
"""

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_converters
from harpia_formats import SinkError, ValidationFailed, convert, detect, diff, validate
from harpia_formats.files.workers.pool import WorkerPool
from harpia_formats.model.field_outcomes import Outcome
from harpia_formats.plugins import SourceError, TextPart, Unpacker
from in_process import exit_code
from shared_small_files import share_small_files

REPORT = Path(__file__).parents[3] / "schemas/harpia-formats/report-1.schema.json"
FIXTURES = Path(__file__).parents[3] / "fixtures"
GOOD = b'{\n  "messages": [\n    {"role": "user", "content": "a"}\n  ]\n}'
BAD = '{\n  "é": 1, "messages": [\n {"role": "user", "content": 5}\n  ]\n}'.encode()
OTHER = GOOD.replace(b'"messages"', b'"level": 2, "messages"')


def array_of(members: dict[str, bytes], *, is_cut: bool = False) -> Iterator[TextPart]:
    """Yield an array of members, each of which is a value; some in two parts."""
    glue = b"["
    for name, text in members.items():
        yield TextPart(glue)
        middle = len(text) // 2
        yield TextPart(text[:middle], name)
        yield TextPart(text[middle:], name, offset=middle)
        glue = b"\n,\n"
    if is_cut:
        raise SourceError("toy", "is cut")
    yield TextPart(b"]")


def open_archive(file: BinaryIO, name: str) -> Iterator[TextPart]:
    """Yield the text of an archive; its comment may say that it is cut."""
    assert name
    with zipfile.ZipFile(file) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
        yield from array_of(members, is_cut=archive.comment == b"cut")


def open_folder(folder: Path, name: str) -> Iterator[TextPart]:
    """Yield the text of a folder: the files that its list names."""
    assert name
    names = (folder / "list.txt").read_text().split()
    yield from array_of({one: (folder / one).read_bytes() for one in names})


def open_lines(file: BinaryIO, name: str) -> Iterator[TextPart]:
    """Yield the lines of a file, the last one first."""
    assert name
    offset, lines = 0, []
    for number, line in enumerate(file, 1):
        lines.append(TextPart(line, "", number, offset))
        offset += len(line)
    yield from reversed(lines[1:])


@pytest.fixture(autouse=True)
def _toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the unpackers of this module among those that there are."""
    toys = (
        Unpacker(
            "toy",
            lambda head, _: head.startswith(b"PK\x03\x04"),
            lambda names: "list.txt" in names,
            f"{__name__}:open_archive",
            (".toy",),
        ),
        Unpacker(
            "toy-lines",
            lambda head, _: head.startswith(b"last first\n"),
            open=f"{__name__}:open_lines",
        ),
    )
    folder = Unpacker(
        "toy-folder",
        is_folder=lambda names: "list.txt" in names,
        open=f"{__name__}:open_folder",
    )
    monkeypatch.setattr(harpia_converters, "UNPACKERS", (folder, *toys))


def archive(members: dict[str, bytes], comment: bytes = b"") -> bytes:
    """Return the bytes of an archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.comment = comment
        for name, text in members.items():
            made.writestr(name, text)
    return file.getvalue()


def folder_of(place: Path, members: dict[str, bytes]) -> Path:
    """Make a folder that is one input."""
    place.mkdir(parents=True)
    (place / "list.txt").write_text("\n".join(members))
    for name, text in members.items():
        (place / name).write_bytes(text)
    return place


def counted_answers(patch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that grows by what each range of a worker becomes."""
    found: list[Any] = []
    usual = WorkerPool.result

    def noted(self: WorkerPool, ticket: Any) -> Any:
        found.append(usual(self, ticket))
        return found[-1]

    patch.setattr(WorkerPool, "result", noted)
    return found


def where(problem: Any) -> tuple[str, int, int, int]:
    """Return the place of a problem."""
    place = problem.place
    return place.full_path, place.line, place.column, place.byte_offset


def test_place_is_that_in_the_member() -> None:
    """Line, column and offset of a problem are those in the member."""
    report = validate(archive({"a": GOOD, "b/c": BAD}), format="tencent-messages")

    (problem,) = report.problems
    line = '{\n  "é": 1, "messages": [\n {"role": "user", "content": '.encode()
    assert where(problem) == ("<data>!b/c", 3, 30, len(line))
    assert problem.excerpt is not None
    assert problem.excerpt.text == ' {"role": "user", "content": 5}'
    (file,) = report.files
    assert (file.path, file.records, file.complete) == ("<data>", 2, True)
    (group,) = report.to_dict()["groups"]
    assert group["path"] == "<data>"
    first = {"line": 3, "column": 30, "record": 2, "member": "b/c"}
    assert group["first"] == first
    assert report.to_dict()["problems"][0]["path"] == "<data>!b/c"
    jsonschema.validate(report.to_dict(), json.loads(REPORT.read_bytes()))


def test_place_in_the_first_line_of_a_member() -> None:
    """What stands before a member on its line of the text is not counted."""
    broken = b'{"messages": tru}'
    report = validate(archive({"a": broken}), format="tencent-messages")

    assert where(report.problems[0])[:3] == ("<data>!a", 1, broken.index(b"tru") + 1)


def test_place_of_lines_is_that_in_the_file() -> None:
    """Lines of the file itself, in another order, keep their number and offset."""
    row = b'{"messages": [{"role": "user", "content": "a"}]}\n'
    data = b"last first\n" + row + b"5\n" + row
    report = validate(data, format="tencent-messages")

    assert [where(one) for one in report.problems] == [
        ("<data>", 3, 1, len(b"last first\n" + row))
    ]


def test_place_between_members_is_that_of_the_member_before() -> None:
    """What the unpacker puts around members has the place of a member."""
    members = {"a": GOOD, "b": b'{"messages": []'}
    report = validate(archive(members), format="tencent-messages")

    assert [where(one)[:3] for one in report.problems] == [("<data>!b", 1, 16)]


@pytest.mark.parametrize("kind", ["path", "bytes", "stream", "gzip"])
def test_every_kind_of_source_is_unpacked(kind: str, tmp_path: Path) -> None:
    """A file, bytes, a stream that cannot seek and a compressed file give one text."""
    data = archive({"a": GOOD, "b": BAD})
    path = tmp_path / "x.toy"
    path.write_bytes(data)
    packed = tmp_path / "x.toy.gz"
    packed.write_bytes(gzip.compress(data))

    class Pipe(io.BytesIO):
        def seek(self, *_: Any) -> int:
            raise OSError("no seek")

    given: Any = {"path": path, "bytes": data, "stream": Pipe(data), "gzip": packed}
    report = validate(given[kind], format="tencent-messages")

    assert [(one.records, one.invalid) for one in report.files] == [(2, 1)]


def test_remote_file_is_unpacked() -> None:
    """A remote archive is read by ranged requests, in whatever order is needed."""
    fsspec = pytest.importorskip("fsspec", reason='needs the extra "remote"')
    data = archive({"a": b" " * 600_000 + GOOD, "b": BAD})
    fsspec.filesystem("memory").pipe("/box/x.toy", data)
    try:
        report = validate("memory://box/x.toy", format="tencent-messages")
    finally:
        fsspec.filesystem("memory").rm("/box", recursive=True)

    assert where(report.problems[0])[:2] == ("memory://box/x.toy!b", 3)


def test_progress_is_that_in_the_file(tmp_path: Path) -> None:
    """The bytes of a file that are read are never more than it has, unpacked or not."""
    path = tmp_path / "x.toy"
    path.write_bytes(archive({"a": GOOD, "b": GOOD}))
    shown: list[Any] = []
    validate(path, format="tencent-messages", progress=shown.append)

    assert {each.total for each in shown} == {path.stat().st_size}
    assert shown[-1].consumed == path.stat().st_size
    assert all(each.consumed <= each.total for each in shown)


def test_file_that_cannot_be_read_to_its_end(tmp_path: Path) -> None:
    """What was unpacked before an error is counted; the error is that of the file."""
    path = tmp_path / "x.toy"
    path.write_bytes(archive({"a": GOOD, "b": BAD}, b"cut"))
    report = validate(path, format="tencent-messages")

    (file,) = report.files
    assert (file.records, file.invalid, file.complete) == (2, 1, False)
    assert file.reason == "is cut (after 2 records, the last in line 5 of b)"
    assert exit_code("validate", str(path), "--format", "tencent-messages") == 2


def test_folder_that_is_one_input(tmp_path: Path) -> None:
    """A folder that an unpacker claims is one source; its files are none."""
    folder = folder_of(tmp_path / "run", {"a.json": GOOD, "b.json": BAD})
    report = validate(folder, format="tencent-messages")

    assert [(file.path, file.records) for file in report.files] == [(str(folder), 2)]
    assert where(report.problems[0])[:2] == (f"{folder}!b.json", 3)


def test_what_an_input_unpacks_is_no_output(tmp_path: Path) -> None:
    """Each file of a folder that is read as one input is refused, another one not."""
    folder = folder_of(tmp_path / "run", {"a.json": GOOD})
    (tmp_path / "b.json").write_bytes(b"")
    options: Any = {"to": "record", "overwrite": True}
    with pytest.raises(SinkError, match=r"is an input, too \(.*run\)"):
        convert(tmp_path / "ru?", output=folder / "a.json", **options)

    assert (folder / "a.json").read_bytes() == GOOD
    assert convert(tmp_path / "ru?", output=tmp_path / "b.json", **options).ok


def test_folders_are_found_below_a_folder(tmp_path: Path) -> None:
    """Below a folder, each folder that is one input is one source, next to files."""
    two = folder_of(tmp_path / "runs" / "two", {"a.json": GOOD})
    one = folder_of(tmp_path / "runs" / "one", {"a.json": GOOD, "b.json": GOOD})
    (tmp_path / "a.json").write_bytes(GOOD)
    (tmp_path / "z.toy").write_bytes(archive({"a": GOOD}))

    expected = [str(tmp_path / "a.json"), str(one), str(two), str(tmp_path / "z.toy")]
    assert [file.path for file in validate(tmp_path).files] == expected
    pattern = str(tmp_path / "run?")
    assert [file.path for file in validate(pattern).files] == [str(one), str(two)]


def test_empty_folder_names_what_is_looked_for(tmp_path: Path) -> None:
    """The suffixes of unpacked files are among those that a folder is searched for."""
    (failure,) = validate(tmp_path).failures

    assert str(failure.reason).endswith("*.csv or *.tsv, also compressed; *.toy)")


def test_repeated_ids_and_second_passes_have_places_in_members(tmp_path: Path) -> None:
    """A record that only a second pass finds is placed in its member."""
    (good, *_) = sorted(FIXTURES.glob("eee@0.2.0/valid/runs.jsonl"))
    row = json.loads(good.read_bytes().splitlines()[0])
    members = {name: json.dumps(row).encode() for name in ("a", "b")}
    path = tmp_path / "x.toy"
    path.write_bytes(archive(members))
    report = validate(path, format="eee@0.2.0")

    (problem,) = [one for one in report.problems if one.code == "X101"]
    assert where(problem)[0] == f"{path}!b"
    assert problem.message.endswith("record 1, in line 1 of a")


@pytest.mark.parametrize("jobs", [1, 2])
def test_conversion_is_that_of_the_joined_text(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive becomes the rows of its text, with the same losses, by any workers.

    The first record of a loss is placed in its member, wherever that is.
    """
    share_small_files(monkeypatch, 2_000)
    shared = counted_answers(monkeypatch)
    members = {f"{number:06}": GOOD for number in range(400)}
    members |= dict.fromkeys(("000250", "000251", "000390"), OTHER)
    path, text = tmp_path / "x.toy", tmp_path / "x.json"
    path.write_bytes(archive(members))
    text.write_bytes(b"".join(part.text for part in array_of(members)))
    rows, losses, places = [], [], []
    for input_ in (path, text):
        output = tmp_path / f"{input_.name}.out"
        report = convert(input_, to="haystack", output=output, jobs=jobs)
        found = {
            outcome: counted
            for outcome, counted in report.losses[0].losses.counts.items()
            if outcome.outcome is Outcome.DROPPED
        }
        rows.append(output.read_bytes())
        losses.append([(outcome, each.count) for outcome, each in found.items()])
        (place,) = (each.place for each in found.values())
        assert place is not None
        places.append(place)
        with pytest.raises(ValidationFailed, match="would lose level"):
            convert(
                input_, to="haystack", output=io.BytesIO(), on_loss="fail", jobs=jobs
            )

    assert rows[0] == rows[1]
    assert losses[0] == losses[1]
    assert [count for _, count in losses[0]] == [3]
    assert [place.full_path for place in places] == [f"{path}!000250", str(text)]
    assert [place.record for place in places] == [251, 251]
    assert bool(shared) == (jobs > 1)


def test_losses_and_differences_have_places_in_members(tmp_path: Path) -> None:
    """The first record of a loss, or of a difference, is placed in its member."""
    path, text = tmp_path / "x.toy", tmp_path / "x.json"
    path.write_bytes(archive({"a": GOOD, "b": OTHER}))
    text.write_bytes(b"[%b,%b]" % (GOOD, GOOD))
    found = convert(path, to="haystack", output=tmp_path / "o.json")
    counts = found.losses[0].losses.counts
    (loss,) = [one for outcome, one in counts.items() if "level" in outcome.path]
    assert loss.place is not None
    assert (loss.place.full_path, loss.place.line) == (f"{path}!b", 1)

    differences = diff(path, text)
    (line,) = differences.table()
    assert (line["path"], line["line"]) == (f"{path}!b", 1)


def test_record_that_cannot_be_converted_is_placed_in_its_member() -> None:
    """A problem of the conversion is placed as one of the validation is."""
    members = {"a": b'{"messages": [{"role": "bot", "content": "a"}]}'}

    with pytest.raises(ValidationFailed, match="first <data>!a:1:1 L201"):
        convert(archive(members), to="nemo-input", output=io.BytesIO())


@pytest.mark.parametrize(
    ("second", "options"),
    [(BAD, {"to": "record"}), (OTHER, {"to": "haystack", "on_loss": "fail"})],
    ids=["invalid", "lost"],
)
def test_bytes_up_to_the_end_of_a_run_are_those_of_the_joined_text(
    second: bytes, options: dict[str, Any]
) -> None:
    """As many bytes count of an archive as of its text, and not those of a member."""
    members = {"a": GOOD, "b": second}
    text = b"".join(part.text for part in array_of(members))
    counts = []
    for data in (archive(members), text):
        with pytest.raises(ValidationFailed) as caught:
            convert(data, output=io.BytesIO(), **options)
        (file,) = caught.value.result.report.files
        counts.append((file.records, file.bytes))

    assert counts[0] == counts[1]
    assert counts[0][1] > len(GOOD)


#: What may stand around the brackets and commas of JSON.
SPACE = st.text(" \n", max_size=3)


@given(
    members=st.lists(st.tuples(SPACE, SPACE, st.text("aé")), min_size=1, max_size=4),
    glue=st.tuples(SPACE, SPACE),
    cut=st.integers(0, 90),
    chosen=st.integers(0, 99),
)
def test_every_place_in_a_member_is_found_again(
    members: list[tuple[str, str, str]], glue: tuple[str, str], cut: int, chosen: int
) -> None:
    """A place is the one that the same letter has in its member, however it is cut."""
    good, bad = '"a"', "5"
    row = '%s{"messages":%s[{"name": "%s", "role": "user", "content": %s}]}'
    contents = [good] * len(members)
    contents[chosen % len(members)] = bad
    texts = [
        row % (*member, content)
        for member, content in zip(members, contents, strict=True)
    ]

    def parts(_: BinaryIO, __: str) -> Iterator[TextPart]:
        before = "["
        for number, text in enumerate(texts):
            yield TextPart((before + glue[0]).encode())
            first, rest = text[:cut].encode(), text[cut:].encode()
            yield TextPart(first, str(number))
            yield TextPart(rest, str(number), offset=len(first))
            before = f"{glue[1]},"
        yield TextPart(b"]")

    wrong = texts[chosen % len(members)]
    at = wrong.index(bad)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "open_archive", parts)
        (problem,) = validate(archive({"a": b""}), format="tencent-messages").problems

    line, column = wrong.count("\n", 0, at) + 1, at - wrong.rfind("\n", 0, at)
    offset = len(wrong[:at].encode())
    name = f"<data>!{chosen % len(members)}"
    assert where(problem) == (name, line, column, offset)


def test_detection_reads_what_is_unpacked(tmp_path: Path) -> None:
    """The format of an archive and of a folder is that of their text."""
    folder = folder_of(tmp_path / "run", {"a.json": GOOD})
    found = [*detect(archive({"a": GOOD})), *detect(folder)]

    assert [one.format for one in found] == ["tencent-messages"] * 2


@pytest.mark.parametrize("how", [[], ["--diff"], ["--output", "out.jsonl"]])
def test_repair_refuses_what_is_unpacked(
    how: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A file or folder that is unpacked cannot be rewritten, and stays as it is."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.toy"
    data = archive({"a": BAD})
    path.write_bytes(data)
    folder_of(tmp_path / "run", {"a.json": BAD})
    for input_ in ("x.toy", "run"):
        assert exit_code("validate", "--fix", input_, *how) == 2
        assert "cannot be rewritten" in capsys.readouterr().err

    assert path.read_bytes() == data
