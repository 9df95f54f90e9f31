"""What a run writes for the CI job that it is a part of."""

from pathlib import Path

import pytest

from harpia_formats.cli import report as ci_job
from in_process import InProcess

ROWS = ("rows.jsonl", "--schema", "../schema.json", "--output-format", "github")


@pytest.fixture
def run(
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> InProcess:
    """Return what runs the command line in the folder `sub` of a repository."""
    (data / "sub").mkdir()
    (data / "rows.jsonl").rename(data / "sub" / "rows.jsonl")
    monkeypatch.chdir(data / "sub")
    for name in (*ci_job.ROOTS, ci_job.SUMMARY):
        monkeypatch.delenv(name, raising=False)
    return InProcess(monkeypatch, capfdbinary)


@pytest.mark.parametrize("name", ci_job.ROOTS)
def test_paths_start_at_the_root_of_the_repository(
    name: str, data: Path, run: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Annotations name files from the folder that the CI system names."""
    monkeypatch.setenv(name, str(data))
    found = run("validate", *ROWS)

    assert found.code == 1
    starts = [line.split(",")[0] for line in found.out.splitlines()]
    assert starts == ["::error file=sub/rows.jsonl"] * 2


def test_paths_start_at_the_working_folder(
    data: Path, run: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without such a folder, or outside of it, paths are those of the user."""
    monkeypatch.setenv(ci_job.ROOTS[0], str(data / "other"))
    found = run("validate", *ROWS)

    assert found.out.startswith("::error file=rows.jsonl,line=2,")


def test_the_report_is_appended_to_the_summary_of_the_job(
    data: Path, run: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The summary page gets the Markdown report behind what it has."""
    page = data / "summary.md"
    page.write_text("before\n")
    monkeypatch.setenv(ci_job.SUMMARY, str(page))
    found = run("validate", *ROWS)
    text = page.read_text()

    assert found.code == 1
    assert text.startswith("before\n### harpia-formats: not ok\n")
    assert "rows.jsonl:2:6" in text


@pytest.mark.parametrize(
    ("place", "note"),
    [
        ("no/summary.md", "note: no report in the summary of the job: "),
        ("full.md", "note: the file of GITHUB_STEP_SUMMARY is full"),
    ],
)
def test_a_summary_that_cannot_be_written_is_a_note(
    place: str,
    note: str,
    data: Path,
    run: InProcess,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The verdict is that of the data, and standard error says what is missing."""
    with (data / "full.md").open("wb") as file:
        file.truncate(ci_job.SUMMARY_BYTES - 10)
    monkeypatch.setenv(ci_job.SUMMARY, str(data / place))
    found = run("validate", *ROWS)

    assert found.code == 1
    assert note in found.err
    assert (data / "full.md").stat().st_size == ci_job.SUMMARY_BYTES - 10
