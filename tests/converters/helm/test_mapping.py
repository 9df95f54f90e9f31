"""Records of HELM's instances, by small runs of our own."""

from pathlib import Path

from msgspec import UNSET

from harpia_formats import Record, read

#: The metrics of the fixtures, apart from counts, times and probabilities.
METRICS = {"exact_match", "quasi_exact_match", "exact_match@5"}
FIXTURES = Path(__file__).parents[3] / "fixtures" / "helm" / "valid"


def records_of(name: str) -> list[Record]:
    """Return the records of a fixture."""
    return list(read(FIXTURES / f"{name}.json"))


def test_the_letter_is_the_text_and_its_option_is_the_extracted_answer() -> None:
    """` B` stays what the model wrote, and stands for an option of the question."""
    first, _, third = records_of("joint")
    (output,) = first.outputs

    assert (output.text, first.references) == (" B", ["Maputo"])
    assert first.choices == ["Lima", "Maputo"]
    assert output.attribution
    assert output.attribution[0]["extracted_value"] == "Maputo"
    assert third.outputs[0].text == " neither"
    assert third.outputs[0].attribution is UNSET


def test_references_of_a_generation_are_no_options() -> None:
    """Only correct references are references, and none of them is a choice."""
    record = records_of("generation-with-trials-and-typos")[0]

    assert record.references == ["the Nile", "Nile"]
    assert record.choices is UNSET
    assert record.extra
    # The wrong one is kept too.
    assert len(record.extra["helm"]["instance"]["references"]) == 3


def test_each_completion_is_an_output_and_the_first_has_the_scores() -> None:
    """HELM scores the first completion; a metric without a value has none."""
    first, typos, _ = records_of("generation-with-trials-and-typos")
    scores = first.outputs[0].scores
    assert scores

    assert [(one.index, one.text) for one in first.outputs] == [
        (0, " The Nile"),
        (1, " the Congo"),
    ]
    assert {one.metric: one.value for one in scores} == {
        "exact_match": 0.0,
        "f1_score": 1.0,
        "toxicity": None,
    }
    assert [one.is_correct for one in scores] == [False, UNSET, UNSET]
    assert first.outputs[1].scores is UNSET
    assert scores[0].signature == "exact_match|impl:helm"
    assert typos.outputs[0].scores
    assert (
        typos.outputs[0].scores[0].signature
        == "exact_match|impl:helm|perturbation:typos"
    )
    assert scores[0].evaluation_id == "rivers:model=aurora-labs_aurora-7b"
    assert scores[0].evaluation_name == "rivers"


def test_split_trial_and_perturbation_are_metadata() -> None:
    """They tell records with one id apart, and can be grouped by."""
    found = [one.metadata for one in records_of("generation-with-trials-and-typos")]

    assert found == [
        {"split": "test", "train_trial_index": 0},
        {"split": "test", "train_trial_index": 0, "perturbation": "typos"},
        {"split": "test", "train_trial_index": 1},
    ]
    assert [one.metadata["split"] for one in records_of("joint") if one.metadata] == [
        *("test", "valid", "test")
    ]


def test_bookkeeping_is_no_score() -> None:
    """Counts, times and probabilities are tokens, or kept with the answer."""
    for record in records_of("joint"):
        (output,) = record.outputs
        assert output.extra
        assert {one.metric for one in output.scores or ()} <= METRICS
        assert output.token_usage == {
            "input_tokens": 12,
            "output_tokens": 1,
            "total_tokens": 13,
        }
        assert output.performance == {"latency_ms": 250.0}
        assert output.extra["helm"]["statistics"]["training_co2_cost"] is None


def test_requests_for_each_reference_write_nothing() -> None:
    """The options are all references; what was sent for each of them is kept."""
    (record,) = records_of("separate-calibrated")
    (output,) = record.outputs

    assert record.choices == ["Lima", "Maputo"]
    assert record.references == ["Maputo"]
    assert (output.text, output.attribution) == (UNSET, UNSET)
    assert output.scores
    assert [(one.metric, one.value) for one in output.scores] == [("exact_match", 1.0)]
    assert output.extra
    kept = output.extra["helm"]
    assert [
        (one["reference_index"], one["request_mode"]) for one in kept["requests"]
    ] == [(0, "original"), (0, "calibration"), (1, "original"), (1, "calibration")]
    assert kept["statistics"]["predicted_index"] == 1.0
    assert output.token_usage
    assert output.token_usage["input_tokens"] == 40


def test_a_failed_request_is_an_error() -> None:
    """It has no text; one that was not sent has no answer at all."""
    failed, unsent = records_of("R104-failed-and-not-sent")

    assert failed.outputs[0].error == "the server was too busy"
    assert failed.outputs[0].text is UNSET
    assert unsent.outputs == []


def test_thinking_is_the_reasoning() -> None:
    """The reasoning before the text is not a part of it."""
    (record,) = records_of("R102-thinking")
    (output,) = record.outputs

    assert (output.text, output.reasoning) == ("yes", "7 has no divisors.")
    assert output.formatted_prompt is UNSET
    assert output.extra
    assert output.extra["helm"]["messages"] == [
        {"role": "user", "content": "Is 7 prime?"}
    ]


def test_a_scenario_state_alone_has_no_scores() -> None:
    """Its requests are read without the files next to it."""
    first, second = records_of("R106-scenario-state-alone")

    assert (first.id, first.outputs[0].text) == ("id1", " Nile")
    assert (second.id, second.outputs[0].scores) == ("id2", UNSET)
    assert first.source is UNSET
