"""Results of lm-evaluation-harness, and the samples next to them."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

import harpia_formats
from cases import for_each_case
from corpora import CORPORA
from harpia_formats import CompanionError, convert, diff, read, validate
from json_lines import jsonl, jsonl_rows

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "fixtures/lm-eval-samples/valid/two-filters-and-repeats.jsonl"
RESULTS = ROOT / "fixtures/lm-eval-results/valid/results.json"
FILES = CORPORA / "neighbours" / "lm-eval"
DATE = "2026-01-02T03-04-05.000006"
NAME = f"samples_capitals_{DATE}.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with samples and their results, as the tool names them."""
    shutil.copy(SAMPLES, tmp_path / NAME)
    shutil.copy(RESULTS, tmp_path / f"results_{DATE}.json")
    return tmp_path


def models_in(*inputs: Any, **options: Any) -> set[Any]:
    """Return the models of the records of inputs."""
    found = read(*inputs, **options)
    return {output.model for record in found for output in record.outputs}


@for_each_case(
    "name, task, of_a_run",
    [
        (NAME, "capitals", True),
        (f"samples_a_b_c_{DATE}.jsonl", "a_b_c", True),
        ("samples_a_b_c_2026.jsonl", "a_b_c", False),
        ("samples_a.jsonl", UNSET, False),
        (f"answers_{DATE}.jsonl", UNSET, False),
    ],
)
def test_task_is_between_the_first_and_the_last_underscore(
    name: str, task: Any, of_a_run: bool, tmp_path: Path
) -> None:
    """Names of tasks may have underscores; samples belong to results of their date."""
    shutil.copy(SAMPLES, tmp_path / name)
    results = json.loads(RESULTS.read_text())
    for member in ("configs", "n-samples", "task_hashes"):
        results[member] = {"capitals": 0, "a_b_c": 0} | dict.fromkeys(
            ("capitals", "a_b_c"), results[member]["capitals"]
        )
    (tmp_path / f"results_{DATE}.json").write_text(json.dumps(results))
    record = next(iter(read(tmp_path / name)))
    scores: Any = record.outputs[0].scores

    assert {each.evaluation_name for each in scores} == {task}
    assert record.outputs[0].model == ("nest/finch-7b" if of_a_run else UNSET)


@pytest.mark.parametrize("packed", [False, True])
def test_results_in_the_folder_are_found(folder: Path, *, packed: bool) -> None:
    """Samples are read with the results next to them, compressed or not."""
    samples = folder / NAME
    if packed:
        (folder / f"{NAME}.gz").write_bytes(gzip.compress(samples.read_bytes()))
        samples = folder / f"{NAME}.gz"

    assert models_in(samples) == {"nest/finch-7b"}
    assert models_in(folder) == {"nest/finch-7b"}


def test_results_among_the_inputs_are_found(folder: Path, tmp_path: Path) -> None:
    """Results that are given with samples need not be in their folder."""
    other = tmp_path / "other"
    other.mkdir()
    results = (folder / f"results_{DATE}.json").rename(other / f"results_{DATE}.json")

    assert models_in(folder / NAME) == {UNSET}
    assert models_in(results, folder / NAME) == {"nest/finch-7b"}


def test_results_are_named(folder: Path) -> None:
    """Results of any name are used if they are given as the companion."""
    assert models_in(SAMPLES, companion=RESULTS) == {"nest/finch-7b"}
    report = convert(
        SAMPLES, to="record", companion=RESULTS, output=folder / "out.jsonl"
    )
    lines = (folder / "out.jsonl").read_bytes().splitlines()
    first = json.loads(lines[0])

    score, *_ = first["outputs"][0]["scores"]
    assert score == {
        "metric": "exact_match",
        "value": 1.0,
        "is_correct": True,
        "evaluation_name": "capitals",
        "signature": "exact_match|impl:lm-eval-0.4.9|filter:strict",
    }
    assert first["header"]["extra"]["lm-eval"]["model_name"] == "nest/finch-7b"
    assert report.notes == (f"{SAMPLES} is read with {RESULTS}",)
    scores = harpia_formats.score(SAMPLES, stored=True, companion=RESULTS)
    assert report.notes[0] in scores.notes


def test_samples_without_results_are_read_with_a_note(folder: Path) -> None:
    """Without results the model is not known, which is said."""
    report = convert(SAMPLES, to="record", output=folder / "out.jsonl")

    (note,) = report.notes
    assert f"{SAMPLES} is read without lm-eval-results: the model is not known" in note


@pytest.mark.parametrize("wrong", [SAMPLES, ROOT / "no-such-file.json"])
def test_another_file_is_no_companion(wrong: Path) -> None:
    """A file that no samples belong to, or that is not there, is an error."""
    with pytest.raises(CompanionError):
        list(read(SAMPLES, companion=wrong))


@pytest.mark.parametrize(
    ("samples", "results", "reason"),
    [
        (f"samples_rivers_{DATE}.jsonl", "r.json", r"no task rivers \(.*: capitals\)"),
        (NAME, "results_2025-01-01.json", "the results are of 2025-01-01"),
    ],
)
def test_results_of_another_run_are_refused(
    tmp_path: Path, samples: str, results: str, reason: str
) -> None:
    """Results that are named have the task of the samples, and their date if any."""
    shutil.copy(SAMPLES, tmp_path / samples)
    shutil.copy(RESULTS, tmp_path / results)

    with pytest.raises(
        CompanionError,
        match=f"^{tmp_path / results}: does not belong to {samples}: .*{reason}",
    ):
        list(read(tmp_path / samples, companion=tmp_path / results))


def test_all_fields_that_rows_lack_are_named_at_once(folder: Path) -> None:
    """Without results a row lacks several fields, which one problem names."""
    given = {"evaluation_id": "e"}
    out = folder / "out.jsonl"
    with pytest.raises(harpia_formats.ValidationFailed) as failed:
        convert(SAMPLES, to="eee@0.3.0", constants=given, output=out)

    problem = failed.value.report.problems[0]
    lacks = "`model_id` and `evaluation_name`"
    assert problem.message == f"the record has nothing for {lacks}"
    values = '{"model_id": VALUE, "evaluation_name": VALUE}'
    assert problem.help == f"give them with constants={values}"


def test_records_are_compared_with_the_samples_in_all_they_hold(folder: Path) -> None:
    """Records hold the extra fields of samples, so these are compared, too."""
    samples, records = folder / NAME, folder / "records.jsonl"
    convert(samples, to="record", output=records)
    assert diff(samples, records).ok

    found = records.read_bytes()
    records.write_bytes(found.replace(b'"doc_hash":"7178', b'"doc_hash":"0000'))
    assert records.read_bytes() != found
    assert not diff(samples, records).ok


def test_results_alone_hold_no_records() -> None:
    """Results that are the only input are no records."""
    with pytest.raises(harpia_formats.ConversionError, match="without records"):
        list(read(RESULTS))


def test_broken_results_beside_samples_are_not_used(folder: Path) -> None:
    """Nobody asked for results that cannot be read, so samples are read without."""
    (folder / f"results_{DATE}.json").write_text('{"results": ')

    assert models_in(folder / NAME) == {UNSET}


@pytest.mark.parametrize("output_type", [{}, [], 1, None, "other"])
def test_an_unknown_type_of_the_task_is_guessed(output_type: Any, folder: Path) -> None:
    """What the results say of the type is read as if they did not say it."""
    results = json.loads(RESULTS.read_text())
    results["configs"]["capitals"]["output_type"] = output_type
    (folder / f"results_{DATE}.json").write_text(json.dumps(results))

    found = [(record.prompt, record.outputs) for record in read(folder / NAME)]
    options: Any = {"missing": "skip", "replicates": 0}
    scores = harpia_formats.score(folder / NAME, profile="lm-eval", **options)

    results["configs"]["capitals"].pop("output_type")
    (folder / f"results_{DATE}.json").write_text(json.dumps(results))
    assert found == [(each.prompt, each.outputs) for each in read(folder / NAME)]
    assert [one.name for one in scores] == ["exact_match"]


def test_samples_agree_with_their_results(folder: Path) -> None:
    """Counts and hashes of a whole file of samples are those of the results."""
    assert validate(folder).ok


def test_missing_samples_are_found(folder: Path) -> None:
    """A row that is missing changes the hash of the task, a document the count."""
    lines = (folder / NAME).read_text().splitlines(keepends=True)
    (folder / NAME).write_text("".join(lines[:-1]))
    of_row = [problem.code for problem in validate(folder).problems]
    (folder / NAME).write_text("".join((lines[0], lines[2])))
    of_document = [problem.code for problem in validate(folder).problems]

    assert (of_row, of_document) == (["A202"], ["A201", "A202"])


def test_several_tasks_have_one_file_of_results(tmp_path: Path) -> None:
    """Each file of samples is checked against its own task of the results."""
    results = json.loads(RESULTS.read_text())
    for member in ("configs", "n-samples", "task_hashes"):
        results[member]["other_task"] = results[member]["capitals"]
    results["n-samples"]["other_task"] = {"original": 3, "effective": 3}
    (tmp_path / f"results_{DATE}.json").write_text(json.dumps(results))
    for task in ("capitals", "other_task", "unknown"):
        shutil.copy(SAMPLES, tmp_path / f"samples_{task}_{DATE}.jsonl")

    found = {
        Path(problem.place.path).name: problem.code
        for problem in validate(tmp_path).problems
    }

    assert found == dict.fromkeys(
        (f"samples_other_task_{DATE}.jsonl", f"samples_unknown_{DATE}.jsonl"), "A201"
    )


def test_samples_of_another_task_are_found(folder: Path) -> None:
    """Results that are named must have the task of the samples."""
    samples = (folder / NAME).rename(folder / f"samples_rivers_{DATE}.jsonl")

    report = validate(samples, companion=RESULTS)

    (problem,) = report.problems
    assert (problem.code, problem.message) == (
        "A201",
        "the results have no task rivers",
    )


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("task", ["rivers", "capitals"])
def test_results_in_the_run_say_what_named_results_say(
    folder: Path, task: str, jobs: int, *, packed: bool
) -> None:
    """Samples of the wrong count or task have one finding, wherever the results are."""
    results = folder / f"results_{DATE}.json"
    samples = (folder / NAME).rename(folder / f"samples_{task}_{DATE}.jsonl")
    lines = samples.read_bytes().splitlines(keepends=True)
    samples.write_bytes(lines[0] + lines[2])
    named = validate(samples, companion=results, lint=True).problems
    if packed:
        packed_results = folder / f"{results.name}.gz"
        packed_results.write_bytes(gzip.compress(results.read_bytes()))
        results.unlink()
        results = packed_results

    assert "A201" in {problem.code for problem in named}
    for files in ((samples, results), (results, samples), (folder,)):
        assert validate(*files, lint=True, jobs=jobs).problems == named


@pytest.mark.parametrize(
    "results",
    [
        ["org__m/results_2026-01-02T03-04-05.000007.json"],
        [f"org__other/results_{DATE}.json"],
        [f"org__m/results_{DATE}.json", f"org__m/results_{DATE}.json.gz"],
        ["org__m/results.json"],
    ],
)
def test_samples_of_no_certain_results_are_not_compared(
    tmp_path: Path, results: list[str]
) -> None:
    """Results of another date or model, or two of them, say nothing of a task."""
    for name in (f"org__m/samples_rivers_{DATE}.jsonl", *results):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        data = (SAMPLES if "samples" in name else RESULTS).read_bytes()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)

    assert validate(tmp_path).problems == ()


def test_first_samples_of_no_task_are_the_only_error_if_asked_for(
    folder: Path,
) -> None:
    """With `fail_fast` only one of two files has its task looked for in the results."""
    for task in ("rivers", "lakes"):
        shutil.copy(SAMPLES, folder / f"samples_{task}_{DATE}.jsonl")

    assert validate(folder).errors == 2
    assert validate(folder, fail_fast=True).errors == 1


def test_many_ids_are_counted(folder: Path) -> None:
    """Ids are counted once each, whatever they are, and rows without hashes too."""
    row = jsonl_rows(SAMPLES)[0]
    hashes = ("doc_hash", "prompt_hash", "target_hash")
    rows = [
        {key: row[key] for key in row if key not in hashes} | {"doc_id": id_}
        for id_ in (0, 1, 0, 1 << 40, 1 << 40, 1)
    ]
    results = json.loads(RESULTS.read_text())
    codes = []
    for effective in (3, 4):
        results["n-samples"]["capitals"]["effective"] = effective
        (folder / f"results_{DATE}.json").write_text(json.dumps(results))
        (folder / NAME).write_bytes(jsonl(*rows))
        codes.append([problem.code for problem in validate(folder).problems])

    assert codes == [[], ["A201"]]


def test_results_of_generations_are_not_believed_of_texts(folder: Path) -> None:
    """A request with a text in place of settings is none of a generation."""
    row = jsonl_rows(SAMPLES)[0]
    row["arguments"]["gen_args_0"]["arg_1"] = " A"
    row["resps"] = [["-1.5"]]
    (folder / NAME).write_bytes(jsonl(row))
    (record,) = read(folder / NAME)
    extra: Any = record.extra

    assert record.outputs[0].text is None
    assert extra["lm-eval"]["arguments"] == row["arguments"]
    assert extra["lm-eval"]["resps"] == [["-1.5"]]


@pytest.mark.corpora
def test_real_samples_are_a_part_of_their_run() -> None:
    """Assertion 1: 10 of 5,000 documents; the task hash is not that of the rows."""
    report = validate(FILES / "real")

    assert [problem.code for problem in report.problems] == ["A201", "A202"]


@pytest.mark.corpora
def test_made_samples_agree_with_their_results() -> None:
    """Assertion 6: the hash rules hold for all rows, the task hashes for all tasks."""
    report = validate(FILES / "made", select=["A1", "A2", "J", "S"], ignore=["A123"])

    assert report.ok
    assert report.problems == ()


def test_rows_of_one_document_are_grouped(folder: Path) -> None:
    """Grouped by id, the rows of two filters are one record with both scores."""
    output = folder / "out.jsonl"
    convert(folder / NAME, to="record", group="id", output=output)
    rows = jsonl_rows(output)

    first, second = rows[0]["outputs"]
    assert [row["id"] for row in rows] == [0, 1]
    assert [score["signature"].rpartition(":")[2] for score in first["scores"]] == [
        *("strict", "loose")
    ]
    assert [step["extracted_value"] for step in first["attribution"]] == [
        *("Paris", "It is Paris.")
    ]
    assert second["text"] == "Paris"
    assert "scores" not in second


def test_system_prompt_is_one_turn(tmp_path: Path) -> None:
    """The system prompt of a chat, which is its first message, is not repeated."""
    chat = ROOT / "fixtures/lm-eval-samples/valid/chat.jsonl"
    output = tmp_path / "out.jsonl"
    given = {"evaluation_id": "run", "model_id": "m", "evaluation_name": "task"}
    convert(chat, to="eee@0.3.0", output=output, constants=given)

    roles = [turn["role"] for turn in json.loads(output.read_bytes())["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant"]


def test_question_of_the_document_is_the_prompt() -> None:
    """A key of the document can be the prompt in place of the whole context."""
    records = read(SAMPLES, columns={"prompt": "doc.country"}, format="lm-eval-samples")

    assert [record.prompt for record in records] == ["France", "Peru"]
