"""Logs of runs: lines of JSON whose events interleave, read sample by sample."""

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

import harpia_formats
from cases import for_each_case
from corpora import CORPORA
from harpia_converters.openai_evals import formats
from harpia_converters.openai_evals.log_unpacking import open_log
from harpia_converters.openai_evals.mapping import LOG
from harpia_formats import convert, detect, validate
from harpia_formats.plugins import Row, SourceError

REAL = CORPORA / "neighbours" / "openai" / "evals_run_log.jsonl"

SPEC: Row = {
    "completion_fns": ["owl-1", "grader-2"],
    "eval_name": "sums.dev.v0",
    "base_eval": "sums",
    "split": "dev",
    "run_config": {"eval_spec": {"cls": "evals.elsuite.basic.match:Match"}},
    "run_id": "r1",
}
SIGNATURE = "match|impl:evals|eval:sums.dev.v0|cls:evals.elsuite.basic.match:Match"
FINAL: Row = {"final_report": {"accuracy": 1.0}, "run_id": "r1"}


def event(sample: Any, type_: str, **data: Any) -> Row:
    """Return an event of a sample."""
    return {"sample_id": sample, "type": type_, "data": data}


def sampling(sample: Any, prompt: Any = "2+2=", sampled: Any = None) -> Row:
    """Return the event of an answer, which is 4."""
    return event(sample, "sampling", prompt=prompt, sampled=sampled or ["4"])


def match(sample: Any, **data: Any) -> Row:
    """Return the event of a comparison."""
    return event(sample, "match", **({"correct": True, "expected": "4"} | data))


def lines(*values: Any) -> bytes:
    """Return a log: the specification, and these lines; a text stands as it is."""
    texts = [v if isinstance(v, str) else json.dumps(v) for v in values]
    return "\n".join([json.dumps({"spec": SPEC}), *texts, ""]).encode()


def document(data: bytes) -> Row:
    """Return the object as which a log is read."""
    found: Row = json.loads(b"".join(part.text for part in open_log(BytesIO(data), "")))
    return found


def read(*events: Row) -> Row:
    """Return the record of a sample with these events."""
    reader_in = LOG.reader_in
    assert reader_in is not None
    row = {"sample_id": "s", "events": json.loads(json.dumps(events))}
    return to_builtins(reader_in({"spec": SPEC})(row))


def codes(*data: bytes) -> list[str]:
    """Return the codes of all problems."""
    return [each.code for each in validate(*data).problems]


# The lines as one object


def test_events_of_a_sample_come_together() -> None:
    """Samples are in the order of their first events, whatever stands between."""
    a, b, a2, b2 = sampling("a"), sampling("b"), match("a"), match("b")

    assert document(lines(a, b, a2, b2, FINAL)) == {
        "spec": SPEC,
        **FINAL,
        "samples": [
            {"sample_id": "a", "events": [a, a2]},
            {"sample_id": "b", "events": [b, b2]},
        ],
    }


@given(st.lists(st.sampled_from(["a", "b", 'c"\n', 1, "1", None]), max_size=30))
def test_grouping_keeps_all_events_in_order(ids: Sequence[Any]) -> None:
    """Whatever the order, each event comes once, after those before it."""
    events = [event(id_, "raw", number=at) for at, id_ in enumerate(ids)]
    samples = document(lines(*events))["samples"]
    keys = list(dict.fromkeys(json.dumps(id_) for id_ in ids))

    assert [json.dumps(each["sample_id"]) for each in samples] == keys
    assert [each["events"] for each in samples] == [
        [one for one in events if json.dumps(one["sample_id"]) == key] for key in keys
    ]


def test_a_log_that_broke_off_has_its_samples() -> None:
    """Without a final report, and without events, it is read; the report is missed."""
    assert "final_report" not in document(lines(sampling("a")))
    assert codes(lines(sampling("a"))) == ["O501"]
    assert codes(lines()) == ["O501"]


def test_the_report_may_stand_before_events() -> None:
    """The tool may write its last events behind the report."""
    assert codes(lines(FINAL, sampling("a"), match("a"))) == []


def test_places_are_those_in_the_log() -> None:
    """A problem is in the line of its event, at its column and byte."""
    bad = json.dumps(match("a")).replace('"match"', "5")
    data = lines(sampling("á"), sampling("a"), match("á"), "  " + bad, FINAL)
    (problem,) = validate(data).problems
    place = problem.place

    assert (problem.code, place.pointer) == ("S102", "/events/1/type")
    assert (place.line, place.record) == (5, 2)
    assert data[place.byte_offset :].startswith(b"5,")
    line = data.split(b"\n")[4].decode()
    assert line[place.column - 1 :].startswith("5,")


def test_a_loss_is_placed_at_the_first_event(tmp_path: Path) -> None:
    """What a conversion loses of a sample is placed in the log, too."""
    data = lines(sampling("a"), match("a"), sampling("b", [1]), FINAL)
    report = convert(data, to="nemo-input", output=tmp_path / "out", on_invalid="skip")
    (losses,) = report.losses
    places = {each.place.line for each in losses.losses.counts.values() if each.place}

    assert places == {2}


@for_each_case(
    "data, reason, records",
    [
        (lines(sampling("a"), FINAL)[:-9], "no JSON in line 3", 1),
        (lines(sampling("a"), '{"a"', sampling("b")), "no JSON in line 3", 2),
        (lines("[", "{", "}", "]", FINAL), "no JSON in line 2, 3, 4 and 1 more", 0),
        (lines(sampling("a")) * 2, "line 3 is a second specification", 0),
        (lines(FINAL, FINAL), "line 3 is a second final report", 0),
        (lines()[:150], "no JSON in line 1", 0),
    ],
)
def test_a_broken_log_is_one_error(data: bytes, reason: str, records: int) -> None:
    """The line is named, and the samples of all other lines are counted."""
    report = validate(data)
    (failure,) = report.failures

    assert reason in (failure.reason or "")
    assert report.files[0].valid == records


def test_a_long_line_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is longer than any row may be is not held in memory."""
    from harpia_converters.openai_evals import log_unpacking  # noqa: PLC0415 - patched

    monkeypatch.setattr(log_unpacking, "ROW_LIMIT", 400)
    with pytest.raises(SourceError, match="line 2 has more than 400 bytes"):
        list(open_log(BytesIO(lines("x" * 500)), ""))


def test_values_that_are_no_json_are_placed() -> None:
    """NaN and lines of other values are errors where they stand."""
    data = lines(sampling("a"), "[1]", {"final_report": {"accuracy": float("nan")}})
    found = {(each.code, each.place.line) for each in validate(data).problems}

    assert found >= {("J106", 4), ("S102", 3)}


def test_an_id_that_is_no_text_is_reported_where_it_stands() -> None:
    """Bytes that are not UTF-8 in an id are an error in their line."""
    data = lines(sampling("a"), sampling("?"), FINAL)
    data = data.replace(b'"?"', b'"\xff"')
    found = {(each.code[:2], each.place.line) for each in validate(data).problems}

    assert ("J1", 3) in found


def test_places_around_the_samples_are_those_in_the_log() -> None:
    """A remark on the final report is at the value in its line."""
    data = lines(sampling("a"), match("a"), {"final_report": {"accuracy": 0.25}})
    (problem,) = validate(data).problems
    place = problem.place
    line = data.split(b"\n")[3].decode()

    assert (problem.code, place.line) == ("O504", 4)
    assert line[place.column - 1 :].startswith("0.25")
    assert data[place.byte_offset :].startswith(b"0.25")


def test_an_object_of_samples_is_no_log_of_lines() -> None:
    """What a log is read as is not grouped again, in one line or in several."""
    whole = document(lines(sampling("a"), match("a"), FINAL))
    for text in (json.dumps(whole), json.dumps(whole, indent=1)):
        (found,) = detect(text.encode())

        assert not formats.is_log(text.encode(), "")
        assert found.format == "openai-evals-log"


# Events as a record


def test_a_sample_becomes_a_record() -> None:
    """The texts are those that were sampled, and not what was picked of them."""
    system, user = {"role": "system", "content": "s"}, {"role": "user", "content": "q"}
    found = read(
        sampling("s", [system, user], ["It is 4."]),
        match("s", picked="4", sampled="It is 4.", options=["4"]),
    )

    assert found == {
        "id": "s",
        "prompt": "q",
        "system": "s",
        "references": ["4"],
        "extra": {
            "openai-evals-log": {
                "unread_events": [
                    {"type": "sampling", "data": {}},
                    {
                        "type": "match",
                        "data": {"sampled": "It is 4.", "options": ["4"]},
                    },
                ]
            }
        },
        "outputs": [
            {
                "model": "owl-1",
                "text": "It is 4.",
                "attribution": [
                    {
                        "turn_idx": 0,
                        "source": "output.raw",
                        "extracted_value": "4",
                        "extraction_method": "picked",
                        "is_terminal": True,
                    }
                ],
                "scores": [
                    {
                        "metric": "match",
                        "value": 1,
                        "is_correct": True,
                        "evaluation_id": "r1",
                        "evaluation_name": "sums.dev.v0",
                        "signature": SIGNATURE,
                    }
                ],
            }
        ],
    }


def test_every_sampled_text_is_an_answer() -> None:
    """Matches belong to the answer of their text, or to the next without one."""
    found = read(
        sampling("s", sampled=["3", "4"]),
        match("s", correct=True, sampled="4"),
        match("s", correct=False),
    )
    outputs = found["outputs"]

    assert [(each["index"], each["text"]) for each in outputs] == [(0, "3"), (1, "4")]
    assert [each["scores"][0]["value"] for each in outputs] == [0, 1]


def test_all_that_was_expected_is_a_reference() -> None:
    """A list is all of them, and what is no text is kept."""
    assert read(match("s", expected=["4", "four"]))["references"] == ["4", "four"]
    kept = read(match("s", expected=4))

    assert "references" not in kept
    assert kept["extra"]["openai-evals-log"]["unread_events"][0]["data"] == {
        "expected": 4
    }


def test_a_match_before_its_sampling_is_the_same() -> None:
    """The order of the events of a sample changes the order of what is kept only."""
    one, two = sampling("s"), match("s", sampled="4", picked="4")
    found, back = read(one, two), read(two, one)
    del found["extra"], back["extra"]

    assert found == back


def test_other_samplings_are_no_answers() -> None:
    """What was sampled for another prompt, as by a grader, is kept as it is."""
    grading = sampling("s", "Is 4 right?", ["Y"])
    found = read(sampling("s"), grading)

    assert [each["text"] for each in found["outputs"]] == ["4"]
    unread = found["extra"]["openai-evals-log"]["unread_events"]
    assert unread[1]["data"] == {"prompt": "Is 4 right?", "sampled": ["Y"]}


def test_events_of_other_types_are_kept() -> None:
    """Metrics are no scores: their numbers are kept, and the events are counted."""
    metrics = event("s", "metrics", score=0.5)
    found = read(metrics)

    assert found["outputs"] == []
    assert found["extra"]["openai-evals-log"]["unread_events"] == [
        {"type": "metrics", "data": {"score": 0.5}}
    ]


@pytest.mark.parametrize("correct", [None, "yes", 1])
def test_what_is_neither_right_nor_wrong_is_no_score(correct: Any) -> None:
    """A match without true or false gives no score, and is kept."""
    found = read(sampling("s"), match("s", correct=correct))

    assert "scores" not in found["outputs"][0]
    unread = found["extra"]["openai-evals-log"]["unread_events"]
    assert unread[1]["data"]["correct"] == correct


def test_a_score_without_an_answer_has_no_text() -> None:
    """Where no answer was sampled, none is made of what was matched."""
    (output,) = read(match("s", picked="4", sampled="4"))["outputs"]

    assert output["scores"][0]["value"] == 1
    assert "text" not in output


def test_the_specification_is_the_header() -> None:
    """The eval is the task, the run with its report the evaluation."""
    assert LOG.read_header is not None
    header = to_builtins(LOG.read_header({"spec": SPEC, **FINAL}))
    run = {key: SPEC[key] for key in ("completion_fns", "run_config", "run_id")}

    assert header == {
        "task": {"eval_name": "sums.dev.v0", "base_eval": "sums", "split": "dev"},
        "evaluation": run | {"final_report": FINAL["final_report"]},
    }


def test_samples_are_made_of_a_log() -> None:
    """What the log alone has is lost, and no member of a sample."""
    output = BytesIO()
    report = convert(
        lines(sampling("a"), match("a"), FINAL), to="openai-evals", output=output
    )

    assert json.loads(output.getvalue()) == {
        "input": [{"role": "user", "content": "2+2="}],
        "ideal": "4",
    }
    assert not report.lossless


# Rules


@for_each_case(
    "report, expected",
    [
        ({"accuracy": 0.5}, []),
        ({"accuracy": 0.25}, ["O504"]),
        ({"counts/Y": 1, "counts/N": 1}, []),
        ({"counts/Y": 1, "counts/N": 3}, ["O504"]),
        ({"accuracy": None}, []),
        ("none", []),
    ],
)
def test_counts_are_compared_with_the_report(report: Any, expected: list[str]) -> None:
    """An accuracy is a share of the samples, and counts add up to them."""
    found = formats.count_remarks({"final_report": report}, 2)

    assert [each.code for each in found] == expected


@pytest.mark.corpora
def test_the_log_of_the_reference_is_read() -> None:
    """Two samples, the first correct and the second not; nothing is remarked on."""
    records = list(harpia_formats.read(REAL))
    scores = [one.scores for each in records for one in each.outputs]

    assert codes(REAL.read_bytes()) == []
    assert [each.id for each in records] == ["geo.dev.0", "geo.dev.1"]
    assert [[one.is_correct for one in each or ()] for each in scores] == [
        [True],
        [False],
    ]
    assert [each.references for each in records] == [["Maputo"], ["2", "3"]]
    assert {one.model for each in records for one in each.outputs} == {
        "example-model-1"
    }
