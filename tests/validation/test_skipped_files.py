import json
import shutil
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats import (
    Report,
    ValidationFailed,
    convert,
    detect,
    read,
    score,
    validate,
)
from in_process import InProcess

ROWS = Path(__file__).parents[2] / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
PAGE = b"<!DOCTYPE html>\n<html><title>404</title></html>\n"
#: Files of other kinds, by their names.
OTHERS = {"t.orc": b"ORC\0\0", "page.html": PAGE, "more/p.json": PAGE}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with one file of data."""
    found = tmp_path / "data"
    found.mkdir()
    shutil.copy(ROWS, found / "rows.jsonl")
    return found


def put(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into a folder."""
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)


def names(report: Report) -> list[str]:
    """Return the names of the files that were passed over."""
    return [Path(file.path).name for file in report.skipped]


@pytest.mark.parametrize("jobs", [1, 2])
def test_other_kinds_in_a_folder_are_one_note(
    folder: Path, jobs: int, run: InProcess
) -> None:
    """Files of other kinds in a folder are counted in one note, and fail nothing."""
    put(folder, {**OTHERS, "notes.md": b"# Read me\n", "x.yaml": b"a: 1\nb: 2\n"})
    report = validate(folder, jobs=jobs)
    (note,) = report.problems

    assert report.ok
    assert (note.code, note.severity) == ("J114", "note")
    assert note.message == "passed over: 2 HTML pages, 1 ORC file, 1 YAML file"
    assert names(report) == ["p.json", "page.html", "t.orc", "x.yaml"]
    shown = "1 file, 12 records, all valid; 1 note; 4 files passed over"
    assert shown in run("validate", folder, "--jobs", jobs).err.splitlines()


@pytest.mark.parametrize("name", OTHERS)
def test_other_kind_that_is_named_is_not_read(folder: Path, name: str) -> None:
    """A file of another kind that is named fails, with its kind and no finding."""
    put(folder, OTHERS)
    report = validate(folder / name, folder / "rows.jsonl")
    (failed,) = report.failures
    shown = report.to_dict()["files"][0]

    assert report.problems == ()
    assert not report.ok
    assert (shown["complete"], shown["reason"]) == (False, failed.reason)
    assert str(failed.reason).startswith("is a")
    assert (failed.records, failed.errors) == (0, 0)


def test_report_says_which_files_were_passed_over(folder: Path) -> None:
    """The JSON report has the files, not complete, with a word on the reason."""
    put(folder, {"t.orc": b"ORC\0\0"})
    report = validate(folder)
    files = report.to_dict()["files"]
    reasons = {Path(file["path"]).name: file["reason"] for file in files}

    assert reasons["rows.jsonl"] is None
    assert reasons["t.orc"].startswith("skipped: it is an ORC file, not JSON")


@pytest.mark.parametrize("files", [{"a.jsonl": POINTER}, {"t.orc": b"ORC\0"}])
@pytest.mark.parametrize("skip", [False, True])
def test_folder_without_any_data_is_an_error(
    tmp_path: Path, files: dict[str, bytes], *, skip: bool
) -> None:
    """A run is not in order if every file was passed over."""
    put(tmp_path, files)
    report = validate(tmp_path, skip_unrecognised=skip)

    assert not report.ok
    assert len(report.failures) == 1


COMMANDS: dict[str, Callable[..., Any]] = {
    "convert": lambda path, **options: convert(
        path, to="record", output=BytesIO(), **options
    ),
    "score": lambda path, **options: score(
        path, metrics=("em",), replicates=0, **options
    ),
    "read": lambda path, **options: list(read(path, **options)),
}


def succeeds(name: str, folder: Path, **options: Any) -> bool:
    """Return whether a command reads a folder without an error."""
    try:
        result = COMMANDS[name](folder, **options)
        if name != "read":
            result.raise_for_errors()
    except ValidationFailed:
        return False
    return True


@pytest.mark.parametrize("name", COMMANDS)
def test_data_that_is_missing_stops_a_conversion(folder: Path, name: str) -> None:
    """Records are not read past a file of data that holds something else."""
    put(folder, {"t.orc": b"ORC\0\0"})
    passes = succeeds(name, folder)
    put(folder, {"part.jsonl": POINTER})

    assert passes
    assert not succeeds(name, folder)
    assert succeeds(name, folder, skip_unrecognised=True)
    assert succeeds(name, folder, exclude=("part.*",))


SETTINGS = b'{"editor.tabSize": 2}\n'


@pytest.mark.parametrize("jobs", [1, 2])
def test_unrecognised_files_are_passed_over_if_asked(folder: Path, jobs: int) -> None:
    """A file in no known format fails a folder, unless such files are passed over."""
    put(folder, {"settings.json": SETTINGS, "more/x.jsonl": b'{"y": 1}\n' * 9})
    plain = validate(folder, jobs=jobs)
    report = validate(folder, skip_unrecognised=True, jobs=jobs)

    assert {group.code for group in plain.groups} == {"S301"}
    assert report.ok
    assert [problem.message for problem in report.problems] == [
        "passed over: 2 files in no known format"
    ]
    assert report.summary()["records"] == 12


@pytest.mark.parametrize("name", COMMANDS)
def test_unrecognised_files_are_passed_over_by_all(folder: Path, name: str) -> None:
    """The option is the same for what reads records."""
    put(folder, {"settings.json": SETTINGS})

    assert not succeeds(name, folder)
    assert succeeds(name, folder, skip_unrecognised=True)


def test_broken_file_is_not_passed_over(folder: Path) -> None:
    """A file whose text is broken is no file of another format."""
    put(folder, {"x.json": b'{"a": "b" "c"}'})
    report = validate(folder, skip_unrecognised=True)

    assert [group.code for group in report.groups] == ["J101"]


@pytest.mark.parametrize("name", COMMANDS)
def test_too_few_records_are_an_error(folder: Path, name: str) -> None:
    """Fewer records than asked for are an error, as many are none."""
    least: dict[str, Any] = {"min_records": 12}
    most: dict[str, Any] = {"min_records": 13}

    assert validate(folder, **least).ok
    assert [problem.code for problem in validate(folder, **most).problems] == ["J115"]
    assert succeeds(name, folder, **least)
    assert not succeeds(name, folder, **most)


def test_invalid_records_do_not_count_where_they_are_skipped(folder: Path) -> None:
    """With rows skipped only valid rows count, and nothing is written."""
    put(folder, {"rows.jsonl": ROWS.read_bytes() + b"{}\n"})
    output = folder / "out.jsonl"
    options: Any = {"to": "record", "output": output, "on_invalid": "skip"}

    with pytest.raises(ValidationFailed) as caught:
        convert(folder / "rows.jsonl", **options, min_records=13)
    assert "J115" in {problem.code for problem in caught.value.report.problems}
    assert not output.exists()
    assert convert(folder / "rows.jsonl", **options, min_records=12).written


def test_excluded_files_are_counted(folder: Path, run: InProcess) -> None:
    """The summary says how many files were left out."""
    put(folder, {"settings.json": SETTINGS})
    report = validate(folder, exclude=("settings.json",))

    assert (report.ok, report.excluded) == (True, 1)
    shown = run("validate", folder, "--exclude", "settings.json").err
    assert shown.endswith("; 1 file left out\n")


def test_detect_passes_over_other_kinds(folder: Path) -> None:
    """Files of other kinds in a folder have their kind; those named have no format."""
    put(folder, {"t.orc": b"ORC\0\0", "x.json": SETTINGS})
    found = detect(folder, exclude=("x.*",))
    (named,) = detect(folder / "t.orc")

    assert [file.skipped for file in found] == ["", "an ORC file"]
    assert (named.skipped, str(named.reason)[:14]) == ("", "is an ORC file")


def test_detect_passes_over_our_own_reports(folder: Path) -> None:
    """In a folder they are no data, as for validation; one that is named is read."""
    harpia_formats.write_report(validate(folder), folder / "r.json", reporter="json")
    report, rows = detect(folder)
    (named,) = detect(folder / "r.json")

    assert (report.skipped, rows.skipped) == ("a harpia-formats report", "")
    assert report.reason == "is a harpia-formats report, and no data"
    assert (named.skipped, named.reason) == ("", None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b'{"kind": "problem", "path": "a.jsonl", "code": "J101"}\n', "report"),
        (b'{"kind": "summary", "schema": "harpia-formats/report/1"}\n', "report"),
        (b'{"ok": true, "target": "nemo", "outputs": []}\n', "conversion report"),
        (b'{"ok": true, "records": 3, "differing": 0}\n', "difference report"),
        (b'{"kind": "problem", "topic": "x"}\n', ""),
    ],
)
def test_each_kind_of_report_is_told_by_its_beginning(
    folder: Path, text: bytes, kind: str
) -> None:
    """Reports of all commands are passed over; a file with other keys is data."""
    put(folder, {"a.json": text})
    found = {Path(each.path).name: each.skipped for each in detect(folder)}

    assert found["a.json"] == (f"a harpia-formats {kind}" if kind else "")


def test_report_of_workers_is_the_same(folder: Path) -> None:
    """Files that workers validate are passed over as others are."""
    files = {f"{n}.json": (PAGE, SETTINGS, b"ORC")[n % 3] for n in range(300)}
    put(folder, files)
    large = ROWS.read_bytes() * 200
    put(folder, {f"big{n}.jsonl": large for n in range(4)})
    reports = [
        validate(folder, skip_unrecognised=True, jobs=jobs, ignore=("X101",))
        for jobs in (1, 2)
    ]

    assert json.dumps(reports[0].to_dict()) == json.dumps(reports[1].to_dict())
    assert len(reports[0].skipped) == 300


def test_option_is_one_of_all() -> None:
    """A wrong number of records raises."""
    with pytest.raises(ValueError, match="min_records"):
        harpia_formats.validate(b"{}", min_records=-1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_problem_of_all_files_stands_at_the_input(folder: Path, jobs: int) -> None:
    """The note on other kinds and the one on too few records name the folder."""
    put(folder, {"a.html": PAGE})
    report = validate(folder, min_records=99, jobs=jobs)

    assert [problem.code for problem in report.problems] == ["J114", "J115"]
    assert {problem.place.path for problem in report.problems} == {str(folder)}
    errors = {Path(file.path).name: file.errors for file in report.files}
    assert errors == {"a.html": 0, "rows.jsonl": 1}
    (named,) = validate(folder / "rows.jsonl", min_records=99).problems
    assert named.place.path == str(folder / "rows.jsonl")


@pytest.mark.parametrize(
    "options", [{"exclude": ("*.json",)}, {"skip_unrecognised": True}]
)
def test_no_file_may_be_left(tmp_path: Path, options: dict[str, Any]) -> None:
    """Leaving out or passing over every file is an error unless it is allowed."""
    put(tmp_path, {"package.json": b'{"name": "x"}'})
    refused = validate(tmp_path, **options)
    allowed = validate(tmp_path, allow_no_files=True, **options)

    assert (refused.ok, len(refused.failures)) == (False, 1)
    assert (allowed.ok, allowed.failures) == (True, ())
    assert allowed.excluded + len(allowed.skipped) == 1


def test_a_schema_with_remarks_is_no_file_of_data(folder: Path, tmp_path: Path) -> None:
    """It is a file of the report, but none that is left, and none with few records."""
    schema, report = tmp_path / "s.json", folder / "r.json"
    schema.write_text('{"type": "object", "propertes": {}}')
    rows = folder / "rows.jsonl"
    few = validate(rows, schema=schema, min_records=99)
    harpia_formats.write_report(few, report, reporter="json")
    rows.unlink()
    none = validate(folder, schema=schema)

    assert [file.path for file in few.files] == [str(schema), str(rows)]
    assert few.files[1].errors == 1
    assert [one.place.path for one in few.problems if one.code == "J115"] == [str(rows)]
    (failed,) = none.failures
    assert failed.path == str(report)
    assert "no file is left" in str(failed.reason)


def test_no_file_is_found_is_an_error_still(tmp_path: Path) -> None:
    """A folder without data files is a mistake, also where no file may be left."""
    assert not validate(tmp_path, allow_no_files=True).ok


def test_files_that_are_passed_over_are_not_repaired(tmp_path: Path) -> None:
    """A file in no known format stays as it is if such files are passed over."""
    other = b'\xef\xbb\xbf{"name": "x"}'
    put(
        tmp_path,
        {"package.json": other, "rows.jsonl": b"\xef\xbb\xbf" + ROWS.read_bytes()},
    )
    harpia_formats.fix(tmp_path, skip_unrecognised=True)

    assert (tmp_path / "package.json").read_bytes() == other
    assert (tmp_path / "rows.jsonl").read_bytes() == ROWS.read_bytes()
