"""Logs as records: what is read of a sample, what is kept, and what is reported."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from cases import for_each_case
from harpia_formats import (
    Output,
    Record,
    Score,
    ValidationFailed,
    convert,
    read,
    validate,
)
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.validation.parallel import ranges
from json_lines import jsonl_rows
from problem_codes import codes_of

FIXTURES = Path(__file__).parents[3] / "fixtures" / "inspect-log" / "valid"
USAGE = {"input_tokens": 2, "output_tokens": 1, "total_tokens": 3}


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


def record_of(**members: Any) -> Record:
    """Return the record of a sample."""
    (found,) = read(log(sample(**members)))
    return found


def output_of(**members: Any) -> Output:
    """Return the output of a sample with one choice."""
    (found,) = record_of(**members).outputs
    return found


def values_of(scores: Any) -> list[tuple[Any, Any, Any]]:
    """Return metric, value and correctness of the scores that scorers gave."""
    found = output_of(scores=scores).scores
    assert found is not UNSET
    return [(each.metric, each.value, each.is_correct) for each in found]


def answered(content: Any, **members: Any) -> Output:
    """Return the output of a sample whose model answered with this content."""
    answer = message("assistant", content, **members)
    return output_of(output={"choices": [{"message": answer}]}, messages=[])


def kept(owner: Record | Output) -> dict[str, Any]:
    """Return what is kept with the fields."""
    return {} if owner.extra is UNSET else owner.extra["inspect"]


@for_each_case(
    "value, expected",
    [
        ("C", [("match", 1, True)]),
        ("I", [("match", 0, False)]),
        ("P", [("match", 0.5, UNSET)]),
        ("N", [("match", 0, UNSET)]),
        (0.3, [("match", 0.3, UNSET)]),
        (True, [("match", True, UNSET)]),
        (None, [("match", None, UNSET)]),
        ({"a": "C", "b": 2}, [("match.a", 1, True), ("match.b", 2, UNSET)]),
        ([1, "I"], [("match.0", 1, UNSET), ("match.1", 0, False)]),
        ("good", [("match", None, UNSET)]),
        ("0", [("match", None, UNSET)]),
    ],
)
def test_values_of_scores(value: Any, expected: list[Any]) -> None:
    """Letters, numbers, lists and objects are read; only C and I say what is right."""
    found = values_of({"match": {"value": value}})

    assert [(each[0], each[1], each[2]) for each in found] == expected
    assert [type(each[1]) for each in found] == [type(each[1]) for each in expected]


def test_value_that_is_no_number_is_kept() -> None:
    """A text that is no letter is never 0: it is kept, and the score has no value."""
    output = output_of(scores={"grade": {"value": "good", "answer": "x"}})

    assert kept(output)["scores"] == {"grade": {"answer": "x", "value": "good"}}


def test_answer_and_explanation_are_not_what_the_model_said() -> None:
    """The text is that of the message, also where a scorer found or says another."""
    scores = {"choice": {"value": None, "answer": "A", "explanation": "no value"}}
    output = output_of(scores=scores)

    assert output.text == "Lima"
    details = {"answer": "A", "explanation": "no value"}
    assert kept(output)["scores"] == {"choice": details}


def test_no_epoch_has_the_mean_of_all() -> None:
    """The reductions over epochs belong to none of them."""
    found = list(read(FIXTURES / "epochs.json"))
    values = [each.outputs[0].scores[0].value for each in found]  # type: ignore[index]  # they have scores

    assert values == [1, 0]
    assert [each.outputs[0].index for each in found] == [0, 1]
    assert [each.id for each in found] == ["peru", "peru"]


def test_all_parts_of_text_are_the_answer() -> None:
    """An answer of several parts is all of their texts, and reasoning is not one."""
    parts = [
        {"type": "text", "text": "It is"},
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "Lima"},
        {"type": "reasoning", "reasoning": "xyz", "redacted": True, "summary": "so"},
    ]

    assert answered(parts).text == "It is\nLima"
    assert answered(parts).reasoning == "hm\nso"
    assert answered("Lima", reasoning="early").reasoning == "early"
    assert answered([{"type": "image", "image": "x"}]).text is None


def test_whole_chat_is_asked() -> None:
    """An input of several messages is all of them, and not that of the user only."""
    asked = [
        message("system", "Be short."),
        message("user", "Hi"),
        message("user", "?"),
    ]
    record = record_of(input=asked, messages=[])

    assert record.messages == asked
    assert record.system == "Be short."
    assert record.prompt is UNSET


def test_single_message_is_a_prompt() -> None:
    """An input of one message of the user is a prompt."""
    record = record_of(input=[message("user", [{"type": "text", "text": "Hi"}])])

    assert (record.prompt, record.messages) == ("Hi", UNSET)


def test_conversation_is_not_repeated() -> None:
    """A question with its answer is no conversation; more than that is one."""
    again = [
        message("user", "Capital of Peru?", source="input"),
        message("assistant", "Cusco", source="generate"),
        message("user", "Are you sure?"),
        message("assistant", "Lima", source="generate"),
    ]

    assert (output_of().turns, output_of().interaction_type) == (UNSET, "single_turn")
    assert output_of().formatted_prompt == "Capital of Peru?"
    assert len(output_of(messages=again).turns or ()) == 4
    assert output_of(messages=again).interaction_type == "multi_turn"


def test_prompt_that_was_sent_is_told() -> None:
    """What a solver made of the question is kept with it and its system message."""
    sent = [
        message("system", "One word."),
        message("user", "Q: Capital of Peru?", source="input"),
        message("assistant", "Lima", source="generate"),
    ]
    record = record_of(messages=sent)

    assert record.prompt == "Capital of Peru?"
    assert record.system == "One word."
    assert record.outputs[0].formatted_prompt == "Q: Capital of Peru?"
    assert record.outputs[0].turns is UNSET


def test_tokens_are_those_of_the_sample() -> None:
    """Tokens of all calls of the model count, not those of the last call."""
    last = {"choices": [], "usage": {**USAGE, "total_tokens": 1}}
    judge = {"acme/parrot": USAGE, "judge": {**USAGE, "input_tokens": 9}}

    assert output_of(output=last, model_usage=judge).token_usage == USAGE
    rest = kept(output_of(output=last, model_usage=judge))
    assert rest["model_usage"] == {"judge": judge["judge"]}
    alone = output_of(output=last)
    assert alone.token_usage == last["usage"]
    assert kept(alone)["usage_of"] == "the last call"


def test_further_choices_are_further_answers() -> None:
    """Each choice is an answer with an index that no other epoch has."""
    choices = [{"message": message("assistant", text)} for text in ("Lima", "Cusco")]
    run = {"task": "geo", "model": "m", "config": {"epochs": 3}}
    row = sample(epoch=2, output={"choices": choices})
    (record,) = read(log(row, eval=run))

    found = [(each.index, each.text) for each in record.outputs]
    assert found == [(1, "Lima"), (4, "Cusco")]
    assert record.outputs[1].scores is UNSET


def test_no_answer_is_none() -> None:
    """A sample without choices has no answer, and one with an error says why."""
    output = output_of(output={"choices": []}, error={"message": "cut off"}, scores={})

    assert (output.text, output.error) == (None, "cut off")
    # It has no value, and names the run of which a score would be.
    assert output.scores == [Score(evaluation_id="e1", evaluation_name="geo")]


@pytest.mark.parametrize("start", ["attachment://", "tc://"])
def test_references_are_resolved(start: str) -> None:
    """A reference is what it refers to, in a text and in a part."""
    values = {"a1": "Capital of Peru?", "b2": "data:image/png;base64,AA=="}
    parts = [{"type": "image", "image": f"{start}b2"}]
    asked = [message("user", f"{start}a1"), message("user", parts)]
    place: dict[str, Any] = {"attachments": values}
    if start == "tc://":
        place = {"transcript": {"events": [], "content": values}}
    record = record_of(input=asked, messages=[], **place)

    assert record.messages is not UNSET
    assert record.messages[0]["content"] == "Capital of Peru?"
    (part,) = kept(record)["input_parts"]
    assert part == {"message": 1, "type": "image", "image": values["b2"]}


@for_each_case(
    "more",
    [
        {},
        {"transcript": []},
        {"transcript": {"content": [{"attachment://c3": "text"}]}},
        {"transcript": {"content": {"c3": ["text"]}}},
    ],
)
def test_unknown_reference_stays_and_is_counted(more: dict[str, Any]) -> None:
    """A reference to nothing is not replaced; their number is kept and reported."""
    data = log(sample(input="attachment://c3", messages=[], **more))
    (record,) = read(data)

    assert record.prompt == "attachment://c3"
    assert kept(record)["unresolved_attachments"] == 1
    assert sorted(codes_of(validate(data))) == ["I205"]


def test_events_are_counted_and_not_kept() -> None:
    """Of events only the number is left, and their pools are left out."""
    pools = {"messages": [message("user", "x" * 200)], "calls": []}
    events = [{"event": "model", "input": [], "input_refs": [[0, 1]]}] * 3
    record = record_of(events=events, events_data=pools, message_pool=pools)

    assert kept(record) == {
        "messages": [{"source": "input"}, {"source": "generate"}],
        "events": 3,
    }


def test_early_scores_have_the_scorer_of_the_results() -> None:
    """A single score has the name that the results of an early log give it."""
    row = {key: value for key, value in sample().items() if key != "scores"}
    data = log(
        {**row, "score": {"value": "C"}}, results={"scorer": {"name": "includes"}}
    )
    (record,) = read(data)
    scores = record.outputs[0].scores
    assert scores is not UNSET

    assert [(each.metric, each.value) for each in scores] == [("includes", 1)]


def test_scores_name_tool_version_scorer_and_run() -> None:
    """A score says by what it was computed, and in which run of which task."""
    run = {
        "task": "geo",
        "model": "m",
        "run_id": "r",
        "packages": {"inspect_ai": "0.3.9"},
    }
    (record,) = read(log(sample(scores={"f": {"value": {"k": 1}}}), eval=run))
    assert record.outputs[0].scores is not UNSET
    (score,) = record.outputs[0].scores

    assert score.signature == "f.k|impl:inspect_ai-0.3.9|scorer:f"
    assert (score.evaluation_name, score.evaluation_id) == ("geo", "r")
    assert record.outputs[0].model == "m"


def test_nan_is_no_score() -> None:
    """NaN is read as a score without a value, and is reported."""
    data = log(sample(scores={"match": {"value": "%"}})).replace(b'"%"', b"NaN")
    (record,) = read(data)
    assert record.outputs[0].scores is not UNSET

    assert record.outputs[0].scores[0].value is None
    assert sorted(codes_of(validate(data))) == ["I202", "J209"]


def test_arguments_that_are_no_object_are_kept() -> None:
    """A call whose arguments could not be read has none, and keeps their text."""
    call = {"id": "c", "function": "f", "arguments": "{x", "parse_error": "bad"}
    turns = [message("assistant", "", tool_calls=[call])]
    record = record_of(messages=turns)

    assert record.outputs[0].turns == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "name": "f", "arguments": None}],
        }
    ]
    rest = {"parse_error": "bad", "arguments": "{x"}
    assert kept(record)["messages"] == [{"tool_calls": [rest]}]


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


def test_members_in_another_order_are_an_error() -> None:
    """A log whose run stands behind the samples is not read as one without a model."""
    document = json.loads(log(sample()))
    run = document.pop("eval")
    data = json.dumps({**document, "eval": run}).encode()

    assert sorted(codes_of(validate(data, format="inspect-log"))) == ["I103"]
    with pytest.raises(ValidationFailed, match="I103"):
        list(read(data, format="inspect-log"))


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
    for _ in Reading([data], None).problems(found.append, lambda *_: None, print):
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
