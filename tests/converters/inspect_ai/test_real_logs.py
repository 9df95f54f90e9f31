"""Logs that Inspect wrote, read as what they say: figures found by other means."""

from collections import Counter
from typing import Any

import pytest
from msgspec import UNSET

from corpora import CORPORA
from harpia_formats import Output, Record, Score, read, stats, validate
from problem_codes import codes_of

LOGS = CORPORA / "neighbours" / "inspect"

pytestmark = pytest.mark.corpora


def records(name: str) -> dict[tuple[Any, int], Record]:
    """Return the records of a log, by id and epoch."""
    found = list(read(LOGS / name))
    return {(one.id, epoch_of(one)): one for one in found}


def epoch_of(record: Record) -> int:
    """Return the epoch of a record, by the index of its first answer."""
    index = record.outputs[0].index
    assert isinstance(index, int)
    return index + 1


def answer(record: Record) -> Output:
    """Return the only answer of a record."""
    (found,) = record.outputs
    return found


def score(record: Record, metric: str) -> Score:
    """Return the score of a metric."""
    scores = answer(record).scores
    assert scores is not UNSET
    (found,) = [each for each in scores if each.metric == metric]
    return found


def extra(owner: Record | Output) -> dict[str, Any]:
    """Return what the log has apart from the fields."""
    assert owner.extra is not UNSET
    return owner.extra["inspect"]


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_epochs_are_records_with_scores_of_their_own(ending: str) -> None:
    """Each epoch of a sample is a record; no score is that of its reduction."""
    found = records(f"made/demo_epochs2.{ending}")
    first, second = found["s1", 1], found["s1", 2]

    assert list(found) == [(f"s{n}", epoch) for epoch in (1, 2) for n in (1, 2, 3)]
    assert (answer(first).text, answer(second).text) == ("Maputo", "Beira")
    assert [score(one, "match").value for one in (first, second)] == [1, 0]
    assert [score(one, "match").is_correct for one in (first, second)] == [True, False]
    assert (
        score(first, "match").signature == "match|impl:inspect_ai-0.3.285|scorer:match"
    )
    assert score(first, "match").evaluation_name == "demo"


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_agentic_sample(ending: str) -> None:
    """A sample with a tool has its conversation, its reasoning and all its tokens."""
    record = records(f"made/demo_epochs2.{ending}")["s2", 1]
    output = answer(record)
    assert record.messages is not UNSET
    assert output.turns is not UNSET
    assert output.token_usage is not UNSET
    call = output.turns[2]["tool_calls"][0]

    assert [each["role"] for each in record.messages] == ["system", "user"]
    assert record.references == ["5", "five"]
    assert " ".join(turn["role"] for turn in output.turns) == (
        "system user assistant tool assistant"
    )
    assert (call["name"], call["arguments"]) == ("add", {"x": 2, "y": 3})
    assert (output.text, output.reasoning) == ("5", "2 and 3 make 5")
    assert output.interaction_type == "agentic"
    assert output.token_usage["total_tokens"] == 418


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_unscored_sample_and_its_attachment(ending: str) -> None:
    """A score of NaN is null, and an image is what its reference names."""
    found = records(f"made/demo_epochs2.{ending}")
    unscored = [found["s3", epoch] for epoch in (1, 2)]
    image = extra(unscored[0])["input_parts"][0]["image"]

    for record in unscored:
        assert score(record, "length_or_nothing").value is None
        assert score(record, "length_or_nothing").is_correct is UNSET
    assert image.startswith("data:image/png;base64,")
    assert len(image) == 118
    values = [score(found["s1", 1], f"two_values.{key}").value for key in "ab"]
    assert values == [1.0, 0.25]


def test_nan_is_counted() -> None:
    """Each NaN of a log is noted once, and each sample without a score."""
    report = validate(LOGS / "made/demo_epochs2.json", examples=0)

    assert (LOGS / "made/demo_epochs2.json").read_bytes().count(b": NaN") == 5
    assert Counter(codes_of(report))["J209"] == 5
    assert Counter(codes_of(report))["I202"] == 2


def test_multiple_choice() -> None:
    """An answer is what the model wrote, and not the letter that the scorer found."""
    found = records("made/mcq.eval")
    first, second = found[1, 1], found[2, 1]

    assert answer(first).text == "ANSWER: A"
    assert score(first, "choice").is_correct is True
    assert second.references == ["B", "D"]
    assert second.choices is not UNSET
    assert len(second.choices) == 4
    assert score(second, "choice").is_correct is False


def test_epochs_of_a_part_of_a_data_set() -> None:
    """A log of a part of a data set has the samples that were run, and they are all."""
    found = records("real/log_streaming.eval")
    report = validate(LOGS / "real/log_streaming.eval")

    assert len(found) == 4
    assert [score(found[1, n], "match").value for n in (1, 2)] == [0, 1]
    assert sum(score(one, "match").value for one in found.values()) / 4 == 0.75
    assert found[1, 1].references == [" Yes"]
    assert "I104" not in codes_of(report)


def test_errored_sample_has_no_answer() -> None:
    """A sample that ended with an error has none, though the run ended with success."""
    name = "real/data_cvebench_empty_choices.json"
    (record,) = read(LOGS / name)
    output = answer(record)
    report = validate(LOGS / name)
    messages = [each.message for each in report.problems if each.code == "I104"]

    assert output.text is None
    assert isinstance(output.error, str)
    assert output.error.startswith("RuntimeError(")
    assert record.references is UNSET
    assert output.scores is not UNSET
    assert [score.value for score in output.scores] == [UNSET]
    assert Counter(codes_of(report)) == {"I201": 1, "I104": 1}
    assert messages == ["1 of 80 samples are in the log"]


@pytest.mark.parametrize(
    ("name", "text"), [("log_images", "[Abstract]"), ("log_images_tc", "[hedgehog]")]
)
def test_image(name: str, text: str) -> None:
    """References of both kinds are resolved; each target is a reference."""
    (record,) = read(LOGS / "real" / f"{name}.json")
    (part,) = extra(record)["input_parts"]

    assert record.references == ["bike", "bicycle"]
    assert answer(record).text == text
    assert part["image"].startswith("data:image/png;base64,")
    assert "unresolved_attachments" not in extra(record)


def test_archive_of_any_version_is_read() -> None:
    """The tool does not look at the version of an archive, so it is read."""
    name = "real/log_message_deduplication.eval"
    (record,) = read(LOGS / name)
    output = answer(record)
    assert output.turns is not UNSET
    calls = [call for turn in output.turns for call in turn.get("tool_calls", ())]

    assert validate(LOGS / name).ok
    assert record.id == "0"
    assert len(output.turns) == 12
    assert output.interaction_type == "agentic"
    assert (calls[0]["name"], calls[0]["arguments"]) == ("bash", {"cmd": "ls"})


def test_newer_log_in_json_is_refused() -> None:
    """A log of a version that is not known is an error."""
    assert Counter(codes_of(validate(LOGS / "real/log_version_3.txt"))) == {"I101": 1}


def test_cancelled_runs() -> None:
    """A run that was cancelled is reported, and so is what it lacks."""
    some = validate(LOGS / "real/popularity_cancelled.json")
    none = validate(LOGS / "real/popularity_cancelled_no-samples.json")

    assert Counter(codes_of(some)) == {"I102": 1}
    assert Counter(codes_of(none)) == {"I102": 1, "I104": 1}
    assert some.ok
    assert none.ok
    assert none.problems[1].message == "0 of 3 samples are in the log"
    assert not list(read(LOGS / "real/popularity_cancelled_no-samples.json"))


def test_early_log_with_nan_is_read() -> None:
    """A log of version 1 whose results have NaN is valid, whatever its ending."""
    report = validate(LOGS / "real/log_with_nan.txt")

    assert report.ok
    assert Counter(codes_of(report)) == {"J209": 1}


def test_message_of_early_log() -> None:
    """A log without `completion`, with the stop reason `length`, has its answer."""
    (record,) = read(LOGS / "real/log_length_stop_reason.txt")

    assert answer(record).text == "Hello"
    assert extra(answer(record))["stop_reason"] == "length"


def test_score_between_is_neither_right_nor_wrong() -> None:
    """A number is a value, and does not say that the answer counts as correct."""
    (record,) = read(LOGS / "real/data_cyse2_vuln_exploit_challenges.json")
    found = score(record, "vul_exploit_scorer")

    assert (found.value, found.is_correct) == (0.65, UNSET)
    assert extra(answer(record))["usage_of"] == "the last call"


def test_prompt_as_sent() -> None:
    """What the model was sent is kept next to the question of the data set."""
    first, second = read(LOGS / "real/data_pubmedqa_gpt4o_mini.json")
    sent = answer(first).formatted_prompt

    assert isinstance(sent, str)
    assert sent.startswith("Answer the following multiple choice question")
    assert isinstance(first.prompt, str)
    assert first.prompt.startswith("Context: Dyschesia")
    assert answer(first).turns is UNSET
    assert answer(first).token_usage == {
        "input_tokens": 362,
        "output_tokens": 4,
        "total_tokens": 366,
        "input_tokens_cache_read": 0,
        "reasoning_tokens": 0,
    }
    assert answer(first).performance == {"latency_ms": 7671.0}
    assert second.id == "26163474"


def test_all_logs_are_read_and_reported_while_reading() -> None:
    """Every log that the tool reads is read, and what it lacks is reported."""
    names = [path for path in LOGS.rglob("*") if path.is_file()]
    left = {"demo_epochs2_chunked.eval", "log_version_3.txt"}
    found: dict[str, set[str]] = {}
    for path in names:
        if path.name in left:
            continue
        report = stats(path).report
        found[path.name] = {each.code for each in report.problems}
        assert report.ok

    assert len(found) >= 16
    assert found["popularity_cancelled.json"] == {"I102"}
    assert found["data_cvebench_empty_choices.json"] == {"I104"}
    assert found["mcq.eval"] == set()
