"""Losses have the names and the places of the keys in the rows of their source."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import convert
from harpia_formats.plugins import Outcome
from json_lines import jsonl
from outcomes_of_fields import field_lines_in
from sample_rows import eee_sample

#: The name of the file of losses.
LOSSES = "losses.json"
SAMPLE = eee_sample()
CHAT: dict[str, Any] = {
    "messages": [{"role": "user", "content": "q"}],
    "ref_answer": "r",
    "model_outputs": [{"model_name": "m", "responses": [{"content": "a"}]}],
}
PAIRS = [{"prompt": "a", "response": "b"}, {"prompt": "c", "response": "d"}]
TURNS = {"system": "s", "conversation": PAIRS}


def report_of(*rows: Any, folder: Path | None = None, **options: Any) -> Any:
    """Return the report of a conversion of rows, whose losses go into a folder."""
    if folder is not None:
        options["loss_report"] = folder / LOSSES
    return convert(jsonl(*rows), output=io.BytesIO(), **options)


def outcomes_in(report: Any) -> dict[str, set[Outcome]]:
    """Return the outcomes of each field but those that it lacked, by name."""
    return {
        name: set(line.outcomes) - {Outcome.DEFAULTED}
        for name, line in field_lines_in(report).items()
    }


def pointers_in(folder: Path) -> dict[str, str]:
    """Return the code of each loss in the report in a folder, by its place."""
    problems = json.loads((folder / LOSSES).read_bytes())["problems"]
    return {problem["pointer"]: problem["code"] for problem in problems}


def test_null_turns_have_the_name_of_their_version(tmp_path: Path) -> None:
    """The turns of 0.3.0 are `messages`, also where they are null and left out."""
    row = {**SAMPLE, "schema_version": "0.3.0", "messages": None}
    row |= {"input": {"raw": "q", "reference": ["r"]}, "output": {"raw": ["a"]}}
    row["sample_hash"] = "0" * 64

    found = report_of(row, folder=tmp_path, to="nemo-input", from_="eee@0.3.0")

    assert outcomes_in(found)["messages"] == {Outcome.NULL}
    assert pointers_in(tmp_path)["/messages"] == "L207"


def test_keys_inside_an_object_have_their_path(tmp_path: Path) -> None:
    """An unknown key among fields is lost under its own path, and its owner is not."""
    row = SAMPLE | {"input": {**SAMPLE["input"], "lang.uage": "pt", "x": {"y": 1}}}
    row["evaluation"] = {**SAMPLE["evaluation"], "num_turns": 1}
    report = report_of(row, to="nemo-output", folder=tmp_path)
    outcomes, pointers = outcomes_in(report), pointers_in(tmp_path)

    lost = {"input.lang.uage", "input.x", "evaluation.num_turns"}
    assert {name for name in outcomes if outcomes[name] == {Outcome.DROPPED}} >= lost
    assert "input" not in outcomes
    (entry,) = [each for each in report.table() if each["field"] == "input.x"]
    assert (entry["line"], entry["column"]) == (1, 1)
    assert pointers["/input/lang.uage"] == "L101"
    assert pointers["/evaluation/num_turns"] == "L101"
    assert "/input" not in pointers


def test_unknown_keys_of_answers_have_the_names_of_the_source(tmp_path: Path) -> None:
    """Keys of an answer and of its text are named by the keys that lead to them."""
    response = {"content": "a", "logprob": 0.5}
    entry = {"model_name": "m", "price": 2, "responses": [response]}
    row = CHAT | {"model_outputs": [entry]}
    report = report_of(row, to="nemo-output", folder=tmp_path)

    assert outcomes_in(report)["model_outputs.price"] == {Outcome.DROPPED}
    assert pointers_in(tmp_path)["/model_outputs/responses/logprob"] == "L101"


@pytest.mark.parametrize("target", ["nemo-input", "harpia", "haystack"])
def test_system_of_a_conversation_is_lost_by_name(target: str, tmp_path: Path) -> None:
    """The system input of several turns is listed where the target has no place."""
    constants = {"outputs.text": "a"} if target == "harpia" else {}
    report = report_of(TURNS, to=target, constants=constants, folder=tmp_path)

    assert outcomes_in(report)["system"] == {Outcome.DROPPED}
    assert pointers_in(tmp_path)["/system"] == "L101"


def test_system_of_a_conversation_arrives_where_it_can() -> None:
    """The system input of several turns is kept in the column of that name."""
    assert outcomes_in(report_of(TURNS, to="tencent-csv"))["system"] == set()


def test_nulls_are_counted_apart() -> None:
    """A null without a place is an outcome of its own, and no loss."""
    row = {**CHAT, "id": None, "temperature": None, "note": None}
    rows = [row, row | {"note": "x"}]
    report = report_of(*rows, to="nemo-output")
    lines = field_lines_in(report)

    for name in ("id", "temperature"):
        assert lines[name].outcomes == {Outcome.NULL: 2}
    assert lines["note"].outcomes == {Outcome.NULL: 1, Outcome.DROPPED: 1}
    assert report.headline().endswith(", with losses")
    kept = report_of(row, to="nemo-output", on_loss="fail")
    assert kept.written
    assert kept.headline().endswith(", lossless")


def test_null_of_metadata_is_counted_apart_in_any_batch() -> None:
    """Rows of one shape whose member is null or not are distinguished."""
    rows = [
        eee_sample(sample_id=f"{n}", metadata={"k": None if n % 3 else "v"})
        for n in range(300)
    ]
    report = report_of(*rows, to="nemo-output")
    line = field_lines_in(report)["metadata.k"]

    assert line.outcomes == {Outcome.NULL: 200, Outcome.DROPPED: 100}


@pytest.mark.parametrize(
    ("owner", "name", "pointer"),
    [(None, "other keys", ""), ("metadata", "other keys of metadata", "/metadata")],
)
def test_names_are_bounded(
    owner: str | None, name: str, pointer: str, tmp_path: Path
) -> None:
    """Beyond a number of keys, the others are counted together under one name."""
    keys = [{f"key{n}": n} for n in range(300)]
    rows = [SAMPLE | ({owner: each} if owner else each) for each in keys]
    report = report_of(*rows, to="nemo-output", folder=tmp_path)
    rest = field_lines_in(report)[name]

    assert (rest.records, rest.kept) == (100, 0)
    assert pointers_in(tmp_path)[pointer] == "L101"


def test_several_other_keys_of_a_record_are_one_loss_of_it() -> None:
    """A record with many keys beyond the bound is counted once, in every table."""
    row = SAMPLE | {"metadata": {f"key{n}": n for n in range(300)}}
    report = report_of(row, row, to="nemo-output")
    (rest,) = (one for one in report.table() if one["field"].startswith("other keys"))

    assert rest["records"] == field_lines_in(report)[rest["field"]].records == 2


@pytest.mark.parametrize(
    ("to", "arrives"), [("nemo-output", True), ("tencent-outputs", False)]
)
def test_a_key_that_is_read_as_a_field_has_a_line_only_if_that_is_lost(
    to: str, arrives: bool
) -> None:
    """A value that arrives as the field that is mapped to its key is not lost."""
    row = SAMPLE | {"input": {**SAMPLE["input"], "topic": "t"}}
    columns = {"category": "input.topic"}
    lines = field_lines_in(report_of(row, from_="eee", to=to, columns=columns))

    assert lines["input.topic (category)"].kept == arrives
    assert ("input.topic" in lines) == (not arrives)


def test_field_and_other_value_of_one_key_share_a_line() -> None:
    """A key whose value is no field of a record in some rows has one line for all."""
    rows = [CHAT | {"id": "7"}, CHAT | {"id": {"own": 1}}]
    report = report_of(*rows, to="haystack")
    line = field_lines_in(report)["id"]

    assert (line.records, line.kept, line.outcomes) == (2, 1, {Outcome.DROPPED: 1})


#: A header of which targets have places for different parts.
HEADER: dict[str, Any] = {
    "metrics": [{"id": "em"}],
    "extra": {
        "haystack": {"component": "c", "own": 1},
        "harpia": {"own": 1, "other": 2},
        "deepeval": {"testFile": "t", "testPassed": 1},
    },
}


METRICS, EXTRA = "header.metrics", "header.extra"
HAYSTACK, HARPIA, DEEPEVAL = (f"{EXTRA}.{owner}" for owner in HEADER["extra"])
VENDORS = ["harpia", "deepeval", "haystack"]
COMPONENT, OWN = f"{HAYSTACK}.component", f"{HAYSTACK}.own"


@pytest.mark.parametrize(
    ("target", "owners", "lost", "kept"),
    [
        ("haystack", ["deepeval"], {EXTRA}, set()),
        ("harpia", ["deepeval"], {EXTRA}, {METRICS}),
        ("harpia", ["harpia"], set(), {METRICS, EXTRA}),
        ("haystack", ["haystack", "deepeval"], {OWN, DEEPEVAL}, {COMPONENT}),
        ("harpia", VENDORS, {HAYSTACK, DEEPEVAL}, {METRICS, HARPIA}),
        ("csv", ["haystack", "deepeval"], {EXTRA}, set()),
        ("record", ["haystack"], set(), {METRICS, EXTRA}),
    ],
)
def test_parts_of_a_header_are_kept_or_dropped(
    target: str, owners: list[str], lost: set[str], kept: set[str]
) -> None:
    """Each part of a header is listed once: what is dropped is not kept."""
    extra = {owner: HEADER["extra"][owner] for owner in owners}
    row = {"id": "1", "prompt": "q", "references": ["r"], "outputs": [{"text": "a"}]}
    report = report_of(row | {"header": HEADER | {"extra": extra}}, to=target)
    found = field_lines_in(report)
    lines = {name: found[name] for name in found if name.startswith("header.")}
    counts = {name: (each.records, each.kept) for name, each in lines.items()}

    if METRICS not in kept:
        lost = lost | {METRICS}
    assert counts == dict.fromkeys(kept, (1, 1)) | dict.fromkeys(lost, (1, 0))
    assert all(lines[name].outcomes == {Outcome.DROPPED: 1} for name in lost)


def test_field_that_is_lost_in_parts_counts_as_there() -> None:
    """A record whose answer has scores but no text, and is lost, had the answer."""
    cases = [
        {"input": "q", "actualOutput": "a", "metricsData": None},
        {"input": "q", "metricsData": [{"name": "Bias", "score": 1, "success": True}]},
    ]
    report = report_of(*cases, from_="deepeval", to="haystack")
    line = field_lines_in(report)["actual_output"]

    assert (line.records, line.kept, line.outcomes) == (2, 1, {Outcome.DROPPED: 1})


def test_other_header_of_a_later_file_was_there() -> None:
    """A header that is dropped because another one came first is one that was there."""
    row = {"prompt": "q", "references": ["r"], "outputs": [{"text": "a"}]}
    rows = [row | {"id": f"{n}", "header": {"metrics": [{"id": n}]}} for n in "ab"]
    report = convert(*map(jsonl, rows), to="record", output=io.BytesIO())
    line = field_lines_in(report)["header"]

    assert (line.records, line.kept, line.outcomes) == (1, 0, {Outcome.DROPPED: 1})
