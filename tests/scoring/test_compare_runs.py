"""Two systems are compared on the records that both have answered."""

import json
from typing import Any

import pytest

from harpia_formats import compare_scores
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.scoring.compare_stored import StoredComparison, StoredReport
from harpia_formats.scoring.options import ScoreOptions

pytest.importorskip("numpy", reason="comparing needs the extra score")

COUNT = 60


def system(right: float, name: str = "m", *, ids: bool = True) -> list[dict[str, Any]]:
    """Return records of which a share is answered rightly."""
    return [
        ({"id": f"q{number}"} if ids else {})
        | {
            "prompt": f"what is {number}?",
            "references": [str(number)],
            "outputs": [
                {"model": name, "text": str(number) if number < right * COUNT else "?"}
            ],
        }
        for number in range(COUNT)
    ]


def lines(rows: list[dict[str, Any]]) -> bytes:
    """Return rows as lines."""
    return "".join(f"{json.dumps(each)}\n" for each in rows).encode()


def test_a_difference_is_found() -> None:
    """A large difference has a small p-value and an interval without 0."""
    found = compare_scores(
        lines(system(0.9)), lines(system(0.4)), metrics=("em",)
    ).compared[0]

    assert found.first == pytest.approx(0.9)
    assert found.second == pytest.approx(0.4)
    assert found.comparison is not None
    assert found.comparison.p_value < 0.01
    assert found.comparison.low > 0
    assert found.pairs == COUNT


def test_no_difference_is_found_where_there_is_none() -> None:
    """A system compared with itself has no difference and a p-value of 1."""
    found = compare_scores(lines(system(0.5)), lines(system(0.5)), metrics=("f1",))

    assert found.ok
    assert found.compared[0].comparison is not None
    assert found.compared[0].comparison.difference == 0
    assert found.compared[0].comparison.p_value == 1


def test_order_does_not_matter() -> None:
    """Records are paired by their ids, in whatever order they come."""
    ours, theirs = system(0.9), system(0.4)
    expected = compare_scores(lines(ours), lines(theirs), metrics=("em",)).compared

    found = compare_scores(lines(ours), lines(theirs[::-1]), metrics=("em",)).compared

    assert found == expected


def test_records_without_ids_are_paired_by_their_prompts() -> None:
    """Where one side has no ids, what is asked pairs the records."""
    theirs = system(0.4, ids=False)[::-1]

    found = compare_scores(lines(system(0.9)), lines(theirs), metrics=("em",))

    assert found.compared[0].pairs == COUNT


def test_records_of_one_side_are_counted() -> None:
    """Records of one side only are not compared, and are counted."""
    found = compare_scores(
        lines(system(0.9)[10:]), lines(system(0.4)[:-20]), metrics=("em",)
    )

    assert found.compared[0].pairs == COUNT - 30
    assert (found.only_first, found.only_second) == (20, 10)


def test_models_of_one_file_are_compared() -> None:
    """Answers of two models in one file are paired by the names of the models."""
    rows = [
        one | {"outputs": one["outputs"] + other["outputs"]}
        for one, other in zip(system(0.9, "a"), system(0.4, "b"), strict=True)
    ]

    found = compare_scores(
        lines(rows), lines(rows), models=("a", "b"), metrics=("em",)
    ).compared[0]

    assert [found.first, found.second] == pytest.approx([0.9, 0.4])


def test_chats_are_paired_by_all_messages() -> None:
    """Chats with the same last message are paired by their earlier messages."""

    def chats(answers: list[str]) -> list[dict[str, Any]]:
        return [
            {
                "messages": [
                    {"role": "user", "content": f"about {number}"},
                    {"role": "assistant", "content": "yes"},
                    {"role": "user", "content": "go on"},
                ],
                "references": [answer],
                "outputs": [{"text": "1"}],
            }
            for number, answer in enumerate(answers)
        ]

    rows = chats(["1", "2"] * 20)

    found = compare_scores(
        lines(rows), lines(rows[::-1]), metrics=("em",), from_="record"
    ).compared[0]

    assert found.comparison is not None
    assert (found.comparison.low, found.comparison.high) == (0, 0)


def test_models_in_another_order_are_paired_by_name() -> None:
    """Several models are compared each with itself, in whatever order they answer."""
    rows = [
        one | {"outputs": one["outputs"] + other["outputs"]}
        for one, other in zip(system(0.9, "a"), system(0.4, "b"), strict=True)
    ]
    turned = [each | {"outputs": each["outputs"][::-1]} for each in rows]

    found = compare_scores(lines(rows), lines(turned), metrics=("em",)).compared[0]

    assert found.comparison is not None
    assert (found.comparison.low, found.comparison.high) == (0, 0)
    with pytest.raises(ScoreError, match="--model-a"):
        compare_scores(lines(rows), lines(system(0.9, "c")), metrics=("em",))


def test_unlike_metrics_of_inputs_are_not_compared() -> None:
    """Two inputs that ask for other parameters of a metric are not compared."""
    pytest.importorskip("nltk", reason="BLEU needs the extra score")

    def lab_input(weights: list[float]) -> bytes:
        instances = [
            {
                "id": str(number),
                "input": "x",
                "expected-output": ["a b c d"],
                "actual-output": "a b c e",
            }
            for number in range(5)
        ]
        parameters = {
            "weights": weights,
            "smoothing_function": "method1",
            "auto_reweigh": False,
        }
        metric = {"id": "BLEU", "enable": True, "parameters": parameters}
        return json.dumps({"instances": instances, "metrics": [metric]}).encode()

    with pytest.raises(ScoreError, match="different metrics"):
        compare_scores(lab_input([0.25] * 4), lab_input([1, 0, 0, 0]), profile="harpia")


def test_no_common_record_is_an_error() -> None:
    """Two data sets without a common record are not compared."""
    theirs = [each | {"id": f"x{each['id']}"} for each in system(0.4)]

    with pytest.raises(ScoreError, match="same id"):
        compare_scores(lines(system(0.9)), lines(theirs), metrics=("em",))


def stored(signature: str | None, share: float) -> bytes:
    """Return records that have scores already."""
    rows = system(share)
    for number, row in enumerate(rows):
        score: dict[str, Any] = {"metric": "em", "value": float(number < share * COUNT)}
        if signature is not None:
            score["signature"] = signature
        row["outputs"][0]["scores"] = [score]
    return lines(rows)


def compared(first: bytes, second: bytes, *, force: bool = False) -> StoredReport:
    """Return the report of a comparison of stored scores."""
    run = StoredComparison([first], [second], ScoreOptions(), force=force)
    assert list(run) == []
    return run.report()


def test_stored_scores_are_compared() -> None:
    """Scores that were computed the same way are compared."""
    found = compared(stored("em|a", 0.9), stored("em|a", 0.4)).compared[0]

    assert [found.first, found.second] == pytest.approx([0.9, 0.4])
    assert found.comparison is not None
    assert found.comparison.p_value < 0.01
    assert found.signature == "em|a"


@pytest.mark.parametrize("other", ["em|b", None])
def test_unlike_signatures_are_not_compared(other: str | None) -> None:
    """Scores with unlike signatures, or without one, are compared only by force."""
    first, second = stored("em|a", 0.9), stored(other, 0.4)

    with pytest.raises(ScoreError, match="--force"):
        compared(first, second)
    assert compared(first, second, force=True).said
