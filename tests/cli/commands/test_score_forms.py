"""`--output-format` of `score`, as a user runs it."""

import csv
import json
from pathlib import Path

import pytest
from jsonschema_rs import Draft7Validator

from fixture_files import schema_file
from in_process import InProcess
from model_answers import model_answers


@pytest.fixture
def run(run_here: InProcess) -> InProcess:
    """Return what runs the command in a folder with answers of two models."""
    models = ("secret-a", "=secret-b")
    text = model_answers(models, range(1, 9), lambda one, at: one % (at + 2) != 0)
    Path("a.jsonl").write_text(text, encoding="utf-8")
    Path("bad.jsonl").write_text(text + "{\n", encoding="utf-8")
    return run_here


SCORE = ("score", "a.jsonl", "-m", "em,f1")


def test_the_table_for_people_is_the_default(run: InProcess) -> None:
    """Asked for by its name it is the same."""
    assert run(*SCORE) == run(*SCORE, "--output-format", "table")


def test_json_follows_its_schema(run: InProcess) -> None:
    """It is the report that `--report` writes, also where an input cannot be read."""
    validator = Draft7Validator(schema_file("scores-1"))
    result = run(*SCORE, "--output-format", "json", "--report", "scores.json")
    assert (result.code, result.out) == (
        0,
        Path("scores.json").read_text(encoding="utf-8"),
    )
    assert validator.is_valid(json.loads(result.out))

    broken = run("score", "bad.jsonl", "-m", "em", "--output-format", "json")
    found = json.loads(broken.out)
    assert (broken.code, found["ok"]) == (1, False)
    assert validator.is_valid(found)


def test_markdown_is_in_the_report_of_markdown(run: InProcess) -> None:
    """Both are written by the same code."""
    result = run(*SCORE, "--output-format", "markdown", "--report", "scores.md")

    assert result.code == 0
    assert Path("scores.md").read_text(encoding="utf-8").endswith(f"\n\n{result.out}")


def test_nothing_is_printed_of_an_input_that_cannot_be_read(run: InProcess) -> None:
    """The exit code is 1, and there is no half of a table."""
    for form in ("csv", "markdown", "latex"):
        result = run("score", "bad.jsonl", "-m", "em", "--output-format", form)
        assert (result.code, result.out) == (1, "")


def test_marks_for_spreadsheets_need_csv(run: InProcess) -> None:
    """`--csv-safe` marks names in CSV, and is refused where there is none."""
    words = (*SCORE, "--csv-safe", "--output-format")
    result = run(*words, "csv")
    lines = csv.DictReader(result.out.splitlines())
    assert {line["model"] for line in lines} == {"secret-a", "'=secret-b"}
    refused = run(*words, "latex")
    assert (refused.code, refused.out) == (2, "")
    assert "`--to csv` and `--output-format csv`" in refused.err


def test_the_table_goes_to_standard_error_next_to_results(run: InProcess) -> None:
    """What goes to standard output is one thing."""
    alone = run(*SCORE, "--output-format", "latex")
    with_results = run(*SCORE, "--output-format", "latex", "--to", "record")

    assert alone.out in with_results.err
    assert json.loads(with_results.out.splitlines()[0])["id"] == "1"


@pytest.mark.parametrize("form", ["json", "csv", "markdown", "latex"])
def test_no_form_shows_values_if_asked_not_to(run: InProcess, form: str) -> None:
    """Names of models are numbers with `--redact`."""
    result = run(*SCORE, "--output-format", form, "--redact", "--by", "model")

    assert "secret" not in result.out + result.err
    assert "model 1" in result.out


def test_comparisons_have_the_same_forms(run: InProcess) -> None:
    """JSON follows its schema, and the other forms have the tables and no values."""
    validator = Draft7Validator(schema_file("score-comparison-1"))
    words = ("score", "compare", "a.jsonl", "-m", "em", "--output-format")
    found = run(*words, "json")
    assert (found.code, validator.is_valid(json.loads(found.out))) == (0, True)
    assert run(*words, "markdown").out.count("\n| --- |") == 2
    assert run(*words, "csv").out.startswith("metric,name,system_first,")
    shown = run(*words, "latex", "--redact").out
    assert "model 1" in shown
    assert "secret" not in shown
    assert run(*words, "latex", "--csv-safe").code == 2
    assert "needs `--stored`" in run(*words, "markdown", "--force").err


def test_questions_for_a_difference_are_in_every_form(run: InProcess) -> None:
    """With `--detect`, each form has how many detect it, as the text table says."""
    words = ("score", "compare", "a.jsonl", "-m", "em", "--detect", "0.25")
    shown = {
        form: run(*words, "--output-format", form, "--report", "r.html").out
        for form in ("table", "json", "csv", "markdown", "latex")
    }
    found = json.loads(shown["json"])
    assert Draft7Validator(schema_file("score-comparison-1")).is_valid(found)
    (row,) = found["compared"]
    needed = row["questions_needed"]

    assert (found["detect"], needed > row["questions"]) == (0.25, True)
    assert f"and {needed} one of 0.25\n" in shown["table"]
    (line,) = csv.DictReader(shown["csv"].splitlines())
    assert line["questions_needed"] == str(needed)
    for form in ("markdown", "latex"):
        assert "Needed: how many questions detect a difference of 0.25" in shown[form]
        assert f" {needed} " in shown[form]
    page = Path("r.html").read_text(encoding="utf-8")
    assert "Needed: how many questions detect a difference of 0.25" in page
    assert "needed" not in run(*words[:-2], "--output-format", "latex").out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ["compare", "a.jsonl", "--model", "no"],
            "no answer is of the model 'no'; the",
        ),
        (
            ["compare", "a.jsonl", "a.jsonl", "--baseline", "no"],
            "no system is called 'no'; the names",
        ),
        (
            ["compare", "a.jsonl", "--model", "secret-a"],
            "there are only answers of one system, and",
        ),
        (["a.jsonl", "--model", "no"], "no answer is of the model 'no'; the models"),
        (["a.jsonl", "--to", "eee", "-o", "x.json"], "give `--output NAME_samples"),
    ],
)
def test_errors_without_values_say_what_is_wrong(
    run: InProcess, words: list[str], reason: str
) -> None:
    """With `--redact` only the names of other models are left out of the message."""
    found = run("score", *words, "-m", "em", "--redact")

    assert (found.code, found.out) == (2, "")
    assert reason in found.err
    assert "secret-b" not in found.err


def test_a_comparison_that_cannot_be_read_is_no_table(run: InProcess) -> None:
    """The exit code is 1, and only JSON has a report on the inputs."""
    words = ("score", "compare", "bad.jsonl", "a.jsonl", "-m", "em")
    for form in ("table", "csv", "markdown", "latex"):
        found = run(*words, "--output-format", form)
        assert (found.code, found.out) == (1, "")
    read = json.loads(run(*words, "--output-format", "json").out)
    assert (read["ok"], read["compared"]) == (False, [])
