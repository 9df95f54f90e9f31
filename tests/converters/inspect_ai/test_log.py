"""Logs as records: what is read of a sample, what is kept, and what is reported."""

import json
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import (
    ValidationFailed,
    convert,
    read,
    score,
    validate,
)
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.validation.parallel import ranges
from json_lines import jsonl, jsonl_rows
from problem_codes import codes_of

FIXTURES = Path(__file__).parents[3] / "fixtures"


def message(role: str, content: Any, **members: Any) -> dict[str, Any]:
    """Return a message of Inspect."""
    return {"role": role, "content": content, **members}


def sample(**members: Any) -> dict[str, Any]:
    """Return a sample with the given members, and the usual ones that these are not."""
    answer = message("assistant", "Lima", source="generate")
    return {
        "id": 1,
        "epoch": 1,
        "input": "Capital of Peru?",
        "target": "Lima",
        "messages": [message("user", "Capital of Peru?", source="input"), answer],
        "output": {"model": "served", "choices": [{"message": answer}]},
        "scores": {"match": {"value": "C"}},
        **members,
    }


def log(*samples: dict[str, Any], **members: Any) -> bytes:
    """Return a log with the given members before its samples."""
    run = {"task": "geo", "model": "acme/parrot", "eval_id": "e1", "run_id": "r1"}
    head = {"version": 2, "status": "success", "eval": run, **members}
    return json.dumps({**head, "samples": samples}).encode()


@for_each_case(
    "members, expected",
    [
        ({"version": 3}, ["I101"]),
        ({"version": 3, "log_format": "eval"}, []),
        ({"status": "started"}, ["I102"]),
        ({"status": "error", "error": {"message": "no credits"}}, ["I102"]),
        ({"results": {"total_samples": 5}}, ["I104"]),
        ({"results": {"total_samples": 1}}, []),
        (
            {"eval": {"task": "t", "model": "m", "dataset": {"sample_ids": [1, 2]}}},
            ["I104"],
        ),
        (
            {
                "eval": {
                    "task": "t",
                    "model": "m",
                    "dataset": {"sample_ids": [1]},
                    "config": {"epochs": 2},
                }
            },
            ["I104"],
        ),
    ],
)
def test_what_a_log_says_of_its_run(
    members: dict[str, Any], expected: list[str]
) -> None:
    """A log of a newer version, an unfinished run or with fewer samples is reported."""
    assert sorted(codes_of(validate(log(sample(), **members)))) == expected


def test_log_without_samples_is_valid() -> None:
    """A log may have no samples, or not even the list of them."""
    data = b'{"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}'

    assert validate(data).ok
    assert list(read(data)) == []
    assert sorted(codes_of(validate(log(results={"total_samples": 3})))) == ["I104"]


def test_logs_in_rows_are_of_another_shape(tmp_path: Path) -> None:
    """Logs of which each is one row are in no file of the format: none is a sample."""
    data = log(sample()) + b"\n" + log(sample()) + b"\n"

    assert codes_of(validate(data, format="inspect-log")) == ["S201"]
    with pytest.raises(ValidationFailed, match="S201"):
        convert(
            data,
            to="harpia",
            from_="inspect-log",
            output=tmp_path / "out.json",
            on_invalid="skip",
        )


def test_members_in_another_order_are_an_error() -> None:
    """A log whose run stands behind the samples is not read as one without a model."""
    document = json.loads(log(sample()))
    run = document.pop("eval")
    data = json.dumps({**document, "eval": run}).encode()

    assert sorted(codes_of(validate(data, format="inspect-log"))) == ["I103"]
    with pytest.raises(ValidationFailed, match="I103"):
        list(read(data, format="inspect-log"))


@for_each_case(
    "sent",
    [
        [message("system", "Be brief."), message("user", "q")],
        [message("user", "q")],
        [message("system", "Be kind."), message("user", "q", reasoning="thought")],
        [
            message("system", "Be kind."),
            message("user", "q", tool_calls=[{"id": "1", "function": "f"}]),
        ],
    ],
)
def test_a_conversation_that_says_more_than_the_prompt_is_kept(sent: list[Any]) -> None:
    """The turns are kept if what was sent is no prompt below the system message."""
    asked = [message("system", "Be kind."), message("user", "q")]
    answer = message("assistant", "Lima")

    for messages in ([*asked, answer], [*sent, answer]):
        (record,) = read(log(sample(input=asked, messages=messages)))
        turns = record.outputs[0].turns or messages[:0]

        assert record.outputs[0].formatted_prompt == "q"
        assert [turn["role"] for turn in turns] == [
            turn["role"] for turn in messages if messages[:-1] != asked
        ]


def test_conversion_tells_what_a_log_lacks(tmp_path: Path) -> None:
    """A conversion warns of an unfinished run and of missing samples."""
    source = tmp_path / "log.json"
    source.write_bytes(log(sample(), status="cancelled", results={"total_samples": 2}))

    report = convert(source, to="nemo-output", output=tmp_path / "out.json")

    assert report.ok
    assert (report.report.warnings, report.report.errors) == (2, 0)


@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_know_the_run(
    jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Samples that other processes convert have the model and the task of the log."""
    monkeypatch.setattr(ranges, "WORTH_SECONDS", 0)
    monkeypatch.setattr(ranges, "BUNDLE", 20_000)
    source, output = tmp_path / "log.json", tmp_path / "out.jsonl"
    source.write_bytes(log(*(sample(id=number) for number in range(500))))

    report = convert(source, to="record", output=output, jobs=jobs)
    rows = jsonl_rows(output)

    assert report.ok
    assert [row["id"] for row in rows] == list(range(500))
    assert {row["outputs"][0]["model"] for row in rows} == {"acme/parrot"}
    assert {row["outputs"][0]["scores"][0]["evaluation_id"] for row in rows} == {"e1"}


def test_fields_can_be_mapped() -> None:
    """A key of samples can be mapped to a field that they do not have."""
    data = log(sample(subject="geography"))
    (record,) = read(data, format="inspect-log", columns={"category": "subject"})

    assert record.category == "geography"


def test_a_record_that_waits_holds_no_events() -> None:
    """Only the id of a row is kept with its record, however long the row is."""
    found: list[PlacedRecord] = []
    data = log(sample(events=[{"event": "x" * 1000}]))
    for _ in Reading([data]).problems(found.append, lambda *_: None, print):
        pass

    assert [(each.value, each.row_id) for each in found] == [({"id": 1}, 1)]


@pytest.mark.parametrize("target", ["record", "nemo-output"])
def test_lost_events_are_told(target: str, tmp_path: Path) -> None:
    """A conversion tells that events are lost, also where all else is kept."""
    source = tmp_path / "log.json"
    source.write_bytes(log(sample(events=[{"event": "model"}]), sample(id=2)))

    report = convert(source, to=target, output=tmp_path / "out.jsonl")
    (file,) = report.losses
    found = [
        times.count
        for outcome, times in file.losses.counts.items()
        if "events" in outcome.path
    ]

    assert report.ok
    assert not report.lossless
    assert found == [1]


def test_answer_of_a_sample_that_ended_with_an_error() -> None:
    """Its text is scored, as what is reported of the sample says."""
    ended = log(sample(error={"message": "no sandbox"}))
    (problem,) = validate(ended, select=["I201"]).problems

    assert (
        problem.help == "an answer that it has is scored, but may not be the last one"
    )
    assert score(ended, metrics=["em"])["em"].value == 1


def test_conversation_of_an_answer_is_not_asked(tmp_path: Path) -> None:
    """A sample of a log asks what it asked, whatever its agent did then."""
    log = FIXTURES / "inspect-log" / "valid" / "tools-and-scores.json"
    output = tmp_path / "data.jsonl"
    assert convert(log, to="inspect-dataset", output=output).ok
    rows = jsonl_rows(output)

    assert rows[0]["input"] == "Capital of Peru?"
    assert [each["role"] for each in rows[1]["input"]] == ["system", "user"]
    assert rows[1]["target"] == ["5", "five"]


def test_keys_of_a_message_stay_in_their_order(tmp_path: Path) -> None:
    """A content that is kept as a whole is written where it stood in its message."""
    content = [{"type": "text", "text": "Capital of Peru?", "more": 1}]
    asked = {"role": "user", "content": content, "name": "Ana"}
    row, output = {"input": [asked], "target": "Lima"}, tmp_path / "out.jsonl"

    assert convert(jsonl(row), to="inspect-dataset", output=output).ok
    assert json.dumps(jsonl_rows(output)) == json.dumps([row])
