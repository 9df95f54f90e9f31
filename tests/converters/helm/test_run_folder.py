"""Folders of runs: statistics joined to instances, places, and what is missing."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from cases import for_each_case
from harpia_formats import convert, detect, read, validate
from problem_codes import codes_of

FIXTURES = Path(__file__).parents[3] / "fixtures" / "helm" / "valid"
STATES, STATS = "scenario_state.json", "per_instance_stats.json"


def document(name: str) -> dict[str, Any]:
    """Return a run that is one document."""
    found: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_bytes())
    return found


def folder_of(run: dict[str, Any], folder: Path, *, indent: int | None = 2) -> Path:
    """Write a run as the folder that HELM makes of it."""
    rows = run["request_states"]
    files = {
        STATES: {
            "adapter_spec": run["scenario_state"]["adapter_spec"],
            "request_states": [state for row in rows for state in row["states"]],
        },
        STATS: [entry for row in rows for entry in row["stats"] or []],
        "run_spec.json": run["run_spec"],
        "scenario.json": run["scenario"],
        # Each metric is there again for the worst of its perturbations.
        "stats.json": [
            {
                "name": {"name": "num_instances", "split": split, **more},
                "count": 1,
                "mean": number + 50 * len(more),
            }
            for split, number in run["num_instances"].items()
            for more in ({}, {"perturbation": {"name": "a", "computed_on": "worst"}})
        ],
    }
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=indent))
    return folder


def edit(path: Path, old: str, new: str) -> None:
    """Replace the only place of a text in a file."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


@for_each_case(
    "indent, name",
    itertools.product(
        [2, None], ["joint", "generation-with-trials-and-typos", "separate-calibrated"]
    ),
)
def test_a_folder_is_read_as_one_document(
    name: str, indent: int | None, tmp_path: Path
) -> None:
    """The records of a folder are those of its document, however it is indented."""
    folder = folder_of(document(name), tmp_path / "run", indent=indent)

    assert list(read(folder)) == list(read(FIXTURES / f"{name}.json"))
    assert validate(folder).ok
    assert [found.format for found in detect(tmp_path)] == ["helm"]


def test_statistics_are_joined_by_instance_trial_and_perturbation(
    tmp_path: Path,
) -> None:
    """Statistics in another order belong to the same instances, trials and typos."""
    run = document("generation-with-trials-and-typos")
    folder = folder_of(run, tmp_path / "run")
    entries = json.loads((folder / STATS).read_bytes())
    for entry in entries:
        # Keys in another order are the same perturbation.
        changed = entry.get("perturbation", {})
        entry.update(
            {"perturbation": dict(reversed(changed.items()))} if changed else {}
        )
    (folder / STATS).write_text(json.dumps(entries[::-1]))

    records = list(read(folder))
    scores = [
        {score.metric: score.value for score in record.outputs[0].scores or ()}
        for record in records
    ]

    assert {record.id for record in records} == {"id1"}
    assert [one["exact_match"] for one in scores] == [0, 0, 1]
    assert [one["f1_score"] for one in scores] == [1, 0, 1]


def test_several_entries_of_an_instance_are_all_read(tmp_path: Path) -> None:
    """Each metric of a run may write entries of its own, far from those of others."""
    run = document("joint")
    folder = folder_of(run, tmp_path / "run")
    entries = json.loads((folder / STATS).read_bytes())
    more = [
        {**entry, "stats": [{"name": {"name": "toxicity"}, "count": 1, "mean": 0.25}]}
        for entry in entries
    ]
    (folder / STATS).write_text(json.dumps(entries + more))

    records = list(read(folder))

    assert validate(folder).problems == ()
    assert all(
        (record.outputs[0].scores or [])[-1].metric == "toxicity" for record in records
    )


def test_requests_of_an_instance_are_one_record(tmp_path: Path) -> None:
    """Where each reference has its own requests, their scores count once."""
    folder = folder_of(document("separate-calibrated"), tmp_path / "run")
    (record,) = read(folder)
    (output,) = record.outputs

    assert output.scores
    assert [score.metric for score in output.scores] == ["exact_match"]


def test_a_problem_is_placed_in_its_file(tmp_path: Path) -> None:
    """The line and column are those in the file of the folder."""
    folder = folder_of(document("joint"), tmp_path / "run")
    states = (folder / STATES).read_text()
    (folder / STATES).write_text(states.replace('" neither"', "5", 1))
    stats = (folder / STATS).read_text().split("\n")
    line = next(at for at, text in enumerate(stats, 1) if '"mean": 12.0' in text)
    stats[line - 1] = stats[line - 1].replace("12.0", '"12"')
    (folder / STATS).write_text("\n".join(stats))
    written = (folder / STATES).read_bytes()

    first, second = validate(folder).problems

    assert first.place.full_path == f"{folder}!{STATS}"
    assert first.place.line == line
    assert first.place.column == stats[line - 1].index('"12') + 1
    assert second.place.member == STATES
    offset = second.place.byte_offset
    assert written[offset:].startswith(b"5,")
    assert second.place.line == written[:offset].count(b"\n") + 1
    assert second.place.column == offset - written.rindex(b"\n", 0, offset)
    assert second.place.record_id == "id4"


def test_a_problem_in_one_long_line_has_its_column(tmp_path: Path) -> None:
    """The column is that in the file, also where a file has no line breaks."""
    folder = folder_of(document("joint"), tmp_path / "run", indent=None)
    text = (folder / STATES).read_text().replace('" neither"', "5", 1)
    (folder / STATES).write_text(text)

    (problem,) = validate(folder).problems

    assert (problem.place.member, problem.place.line) == (STATES, 1)
    assert problem.place.column == text.index('"text": 5') + len('"text": ') + 1
    assert problem.place.byte_offset == problem.place.column - 1


def test_a_broken_number_is_placed_in_its_file(tmp_path: Path) -> None:
    """NaN is the error that it is in JSON, at its place in the statistics."""
    folder = folder_of(document("joint"), tmp_path / "run")
    text = (folder / STATS).read_text().replace('"mean": 12.0', '"mean": NaN', 1)
    (folder / STATS).write_text(text)

    report = validate(folder)
    (problem,) = report.problems

    assert problem.code == "J106"
    assert problem.place.member == STATS
    assert text.encode()[problem.place.byte_offset :].startswith(b"NaN")
    assert report.files[0].valid == 2


@for_each_case(
    "name, old, new, code",
    [
        (STATES, '"train_trial_index": 0', '"train_trial_index": []', "S102"),
        (STATES, '"split": "test"', f'"split": {"[" * 5000}{"]" * 5000}', "J108"),
        (STATS, '"mean": 12.0', f'"mean": {"[" * 5000}{"]" * 5000}', "J108"),
    ],
)
def test_a_value_of_another_kind_is_an_error_at_its_place(
    name: str, old: str, new: str, code: str, tmp_path: Path
) -> None:
    """A trial that is a list, or a value that is nested too deep, stops no reading."""
    folder = folder_of(document("joint"), tmp_path / "run")
    (folder / name).write_text((folder / name).read_text().replace(old, new, 1))

    problems = validate(folder).problems

    assert (code, name) in [(each.code, each.place.member) for each in problems]


@for_each_case("name", [STATES, STATS, "run_spec.json"])
def test_a_byte_order_mark_is_no_part_of_a_file(name: str, tmp_path: Path) -> None:
    """Each file is read behind it, and places count it."""
    folder = folder_of(document("joint"), tmp_path / "run")
    (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())

    assert list(read(folder)) == list(read(FIXTURES / "joint.json"))


def test_the_best_of_several_completions_is_no_verdict_on_the_first(
    tmp_path: Path,
) -> None:
    """`exact_match@5` is 1 if any completion is right; 0 says that all are wrong."""
    run = document("joint")
    for row in run["request_states"]:
        completions = row["states"][0]["result"]["completions"]
        completions.append({"text": "another"})
    found = [
        score.is_correct
        for record in read(folder_of(run, tmp_path / "run"))
        for score in record.outputs[0].scores or ()
        if score.metric == "exact_match@5"
    ]

    assert found == [UNSET, False, False]


def test_missing_files_are_reported(tmp_path: Path) -> None:
    """A run without statistics is read without scores; what is missing is reported."""
    folder = folder_of(document("joint"), tmp_path / "run")
    for name in (STATS, "run_spec.json", "scenario.json", "stats.json"):
        (folder / name).unlink()
    report = validate(folder)

    assert codes_of(report) == ["R101"] * 4
    assert report.ok
    assert all(record.outputs[0].scores for record in read(FIXTURES / "joint.json"))
    assert not any(record.outputs[0].scores for record in read(folder))


def test_files_of_two_runs_are_told_apart(tmp_path: Path) -> None:
    """Instances and statistics without each other, and other counts, are reported."""
    folder = folder_of(document("joint"), tmp_path / "run")
    edit(folder / STATS, '"instance_id": "id4"', '"instance_id": "id40"')
    edit(folder / "stats.json", '"mean": 2', '"mean": 2000001')
    found = {problem.code: problem for problem in validate(folder).problems}

    assert found.keys() == {"R102", "R103", "R105"}
    assert found["R102"].place.record_id == "id4"
    assert "id40" in found["R103"].message
    assert found["R105"].message == (
        "there are 2 instances of the split test, but stats.json says 2,000,001"
    )


def test_conversion_tells_that_files_are_of_two_runs(tmp_path: Path) -> None:
    """A conversion warns of statistics that are not read, and of missing instances."""
    folder = folder_of(document("joint"), tmp_path / "run")
    edit(folder / STATS, '"instance_id": "id4"', '"instance_id": "id40"')
    edit(folder / "stats.json", '"mean": 2', '"mean": 200')

    report = convert(folder, to="record", output=tmp_path / "out.jsonl")

    assert report.ok
    assert {problem.code for problem in report.report.problems} == {"R103", "R105"}


def test_a_run_may_have_no_statistics_of_instances(tmp_path: Path) -> None:
    """Where no metric is one of single instances, HELM writes an empty list."""
    folder = folder_of(document("joint"), tmp_path / "run")
    (folder / STATS).write_text("[]")

    assert {*codes_of(validate(folder))} == {"R102"}
    assert not any(record.outputs[0].scores for record in read(folder))


def test_keys_of_one_name_are_kept_of_each_part_of_an_answer(tmp_path: Path) -> None:
    """What completion, result and request have by one name is kept of each."""
    run = document("joint")
    state = run["request_states"][0]["states"][0]
    state["annotations"] = {"of": "request"}
    state["result"] |= {"cached": True, "annotations": {"of": "result"}}
    text, statistics = state["result"]["completions"][0]["text"], "of completion"
    state["result"]["completions"] = [
        {"text": text, "cached": "of completion", "statistics": statistics}
    ]
    first, *_ = read(folder_of(run, tmp_path / "run"))
    kept = (first.outputs[0].extra or {})["helm"]

    assert kept["completion"] == {"cached": "of completion"}
    assert kept["annotations"] == {"of": "request"}
    assert kept["result"] == {"annotations": {"of": "result"}}
    assert kept["cached"] is True
    assert kept["result_"] == {"statistics": statistics}
    assert kept["statistics"]["num_prompt_tokens"]


def test_a_run_that_was_cut_off_is_reported(tmp_path: Path) -> None:
    """What stands before the cut is still read and counted."""
    folder = folder_of(document("joint"), tmp_path / "run")
    text = (folder / STATES).read_bytes()
    (folder / STATES).write_bytes(text[: text.rindex(b'"completions"')])

    report = validate(folder)

    assert not report.ok
    assert report.files[0].valid == 2
    assert {problem.place.member for problem in report.problems} <= {STATES, STATS}


@for_each_case(
    "name, text, reason",
    [
        (STATES, "{}", "scenario_state.json has no array request_states"),
        (STATES, "", "scenario_state.json has no array request_states"),
        (STATS, "{}", "per_instance_stats.json is no array of statistics"),
        (STATS, '[\n{"instance_id": "id7"}\n', "broken at line 3 (unclosed)"),
        (STATS, '[\n{"instance_id": "id7", "stats": [', "broken at line 2 (unclosed)"),
        (STATS, "", "per_instance_stats.json is no array of statistics"),
        ("run_spec.json", '{"name": ', "run_spec.json is not JSON"),
        ("run_spec.json", "", "run_spec.json is not JSON"),
        ("scenario.json", "", "scenario.json is not JSON"),
        ("stats.json", "", "stats.json is no list of statistics"),
        ("stats.json", '[{"name": {"name": "n', "stats.json is no list of statistics"),
        ("stats.json", "{}", "stats.json is no list of statistics"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_error(
    name: str, text: str, reason: str, tmp_path: Path
) -> None:
    """The error names the file of the folder."""
    folder = folder_of(document("joint"), tmp_path / "run")
    (folder / name).write_text(text)

    (failure,) = validate(folder).failures

    assert failure.path == str(folder)
    assert reason in (failure.reason or "")


def test_totals_may_have_no_number(tmp_path: Path) -> None:
    """`NaN`, which Python writes, does not make stats.json unreadable."""
    folder = folder_of(document("joint"), tmp_path / "run")
    totals = [{"name": {"name": "f1", "split": None}, "mean": float("nan")}]
    (folder / "stats.json").write_text(json.dumps(totals))

    assert validate(folder).failures == ()


@pytest.mark.parametrize("jobs", [1, 2])
def test_many_instances_are_read_with_any_number_of_jobs(
    jobs: int, tmp_path: Path
) -> None:
    """Each of some hundred instances has its own statistics."""
    run = document("joint")
    row = json.dumps(run["request_states"][0])
    run["request_states"] = [
        json.loads(row.replace('"id7"', f'"id{number}"')) for number in range(300)
    ]
    for number, one in enumerate(run["request_states"]):
        one["stats"][0]["stats"] = [
            {"name": {"name": "exact_match"}, "count": 1, "mean": number}
        ]
    run["num_instances"] = {"test": 300}
    folder = folder_of(run, tmp_path / "run", indent=None)
    report = validate(folder, jobs=jobs)
    values = [
        score.value
        for record in read(folder)
        for score in record.outputs[0].scores or ()
    ]

    assert (report.files[0].valid, report.problems) == (300, ())
    assert values == list(range(300))
