"""No command replaces a file that it reads by a file that it writes."""

import json
from pathlib import Path

import pytest

from harpia_formats.reporters import REPORTERS
from in_process import InProcess

FIXTURES = Path(__file__).parents[3] / "fixtures"
ROWS = "".join(
    json.dumps(
        {"prompt": f"p{n}", "ideal_response": "r", "actual_response": "r", "n": n}
    )
    + "\n"
    for n in range(3)
)
QUARANTINE = "--to harpia -o o.jsonl --on-invalid quarantine"


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> InProcess:
    """Return what runs the command line in a folder with data and other files."""
    monkeypatch.chdir(tmp_path)
    Path("d").mkdir()
    for name in ("a.jsonl", "d/1.jsonl", "d/2.jsonl"):
        Path(name).write_text(ROWS)
    Path("link.jsonl").symlink_to("a.jsonl")
    Path("s.json").write_text('{"type": "object"}')
    Path("p.toml").write_text(
        '[datasets.x]\nfiles = "a.jsonl"\nschema = "s.json"\nmin-records = 1\n'
    )
    return InProcess(monkeypatch, capfdbinary)


def _contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*.*")}


@pytest.mark.parametrize(
    "words",
    [
        "validate d --report json=d/1.jsonl",
        "validate d/*.jsonl --report jsonl=d/1.jsonl",
        "validate d --report full=d/1.jsonl",
        "validate a.jsonl --schema s.json --report json=s.json",
        "validate a.jsonl --schema s.json --fix -o s.json --overwrite",
        "validate a.jsonl --report sarif=link.jsonl",
        "stats a.jsonl --report json=d/1.jsonl",
        "score d -m em --report markdown=d/1.jsonl",
        "score d -m em --to csv -o d/1.jsonl --overwrite",
        "score compare a.jsonl d -m em --report html=d/1.jsonl",
        "diff a.jsonl d --report json=d/2.jsonl",
        "roundtrip d --via harpia --report json=d/2.jsonl",
        "schema check s.json --report junit=d/2.jsonl",
        "preflight p.toml --report json=s.json",
        "preflight p.toml --report full=p.toml",
        "preflight --init d -o d/1.jsonl --overwrite",
        "convert d --to harpia -o d/1.jsonl --overwrite",
        "convert a.jsonl d/1.jsonl --to harpia -o a.jsonl --overwrite",
        "convert d/?.jsonl --to harpia -o d/1.jsonl --overwrite",
        "convert d --to harpia -o o.jsonl --loss-report d/1.jsonl --overwrite",
        f"convert d {QUARANTINE} --quarantine d/1.jsonl --overwrite",
        "convert d --to harpia -o o.jsonl --report json=d/1.jsonl",
        "merge d -o d/1.jsonl --overwrite",
        "merge d/[12].jsonl -o d/2.jsonl --overwrite",
        "head link.jsonl -n 1 -o a.jsonl --overwrite",
        "split a.jsonl --valid v.jsonl --schema s.json --findings s.json --overwrite",
        "schema infer d -o d/1.jsonl --overwrite",
    ],
)
def test_no_output_replaces_what_is_read(words: str, run: InProcess) -> None:
    """It is exit code 2 before anything is written, and the file is named."""
    before = _contents()
    found = run(*words.split())

    assert (found.code, found.out) == (2, "")
    assert "cannot write " in found.err
    assert _contents() == before


def test_one_file_of_a_folder_is_no_output(run: InProcess) -> None:
    """`head` and `sample` take a folder of one file, which they do not replace."""
    Path("d/2.jsonl").unlink()
    for words in (("sample", "d", "1"), ("head", "d", "-n", "1")):
        found = run(*words, "-o", "d/1.jsonl", "--overwrite")
        assert found.code == 2
        assert "cannot write d/1.jsonl: is an input, too" in found.err
    assert Path("d/1.jsonl").read_text() == ROWS


def test_a_document_that_the_run_finds_is_no_output(
    run: InProcess,
) -> None:
    """What stands next to the samples of an lm-eval run is read, and stays."""
    samples, results = Path("samples_t_2024.jsonl"), Path("results_2024.json")
    valid = "valid/two-filters-and-repeats.jsonl"
    samples.write_bytes((FIXTURES / "lm-eval-samples" / valid).read_bytes())
    first = min((FIXTURES / "lm-eval-results" / "valid").glob("*.json"))
    results.write_bytes(first.read_bytes())
    words = ("--to", "harpia", "--ids", "number", "-o", str(results), "--overwrite")
    found = run("convert", str(samples), *words)

    assert found.code == 2
    assert "is an input, too: results_2024.json, which the run found" in found.err
    assert results.read_bytes() == first.read_bytes()


def test_a_file_that_is_left_out_may_be_an_output(run: InProcess) -> None:
    """What --exclude leaves out of a folder is not read."""
    words = ("convert", "d", "--to", "harpia", "-o", "d/2.jsonl", "--overwrite")
    assert run(*words, "--exclude", "2.jsonl").code == 0


def test_hard_links_are_one_file(run: InProcess) -> None:
    """A file is known by each of its names, which the message gives."""
    Path("b.jsonl").hardlink_to("a.jsonl")
    found = run("merge", "a.jsonl", "d", "-o", "b.jsonl", "--overwrite")

    assert found.code == 2
    assert "cannot write b.jsonl: is an input, too (a.jsonl)" in found.err
    assert Path("a.jsonl").read_text() == ROWS


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("name", REPORTERS)
def test_each_reporter_knows_its_reports(
    name: str, empty: bool, run: InProcess
) -> None:
    """The report of the last run is replaced, with and without findings in it."""
    schema = ("--schema", "s.json") if empty else ()
    arguments = ("validate", "a.jsonl", *schema, "--report", f"{name}=r.out")
    first, report = run(*arguments), Path("r.out").read_bytes()
    second = run(*arguments)

    assert (first.code, second.code) == (0, 0)
    assert Path("r.out").read_bytes() == report


@pytest.mark.parametrize(
    "words",
    [
        "stats a.jsonl",
        "score a.jsonl -m em",
        "score compare a.jsonl d/1.jsonl -m em",
        "diff a.jsonl d/1.jsonl",
        "roundtrip a.jsonl --via harpia",
        "convert a.jsonl --to harpia -o o.jsonl --overwrite",
        "preflight p.toml",
    ],
)
def test_reports_of_other_results_are_known(words: str, run: InProcess) -> None:
    """Each command replaces its reports of the last run."""
    names = ("json", "html", "markdown")
    options = [word for name in names for word in ("--report", f"{name}=r.{name}")]
    first, second = (run(*words.split(), *options) for _ in range(2))

    assert (second.code, second.err) == (first.code, first.err)
    assert first.code in {0, 1}
    assert Path("r.json").exists()


def test_another_file_is_no_report(run: InProcess) -> None:
    """Data of the user is not replaced by a report, but an empty file is."""
    Path("keep.jsonl").write_text('{"mine": 1}\n')
    Path("empty.json").touch()
    found = run("stats", "a.jsonl", "--report", "json=keep.jsonl")
    assert found.code == 2
    assert "cannot write keep.jsonl: already exists and is no json report" in (
        found.err
    )
    assert run("stats", "a.jsonl", "--report", "json=empty.json").code == 0
