"""What a run writes for the CI job that it is a part of."""

from pathlib import Path

import pytest

from in_process import InProcess

#: The variables with the folder of the repository: of GitHub, GitLab and Azure.
ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY")
#: The variable with the file of the summary of GitHub, and the bytes it may have.
SUMMARY, SUMMARY_BYTES = "GITHUB_STEP_SUMMARY", 1024 * 1024
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
    for name in (*ROOTS, SUMMARY):
        monkeypatch.delenv(name, raising=False)
    return InProcess(monkeypatch, capfdbinary)


@pytest.mark.parametrize("name", ROOTS)
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
    monkeypatch.setenv(ROOTS[0], str(data / "other"))
    found = run("validate", *ROWS)

    assert found.out.startswith("::error file=rows.jsonl,line=2,")


def test_the_report_is_appended_to_the_summary_of_the_job(
    data: Path, run: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The summary page gets the Markdown report behind what it has."""
    page = data / "summary.md"
    page.write_text("before\n")
    monkeypatch.setenv(SUMMARY, str(page))
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
        file.truncate(SUMMARY_BYTES - 10)
    monkeypatch.setenv(SUMMARY, str(data / place))
    found = run("validate", *ROWS)

    assert found.code == 1
    assert note in found.err
    assert (data / "full.md").stat().st_size == SUMMARY_BYTES - 10
