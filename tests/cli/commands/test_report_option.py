"""`--report [NAME=]FILE`: the whole report in addition to what is printed."""

import gzip
import json
from pathlib import Path

import pytest

from in_process import InProcess

ROWS = ("rows.jsonl", "--schema", "schema.json")


@pytest.fixture
def run(
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> InProcess:
    """Return what runs the command line in the folder of the data."""
    monkeypatch.chdir(data)
    return InProcess(monkeypatch, capfdbinary)


def test_reports_are_written_in_addition_to_what_is_printed(run: InProcess) -> None:
    """Each file has what `--output-format` of its name or suffix prints."""
    plain = run("validate", *ROWS)
    found = run(
        *("validate", *ROWS, "--report", "r.json", "--report", "full=r.txt"),
        *("--report", "jsonl=r.data.gz"),
    )
    printed = run("validate", *ROWS, "--output-format", "json")
    full = run("validate", *ROWS, "--output-format", "full")

    assert (found.code, found.out, found.err) == (1, plain.out, plain.err)
    assert Path("r.json").read_text() == printed.out
    assert Path("r.txt").read_text() == full.out
    assert Path("r.data.gz").read_bytes().startswith(b"\x1f\x8b")


def test_a_report_replaces_the_one_that_is_there(run: InProcess) -> None:
    """A second run replaces the report, which is whole or not there."""
    run("validate", "good.jsonl", *ROWS[1:], "--report", "r.json")
    run("validate", *ROWS, "--report", "r.json")

    assert json.loads(Path("r.json").read_text())["summary"]["errors"] == 3
    assert [path.name for path in Path().iterdir() if "part" in path.name] == []


def test_a_report_in_a_folder_of_data_is_no_data(run: InProcess) -> None:
    """A second run does not validate the report that the first one wrote."""
    Path("schema.json").rename("../schema.json")
    arguments = ("validate", ".", "--schema", "../schema.json", "--report", "r.json")
    first, second = run(*arguments), run(*arguments)

    assert (second.code, second.out, second.err) == (1, first.out, first.err)
    assert len(json.loads(Path("r.json").read_text())["files"]) == 2


def test_reports_are_no_data_of_other_runs(run: InProcess) -> None:
    """A report in JSON Lines is passed over, and left out under any of its names."""
    Path("schema.json").rename("../schema.json")
    Path("sub").mkdir()
    arguments = ("validate", ".", "--schema", "../schema.json")
    first = run(*arguments, "--report", "sub/../r.jsonl")
    second = run(*arguments, "--report", "sub/../r.jsonl")
    third = run(*arguments, "--report", "../other.json")

    assert (second.out, second.err) == (first.out, first.err)
    assert (third.code, third.out.count("J114")) == (1, 1)
    assert "passed over: 1 harpia-formats report" in third.out


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (("validate", "--report"), "report"),
        (("convert", "--to", "record", "-o", "../o.jsonl", "--report"), "conversion"),
        (("diff", "--report"), "difference"),
        (("roundtrip", "--via", "csv", "--report"), "difference"),
        (("stats", "--report"), "statistics"),
        (("score", "-m", "em", "--report"), "score"),
        (("score", "compare", "-m", "em", "--report"), "comparison"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_reports_of_every_command_are_no_data(
    run: InProcess, command: tuple[str, ...], kind: str
) -> None:
    """A JSON report in a data folder is passed over, with a note on what it is."""
    Path("data").mkdir()
    row = '{"prompt": "p%d", "references": ["a"], "outputs": [{"text": "a"}]}\n'
    Path("data/a.jsonl").write_text(row % 1 + row % 2)
    Path("data/b.jsonl").write_text(row % 1 + row % 2)
    files = ["data/a.jsonl", "data/b.jsonl"]
    if command[0] not in {"diff", "score"}:
        files = files[:1]
    run(*command, "data/r.json", *files)
    found = run("validate", "data")
    again = run("stats", "data")

    assert json.loads(Path("data/r.json").read_bytes())
    assert (found.code, again.code) == (0, 0)
    assert "passed over: 1 harpia-formats " in found.out
    assert kind in found.out


def test_a_folder_with_the_report_alone_has_no_data(run: InProcess) -> None:
    """It is exit code 2, as for a folder without files."""
    Path("out").mkdir()
    run("validate", *ROWS, "--report", "out/r.json")
    found = run("validate", "out", "--report", "out/r.json")

    assert found.code == 2
    assert "out/r.json is written by this run and no data" in found.err.replace(":", "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kept", '{"id": 1}\n'),
        ("kept", '[\n  {"a": 1}\n]'),
        ("kept", '{\n "instances": []}'),
        ("kept.csv", "a,b\n"),
    ],
)
def test_a_report_replaces_no_data(name: str, text: str, run: InProcess) -> None:
    """A file that holds data stays as it is, and nothing is read."""
    Path(name).write_text(text)
    found = run("stats", "rows.jsonl", "--report", f"json={name}")

    assert (found.code, found.out) == (2, "")
    assert f"{name}: already exists and is no json report" in found.err
    assert Path(name).read_text() == text


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (["r.foo"], "r.foo: its suffix is that of no reporter (.json"),
        (["jsn=r.md"], "no reporter is called 'jsn'; did you mean json?"),
        (["json="], "'json=' names no file; write it as json=FILE"),
        (["json=-"], "a report is written to a file, and - is none"),
        (["no/r.json"], "cannot write no/r.json: its folder does not exist"),
        (["json=."], "cannot write .: is a folder"),
        (["json=rows.jsonl"], "cannot write rows.jsonl: is an input or an output"),
        (["r.json", "json=./r.json"], "is named for two outputs of one run"),
        (["https://h/r.json"], "http and https can only be read"),
    ],
)
def test_what_cannot_be_written_ends_the_run_before_it_begins(
    values: list[str], reason: str, run: InProcess
) -> None:
    """A report that cannot be written is exit code 2, and nothing is validated."""
    options = [word for value in values for word in ("--report", value)]
    found = run("validate", *ROWS, *options)

    assert (found.code, found.out) == (2, "")
    assert reason in found.err
    assert found.err.startswith("error: ")


def test_a_diff_has_no_report(run: InProcess) -> None:
    """--diff shows changes in the place of the report, so both are refused."""
    found = run("validate", *ROWS, "--diff", "--report", "r.json")

    assert found.code == 2
    assert "`--diff` and `--report` cannot be combined" in found.err


def test_settings_name_reports(data: Path, run: InProcess) -> None:
    """The setting `report` has paths from its folder, and the option wins over it."""
    settings = data / "harpia-formats.toml"
    settings.write_text('report = ["out/r.json", "jsonl=out/lines"]')
    (data / "out").mkdir()
    (data / "deep").mkdir()
    good = ("validate", "good.jsonl", "--schema", "schema.json")
    run(*good)
    run(*good, "--report", "other.json")

    names = sorted(path.name for path in (data / "out").iterdir())
    assert names == ["lines", "r.json"]
    assert (data / "other.json").exists()
    settings.write_text('report = ["r.foo"]')
    found = run(*good)
    assert found.code == 2
    assert "harpia-formats.toml: report: r.foo: its suffix" in found.err


def test_schema_check_takes_reports(run: InProcess) -> None:
    """`schema check` writes reports in the same way."""
    Path("s.json").write_text('{"type": "array", "properties": {}}')
    found = run("schema", "check", "s.json", "--lint", "--report", "r.json")

    written = json.loads(Path("r.json").read_text())
    assert found.code == 0
    assert written["files"][0]["path"] == "s.json"
    assert len(written["problems"]) == len(found.out.splitlines()) > 0


def test_a_report_is_written_to_a_store(run: InProcess) -> None:
    """A URL is written as other outputs are."""
    fsspec = pytest.importorskip("fsspec", reason="the extra remote is not installed")
    found = run("validate", *ROWS, "--report", "memory://reports/r.json.gz")
    data = gzip.decompress(fsspec.filesystem("memory").cat("/reports/r.json.gz"))

    assert found.code == 1
    assert json.loads(data)["summary"]["errors"] == 3


def test_only_some_reporters_write_other_results(run: InProcess) -> None:
    """A reporter of findings is refused for scores before anything is read."""
    found = run("score", "no-such-file.jsonl", "-m", "em", "--report", "r.sarif")

    assert found.code == 2
    assert "the reporter sarif writes the findings of a validation" in found.err
    assert "json, html, markdown" in found.err


def test_the_file_of_a_model_has_no_place_of_a_report(run: InProcess) -> None:
    """A model is called as the report is, and both are written."""
    row = {"id": "1", "prompt": "q", "outputs": [{"text": "r", "model": "report"}]}
    Path("rows.jsonl").write_text(json.dumps(row))
    words = ("convert", "rows.jsonl", "--to", "record", "-o", "{model}.json")
    found = run(*words, "--report", "report.json")

    assert found.code == 0
    assert json.loads(Path("report.json").read_text())["target"] == "record"
    assert json.loads(Path("report-2.json").read_text())[0]["id"] == "1"
    assert "are in report-2.json: report.json has another use" in found.err
