import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from corpora import CORPORA
from harpia_formats import Severity, ValidationFailed, convert, read, validate
from harpia_formats.files.io.inputs import sources_of_inputs
from harpia_formats.files.io.source import Source, open_source
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.plugins import SourceError
from zip_archives import DEFLATE, ZSTD, Entry, archive_of, zstd_module

ROOT = Path(__file__).parents[3]
LOGS = CORPORA / "neighbours" / "inspect"

HEADER = {
    "version": 2,
    "status": "success",
    "eval": {"task": "sums", "model": "a/b", "dataset": {"samples": 2}},
    "plan": {"name": "plan"},
    "results": {"total_samples": 4},
}
#: The name of the member of a sample.
NAME = "samples/{}_epoch_1.json"
START = {key: HEADER[key] for key in ("version", "eval", "plan")}


def sample(id_: int | str, epoch: int = 1, text: str = "") -> dict[str, Any]:
    """Return a sample of a log."""
    return {"id": id_, "epoch": epoch, "input": text, "target": "1"}


def entry(name: str, value: Any, **other: Any) -> Entry:
    """Return a member with a value as the tool writes it."""
    text = json.dumps(value, indent=2).encode()
    return Entry(name, text, **{"method": DEFLATE, **other})


#: The member that tells the text of an archive from a log in JSON.
OF_ARCHIVE = {"log_format": "eval"}


def entry_of(value: dict[str, Any], **other: Any) -> Entry:
    """Return a sample as a member."""
    return entry(f"samples/{value['id']}_epoch_{value['epoch']}.json", value, **other)


def log(samples: Iterable[Entry], header: Any = HEADER) -> bytes:
    """Return a log that was finished, with its samples in this order."""
    first, last = entry("_journal/start.json", START), entry("header.json", header)
    summaries = entry("_journal/summaries/1.json", [])
    return archive_of([first, *samples, summaries, entry("summaries.json", []), last])


def text_of(given: Any) -> bytes:
    """Return the text of an input; raises `SourceError`."""
    (source,) = sources_of_inputs([given], None, all_unpackers())
    assert isinstance(source, Source)
    with open_source(source) as reader:
        return b"".join(reader)


def ids_in(data: bytes) -> list[tuple[int | str, int]]:
    """Return id and epoch of each sample of a log, in its order."""
    return [(one["id"], one["epoch"]) for one in json.loads(text_of(data))["samples"]]


def test_header_in_one_line_may_have_nan() -> None:
    """A metric without a value does not make rows of the lines of a log."""
    metric = b'"results": {"total_samples": 1, "scores": [{"value": NaN}]}'
    start = json.dumps(START).encode()[:-1]
    header = Entry("header.json", b"%b, %b}" % (start, metric), DEFLATE)
    data = archive_of([entry_of(sample("a")), header])

    (record,) = read(data)

    assert record.id == "a"


def test_text_is_that_of_the_log_in_json() -> None:
    """The text is one object: the header with its samples and reductions."""
    reductions = [{"scorer": "match", "samples": []}]
    last = entry("reductions.json", reductions)
    data = log([entry_of(sample("a")), last])

    expected = {
        **HEADER,
        **OF_ARCHIVE,
        "samples": [sample("a")],
        "reductions": reductions,
    }
    assert list(json.loads(text_of(data)).items()) == list(expected.items())


@pytest.mark.parametrize("ids", [(9, 10, 100), ("10", "100", "9"), ("a", "a/b_c", "é")])
def test_samples_come_by_epoch_then_id(ids: tuple[int | str, ...]) -> None:
    """The order is that of the tool: integers by value, texts by code points."""
    expected = [(one, epoch) for epoch in (2, 10) for one in ids]
    members = [entry_of(sample(*one)) for one in reversed(expected)]

    assert ids_in(log(members)) == expected


def test_two_samples_of_one_name_are_refused() -> None:
    """A log in which one of two samples would replace the other is not read."""
    members = [entry_of(sample(1, text=text)) for text in ("old", "new")]

    with pytest.raises(SourceError, match=r"two of its members have the name 'samples"):
        text_of(log(members))


def test_names_that_mean_one_sample_are_records_both() -> None:
    """Members whose names differ in zeros only do not replace each other."""
    members = [entry(f"samples/{id_}_epoch_1.json", sample(1)) for id_ in ("1", "01")]

    assert ids_in(log(members)) == [(1, 1), (1, 1)]


def test_log_without_header_has_the_status_of_a_run_that_goes_on() -> None:
    """While a run goes on, and after it crashed, the journal holds the header."""
    start = entry("_journal/start.json", START)
    found = json.loads(text_of(archive_of([start, entry_of(sample(1))])))

    own = {"status": "started", **OF_ARCHIVE, "samples": [sample(1)]}
    assert found == {**START, **own}


def test_log_without_samples() -> None:
    """A log may have no samples, and an empty header."""
    assert json.loads(text_of(log([])))["samples"] == []


def test_places_are_those_in_members() -> None:
    """A byte of a sample in the text is placed in its member."""
    source = Source("x.eval", log([entry_of(sample(1))]), unpackers=all_unpackers())
    with open_source(source) as reader:
        text = b"".join(reader)
        assert reader.places is not None
        before = text[: text.index(b'"target"')]
        line = before.count(b"\n") + 1
        member = json.dumps(sample(1), indent=2)

        shown = "line 5 of samples/1_epoch_1.json"
        assert reader.places.line_text(line) == shown
        assert member.splitlines()[4].startswith('  "target"')


@pytest.mark.parametrize("name", ["x.eval", "x.zip", "x"])
def test_file_is_known_by_its_members(name: str, tmp_path: Path) -> None:
    """The ending of the name decides nothing; a compressed log is a log, too."""
    data = log([entry_of(sample(1))])
    path, packed = tmp_path / name, tmp_path / f"{name}.gz"
    path.write_bytes(data)
    packed.write_bytes(gzip.compress(data))

    assert text_of(path) == text_of(packed) == text_of(data)


def test_logs_are_found_in_a_folder(tmp_path: Path) -> None:
    """A folder is searched for files that end in .eval."""
    (tmp_path / "b.eval").write_bytes(log([]))
    (tmp_path / "notes.txt").write_bytes(b"")
    found = list(sources_of_inputs([tmp_path], None, all_unpackers()))

    assert [one.name for one in found if isinstance(one, Source)] == [
        str(tmp_path / "b.eval")
    ]


CHUNKED = "is a log in Inspect's chunked form, which has several members for each"


@for_each_case(
    "data, reason",
    [
        (log([])[:-30], "is a cut zip archive: the directory at its end is missing"),
        (log([entry("samples/1_epoch_1/sample.json", {})]), CHUNKED),
        (archive_of([entry("samples/1_epoch_1.json", {})]), "without header.json"),
        (log([], header=[1]), "its member header.json is not a JSON object"),
        (log([Entry("samples/../../x_epoch_1.json", b"{}")]), "leads outside of it"),
        (log([Entry("samples/1_epoch_1.json", b"{}", flags=1)]), "is encrypted"),
        (log([entry_of(sample(1), checksum_shift=1)]), "its checksum does not match"),
        (log([entry_of(sample(1), place_shift=1)]), "it is missing"),
    ],
)
def test_bad_archives_are_one_error(data: bytes, reason: str) -> None:
    """An archive that is cut, incomplete, encrypted or refused says which it is."""
    with pytest.raises(SourceError) as failed:
        text_of(data)

    assert reason in failed.value.reason


def test_zstd_members_are_read() -> None:
    """The compression that the tool uses by default is read on every Python."""
    try:
        zstd_module()
    except ImportError:  # pragma: no cover - without the extra
        pytest.skip('needs the extra "zstd"')
    data = log([entry_of(sample(1), method=ZSTD, frames=2)])

    assert ids_in(data) == [(1, 1)]


def whole(id_: int, **other: Any) -> dict[str, Any]:
    """Return a sample that is valid."""
    output = {"model": "a/b", "choices": [], "completion": ""}
    return {**sample(id_, text="q"), "messages": [], "output": output, **other}


def test_what_was_read_before_an_error_is_counted(tmp_path: Path) -> None:
    """A corrupt member ends the file; the samples before it are records of it."""
    members = [entry_of(whole(1)), entry_of(whole(2), checksum_shift=1)]
    path = tmp_path / "x.eval"
    path.write_bytes(log([*members, entry_of(whole(3))]))
    (file,) = validate(path).files

    assert (file.format, file.records, file.complete) == ("inspect-log", 1, False)
    assert str(file.reason).startswith("its member 'samples/2_epoch_1.json' cannot")
    assert f"the last in line 12 of {NAME.format(1)}" in str(file.reason)
    with pytest.raises(ValidationFailed, match="checksum does not match"):
        convert(path, to="record", output=tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_problem_is_placed_in_the_member_of_its_sample() -> None:
    """The place is the file, the member, and line and column in it."""
    members = [entry_of(whole(1)), entry_of(whole(2, epoch="two", scores=5))]
    data = log([*members[:1], Entry(NAME.format(2), members[1].data, DEFLATE)])
    found = [one for one in validate(data).problems if one.place.pointer == "/scores"]

    (problem,) = found
    text = members[1].data.decode()
    line = text[: text.index('"scores": 5')].count("\n") + 1
    place = problem.place
    assert place.full_path == f"<data>!{NAME.format(2)}"
    assert (place.line, place.column) == (line, len('  "scores": ') + 1)
    assert place.byte_offset == text.index('"scores": 5') + len('"scores": ')


def test_sample_beyond_the_row_limit_is_one_error() -> None:
    """A sample that is too long is reported, and those behind it are read."""
    members = [entry_of(whole(1, input="q" * 200_000)), entry_of(whole(2))]
    report = validate(log(members), max_row_bytes=100_000)

    (problem,) = [one for one in report.problems if one.severity is Severity.ERROR]
    assert problem.code == "J110"
    assert problem.place.full_path == f"<data>!{NAME.format(1)}"
    assert (report.files[0].records, report.files[0].complete) == (2, True)


def test_many_archives_have_the_same_report_with_workers(tmp_path: Path) -> None:
    """Workers that validate whole archives place problems as one process does."""
    bad = log([entry_of(whole(1)), entry_of(whole(2, scores=5))])
    for number in range(70):
        (tmp_path / f"{number}.eval").write_bytes(bad)
    reports = [validate(tmp_path, jobs=jobs) for jobs in (1, 2)]

    assert reports[0].to_dict() == reports[1].to_dict()
    names = {str(one.place.full_path) for one in reports[0].problems}
    assert f"{tmp_path / '0.eval'}!{NAME.format(2)}" in names


def test_decompression_bomb_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that would become far too long is refused unread."""
    monkeypatch.setattr("harpia_formats.files.io.zip_archive.LARGEST", 100_000)
    bomb = entry_of(whole(2, input="q" * 1_000_000))
    noise = Entry("noise", bytes(10_000))
    (file,) = validate(log([entry_of(whole(1)), bomb, noise])).files

    assert file.records == 1
    assert "it is a decompression bomb" in str(file.reason)


def test_log_that_is_a_bomb_in_all_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members that would become far too long together are refused unread."""
    monkeypatch.setattr("harpia_formats.files.io.zip_archive.LARGEST", 100_000)
    samples = (whole(number, input="q" * 99_000) for number in range(6))
    (file,) = validate(log(map(entry_of, samples))).files

    assert (file.records, file.complete) == (0, False)
    assert "decompression bomb: its members have" in str(file.reason)


def test_member_that_the_end_record_does_not_count() -> None:
    """A log whose end record counts too few members is not a valid shorter log."""
    entries = [entry("header.json", HEADER), *(entry_of(whole(one)) for one in (1, 2))]
    (file,) = validate(archive_of(entries, count_shift=-1)).files

    assert (file.records, file.complete) == (0, False)
    assert "does not end behind the 2 members" in str(file.reason)


@pytest.mark.parametrize("jobs", [1, 2])
def test_archive_converts_as_its_text_does(jobs: int, tmp_path: Path) -> None:
    """The output is that of the log in JSON, with several workers too."""
    data = log(entry_of(whole(number)) for number in range(50))
    path, text = tmp_path / "x.eval", tmp_path / "x.json"
    path.write_bytes(data)
    text.write_bytes(text_of(data))
    for given, name in ((path, "a"), (text, "b")):
        convert(given, to="record", output=tmp_path / name, jobs=jobs)

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def real(name: str) -> Path:
    """Return a file of the corpus."""
    return LOGS / name


@pytest.mark.corpora
def test_archive_and_json_of_one_run_hold_the_same_samples() -> None:
    """The tool's two files of one task have equal samples in equal order."""
    found = json.loads(text_of(real("made/demo_epochs2.eval")))
    expected = json.loads(text_of(real("made/demo_epochs2.json")))

    assert [key for key in found if key not in OF_ARCHIVE] == list(expected)
    keys = ("id", "epoch", "input", "target", "scores", "attachments")
    for left, right in zip(found["samples"], expected["samples"], strict=True):
        for key in keys:
            assert _without_ids(left[key]) == _without_ids(right[key])


def _without_ids(value: Any) -> str:
    """Return a value as text, without what differs from run to run."""
    if isinstance(value, list):
        value = [{**one, "id": ""} if isinstance(one, dict) else one for one in value]
    return json.dumps(value)


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("made/mcq.eval", [(1, 1), (2, 1)]),
        ("real/log_streaming.eval", [(1, 1), (2, 1), (1, 2), (2, 2)]),
        ("real/log_message_deduplication.eval", [("0", 1)]),
        ("real/mmlu-no-summary-choices.eval", [(1, 1)]),
    ],
)
def test_real_archives(name: str, expected: list[tuple[int | str, int]]) -> None:
    """Logs that the tool wrote, deflated and by zstd, have these samples."""
    assert ids_in(real(name).read_bytes()) == expected


@pytest.mark.corpora
def test_chunked_form_is_refused() -> None:
    """A log that the tool spread over many members is refused, and named."""
    with pytest.raises(SourceError, match="chunked form"):
        text_of(real("made/demo_epochs2_chunked.eval"))
