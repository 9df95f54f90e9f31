"""Values of options: what each accepts, and how others are refused."""

import json
from pathlib import Path

import pytest

from in_process import InProcess
from json_lines import jsonl, jsonl_rows

ROW = {"id": "1", "prompt": "q", "references": ["r"], "outputs": [{"text": "r"}]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder with a record, and with a table, the working folder."""
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_bytes(jsonl(ROW))
    Path("t.csv").write_text("frage,antwort\nq,r\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("validate a.jsonl --jobs=-1", "--jobs: '-1' is neither a number nor auto"),
        ("validate a.jsonl --jobs 1.5", "neither a number nor auto"),
        ("validate a.jsonl --jobs many", "neither a number nor auto"),
        ("validate a.jsonl --jobs=", "neither a number nor auto"),
        ("convert a.jsonl --to record --turns lsat", "is not one of these; did you "),
        ("stats a.jsonl --on-invalid fial", "did you mean fail?"),
        ("stats a.jsonl --on-invalid quarantine", "is not one of fail, skip"),
        ("convert a.jsonl --to record --map prompt", "write it as FIELD=COLUMN"),
        ("convert a.jsonl --to record --set score", "write it as FIELD=VALUE"),
        ("convert a.jsonl --to record --set =1", "write it as FIELD=VALUE"),
        ("convert a.jsonl --to record --set=", "`--set` "),
        ("score a.jsonl --param em.references=\udcff", "'\\udcff' is not UTF-8"),
        (f"validate a.jsonl --jobs {'9' * 5000}", "--jobs: '9"),
        (
            "score a.jsonl --to nemo-results --name job=\udcff",
            "--name` job: '\\udcff' is not UTF-8",
        ),
        (
            "convert a.jsonl --to record --set score=1 --set score=2",
            "score is set already",
        ),
    ],
)
def test_wrong_values_are_refused(words: str, message: str, run: InProcess) -> None:
    """The error names what is wrong, and what was probably meant, or all choices."""
    found = run(*words.split())

    assert (found.code, found.out) == (2, "")
    assert found.err.startswith("error: ")
    assert message in found.err


@pytest.mark.parametrize("count", ["auto", "0", "3"])
def test_worker_count_is_a_number_or_auto(count: str, run: InProcess) -> None:
    """Each of them gives the report that is printed without it."""
    words = ("validate", "a.jsonl", "--from", "nemo-output")

    assert run(*words, "--jobs", count) == run(*words)


def test_values_are_split_at_commas(run: InProcess) -> None:
    """Values may be repeated, joined by commas, or both; empty ones are dropped."""
    words = ("score", "a.jsonl", "--output-format", "json")
    printed = run(*words, "-m", "em,f1", "-m", ",accuracy,").out
    (system,) = json.loads(printed)["systems"]

    assert [one["metric"] for one in system["scores"]] == ["em", "f1", "accuracy"]


def test_columns_are_read_from_all_values(run: InProcess) -> None:
    """The column of each field may be in one value or in several."""
    words = ("convert", "t.csv", "--to", "record", "-q")
    one = run(*words, "--map", "prompt=frage,references=antwort")
    several = run(*words, "--map", "prompt=frage", "--map", "references=antwort")

    assert one == several
    assert jsonl_rows(one.out)[0]["references"] == ["r"]


def test_constants_are_read_from_all_values(run: InProcess) -> None:
    """A value may hold an equals sign."""
    words = ("convert", "a.jsonl", "--to", "nemo-output", "--container", "lines")
    found = run(*words, "--set", "llm_name=a=b", "--set", "input.category=c")
    (row,) = jsonl_rows(found.out)

    assert (row["llm_name"], row["input"]["category"]) == ("a=b", "c")
