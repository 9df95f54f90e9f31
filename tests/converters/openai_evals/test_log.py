"""Logs of runs: lines of JSON whose events interleave, read sample by sample."""

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import UNSET

import harpia_formats
from cases import for_each_case
from corpora import CORPORA
from harpia_formats import convert, detect, validate
from harpia_formats.plugins import Row
from known_formats import FORMATS

REAL = CORPORA / "neighbours" / "openai" / "evals_run_log.jsonl"

SPEC: Row = {
    "completion_fns": ["owl-1", "grader-2"],
    "eval_name": "sums.dev.v0",
    "base_eval": "sums",
    "split": "dev",
    "run_config": {"eval_spec": {"cls": "evals.elsuite.basic.match:Match"}},
    "run_id": "r1",
}
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


def samples_in(data: bytes) -> list[tuple[Any, list[Row]]]:
    """Return the id and the kept events of each sample that is read of a log."""
    kept: list[Any] = [(each.id, each.extra) for each in harpia_formats.read(data)]
    return [(id_, extra["openai-evals-log"]["unread_events"]) for id_, extra in kept]


def codes(*data: bytes) -> list[str]:
    """Return the codes of all problems."""
    return [each.code for each in validate(*data).problems]


# The lines as one object


@given(st.lists(st.sampled_from(["a", "b", 'c"\n', 1, "1", None]), max_size=30))
@example(["a", "b", "a", "b"])
def test_grouping_keeps_all_events_in_order(ids: Sequence[Any]) -> None:
    """Samples are in the order of their first events, and each has its own in order."""
    events = [event(id_, "raw", number=at) for at, id_ in enumerate(ids)]
    keys = {json.dumps(id_): UNSET if id_ is None else id_ for id_ in ids}

    assert samples_in(lines(*events, FINAL)) == [
        (
            id_,
            [
                {"type": one["type"], "data": one["data"]}
                for one in events
                if json.dumps(one["sample_id"]) == key
            ],
        )
        for key, id_ in keys.items()
    ]


def test_a_log_that_broke_off_has_its_samples() -> None:
    """Without a final report, and without events, it is read; the report is missed."""
    assert len(samples_in(lines(sampling("a")))) == 1
    assert codes(lines(sampling("a"))) == ["O501"]
    assert codes(lines()) == ["O501"]


def test_the_report_may_stand_before_events() -> None:
    """The tool may write its last events behind the report."""
    assert codes(lines(FINAL, sampling("a"), match("a"))) == []


def test_a_byte_order_mark_is_reported_and_read_over() -> None:
    """It stands in front of the specification, as an editor may write it."""
    report = validate(b"\xef\xbb\xbf" + lines(sampling("a"), match("a"), FINAL))
    (problem,) = report.problems

    assert (problem.code, problem.place.byte_offset) == ("J201", 0)
    assert [each.format for each in report.files] == ["openai-evals-log"]
    assert report.files[0].valid == 1


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


def test_a_long_line_is_an_error() -> None:
    """A line that is longer than any row may be is not held in memory."""
    (failure,) = validate(lines(f'"{"x" * (1 << 24)}"')).failures

    assert "line 2 has more than 16,777,216 bytes" in (failure.reason or "")


def test_values_that_are_no_json_are_placed() -> None:
    """NaN and lines of other values are errors where they stand."""
    data = lines(sampling("a"), "[1]", {"final_report": {"accuracy": float("nan")}})
    found = {(each.code, each.place.line) for each in validate(data).problems}

    assert found >= {("J106", 4), ("S102", 3)}


def test_a_line_that_is_too_deep_is_one_error_at_its_place() -> None:
    """A value of many levels in an event is no reason to read no other one."""
    deep = "[" * 20_000 + "]" * 20_000
    broken = json.dumps(sampling("a")).replace('["4"]', deep)
    report = validate(lines(broken, sampling("b"), FINAL))

    assert ("J108", 2) in [(each.code, each.place.line) for each in report.problems]
    assert report.files[0].valid == 1


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
    samples = [{"sample_id": "a", "events": [sampling("a"), match("a")]}]
    whole = {"spec": SPEC, **FINAL, "samples": samples}
    for text in (json.dumps(whole), json.dumps(whole, indent=1)):
        (found,) = detect(text.encode())
        report = validate(text.encode())

        assert found.format == "openai-evals-log"
        assert report.ok, report.problems
        assert report.files[0].records == 1


# Events as a record


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


def test_matches_are_of_the_answer_with_their_text() -> None:
    """A second match of an answer is no match of another one."""
    matches = [match("a", sampled="4"), match("a", sampled="4")]
    (record,) = harpia_formats.read(
        lines(sampling("a", sampled=["4", "5"]), *matches, FINAL)
    )

    assert [len(each.scores or []) for each in record.outputs] == [2, 0]


# Rules


@for_each_case(
    "report, expected",
    [
        ({"accuracy": 0.5}, []),
        ({"accuracy": 0.25}, ["O504"]),
        ({"accuracy": 2}, ["O504"]),
        ({"accuracy": 1e308}, ["O504"]),
        ({"accuracy": 10**400}, []),
        ({"counts/Y": 1, "counts/N": 1}, []),
        ({"counts/Y": 1, "counts/N": 3}, ["O504"]),
        ({"accuracy": None}, []),
        ("none", []),
    ],
)
def test_counts_are_compared_with_the_report(report: Any, expected: list[str]) -> None:
    """An accuracy is a share of the samples, and counts add up to them."""
    count_remarks = FORMATS["openai-evals-log"].dialects[0].count_remarks
    assert count_remarks is not None
    found = count_remarks({"final_report": report}, 2)

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
