"""Ages and checksums of files, the last run, warnings, and expectations as a dict."""

import gzip
import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import harpia_formats
from cases import for_each_case
from fixture_files import schema_file
from harpia_formats import HarpiaFormatsError, PreflightError, Report
from harpia_formats.reporters import REPORTERS, Options
from in_process import InProcess

#: Writes rows as lines of JSON into a file below the folder of the test.
Write = Callable[..., Path]
DAY = 86_400


def checked(path: Path, *, top: Any = None, **expected: Any) -> Report:
    """Return the report of a preflight of one file of records."""
    keys = {key.replace("_", "-"): value for key, value in expected.items()}
    data_set = {"files": path, "format": "record", **keys}
    return harpia_formats.preflight({"datasets": {"a": data_set}, **(top or {})})


def states(report: Report) -> dict[str, str]:
    """Return the state of each check that a key states."""
    return {one.key: one.state.value for one in report.checks if one.key}


def records(number: int) -> list[dict[str, Any]]:
    """Return so many records."""
    return [{"prompt": str(each)} for each in range(number)]


def test_old_files_are_found(write: Write) -> None:
    """A file that was changed longer ago breaks the limit, at the file."""
    path = write("a.jsonl", *records(1))
    changed = time.time() - 3 * DAY
    os.utime(path, (changed, changed))

    new, old = checked(path, max_age="1 week"), checked(path, max_age="71.9 hours")

    assert new.ok
    assert [(one.code, one.place.path) for one in old.problems] == [("P104", str(path))]
    assert "changed 3 days ago, more than 71.9 hours" in old.problems[0].message


@pytest.mark.parametrize("algorithm", ["sha256", "sha512", "sha1", "md5"])
def test_checksums_are_those_of_the_stored_bytes(
    tmp_path: Path, algorithm: str
) -> None:
    """A compressed file has the checksum of its compressed bytes."""
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"prompt": "1", "outputs": []}\n'))
    digest = hashlib.new(algorithm, path.read_bytes()).hexdigest()

    right = checked(path, checksums={str(path): f"{algorithm}:{digest.upper()}"})
    wrong = checked(path, checksums={str(path): f"{algorithm}:{'0' * len(digest)}"})

    assert right.ok
    assert [one.code for one in wrong.problems] == ["P104"]
    assert digest in wrong.problems[0].message


def test_a_checksum_of_another_file_is_not_met(write: Write) -> None:
    """A file that is not one of the data set has no checksum here."""
    path = write("a.jsonl", *records(1))
    report = checked(path, checksums={str(path) + "x": f"md5:{'0' * 32}"})

    assert states(report)["checksums"] == "broken"
    assert "no file of a is" in report.problems[0].message


@pytest.mark.parametrize(
    "wrong", ["sha256:1", "0" * 64, "crc32:00000000", f"md5:{'g' * 32}", 5]
)
def test_what_is_no_checksum_is_refused(write: Write, wrong: Any) -> None:
    """Another algorithm, another length or no hexadecimal digits are errors."""
    with pytest.raises(PreflightError):
        checked(write("a.jsonl", *records(1)), checksums={"a.jsonl": wrong})


def test_numbers_of_records_are_compared_with_the_last_run(
    tmp_path: Path, write: Write
) -> None:
    """The file of the last run is written by runs that succeed, and by no other."""
    top = {"state": str(tmp_path / "last.json")}
    state = tmp_path / "last.json"

    def run(number: int, **more: Any) -> Report:
        path = write("a.jsonl", *records(number))
        return checked(path, top=top, max_records_change="10 %", **more)

    assert run(100).ok
    assert json.loads(state.read_text())["records"] == {"a": 100}
    first = state.read_bytes()
    for number in (89, 111):
        assert states(run(number))["max-records-change"] == "broken"
        assert state.read_bytes() == first
    assert not run(100, max_records=5).ok
    assert state.read_bytes() == first
    assert run(110).ok
    assert json.loads(state.read_text())["records"] == {"a": 110}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "harpia-formats/preflight-state/1"}', "\x00"]
)
def test_another_file_is_never_taken_or_replaced_as_the_state(
    tmp_path: Path, write: Write, text: str
) -> None:
    """A file with something else is an error, and stays as it is."""
    state = tmp_path / "last.json"
    state.write_text(text)

    with pytest.raises(PreflightError, match="not the state of a preflight"):
        checked(write("a.jsonl", *records(1)), top={"state": str(state)})

    assert state.read_text() == text


def test_a_change_needs_a_state(write: Write) -> None:
    """Without a file for the last run nothing could be compared."""
    with pytest.raises(PreflightError, match="needs a file that keeps"):
        checked(write("a.jsonl", *records(1)), max_records_change=5)


def test_a_state_in_the_folder_of_the_data_is_no_data(write: Write) -> None:
    """A second run over the folder does not read what the first one wrote."""
    folder = write("data/a.jsonl", *records(2)).parent
    top = {"state": str(folder / "last.json")}

    reports = [checked(folder, top=top, max_age="1 day") for _ in range(2)]

    assert [one.ok for one in reports] == [True, True]
    assert [len(one.files) for one in reports] == [1, 1]


def test_a_state_in_the_folder_of_the_data_says_nothing_of_a_map(
    tmp_path: Path,
) -> None:
    """The format whose keys are mapped is that of the data in every run."""
    (tmp_path / "a.jsonl").write_text('{"q": "1"}\n')
    data_set = {"files": tmp_path, "map": {"prompt": "q"}}
    plan = {"datasets": {"a": data_set}, "state": str(tmp_path / "last.json")}

    assert [harpia_formats.preflight(plan).ok for _ in range(2)] == [True, True]


def test_an_expectation_may_only_warn(write: Write) -> None:
    """It is a warning with its findings, and the preflight is ok."""
    path = write("a.jsonl", *records(3), {"prompt": "x", "category": "m"})
    expected: dict[str, Any] = {
        "max_records": 1,
        "patterns": {"prompt": "[0-9]", "category": "[a-z]"},
        "warn": ["max-records", "patterns.prompt"],
    }

    report = checked(path, **expected)

    assert report.ok
    assert states(report)["max-records"] == "warned"
    assert [one.severity.value for one in report.problems] == ["warning"] * 2
    assert (report.errors, report.warnings) == (0, 2)
    jsonschema.validate(report.to_dict(), schema_file("report-1"))
    for name in ("html", "junit", "markdown"):
        harpia_formats.write_report(report, path.parent / name, reporter=name)
    assert 'failures="0"' in (path.parent / "junit").read_text()


def test_warnings_of_expectations_are_none_of_the_data(write: Write) -> None:
    """A file that breaks what only warns does not count for the limit of warnings."""
    path = write("a.jsonl", *records(1))
    few = "min-records-per-file"

    report = checked(path, min_records_per_file=2, max_warnings=0, warn=[few])

    assert report.ok
    assert (states(report)[few], states(report)["max-warnings"]) == ("warned", "met")


def test_other_members_of_a_key_that_warns_are_errors(write: Write) -> None:
    """Only the named member warns; errors and warnings are groups of their own."""
    path = write("a.jsonl", *records(12))
    report = checked(
        path, patterns={"prompt": "[0-4]", "category": "x"}, warn="patterns.category"
    )

    assert not report.ok
    assert report.errors == 7
    (check,) = (one for one in report.checks if one.state.value == "warned")
    assert "no record has a value in category" in check.found


@pytest.mark.parametrize("redact", [False, True])
def test_errors_and_warnings_of_a_rule_are_groups_of_their_own(
    write: Write, *, redact: bool
) -> None:
    """So they are in one file and of one key, and no shown one counts as not shown."""
    path = write("a.jsonl", *records(3))
    expected = {
        "ids-in": "b",
        "same-ids-as": "b",
        "required-values": {"prompt": "x", "category": "y"},
        "max-prompt-bytes": 0,
        "warn": ["same-ids-as", "required-values.prompt"],
    }
    other: dict[str, Any] = {"files": path, "format": "record"}
    plan = {"datasets": {"a": other | expected, "b": other}}

    report = harpia_formats.preflight(plan, redact=redact)

    of_groups = Counter[str]()
    for group in report.groups:
        of_groups[group.severity.value] += group.count
    assert of_groups == {"error": report.errors, "warning": report.warnings}
    shown: list[str] = []
    REPORTERS["concise"].write(report.problems, lambda: report, shown.append, Options())
    assert "shown" not in "".join(shown)


@pytest.mark.parametrize(
    ("warn", "reason"),
    [
        ("max-record", "did you mean max-records"),
        ("max-invalid", "cannot only warn"),
        ("format", "is not stated"),
        ("patterns.id", "has no member id"),
        ("max-records.x", "has no member x"),
    ],
)
def test_a_warning_of_what_is_not_expected_is_refused(
    write: Write, warn: str, reason: str
) -> None:
    """A name that is no expectation of the data set is an error."""
    path = write("a.jsonl", *records(1))
    with pytest.raises(PreflightError, match=reason):
        checked(path, max_records=5, patterns={"prompt": "."}, warn=warn)


def test_a_dictionary_is_checked_as_a_file(tmp_path: Path, write: Write) -> None:
    """The same expectations have the same checks, and mistakes name their key."""
    path = write("a.jsonl", *records(2))
    text = f'[datasets.a]\nfiles = "{path}"\nformat = "record"\nmax-records = 1\n'
    file = tmp_path / "preflight.toml"
    file.write_text(text)

    by_file = harpia_formats.preflight(file)
    by_dict = checked(path, max_records=1)

    assert [one.found for one in by_file.checks] == [
        one.found for one in by_dict.checks
    ]
    assert [one.code for one in by_dict.problems] == ["P101"]
    assert by_dict.problems[0].place.pointer == "/datasets/a/max-records"


@for_each_case(
    "wrong",
    [
        {},
        {"datasets": {}},
        {"datasets": {"a": {"files": None}}},
        {"datasets": {"a": {1: 2}}},
        {"datasets": {"a": {"files": b"a"}}},
        {"datasets": {"a": {"file": "a"}}},
        {"dataset": {"a": {"files": "a"}}},
    ],
)
def test_a_dictionary_that_is_no_preflight_is_refused(wrong: Any) -> None:
    """What no preflight file could hold is an error without a line."""
    with pytest.raises(PreflightError, match=r"^<dict>: "):
        harpia_formats.preflight(wrong)


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("jobs", -1, "OptionError: jobs must be at least 0, not -1"),
        ("engine", "dask://x", "EngineError: dask://x: is not the address"),
    ],
)
def test_an_option_that_cannot_be_used_is_no_error_of_the_file(
    write: Write, option: str, value: Any, error: str
) -> None:
    """It is the error that other functions raise for it, without a data set."""
    path = write("a.jsonl", *records(1))

    with pytest.raises(HarpiaFormatsError) as caught:
        harpia_formats.preflight(
            {"datasets": {"a": {"files": path}}}, **{option: value}
        )

    assert f"{type(caught.value).__name__}: {caught.value}".startswith(error)


def test_the_command_writes_the_state_and_warns(
    main: InProcess, tmp_path: Path
) -> None:
    """A warning ends with 0, and a dry run writes nothing."""
    path = Path("preflight.toml")
    path.write_text(
        'state = "last.json"\n\n' + path.read_text() + "max-records = 1\n"
        'max-records-change = 0\nwarn = "max-records"\n'
    )

    dry = main("preflight", "--dry-run")
    assert "records changed by at most 0 since the last run" in dry.out
    assert not (tmp_path / "last.json").exists()

    run = main("preflight")
    assert run.code == 0
    assert "  warn  records at most 1: 3 (preflight.toml:" in run.err
    assert "expectations are met, and 1 is not, with a warning" in run.err
    assert json.loads((tmp_path / "last.json").read_text())["records"] == {
        "questions": 3
    }


@pytest.fixture
def main(
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    tmp_path: Path,
) -> InProcess:
    """Return what runs the command in a folder with a preflight file and its data."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(json.dumps({"outputs": [], **one}) + "\n" for one in records(3))
    (tmp_path / "questions.jsonl").write_text(rows)
    (tmp_path / "preflight.toml").write_text(
        '[datasets.questions]\nfiles = "questions.jsonl"\nformat = "record"\n'
    )
    return InProcess(monkeypatch, capfdbinary)
