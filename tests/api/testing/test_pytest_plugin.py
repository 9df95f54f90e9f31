"""The plug-in for pytest: `assert_valid`, its fixture, and files as tests."""

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from harpia_formats.api.testing import assert_valid

pytest_plugins = ["pytester"]

PLUGIN = "harpia_formats.api.testing.pytest_plugin"
#: How a run of pytest gets the plug-in: installed packages bring it along.
INSTALLED = {found.value for found in entry_points(group="pytest11")}
WITH_PLUGIN = () if PLUGIN in INSTALLED else ("-p", PLUGIN)
FIXTURES = Path(__file__).parents[3] / "fixtures"
ANSWERS = FIXTURES / "nemo-output" / "valid" / "answers.jsonl"
ROW = json.loads(ANSWERS.read_text(encoding="utf-8").splitlines()[0])
BAD_LINE = b'{"input": {"prompt": "1 + 1?", "ideal_response": "2"}}\n'


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """Return a project with a good and a bad file, and settings for their format."""
    folder = pytester.mkdir("data")
    (folder / "good one.jsonl").write_bytes(ANSWERS.read_bytes())
    (folder / "bad.jsonl").write_bytes(ANSWERS.read_bytes() + BAD_LINE)
    pytester.makefile(
        ".toml", **{"harpia-formats": '[formats]\n"data/*" = "nemo-output"\n'}
    )
    return pytester


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Return the result of pytest with the plug-in."""
    options = ("-p", "no:cacheprovider", "-p", "no:xdist")
    return project.runpytest_inprocess(*WITH_PLUGIN, *options, *arguments)


def test_valid_data_gives_its_report() -> None:
    """Rows and files pass in the format that is named, or the detected one."""
    assert assert_valid(ANSWERS, "nemo-output").summary()["records"] == 5
    assert assert_valid([ROW], format="nemo-output").ok
    assert assert_valid(ANSWERS, lint=True, limit=2).summary()["records"] == 2


def test_message_lists_findings_with_their_places(tmp_path: Path) -> None:
    """Each line starts with path, line and column; the rest is counted."""
    path = tmp_path / "bad.jsonl"
    path.write_bytes(ANSWERS.read_bytes() + BAD_LINE * 30)
    with pytest.raises(AssertionError) as failed:
        assert_valid(path, "nemo-output", examples=0)
    lines = str(failed.value).splitlines()

    assert lines[0].startswith(f"{path}:6:1: S101 missing-key response is missing")
    assert len(lines) == 22
    assert lines[20] == "and 40 more"
    assert lines[21].startswith("not ok, 1 file, 35 records, 30 invalid")


def test_warnings_count_if_that_is_asked(tmp_path: Path) -> None:
    """A file with a warning passes, unless warnings are errors."""
    path = tmp_path / "bom.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + ANSWERS.read_bytes())
    assert assert_valid(path, "nemo-output").warnings == 1
    with pytest.raises(AssertionError, match=r"bom\.jsonl:1:1: warning J201 "):
        assert_valid(path, "nemo-output", error_on_warning=True)


def test_unreadable_file_fails(tmp_path: Path) -> None:
    """The message is the reason for which there is nothing to validate."""
    with pytest.raises(AssertionError, match=r"none\.jsonl: does not exist"):
        assert_valid(tmp_path / "none.jsonl", "nemo-output")


def test_files_that_match_are_tests(project: pytest.Pytester) -> None:
    """Each matching file is one test; the report of a failure is its findings."""
    project.makeini("[pytest]\nharpia_files =\n    data/*.jsonl\n    *.ndjson\n")
    (project.path / "data" / "notes.txt").write_text("no data")
    result = run(project)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*_ data/bad.jsonl::valid _*",
            "data/bad.jsonl:6:1: S101 missing-key llm_name is missing*",
            "not ok, 1 file, 6 records, 1 invalid, *",
            "FAILED data/bad.jsonl::valid - data/bad.jsonl:6:1: S101 *",
        ]
    )


def test_names_of_files_are_escaped(project: pytest.Pytester) -> None:
    """A name is no command, and what is not UTF-8 does not end the session."""
    for name in ("::error::a", "\n::error::b", "\x1b[31m\u202ec", "d\udce9"):
        (project.path / f"{name}.jsonl").write_bytes(BAD_LINE)
    options = (*WITH_PLUGIN, "-p", "no:xdist", "-v", "--harpia-files=*.jsonl")
    result = project.runpytest_inprocess(*options, "--ignore=data")
    output = result.stdout.str()

    result.assert_outcomes(failed=4)
    assert {"\x1b", "\u202e"} & set(output) == set()
    assert not any(line.lstrip().startswith("::") for line in output.splitlines())
    for name in (r"\x3a:error::a", r"\n::error::b", r"\x1b[31m\u202ec", r"d\udce9"):
        assert f"FAILED {name}.jsonl::valid - " in output


def test_option_and_marker_choose_files(project: pytest.Pytester) -> None:
    """The option adds patterns, and `-m` leaves files of data out."""
    run(project, "--harpia-files=good*", "--strict-markers").assert_outcomes(passed=1)
    options = ("--harpia-files=*.jsonl", "-m", "not harpia_formats")

    run(project, *options).assert_outcomes(deselected=2)


def test_settings_hold_for_collected_files(project: pytest.Pytester) -> None:
    """A file is skipped if settings leave it out, and warnings can be errors."""
    (project.path / "harpia-formats.toml").write_text(
        'exclude = ["bad.jsonl"]\nerror-on-warning = true\n'
    )
    path = project.path / "data" / "good one.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    result = run(project, "--harpia-files=*.jsonl", "-rs")

    result.assert_outcomes(skipped=1, failed=1)
    result.stdout.fnmatch_lines(
        ["data/good one.jsonl:1:1: warning J201 *", "*left out by the setting exclude"]
    )


def test_wrong_settings_are_one_line(project: pytest.Pytester) -> None:
    """The report of a failure is the message, and no traceback."""
    (project.path / "harpia-formats.toml").write_text('formats = "nemo"\n')
    result = run(project, "--harpia-files=good*")

    result.assert_outcomes(failed=1)
    assert "Traceback" not in result.stdout.str()
    assert "apply.py" not in result.stdout.str()
    result.stdout.fnmatch_lines(["*harpia-formats.toml*formats*"])


def test_fixture_reads_paths_from_the_root_folder(project: pytest.Pytester) -> None:
    """A test finds its data in whatever folder pytest is run."""
    project.makepyfile(
        """
        def test_good(assert_valid):
            assert_valid("data/good one.jsonl", "nemo-output", strict=False)

        def test_bad(assert_valid):
            assert_valid("data/bad.jsonl", "nemo-output")

        def test_no_format(assert_valid):
            assert_valid("data/bad.jsonl", "nemo-outptu")

        def test_no_option(assert_valid):
            assert_valid("data/bad.jsonl", lnit=True)
        """
    )
    result = run(project, "--rootdir", str(project.path))

    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        ["E *data/bad.jsonl:6:1: S101 missing-key*", "E *nemo-output*", "E *lint*"]
    )
    output = result.stdout.str()
    assert not any(f"{name}.py:" in output for name in ("assertion", "__init__"))


def test_unused_plugin_loads_nothing() -> None:
    """Without patterns it imports no module of ours but itself and its packages."""
    program = (
        f"import sys, pytest; before = set(sys.modules); import {PLUGIN}; "
        "print(*sorted(set(sys.modules) - before))"
    )
    shown = subprocess.run(  # noqa: S603 - the command is ours
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )

    assert shown.stdout.split() == [
        "harpia_formats",
        "harpia_formats._version",
        "harpia_formats.api",
        "harpia_formats.api.testing",
        PLUGIN,
    ]


@pytest.mark.long
def test_files_are_tests_of_workers(project: pytest.Pytester) -> None:
    """With pytest-xdist the same files pass and fail, with the same report."""
    options = (*WITH_PLUGIN, "-p", "no:cacheprovider", "-n", "2")
    result = project.runpytest_subprocess(*options, "--harpia-files=*.jsonl")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["data/bad.jsonl:6:1: S101 missing-key*"])
