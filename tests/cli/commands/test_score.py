"""`harpia-formats score` and `score compare`, as a user runs them."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

import command_runs
from command_runs import Result
from harpia_formats import metric_names
from in_process import InProcess, completed_in
from json_lines import jsonl

ROWS = (
    ("capital of France?", "Paris", "The Paris", "geography"),
    ("2+2?", "4", "It is 4", "sums"),
    ("3+3?", "6", "6", "sums"),
)
#: Runs `harpia-formats score` with arguments.
run = partial(command_runs.run, "score", timeout=60, environment={"TERM": "dumb"})
#: The metrics of the group `f1-label`.
LABEL_METRICS = (
    *("precision", "recall", "f1-macro", "f1-micro", "f1-weighted", "mcc", "kappa"),
)


def answers_as_lines(rows: tuple[tuple[str, str, str, str], ...] = ROWS) -> bytes:
    """Return rows of NeMo."""
    found = [
        {
            "input": {
                "prompt": prompt,
                "ideal_response": reference,
                "category": category,
                "source": "",
            },
            "response": answer,
            "llm_name": "m",
        }
        for prompt, reference, answer, category in rows
    ]
    return jsonl(*found)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with answers."""
    (tmp_path / "runs.jsonl").write_bytes(answers_as_lines())
    return tmp_path


def table_of(result: Result) -> list[list[str]]:
    """Return the cells of the table that was printed."""
    lines = result.stdout.decode().split("\n\n")[0].splitlines()
    return [line.split() for line in (lines[0], *lines[2:])]


def compare(folder: Path, first: bytes, second: bytes, *words: object) -> Result:
    """Return what `score compare` gives for two files, by exact match by default."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    (folder / "a.jsonl").write_bytes(first)
    (folder / "b.jsonl").write_bytes(second)
    given = ("a.jsonl", "b.jsonl", *(() if "-m" in words else ("-m", "em")), *words)
    return completed_in(folder, "score", "compare", *map(str, given), variables={})


def test_scores_are_a_table(data: Path) -> None:
    """Scores and their signatures go to standard output, and the exit code is 0."""
    result = run("runs.jsonl", "--metrics", "em,f1", "--replicates", 0, cwd=data)

    assert (result.returncode, result.stderr) == (0, b"")
    assert table_of(result) == [
        ["metric", "score", "answers"],
        ["em", "0.6667", "3"],
        ["f1", "0.8333", "3"],
    ]
    assert b"signature: em|impl:harpia-formats-" in result.stdout


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (("-m", "em", "--to", "haystack-results"), "em (haystack)"),
        (("-m", "em", "--to", "csv", "--param", "em.references=first"), "em"),
        (("-m", "em", "--to", "haystack-results", "--profile", "default"), "em"),
        (("--to", "haystack-results"), "em"),
    ],
)
def test_definition_of_a_target_is_named(
    options: tuple[str, ...], name: str, data: Path
) -> None:
    """The table names a definition that the user may not expect, and a line says it."""
    result = run("runs.jsonl", *options, "-o", "out", cwd=data)
    text = result.stderr
    row = text.decode().splitlines()[2]

    assert result.returncode == 0
    assert row.split("   ")[0].strip() == name
    assert (b"em is computed as in the profile haystack" in text) == (name != "em")


def test_groups_are_lines(data: Path) -> None:
    """Each group has its lines, and all answers together come last."""
    result = run(
        "runs.jsonl", "-m", "em", "--by", "category", "--replicates", 0, cwd=data
    )

    assert table_of(result)[1:] == [
        ["geography", "em", "1.0000", "1"],
        ["sums", "em", "0.5000", "2"],
        ["(all)", "em", "0.6667", "3"],
    ]


def test_standard_input_is_scored() -> None:
    """Without a file standard input is read."""
    result = run("-m", "em", "--replicates", 0, stdin=answers_as_lines())

    assert result.returncode == 0
    assert table_of(result)[1] == ["em", "0.6667", "3"]


def test_results_are_written_and_never_overwritten(data: Path) -> None:
    """Results go to a file, the table to standard error, and a file stays as it is."""
    words = ("runs.jsonl", "-m", "em", "--to", "nemo-results", "-o", "out.json")

    first = run(*words, cwd=data)
    written = (data / "out.json").read_bytes()
    second = run(*words, cwd=data)
    third = run(*words, "--overwrite", cwd=data)

    assert (first.returncode, first.stdout) == (0, b"")
    assert b"out.json: written" in first.stderr
    assert json.loads(written)
    assert second.returncode == 2
    assert b"--overwrite" in second.stderr
    assert third.returncode == 0
    assert (data / "out.json").read_bytes() == written


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "em", "--to", "nemo-result"], "did you mean nemo-results?"),
        (["-m", "em", "--param", "em.scale"], "METRIC.NAME=VALUE"),
        (["-m", "em", "--model", "n"], "no answer is of the model 'n'"),
        (["-m", "em", "--to", "csv", "--name", "job=x"], "no place for job"),
        (["-m", "em", "missing.jsonl"], "does not exist"),
        (["--overwrite"], "`--overwrite` needs a result format"),
        (["--stored", "--skip-unknown"], "leave out `--skip-unknown`"),
        (["--stored", "--reference-from", "gt"], "leave out `--reference-from gt`"),
    ],
)
def test_usage_error_is_one_line(data: Path, words: list[str], message: str) -> None:
    """A usage error is one line on standard error, with exit code 2."""
    result = run("runs.jsonl", *words, cwd=data)

    assert result.returncode == 2
    assert message in result.stderr.decode()
    assert result.stdout == b""
    assert b"Traceback" not in result.stderr


def test_an_invalid_row_ends_it_unless_it_is_skipped(data: Path) -> None:
    """A row that is not valid is printed with its place; to skip it is no failure."""
    (data / "runs.jsonl").write_bytes(answers_as_lines() + b'{"input": 7}\n')

    broken = run("runs.jsonl", "-m", "em", cwd=data)
    left = run("runs.jsonl", "-m", "em", "--on-invalid", "skip", cwd=data)

    assert broken.returncode == 1
    assert b"runs.jsonl:4:" in broken.stderr
    assert broken.stdout == b""
    assert left.returncode == 0
    assert b"runs.jsonl:4:" in left.stderr
    assert b"1 invalid row was left out" in left.stderr
    assert table_of(left)[1][:2] == ["em", "0.6667"]


def test_records_without_a_verdict_are_not_skipped(data: Path) -> None:
    """With --on-invalid skip, a file of no known format is still a failure."""
    (data / "more").mkdir()
    (data / "more" / "runs.jsonl").write_bytes(answers_as_lines())
    (data / "more" / "unknown.json").write_text('{"prompt": 5}')

    result = run("more", "-m", "em", "--on-invalid", "skip", cwd=data)

    assert result.returncode == 1
    assert b"S301" in result.stderr


def test_nothing_is_left_of_results_that_fail(data: Path) -> None:
    """If a row is not valid, no result is written."""
    (data / "runs.jsonl").write_bytes(answers_as_lines() * 200 + b'{"input": 7}\n')

    result = run("runs.jsonl", "-m", "em", "--to", "record", "-o", "o.jsonl", cwd=data)

    assert result.returncode == 1
    assert [each.name for each in data.iterdir()] == ["runs.jsonl"]


def test_two_systems_are_compared(tmp_path: Path) -> None:
    """Both scores, their difference and the p-value are printed for each metric."""
    wrong = tuple((*row[:2], "no", row[3]) for row in ROWS)
    result = compare(tmp_path, answers_as_lines(), answers_as_lines(wrong))

    assert (result.returncode, result.stderr) == (0, b"")
    head, row = table_of(result)
    assert head == ["metric", "A", "B", "A", "-", "B", "interval", "p", "questions"]
    assert row[:4] == ["em", "0.6667", "0.0000", "+0.6667"]
    assert row[-1] == "3"


def test_stored_scores_need_equal_signatures(data: Path) -> None:
    """Scores with different signatures are compared only with --force."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    common = ("runs.jsonl", "-m", "em", "--to", "record")
    run(*common, "-o", "a.jsonl", cwd=data)
    run(*common, "-o", "b.jsonl", "--param", "em.normalisation=none", cwd=data)
    words = ("compare", "a.jsonl", "b.jsonl", "--stored")

    refused = run(*words, cwd=data)
    forced = run(*words, "--force", cwd=data)
    alike = run("compare", "a.jsonl", "a.jsonl", "--stored", cwd=data)

    assert refused.returncode == 2
    assert b"do not prove that it was computed the same way" in refused.stderr
    assert forced.returncode == 0
    assert alike.returncode == 0


def answered(count: int, right: int, answers: int = 1, **more: object) -> bytes:
    """Return records, the first of which are answered rightly."""
    rows = [
        {
            "id": f"q{number}",
            "prompt": f"what is {number}?",
            "references": [str(number)],
            "outputs": [{"model": "m", "text": str(number) if number < right else "?"}]
            * answers,
        }
        | more
        for number in range(count)
    ]
    return jsonl(*rows)


def test_intervals_name_their_method_and_what_is_approximate() -> None:
    """Thirty right answers of thirty are not certain, and the interval has a mark."""
    result = run("-m", "em", stdin=answered(30, 30))

    assert table_of(result)[1] == ["em", "1.0000", "0.8776", "to", "1.0000", "*", "30"]
    assert result.stdout.decode().splitlines()[-2:] == [
        "intervals of em: wilson|number:effective|quantile:t|unit:question|level:0.95",
        "* few failures: the interval is approximate",
    ]


def test_questions_are_counted_where_they_have_several_answers() -> None:
    """A column has the number of questions if it is not that of answers."""
    result = run("-m", "em", "--replicates", 0, stdin=answered(30, 30, 10))

    assert table_of(result) == [
        ["metric", "score", "questions", "answers"],
        ["em", "1.0000", "30", "300"],
    ]


def test_one_question_has_no_interval() -> None:
    """Many answers to one question have no interval, and the table says so."""
    result = run("-m", "em", stdin=answered(1, 1, 10))

    assert b"one question has no interval" in result.stdout


def test_a_comparison_names_its_tests_and_draws(tmp_path: Path) -> None:
    """Level, replicates, seed and test are printed, and the least p-value as such."""
    both, words = (answered(40, 40), answered(40, 10)), ("-m", "em,f1", "--detect", 0.1)
    drawn, exact = (
        compare(tmp_path, *both, *words, *more).stdout.decode()
        for more in (("--test", "bootstrap"), ())
    )

    assert "p   p (Holm)   questions" in drawn
    assert "≤ 0.001    ≤ 0.002" in drawn
    assert (
        "tests of em, f1: bootstrap|unit:question|replicates:1000|seed:12345" in drawn
    )
    assert (
        "intervals of em, f1: bootstrap|limits:percentiles|unit:question|level:0.95"
        "|replicates:1000|seed:12345\n"
    ) in drawn
    assert "tests of em, f1: permutation|unit:question|exchanges:all\n" in exact
    assert "< 0.0001" in exact
    single = "in a single test, without Holm's correction\n"
    assert f"differences detected: with p below 0.05 {single}" in exact
    assert (
        "em: 40 questions detect a difference of 0.2146 with 80 % power, and 173 one "
        "of 0.1\n"
    ) in exact


def test_left_out_answers_are_shown_on_each_side(tmp_path: Path) -> None:
    """Answers without a score are counted by side, or score 0 on request."""
    missing = answered(30, 30).replace(b'"text": "2', b'"text": null, "error": "2')
    left, zero = (
        compare(tmp_path, answered(30, 30), missing, *words)
        for words in ((), ("--missing", "zero"))
    )

    assert table_of(left)[0][-6:] == ["left", "out", "A", "left", "out", "B"]
    assert table_of(left)[1][:3] == ["em", "1.0000", "1.0000"]
    assert table_of(left)[1][-3:] == ["19", "0", "11"]
    assert table_of(zero)[0][-1] == "questions"
    assert table_of(zero)[1][:4] == ["em", "1.0000", "0.6333", "+0.3667"]
    assert table_of(zero)[1][-1] == "30"
    assert b"second input: 11 missing answers count as 0" in zero.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--test", "mcnemar"], "is gone; use `--test permutation`"),
        (["--test", "student"], "is called 'student' (known: permutation, bootstrap"),
        (["--detect", "-1"], "above 0, at least 1e-09, and not -1"),
        (["--detect", "0"], "above 0, at least 1e-09, and not 0"),
        (["--detect", "1e-300"], "at least 1e-09"),
        (["--detect", "1.5"], "larger than the scale of em, which is 0 to 1"),
        (["--missing", "no"], "'no' is not one of skip, zero"),
    ],
)
def test_a_comparison_that_is_not_possible_is_refused(
    tmp_path: Path, words: list[str], message: str
) -> None:
    """An option that does not fit is one line on standard error, with exit code 2."""
    result = compare(tmp_path, answered(9, 5, 2), answered(9, 5, 2), *words)

    assert (result.returncode, result.stdout) == (2, b"")
    assert message in result.stderr.decode()


def test_other_questions_under_the_same_ids_are_refused(tmp_path: Path) -> None:
    """If no question matches, nothing is compared, and the reason is given."""
    others = answered(30, 0).replace(b"what is", b"and")
    result = compare(tmp_path, answered(30, 30), others)

    assert (result.returncode, result.stdout) == (2, b"")
    assert b"30 with the same id have another prompt" in result.stderr


def test_all_metrics_are_listed(tmp_path: Path, run_here: InProcess) -> None:
    """Each has a name and a definition; `--help` has those that most runs need."""
    listed = run_here("score", "--list-metrics").out
    help_ = " ".join(run("--help", cwd=tmp_path).stdout.decode().split())

    names = metric_names()
    more = ("f1-label", "documents", "sas", "bertscore", "nemo-sdk", "lm-eval")
    assert len(set(names)) == len(names) > 40
    for name in (*names, *more):
        # Those of a tool stand with its profile.
        is_of_tool = name.startswith(("lm-eval-", "inspect-"))
        line = rf"\({name}\)" if is_of_tool else rf"^  {re.escape(name)} +\S.{{10}}"
        assert re.search(line, listed, re.MULTILINE), name
    usual, _, _ = help_.partition("METRICS Metrics, comma-separated: ")[2].partition(
        ", and more by `score --list-metrics`"
    )
    assert {*usual.split(", ")} - {"f1-label", "documents"} <= {*names}
    assert len(usual.split(", ")) == 14


def test_a_group_is_the_metrics_in_it(tmp_path: Path) -> None:
    """Its scores and signatures are those of its metrics, in their order."""
    (tmp_path / "a.jsonl").write_bytes(answered(9, 5))

    words = ["a.jsonl", "--output-format", "csv", "-m"]
    group, each = (
        run(*words, names, cwd=tmp_path).stdout
        for names in ("f1-label", ",".join(LABEL_METRICS))
    )

    assert group == each
    assert len(group.splitlines()) == 1 + len(LABEL_METRICS)
