"""`score --plan`, `--print-plan` and `--systems`, as a user runs them."""

import csv
import json
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft7Validator

import harpia_formats as hf
from fixture_files import schema_file, valid_files
from harpia_formats import HarpiaFormatsError, PlanError
from in_process import InProcess, completed_in
from json_lines import jsonl
from table_texts import form_text

SYSTEMS = ("Llama", "Qwen", "Mistral")
#: Of how many questions each benchmark is, and every which answer of a system is wrong.
BENCHMARKS = {"gsm8k": 40, "mmlu": 60}
WRONG = {"Llama": 2, "Qwen": 9, "Mistral": 7}
PLAN = """\
[systems]
Llama = "runs/llama/*.jsonl"
Qwen = ["runs/qwen/gsm8k.jsonl", "runs/qwen/mmlu.jsonl"]
Mistral = "runs/mistral"

[benchmarks.GSM8K]
files = "gsm8k*"
metrics = "em"

[benchmarks.MMLU]
files = "mmlu*"
metrics = ["em", "f1"]
"""


def rows(system: str, benchmark: str) -> str:
    """Return the answers of a system to a benchmark; Llama names its model."""
    model = {"model": "meta/Llama-3"} if system == "Llama" else {}
    found = [
        {
            "id": f"{benchmark}-{at}",
            "prompt": f"{at} of {benchmark}?",
            "references": [f"{at}"],
            "outputs": [{"text": f"{at}" if at % WRONG[system] else "no", **model}],
        }
        for at in range(BENCHMARKS[benchmark])
    ]
    return jsonl(*found).decode()


@pytest.fixture
def run(run_here: InProcess) -> InProcess:
    """Return what runs the command in a folder with a plan and its files."""
    for system in SYSTEMS:
        for benchmark in BENCHMARKS:
            path = Path(f"runs/{system.lower()}/{benchmark}.jsonl")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rows(system, benchmark), encoding="utf-8")
    Path("paper.toml").write_text(PLAN, encoding="utf-8")
    return run_here


def table_of(text: str) -> list[dict[str, str]]:
    """Return the rows of a table in CSV."""
    return [*csv.DictReader(text.splitlines())]


def table_by(run: InProcess, *words: object) -> list[dict[str, str]]:
    """Return the rows of the table in CSV that `score` prints."""
    return table_of(run("score", *words, "--output-format", "csv").out)


def refusal(run: InProcess, *words: object) -> str:
    """Return the error of a `score` that ends with 2 and prints nothing else."""
    result = run("score", *words)
    assert (result.code, result.out) == (2, "")
    return result.err


def write_records(name: str, *records: Mapping[str, Any]) -> None:
    """Write records as lines."""
    Path(name).write_bytes(jsonl(*records))


def record(name: str, models: str) -> dict[str, Any]:
    """Return a record of this name with a right answer of each model, "-" for none."""
    answers = [{"model": model.strip("-"), "text": "7"} for model in models]
    question = {"id": name, "prompt": f"{name}?", "references": ["7"]}
    return question | {"outputs": answers}


def test_a_plan_is_one_table_of_systems_by_benchmarks(run: InProcess) -> None:
    """Each system is a row, each score of a benchmark a column."""
    result = run("score", "--plan", "paper.toml")

    assert result.code == 0
    head, _, *body = result.out.splitlines()
    assert head.split("  ")[0] == "system"
    assert all(name in head for name in ("GSM8K (em)", "MMLU (em)", "MMLU (f1)"))
    assert [line.split()[0] for line in body[:3]] == [*SYSTEMS]
    below = result.out.partition("\n\n")[2].splitlines()
    assert len(below) <= 5


def test_scores_are_those_of_each_file_alone(run: InProcess) -> None:
    """The value, the interval and the signature are those that `score` gives a file."""
    for row in table_by(run, "--plan", "paper.toml"):
        path = f"runs/{row['system'].lower()}/{row['benchmark'].lower()}.jsonl"
        alone, *_ = table_by(run, path, "-m", row["metric"])
        same = ("value", "low", "high", "questions", "signature", "method")
        assert [row[key] for key in same] == [alone[key] for key in same]


def test_the_best_and_what_is_not_worse_are_marked(run: InProcess) -> None:
    """Marks are those of the corrected test across the systems of a benchmark."""
    found = table_by(run, "--plan", "paper.toml")
    best = {(row["system"], row["benchmark"]): row["is_best"] for row in found}

    assert best["Llama", "MMLU"] == "false"
    assert best["Qwen", "MMLU"] == best["Mistral", "MMLU"] == "true"
    files = [f"{name}=runs/{name.lower()}/mmlu.jsonl" for name in SYSTEMS]
    adjusted = {
        (row["system_first"], row["system_second"]): float(row["adjusted_p"])
        for row in table_by(run, "compare", *files, "-m", "em,f1")
    }
    assert adjusted["Llama", "Qwen"] < 0.05 <= adjusted["Qwen", "Mistral"]


def test_differences_are_distinguished_from_a_baseline(run: InProcess) -> None:
    """They are those of each other system minus the baseline, in a second table."""
    text = PLAN.replace("[systems]", 'baseline = "Qwen"\nmean = true\n[systems]', 1)
    Path("paper.toml").write_text(text, encoding="utf-8")
    result = run("score", "--plan", "paper.toml", "--output-format", "markdown")
    first, second = result.out.split("\n\n| system ")

    assert "| mean" in first
    assert [line.split("|")[1].strip() for line in second.splitlines()[2:4]] == [
        "Llama",
        "Mistral",
    ]
    found = table_by(run, "--plan", "paper.toml")
    values = {(row["system"], row["benchmark"], row["metric"]): row for row in found}
    one = values["Llama", "MMLU", "em"]
    other = values["Qwen", "MMLU", "em"]
    difference = float(one["value"]) - float(other["value"])
    assert float(one["difference"]) == pytest.approx(difference)
    assert float(one["difference_low"]) <= difference <= float(one["difference_high"])
    assert other["difference"] == ""


def test_json_follows_its_schema(run: InProcess) -> None:
    """It is the report that `--report` writes, and what Python returns."""
    validator = Draft7Validator(schema_file("benchmark-scores-1"))
    result = run(
        *("score", "--plan", "paper.toml", "--output-format", "json"),
        *("--report", "table.json"),
    )
    found = json.loads(result.out)

    assert result.out == Path("table.json").read_text(encoding="utf-8")
    assert validator.is_valid(found)
    same = hf.score_plan("paper.toml").to_dict()
    assert same["scores"] == found["scores"]
    plan = tomllib.loads(PLAN)
    assert hf.score_plan(plan).to_dict()["scores"] == found["scores"]


def test_options_of_the_command_line_replace_those_of_the_whole_plan(
    run: InProcess,
) -> None:
    """What a benchmark states stays; numbers of intervals and the form change."""
    words = ("--plan", "paper.toml", "--level", "0.8", "--missing", "zero")
    found = table_by(run, *words)

    assert {row["metric"] for row in found} == {"em", "f1"}
    assert all("level:0.8" in row["method"] for row in found)


def test_an_option_that_each_benchmark_states_is_refused(run: InProcess) -> None:
    """It would change nothing, in Python and on the command line."""
    result = run("score", "--plan", "paper.toml", "-m", "rouge1")

    assert (result.code, result.out) == (2, "")
    assert "states its own metrics: leave out `--metrics`" in result.err
    with pytest.raises(HarpiaFormatsError, match="states its own metrics"):
        hf.score_plan("paper.toml", metrics=["rouge1"])
    plan = PLAN.replace('metrics = "em"', "")
    Path("paper.toml").write_text(plan, encoding="utf-8")
    assert run("score", "--plan", "paper.toml", "-m", "rouge1").code == 0


def test_an_option_that_says_nothing_is_no_option_without_effect(
    run: InProcess,
) -> None:
    """In Python None, and an empty list of names, leave the plan as it is."""
    table = run("score", "--plan", "paper.toml", "--output-format", "json").out
    found = hf.score_plan("paper.toml", metrics=(), from_=None)

    assert found.to_dict() == json.loads(table)
    empty = {"systems": {"Llama": "runs/llama/mmlu.jsonl"}, "benchmarks": {"all": None}}
    assert hf.score_plan(empty, metrics=["em"]).ok


def test_a_system_of_no_benchmark_needs_no_files(run: InProcess) -> None:
    """The files of one whose answers are not there yet are not asked for."""
    plan = f'baseline = "Llama"\n{PLAN}'.replace(
        "\n[benchmarks.GSM8K]", 'Next = "runs/next/*"\n\n[benchmarks.GSM8K]'
    ).replace("files =", 'systems = ["Llama", "Qwen"]\nfiles =')
    Path("paper.toml").write_text(plan, encoding="utf-8")
    result = run("score", "--plan", "paper.toml", "--output-format", "csv")

    assert result.code == 0
    assert "2 files are of a system but of no benchmark: " in result.err


def test_files_that_no_benchmark_takes_are_named(run: InProcess) -> None:
    """Each form of the table, the report and the result say which are not read."""
    for name in ("llama", "mistral"):
        Path(f"runs/{name}/arc.jsonl").write_text("{", encoding="utf-8")
    note = "2 files are of a system but of no benchmark: "
    note += f"{Path('runs/llama/arc.jsonl')}, {Path('runs/mistral/arc.jsonl')}"
    for form in ("table", "csv"):
        words = ("--output-format", form, "--report", "html=page.html")
        result = run("score", "--plan", "paper.toml", *words)
        assert (result.code, note in result.err) == (0, True)
    assert note in Path("page.html").read_text(encoding="utf-8")
    for form in ("markdown", "latex", "json"):
        assert note in run("score", "--plan", "paper.toml", "--output-format", form).out
    assert note in hf.score_plan("paper.toml").notes


def test_a_printed_plan_gives_the_same_scores(run: InProcess) -> None:
    """`--print-plan` states what the command line means, for named and other files."""
    words = (
        *("Llama=runs/llama/*.jsonl", "Q=runs/qwen/*.jsonl", "runs/mistral/mmlu.jsonl"),
        *("-m", "em,bleu", "--param", "bleu.tokenizer=char", "--level", "0.9"),
    )
    systems = systems_of_one_table(run, *words)

    assert [*systems] == ["Llama", "Q", "mmlu.jsonl"]
    printed = tomllib.loads(Path("printed.toml").read_text(encoding="utf-8"))
    assert Draft7Validator(schema_file("score-plan-1")).is_valid(printed)


#: The parts of questions, and for each file the model, the part and the wrong answers
#: of some rows.
PARTS = (range(8), range(8, 20), range(20, 25))
ANSWERS: dict[str, list[tuple[str, int, int]]] = {
    "folder/x.jsonl": [("", 0, 1)],
    "folder/y.jsonl": [("", 0, 2)],
    "folder2/m.jsonl": [("m", 0, 3)],
    "folder2/z.jsonl": [("", 0, 4)],
    "p1.jsonl": [("", 0, 5)],
    "p2.jsonl": [("", 1, 6)],
    "p3.jsonl": [("", 2, 0)],
    "m.jsonl": [("m", 0, 7)],
    "k.jsonl": [("k", 0, 0)],
    "l/a.jsonl": [("", 0, 1)],
    "l/b.jsonl": [("", 1, 5)],
    "both.jsonl": [("m", 1, 9), ("k", 0, 2)],
    "lacking.jsonl": [("m", 0, 1), ("", 1, 12)],
    "mixed.jsonl": [("m", 0, 1), ("", 1, 2)],
}


@pytest.fixture
def run_answers(run: InProcess) -> InProcess:
    """Return what runs the command where `ANSWERS` are; `lacking.jsonl` lacks some."""
    for name, parts in ANSWERS.items():
        lines = []
        for model, part, wrong in parts:
            own = {"model": model} if model else {}
            is_missing = name == "lacking.jsonl" and not model
            for place, at in enumerate(PARTS[part]):
                output = {"text": "no" if place < wrong else f"{at}", **own}
                question = {"id": f"{at}", "prompt": f"{at}?", "references": [f"{at}"]}
                lines.append(question | {"outputs": [] if is_missing else [output]})
        Path(name).parent.mkdir(exist_ok=True)
        write_records(name, *lines)
    return run


@pytest.mark.parametrize(
    ("words", "systems"),
    [
        (["folder"], {"x.jsonl": ["folder/x.jsonl"], "y.jsonl": ["folder/y.jsonl"]}),
        (["folder", "--pool"], {"folder": ["folder"]}),
        (["folder", "--exclude", "y*"], {"folder": ["folder"]}),
        (["folder/*.jsonl", "m.jsonl"], None),
        (["folder2"], {"m": ["folder2/m.jsonl"], "z.jsonl": ["folder2/z.jsonl"]}),
        (["p1.jsonl", "p2.jsonl"], {"p1.jsonl": ["p1.jsonl", "p2.jsonl"]}),
        (["p1.jsonl", "p2.jsonl", "m.jsonl"], None),
        (["p1.jsonl", "p2.jsonl", "m.jsonl", "k.jsonl"], None),
        (["m.jsonl", "p2.jsonl"], {"m": ["m.jsonl", "p2.jsonl"]}),
        (["p1.jsonl", "m.jsonl"], {"p1.jsonl": ["p1.jsonl"], "m": ["m.jsonl"]}),
        (["L=l/*.jsonl", "p3.jsonl"], {"L": ["l/*.jsonl", "p3.jsonl"]}),
        (["L=l/*.jsonl", "p1.jsonl"], {"L": ["l/*.jsonl"], "p1.jsonl": ["p1.jsonl"]}),
        (["L=l/*.jsonl", "l/a.jsonl"], {"L": ["l/*.jsonl"]}),
        (["l/a.jsonl", "L=l/*.jsonl"], {"L": ["l/a.jsonl", "l/*.jsonl"]}),
        (["L=l/*.jsonl", "m.jsonl", "p2.jsonl"], None),
        (["both.jsonl", "m.jsonl"], None),
        (["both.jsonl", "m=m.jsonl"], None),
        (["m=p2.jsonl", "m.jsonl"], {"m": ["p2.jsonl", "m.jsonl"]}),
        (["m=p2.jsonl", "m.jsonl", "p1.jsonl"], None),
        (["p1.jsonl", "folder/x.jsonl", "--pool"], None),
        (["p1.jsonl", "folder/x.jsonl", "L=l/*.jsonl", "--pool"], None),
        (["p1.jsonl", "folder/x.jsonl", "m.jsonl", "m=p2.jsonl", "--pool"], None),
        (["lacking.jsonl"], {"m": ["lacking.jsonl"]}),
        (["mixed.jsonl"], {"m": ["mixed.jsonl"]}),
        (["--systems", "l", "folder2"], None),
        (["L=p1.jsonl", "M=p2.jsonl"], {"L": ["p1.jsonl"], "M": ["p2.jsonl"]}),
    ],
)
def test_a_command_line_and_its_plan_give_one_table(
    run_answers: InProcess, words: list[str], systems: dict[str, Any] | None
) -> None:
    """The systems are the same, whichever files hold them, and so are all columns."""
    found = systems_of_one_table(run_answers, *words, "-m", "em")

    if systems is not None:
        assert found == systems


def systems_of_one_table(run: InProcess, *words: str) -> dict[str, Any]:
    """Return the systems of the plan that a command line prints.

    It has the scores of the command line, and ends with the same exit code.
    """
    printed = run("score", *words, "--print-plan")
    Path("printed.toml").write_text(printed.out, encoding="utf-8")
    results = [
        run("score", *given, "--output-format", "csv")
        for given in (words, ("--plan", "printed.toml"))
    ]
    line, plan = (table_of(result.out) for result in results)
    assert results[0].code == results[1].code
    columns = sorted(line[0].keys() & plan[0].keys())
    assert {"value", "low", "answers", "unscored", "questions"} <= {*columns}
    of_line, of_plan = (
        sorted([row[key] for key in columns] for row in table) for table in (line, plan)
    )
    assert of_plan == of_line
    names = {row["model"] for row in line if "model" in row} - {"(none)"}
    assert names <= {row["system"] for row in plan}
    systems: dict[str, Any] = tomllib.loads(printed.out)["systems"]
    return systems


def test_a_plan_of_systems_without_a_common_question_says_so(run: InProcess) -> None:
    """Their scores are those of the command line, and a note says what is not there."""
    words = ("L=runs/llama/gsm8k.jsonl", "M=runs/qwen/mmlu.jsonl", "-m", "em")
    systems_of_one_table(run, *words)
    found = run("score", "--plan", "printed.toml")

    assert found.code == 0
    assert "no difference is tested: no question is in both inputs" in found.err
    assert "Nothing is bold" in found.out
    result = hf.score_plan("printed.toml", jobs=1)
    assert result.ok
    assert [row["is_best"] for row in result.table()] == [None, None]


@pytest.mark.parametrize(
    ("words", "systems"),
    [
        ([], {"strict.jsonl": ["strict.jsonl"], "loose.jsonl": ["loose.jsonl"]}),
        (["--pool"], {"strict.jsonl": ["strict.jsonl", "loose.jsonl"]}),
    ],
)
@pytest.mark.parametrize(
    "metric",
    [
        ["-m", "em"],
        ["--profile=lm-eval", "--metrics=exact_match"],
        [
            "--profile=lm-eval",
            "--metrics=exact_match",
            "--param=exact_match.filter=strict",
        ],
    ],
)
def test_a_file_of_answers_that_another_file_holds_has_a_system(
    run: InProcess, words: list[str], systems: dict[str, Any], metric: list[str]
) -> None:
    """So it is where both files name no model, and hold what other filters kept."""
    samples = next(
        path for path in valid_files("lm-eval-samples") if "two-filters" in path.name
    )
    lines = samples.read_text(encoding="utf-8").splitlines(keepends=True)
    for name in ("strict", "loose"):
        own = "".join(one for one in lines if json.loads(one)["filter"] == name)
        Path(f"{name}.jsonl").write_text(own, encoding="utf-8")
    files = ("strict.jsonl", "loose.jsonl")

    assert systems_of_one_table(run, *files, *words, *metric) == systems


def stored_row(at: int, value: float | None, **names: str) -> dict[str, Any]:
    """Return a record whose answer has a stored score, none for None."""
    scores = [] if value is None else [{"metric": "acc", "value": value}]
    output = {"text": "a", **names, "scores": scores}
    return {"id": f"{at}", "prompt": f"{at}?", "outputs": [output]}


@pytest.mark.parametrize(
    ("files", "systems"),
    [
        (["mixed.jsonl"], {"m": ["mixed.jsonl"]}),
        (["m.jsonl", "k.jsonl"], {"m": ["m.jsonl"], "k": ["k.jsonl"]}),
        (["mixed.jsonl", "k.jsonl"], {"m": ["mixed.jsonl"], "k": ["k.jsonl"]}),
        (["letters.jsonl", "k.jsonl"], {"n": ["letters.jsonl"], "k": ["k.jsonl"]}),
    ],
)
def test_a_plan_of_stored_scores_gives_the_table_of_the_command_line(
    run: InProcess, files: list[str], systems: dict[str, Any]
) -> None:
    """An answer without a score or a model is of no system; none need be comparable."""
    scored = [stored_row(at, at % 2, model="m") for at in range(6)]
    others = [stored_row(at, at % 3 / 2, model="k") for at in range(6)]
    letters = [stored_row(at, None, model="n") for at in range(6)]
    for row in letters:
        row["outputs"][0]["scores"] = [{"metric": "grade", "value": None}]
    write_records("m.jsonl", *scored)
    write_records("k.jsonl", *others)
    write_records("mixed.jsonl", *scored, *(stored_row(at, None) for at in range(6, 9)))
    write_records("letters.jsonl", *letters)

    assert systems_of_one_table(run, *files, "--stored") == systems


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["m=p1.jsonl", "both.jsonl"], "give the file another name"),
        (["m=k.jsonl", "m.jsonl"], "give the file another name"),
        (["lacking.jsonl", "k.jsonl"], "holds answers with and without a model"),
        (["mixed.jsonl", "A=k.jsonl"], "holds answers with and without a model"),
        (["mixed.jsonl", "p2.jsonl"], "holds answers with and without a model"),
        # The file of a folder that names no model may be a system of its own.
        (["mixed.jsonl", "folder"], "holds answers with and without a model"),
        (["folder", "p2.jsonl"], "name the system of each with `NAME=FILE`"),
        (["M=both.jsonl", "p1.jsonl"], "the files of M hold answers of"),
        (["M=typo.jsonl", "p1.jsonl"], "typo.jsonl"),
    ],
)
def test_a_plan_that_would_give_another_table_is_refused(
    run_answers: InProcess, words: list[str], reason: str
) -> None:
    """So it is where a plan has no place for a system, or `score` has no table."""
    assert reason in refusal(run_answers, *words, "-m", "em", "--print-plan")


def test_each_folder_is_a_system(run: InProcess) -> None:
    """`--systems` takes folders or a pattern of them, by their names."""
    by_shell = run("score", "--systems", "runs/llama", "runs/qwen/", "-m", "em")
    by_us = run("score", "--systems", "runs/[lq]*", "-m", "em")

    assert (by_shell.code, by_us.code) == (0, 0)
    assert by_shell.out == by_us.out
    lines = by_shell.out.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["llama", "qwen"]
    assert "takes folders" in refusal(run, "--systems", "paper.toml", "-m", "em")


def test_a_name_stands_for_the_only_model_of_its_files(run: InProcess) -> None:
    """Of two models in the files of one name it is an error, also from workers."""
    words = ("A=runs/llama/*.jsonl", "-m", "em")
    assert run("score", *words).code == 0
    text = rows("Llama", "mmlu").replace("meta/Llama-3", "other")
    Path("runs/llama/other.jsonl").write_text(text, encoding="utf-8")

    assert "hold answers of" in refusal(run, *words)
    assert "Llama-3" not in refusal(run, *words, "--redact")


@pytest.mark.usefixtures("run")
def test_models_in_one_file_have_names() -> None:
    """A system may be one model of a file with several."""
    first = rows("Llama", "mmlu")
    second = first.replace("meta/Llama-3", "other").replace('"no"', '"1"')
    Path("both.jsonl").write_text(first + second, encoding="utf-8")
    models = {"A": "meta/Llama-3", "B": "other"}
    systems = {
        name: {"files": "both.jsonl", "model": model} for name, model in models.items()
    }
    found = hf.score_plan({"systems": systems, "metrics": ["em"]})

    assert found.systems == ("A", "B")
    assert [row["questions"] for row in found.table()] == [60, 60]


def test_a_model_in_several_files_is_one_system(run: InProcess) -> None:
    """Its answers in all of its files are scored together, as without a plan."""
    for benchmark in BENCHMARKS:
        first = rows("Llama", benchmark)
        second = first.replace("meta/Llama-3", "other").replace('"no"', '"1"')
        Path(f"{benchmark}.jsonl").write_text(first + second, encoding="utf-8")
        Path(f"only-{benchmark}.jsonl").write_text(second, encoding="utf-8")

    found = systems_of_one_table(run, "gsm8k.jsonl", "mmlu.jsonl", "-m", "em")
    assert [*found] == ["meta/Llama-3", "other"]
    # The second file is of both systems, and the others of one each.
    files = {
        "meta/Llama-3": ["runs/llama/gsm8k.jsonl", "mmlu.jsonl"],
        "other": ["mmlu.jsonl", "only-gsm8k.jsonl"],
    }
    systems = {
        name: {"files": files[model], "model": model}
        for name, model in zip("AB", files, strict=True)
    }
    table = hf.score_plan({"systems": systems, "metrics": ["em"]}).table()
    assert [row["questions"] for row in table] == [100, 100]


@pytest.mark.usefixtures("run")
def test_a_row_of_another_model_is_no_missing_answer() -> None:
    """Only a row that may hold several answers lacks that of the model."""
    system = {"files": "both.csv", "model": "m"}
    plan = {"systems": {"A": system}, "metrics": ["em"], "missing": "zero"}
    lines = [f"{at},q{at},{at}a,{model},{at}a" for model in "mx" for at in (1, 2)]
    header = "id,prompt,references,model,response"
    Path("both.csv").write_text("\n".join([header, *lines, ""]), encoding="utf-8")
    (row,) = hf.score_plan(plan).table()
    assert (row["value"], row["questions"]) == (1.0, 2)
    other = {"systems": {"A": {**system, "model": "m9"}}, "missing": "zero"}
    with pytest.raises(hf.ScoreError, match=r"^b: no answer of A is of m9"):
        hf.score_plan({**other, "benchmarks": {"b": {"metrics": ["em"]}}})
    two = {"A": {**system, "model": "m9"}, "B": {**system, "model": "m8"}}
    with pytest.raises(hf.ScoreError, match=r"files: A \(model m9\), B \(model m8\)"):
        hf.score_plan({**plan, "systems": two})

    write_records("both.jsonl", *(record(model, model) for model in "mx"))
    plan["systems"] = {"A": {**system, "files": "both.jsonl"}}
    (row,) = hf.score_plan(plan).table()
    assert (row["value"], row["questions"]) == (0.5, 2)


@pytest.mark.usefixtures("run")
def test_a_missing_answer_is_of_the_only_system_of_its_file() -> None:
    """So it is where its file is read together with others that share the system."""
    write_records("a.jsonl", record("a0", "m"), record("a1", ""))
    write_records("both.jsonl", record("b0", "mx"), record("b1", "mx"))
    first = {"files": ["a.jsonl", "both.jsonl"], "model": "m"}
    other = {"files": "both.jsonl", "model": "x"}

    def found(**systems: Any) -> list[tuple[Any, ...]]:
        plan = {"systems": systems, "metrics": ["em"], "missing": "zero"}
        keys = ("system", "value", "questions")
        return [tuple(row[key] for key in keys) for row in hf.score_plan(plan).table()]

    assert found(A=first) == [("A", 0.75, 4)]
    assert found(A=first, B=other) == [("A", 0.75, 4), ("B", 1.0, 2)]
    third = {**other, "model": "m"}
    with pytest.raises(hf.ScoreError, match="no answer of A is of m9"):
        found(A={**first, "model": "m9"}, B=other, C=third)


def test_a_missing_answer_of_several_systems_has_advice_for_plans(
    run: InProcess,
) -> None:
    """It counts for none of those of its file, and the error names a key of plans."""
    write_records("both.jsonl", record("0", "mx"), record("1", "mx"), record("2", ""))
    plan = (
        'metrics = "em"\nmissing = "zero"\n[systems]\n'
        'A = { files = "both.jsonl", model = "m" }\n'
        'B = { files = "both.jsonl", model = "x" }\n'
    )
    Path("paper.toml").write_text(plan, encoding="utf-8")
    advice = 'count for none of A, B: leave them out with `missing = "skip"`'
    assert advice in refusal(run, "--plan", "paper.toml")

    Path("paper.toml").write_text(plan.replace("zero", "skip"), encoding="utf-8")
    found = table_by(run, "--plan", "paper.toml")
    assert [row["questions"] for row in found] == ["2", "2"]


REFUSED: Mapping[str, tuple[str, str]] = {
    "no systems": ('metrics = ["em"]\n', "names no system"),
    "a key that is not there": (PLAN + "metric = 1\n", "did you mean metrics?"),
    "a metric that is not there": (PLAN.replace('"em"', '"emm"'), "emm"),
    "an unknown baseline": (f'baseline = "llama"\n{PLAN}', "did you mean Llama?"),
    "a benchmark without files": (
        PLAN.replace('files = "mmlu*"\n', ""),
        "needs `files`",
    ),
    "a file that is not there": (
        PLAN.replace("runs/mistral", "runs/other"),
        "runs/other",
    ),
    "no file of a system": (
        PLAN.replace('"mmlu*"', '"mmlu-pro*"'),
        "no file of Llama is of MMLU",
    ),
    "a wrong type": (PLAN.replace('"gsm8k*"', "3"), "benchmarks.GSM8K.files"),
    "a table in a parameter": (
        f"parameters.em.scale.of = 1\n{PLAN}",
        "parameters.em.scale: must be a text, a number, a boolean or a list of these",
    ),
    "metrics below the systems": (
        '[systems]\nA = "runs/qwen"\nmetrics = ["em"]\n',
        "3: systems.metrics: names no file (",
    ),
    "a system like an option, without its file": (
        '[systems]\nlevel = "level/*.jsonl"\n',
        "), and is a key of the whole plan: write it above",
    ),
    "parameters below the systems": (
        '[systems]\nA = "runs/qwen"\nparameters.f1.normalisation = "squad"\n',
        "systems.parameters: names no file, and is a key of the whole plan",
    ),
    "a level below a benchmark": (
        f"{PLAN}level = 0.9\n",
        "benchmarks.MMLU.level: is a key of the whole plan: write it above",
    ),
    "a list in a list": (
        f"parameters.em.scale = [[1]]\n{PLAN}",
        "parameters.em.scale: must be a text",
    ),
    "a number out of range": (f"level = 2.0\n{PLAN}", "level"),
    "no TOML": (PLAN + "[", "is not TOML"),
    "a mean over scales": (
        "mean = true\n" + PLAN.replace('metrics = "em"', 'metrics = "bleu"'),
        "no mean over scores of different scales or directions",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_plan_is_refused(run: InProcess, case: str) -> None:
    """The error names the file and the reason, and nothing is printed or written."""
    text, reason = REFUSED[case]
    Path("paper.toml").write_text(text, encoding="utf-8")

    assert reason in refusal(run, "--plan", "paper.toml", "--report", "out.json")
    assert not Path("out.json").exists()


def test_the_first_of_several_mistakes_is_reported(run: InProcess) -> None:
    """Which one it is does not depend on the hashes of keys."""
    wrong = {"level": 7, "replicates": "x", "seed": [1], "metrics": 3, "jobs": "y"}
    for first in wrong:
        names = [first, *(name for name in wrong if name != first)]
        lines = [f"{name} = {json.dumps(wrong[name])}\n" for name in names]
        Path("paper.toml").write_text("".join(lines) + PLAN, encoding="utf-8")

        assert f"paper.toml:1: {first}: " in run("score", "--plan", "paper.toml").err


def test_lines_of_mistakes_are_reported(run: InProcess) -> None:
    """A wrong key is placed at its line."""
    Path("paper.toml").write_text(PLAN + 'metricz = "em"\n', encoding="utf-8")
    with pytest.raises(PlanError, match=r"paper\.toml:13"):
        hf.score_plan("paper.toml")
    assert run("score", "--plan", "paper.toml").code == 2


@pytest.mark.parametrize(
    "words", [["runs/llama/mmlu.jsonl"], ["--to", "nemo-results"], ["--by", "category"]]
)
def test_a_plan_stands_alone(run: InProcess, words: list[str]) -> None:
    """Files, results of vendors and groups are refused with a plan."""
    assert "leave out" in refusal(run, "--plan", "paper.toml", *words)


def test_invalid_rows_are_found_and_no_table_is_printed(run: InProcess) -> None:
    """As of any other run, exit code 1, and without a table that lacks answers."""
    path = Path("runs/llama/mmlu.jsonl")
    path.write_text(path.read_text(encoding="utf-8") + "{\n", encoding="utf-8")
    result = run("score", "--plan", "paper.toml")

    assert result.code == 1
    assert "J102" in result.err
    assert result.out == ""


def test_invalid_rows_of_the_only_system_are_in_the_report(run: InProcess) -> None:
    """One system ends as several do: exit code 1, and a report that is not ok."""
    path = Path("runs/qwen/mmlu.jsonl")
    path.write_text(path.read_text(encoding="utf-8") + "{\n", encoding="utf-8")
    plan = f'metrics = ["em"]\n[systems]\nQwen = "{path.as_posix()}"\n'
    Path("one.toml").write_text(plan, encoding="utf-8")
    words = ("score", "--plan", "one.toml", "--report", "out.json")
    result = run(*words, "--output-format", "json")

    assert result.code == 1
    assert "J102" in result.err
    assert json.loads(result.out)["ok"] is False
    assert result.out == Path("out.json").read_text(encoding="utf-8")
    with pytest.raises(hf.ValidationFailed):
        hf.score_plan("one.toml")


def test_notes_of_the_only_system_are_printed(run: InProcess) -> None:
    """They are those of a run without a plan, as of several systems."""
    files = {one: f"runs/{one.lower()}/mmlu.jsonl" for one in ("Qwen", "Llama")}
    path = Path(files["Qwen"])
    lacking = {"id": "none", "prompt": "?", "references": ["1"], "outputs": []}
    text = path.read_text(encoding="utf-8") + json.dumps(lacking) + "\n"
    path.write_text(text, encoding="utf-8")
    note = "1 missing answers count as 0"
    for names in (["Qwen"], ["Qwen", "Llama"]):
        systems = {name: files[name] for name in names}
        plan = {"systems": systems, "metrics": ["em"], "missing": "zero"}
        (found,) = hf.score_plan(plan).notes
        assert found.endswith(note)
    system = f'[systems]\nQwen = "{path.as_posix()}"\n'
    lines = f'metrics = ["em"]\nmissing = "zero"\n{system}'
    Path("one.toml").write_text(lines, encoding="utf-8")
    assert note in run("score", "--plan", "one.toml").err


def document(tables: str) -> str:
    """Return a document of LaTeX with text that is 160 mm wide."""
    return (
        "\\documentclass[10pt]{article}\n"
        "\\usepackage[a4paper,textwidth=160mm,textheight=240mm]{geometry}\n"
        "\\usepackage{booktabs,longtable}\n\\begin{document}\n"
        f"{tables}\n\\end{{document}}\n"
    )


@pytest.mark.long  # it compiles many tables
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.usefixtures("run")
def test_latex_fits_the_page(tmp_path: Path) -> None:
    """Six long names and eight benchmarks compile without an overfull box."""
    names = [f"organisation_name-of-a-model-7B-it-{at:04}" for at in range(6)]
    given: dict[str, Any] = {
        "systems": {name: f"runs/qwen/../{name}" for name in names},
        "benchmarks": {
            f"Benchmark-{at} v{at}": {"files": f"b{at}*"} for at in range(8)
        },
        "metrics": ["em"],
        "baseline": names[0],
        "mean": True,
    }
    for at, name in enumerate(names):
        for number in range(8):
            path = tmp_path / "runs" / name / f"b{number}.jsonl"
            path.parent.mkdir(exist_ok=True)
            text = rows(SYSTEMS[at % 3], "mmlu")
            path.write_text(text.replace('"model": "meta/Llama-3"', '"index": 0'))
    found = hf.score_plan(given)
    text = document(form_text("latex", found))
    Path("table.tex").write_text(text, encoding="utf-8")
    compiled = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "table.tex"],  # noqa: S607 - as installed
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stdout[-2000:]
    assert "Overfull" not in compiled.stdout


@pytest.mark.usefixtures("run")
def test_a_system_without_an_answer_is_an_error() -> None:
    """A model that no file has, or one that two systems are, is no empty cell."""
    Path("both.jsonl").write_text(rows("Llama", "mmlu"), encoding="utf-8")
    one = {"files": "both.jsonl", "model": "meta/Llama-3"}
    other = {"files": "runs/qwen/mmlu.jsonl"}
    missing = {"A": {**one, "model": "m9"}, "B": other}
    with pytest.raises(hf.ScoreError, match="no answer of A is of m9"):
        hf.score_plan({"systems": missing, "metrics": ["em"]})
    alone = {"systems": {"A": missing["A"]}, "metrics": ["em"], "missing": "zero"}
    with pytest.raises(hf.ScoreError, match="no answer of A is of m9"):
        hf.score_plan(alone)
    several = {f"S{at}": {**one, "model": f"m{at}"} for at in range(7)}
    named = r"S0 \(model m0\), .*, S4 \(model m4\) and 2 more$"
    for more in ({}, {"A": one}, {"B": other}):
        with pytest.raises(hf.ScoreError, match=rf"in their files: {named}"):
            hf.score_plan({"systems": {**several, **more}, "metrics": ["em"]})
    with pytest.raises(hf.ScoreError, match="is a file of B and of another"):
        hf.score_plan({"systems": {"A": one, "B": one}, "metrics": ["em"]})


@pytest.mark.parametrize(
    ("systems", "reason"),
    [
        ({"": "runs/qwen"}, "has no name"),
        ({1: "runs/qwen"}, "a name that is no text"),
        ({"A": "runs/qwen", "mean": True}, "write it above"),
    ],
)
@pytest.mark.usefixtures("run")
def test_systems_have_names(systems: dict[Any, Any], reason: str) -> None:
    """What cannot be the name of a system is refused."""
    with pytest.raises(PlanError, match=reason):
        hf.score_plan({"systems": systems, "metrics": ["em"]})


@pytest.mark.parametrize(
    "word",
    [
        *("--redact", "--model=m", "--min-records=3", "--by=category", "--overwrite"),
        *("--to=nemo-results", "--output=x", "--config=x.json", "--name=task=x"),
        *("--set=score=1", "--skip-unrecognised", "--encoding=latin-1"),
        "--stdin-filename=a.jsonl",
    ],
)
def test_what_a_plan_cannot_follow_is_refused(run: InProcess, word: str) -> None:
    """No option is passed over, neither with a plan nor by one that is printed."""
    for words in (("--plan", "paper.toml"), ("-", "--print-plan")):
        error = refusal(run, *words, word)
        assert f"leave out `{word.partition('=')[0]}`" in error


def test_marks_are_for_csv_only(run: InProcess) -> None:
    """`--csv-safe` needs a table in CSV, and no plan states it."""
    words = ("--plan", "paper.toml", "--csv-safe")

    assert "`--csv-safe` is for `--output-format csv`" in refusal(run, *words)
    assert run("score", *words, "--output-format", "csv").code == 0
    refusal(run, "runs/qwen/mmlu.jsonl", "--print-plan", "--csv-safe")


def test_a_system_may_be_called_like_an_option(run: InProcess) -> None:
    """A plan that is printed can be read whatever its systems are called."""
    named = ("baseline=runs/llama/mmlu.jsonl", "seed=runs/qwen/mmlu.jsonl")

    assert [*systems_of_one_table(run, *named, "-m", "em")] == ["baseline", "seed"]
    text = {"systems": {"metrics": "runs/qwen/mmlu.jsonl"}, "metrics": ["em"]}
    assert hf.score_plan(text).systems == ("metrics",)


@pytest.mark.parametrize("key", ["report", "plot", "output-format", "with", "exclude"])
def test_a_key_whose_value_is_a_file_is_no_system(run: InProcess, key: str) -> None:
    """Below `systems` it is refused although the file is there; a table is a system."""
    file = "runs/qwen/mmlu.jsonl"
    for value in (f'"{file}"', f'["{file}"]', '"nothing.html"'):
        text = f'metrics = "em"\n[systems]\nQ = "{file}"\n{key} = {value}\n'
        Path("below.toml").write_text(text, encoding="utf-8")
        error = refusal(run, "--plan", "below.toml")
        assert f"below.toml:4: systems.{key}: is a key of the whole plan" in error
        assert "write it above the first section" in error
    systems = {"L": ["runs/llama/mmlu.jsonl"], key: {"files": [file]}}
    words = ("L=runs/llama/mmlu.jsonl", f"{key}={file}", "-m", "em")
    assert systems_of_one_table(run, *words) == systems


@pytest.mark.usefixtures("run")
def test_a_system_may_be_called_as_answers_that_name_no_model() -> None:
    """One that is called `(none)` has its scores, alone and next to another one."""
    files = {"(none)": "runs/qwen/mmlu.jsonl", "L": "runs/llama/mmlu.jsonl"}
    alone = hf.score_plan({"systems": {"Q": files["(none)"]}, "metrics": ["em"]})
    (expected,) = (row["value"] for row in alone.table())
    for systems in ({"(none)": files["(none)"]}, files):
        found = hf.score_plan({"systems": systems, "metrics": ["em"]}).table()
        assert [row["system"] for row in found] == [*systems]
        assert found[0]["value"] == expected


def test_no_plan_is_printed_of_files_that_cannot_be_read(run: InProcess) -> None:
    """It ends as a run without it does: no system is left out without a word."""
    named = ("runs/qwen/mmlu.jsonl", "typo.jsonl", "-m", "em")
    missing, alone = refusal(run, *named, "--print-plan"), refusal(run, *named)

    (line,) = [one for one in alone.splitlines() if "typo.jsonl" in one]
    assert line in missing.splitlines()
    Path("bad.jsonl").write_text("{\n" + rows("Llama", "mmlu"), encoding="utf-8")
    words = ("score", "bad.jsonl", "runs/qwen/mmlu.jsonl", "-m", "em", "--print-plan")
    invalid = run(*words)
    assert (invalid.code, invalid.out) == (1, "")
    assert "J102" in invalid.err
    skipped = run(*words, "--on-invalid", "skip")
    assert skipped.code == 0
    systems = tomllib.loads(skipped.out)["systems"]
    assert [*systems] == ["meta/Llama-3", "mmlu.jsonl"]


def test_no_plan_is_printed_without_a_system(run: InProcess) -> None:
    """Without records or a name it is refused; a file without answers is a system."""
    words = ("-m", "em", "--from", "record", "--on-invalid", "skip")
    Path("empty.jsonl").write_text("", encoding="utf-8")
    for more in ([], ["--print-plan"]):
        error = refusal(run, "empty.jsonl", *words, *more)
        assert "there are no records to score" in error
    write_records("none.jsonl", record("1", ""))
    printed = run("score", "none.jsonl", *words, "--print-plan")
    assert tomllib.loads(printed.out)["systems"] == {"none.jsonl": ["none.jsonl"]}
    write_records("nameless.jsonl", record("1", "-"))
    error = refusal(run, "nameless.jsonl", *words, "--print-plan")
    assert "the name of a model is empty" in error


def test_a_plan_ends_as_the_command_line_that_it_is_of(run: InProcess) -> None:
    """What `score` refuses has no plan, and a file that is not read is no success."""
    asked = {"id": "1", "prompt": "q", "ideal_response": "a", "category": "c"}
    write_records("asked.jsonl", asked)
    for words in (
        ["-m", "nothing"],
        ["--stored", "--missing", "zero"],
        ["-m", "em", "--report", "out.xyz"],
        ["-m", "em", "--plot", "nowhere/scores.svg"],
        ["asked.jsonl", "-m", "em"],
        ["asked.jsonl", "--stored"],
    ):
        given = ("runs/llama/mmlu.jsonl", "runs/qwen/mmlu.jsonl", *words)
        alone = run("score", *given)
        assert refusal(run, *given, "--print-plan") == alone.err
    Path("a.csv").write_text("id,prompt,references,response\n1,q,a,a\n", "utf-8")
    Path("b.csv").write_text("id;prompt;references;response\n1;q;a;a\n", "utf-8")
    given = ("score", "a.csv", "b.csv", "-m", "em", "--on-invalid", "skip")
    alone, printed = run(*given), run(*given, "--print-plan")
    assert (alone.code, printed.code) == (1, 1)
    assert "J307" in printed.err


def test_a_picture_that_no_plan_draws_is_refused(run: InProcess) -> None:
    """So it is before a plan is printed, and nothing is written."""
    words = ("runs/qwen/mmlu.jsonl", "-m", "mcc", "--print-plan", "--report", "r.html")
    error = refusal(run, *words, "--plot", "confusion=cells.svg")

    assert "draws no picture called 'confusion'" in error
    assert run("score", *words, "--plot", "scores.svg").code == 0
    assert not any(map(Path.exists, map(Path, ("r.html", "scores.svg"))))


def test_a_plan_without_replicates_has_scores_alone(run: InProcess) -> None:
    """It is the table of the command line, and a note says what is not there."""
    words = ("L=runs/llama/mmlu.jsonl", "M=runs/qwen/mmlu.jsonl", "-m", "em")
    systems_of_one_table(run, *words, "--replicates", "0")
    found = run("score", "--plan", "printed.toml")

    assert (found.code, "◆" in found.out) == (0, False)
    assert "no difference is tested: a comparison needs replicates" in found.err


def test_standard_input_is_a_file_of_a_plan(run: InProcess, tmp_path: Path) -> None:
    """Its answers have the scores that they have in a file."""
    words = ("runs/qwen/mmlu.jsonl", "-m", "em", "--output-format", "csv")
    (expected,) = table_of(run("score", *words).out)
    plan = '[systems]\nQ = "-"\n[benchmarks.b]\nmetrics = "em"\n'
    Path("piped.toml").write_text(plan, encoding="utf-8")
    piped = completed_in(
        tmp_path,
        *("score", "--plan", "piped.toml", "--output-format", "csv"),
        variables={},
        stdin=rows("Qwen", "mmlu").encode(),
    )

    assert piped.returncode == 0
    (found,) = table_of(piped.stdout.decode())
    assert (found["system"], found["value"]) == ("Q", expected["value"])


def test_patterns_of_a_plan_are_those_of_the_command_line(run: InProcess) -> None:
    """They are about paths below the folder that a system names."""
    expected = run("score", "--plan", "paper.toml", "--output-format", "csv")
    old = Path("runs/mistral/old/mmlu-1.jsonl")
    old.parent.mkdir()
    old.write_text(rows("Qwen", "mmlu"), encoding="utf-8")
    words = ("score", "--plan", "paper.toml", "--output-format", "csv")
    by_option = run(*words, "--exclude", "old/*.jsonl")
    text = f'exclude = ["old/*.jsonl"]\n{PLAN}'
    Path("paper.toml").write_text(text, encoding="utf-8")
    by_plan = run(*words)

    for found in (by_option, by_plan):
        assert (found.code, found.out) == (0, expected.out)
        assert "left out by `--exclude`: 1 file\n" in found.err
        assert "matches no file" not in found.err
    assert "'no*'` matches no file" in run(*words, "--exclude", "no*").err
    nothing = run(*words, "--exclude", "*.jsonl")
    assert (nothing.code, nothing.out) == (2, "")
    assert "all files are left out" in nothing.err


def test_a_note_says_which_system_lacks_a_question_and_why(run: InProcess) -> None:
    """One row that is skipped takes away the marks of a benchmark."""
    path = Path("runs/qwen/mmlu.jsonl")
    _, *rest = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(["{", *rest]), encoding="utf-8")
    words = ("score", "--plan", "paper.toml", "--on-invalid", "skip")
    result = run(*words, "--output-format", "markdown")

    assert (
        "MMLU: Qwen has no score for 1 question of other systems: 1 invalid row of its "
        "files was left out."
    ) in result.out
    assert "Llama has no" not in result.out


def test_counts_of_a_benchmark_are_those_of_all_its_systems(run: InProcess) -> None:
    """Where systems differ, a note has the least and the greatest count of them."""
    path = Path("runs/mistral/mmlu.jsonl")
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(first) | {"outputs": [{"text": None}]}
    path.write_text("\n".join([json.dumps(row), *rest]), encoding="utf-8")
    files = (f"runs/{name}/mmlu.jsonl" for name in ("llama", "qwen", "mistral"))
    form = ("--output-format", "markdown")
    plan = run("score", "--plan", "paper.toml", *form).out.splitlines()
    compared = run("score", "compare", *files, "-m", "em", *form).out.splitlines()

    assert "- Questions: GSM8K 40, MMLU 59 to 60." in plan
    assert "- Answers left out: GSM8K 0, MMLU 0 to 1." in plan
    assert "- Questions: 59 to 60." in compared


def test_a_note_claims_no_more_than_is_known_of_missing_scores(run: InProcess) -> None:
    """A null answer and a broken row explain two of the questions that a file lacks."""
    path = Path("runs/qwen/mmlu.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[0])
    for output in row["outputs"]:
        output["text"] = None
    path.write_text("\n".join([json.dumps(row), "{", *lines[6:]]), encoding="utf-8")
    words = ("score", "--plan", "paper.toml", "--on-invalid", "skip")
    result = run(*words, "--output-format", "markdown")

    assert (
        "MMLU: Qwen has no score for 6 questions of other systems: 1 of its answers "
        "could not be scored; 1 invalid row of its files was left out; its "
        "files do not have at least 4 of them."
    ) in result.out


def test_p_values_are_adjusted_for_the_pairs_that_are_tested(run: InProcess) -> None:
    """With a baseline these are its pairs, which the notes say."""
    files = [f"{name}=runs/{name.lower()}/mmlu.jsonl" for name in SYSTEMS]
    words = ("score", "compare", *files, "-m", "em", "--output-format", "markdown")
    every, some = run(*words).out, run(*words, "--baseline", "Llama").out

    assert every.count("by Holm for all pairs and scores") == 1
    assert every.count("by Holm for all pairs of systems and scores") == 1
    assert some.count("by Holm for all pairs with Llama and scores") == 2
