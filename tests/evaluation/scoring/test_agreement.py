"""The agreement of two judges, or of a judge with the labels of records."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import (
    OptionError,
    ScoreError,
    ValidationFailed,
    score_agreement,
)
from in_process import exit_code
from json_lines import jsonl

LABELS = ("bad", "mixed", "good")
INTEGERS = {name: number for number, name in enumerate(LABELS, 1)}


def verdict(number: int, result: Any, judge: str = "a", **changes: Any) -> Any:
    """Return a verdict on the answer with this number: two answers to a question."""
    return {
        "row": number + 1,
        "record": number + 1,
        "record_id": f"q{number // 2}",
        "model": "m",
        "index": number % 2,
        "status": "ok" if result else "failed",
        "attempts": 1,
        "cached": False,
        "error": None if result else "no JSON",
        "signature": f"judge|model:{judge}",
        "result": result,
        **changes,
    }


def drawn(seed: int, count: int = 80) -> list[str]:
    """Return labels, of which those for two seeds agree more than by chance."""
    truth, own = Random(0), Random(seed)  # noqa: S311 - no secrets
    found = [truth.choice(LABELS) for _ in range(count)]
    return [one if own.random() < 0.7 else own.choice(LABELS) for one in found]


def verdicts(labels: list[str], judge: str = "a", **changes: Any) -> list[Any]:
    """Return a verdict for each label, as a text and as a number."""
    return [
        verdict(at, {"verdict": one, "score": INTEGERS[one]}, judge, **changes)
        for at, one in enumerate(labels)
    ]


def file(path: Path, rows: list[Any]) -> Path:
    """Write rows as lines."""
    path.write_bytes(jsonl(*rows))
    return path


def both(count: int = 80) -> tuple[list[Any], list[Any]]:
    """Return the verdicts of two judges on the same answers."""
    return verdicts(drawn(1, count)), verdicts(drawn(2, count), "b")


def agreement(*inputs: Any, **options: Any) -> Any:
    """Return the agreement of inputs, or of those judges."""
    return score_agreement(*(inputs or both()), **options)


@pytest.mark.proof
@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights: str) -> None:
    """With every kind of weights."""
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn")
    one, other = drawn(1), drawn(2)
    found = score_agreement(
        verdicts(one),
        verdicts(other, "b"),
        fields=["verdict"],
        labels=LABELS,
        weights=weights,
    )
    kind = None if weights == "none" else weights
    expected = metrics.cohen_kappa_score(one, other, labels=LABELS, weights=kind)
    assert found["kappa"].value == pytest.approx(expected, abs=1e-12)


def test_share_and_intervals_are_by_question() -> None:
    """Each verdict four times gives the same scores and about the same intervals."""
    once = agreement()
    repeated = agreement(*([row for row in rows for _ in range(4)] for rows in both()))
    share = sum(a == b for a, b in zip(drawn(1), drawn(2), strict=True)) / 80
    assert once["agreement"].value == pytest.approx(share)
    assert once["agreement"].questions == repeated["agreement"].questions == 40
    for name in ("agreement", "kappa"):
        assert repeated[name].value == pytest.approx(once[name].value)
        assert repeated[name].interval == pytest.approx(once[name].interval, abs=0.03)


def test_texts_and_numbers_are_labels() -> None:
    """The same classes as texts and as numbers have the same kappa and matrix."""
    texts = agreement(fields=["verdict"], labels=LABELS)["kappa"]
    numbers = agreement(fields=["score"])["kappa"]
    assert texts.value == numbers.value
    assert texts.confusion.counts == numbers.confusion.counts
    assert numbers.confusion.labels == ("1", "2", "3")


def test_true_and_whole_numbers_are_one() -> None:
    """True equals 1, 1.0 and the text 1."""
    for value in (1, 1.0, "1"):
        first = [verdict(0, {"ok": True}), verdict(2, {"ok": False})]
        second = [verdict(0, {"ok": value}), verdict(2, {"ok": 0})]
        assert score_agreement(first, second, fields=["ok"])["agreement"].value == 1


def test_a_label_of_a_record_counts_for_each_answer() -> None:
    """Here two verdicts on a question meet one label in its metadata."""
    labels = ["bad", "good", "good", "mixed"]
    records = [
        {"id": f"q{at}", "prompt": "p", "metadata": {"a.label": one}, "outputs": []}
        for at, one in enumerate(["bad", "good"])
    ]
    found = score_agreement(
        verdicts(labels), records, fields=["verdict", "metadata.a.label"]
    )
    assert (found["agreement"].count, found["agreement"].value) == (4, 0.5)


def test_two_fields_of_one_input() -> None:
    """Rows are paired with themselves, also without ids."""
    rows = [
        {"prompt": "p", "metadata": {"a": one, "b": other}, "outputs": []}
        for one, other in zip(drawn(1), drawn(2), strict=True)
    ]
    one = agreement(rows, fields=["metadata.a", "metadata.b"])
    assert one["kappa"].value == agreement(fields=["verdict"])["kappa"].value


def test_what_only_one_has_is_counted() -> None:
    """Answers of one judge, and those without a label, are left out with a note."""
    first, second = both()
    first[0] = verdict(0, None)
    found = agreement(first, second[:70])
    assert (found["kappa"].count, found["kappa"].unscored) == (69, 11)
    assert "10 answers only in input 1: left out" in found.notes
    assert "1 answer without a label in input 1: left out" in found.notes
    assert "input 2: judge|model:b" in found.notes
    assert not any("is one of" in note for note in found.notes)


def test_raters_without_a_common_label_are_noted() -> None:
    """They may have named the same classes otherwise."""
    notes = agreement(fields=["verdict", "score"]).notes
    assert "no label of input 1 is one of input 2" in notes


def test_answers_of_models_are_paired_by_their_names() -> None:
    """The order of the models does not count."""
    first = [verdict(0, {"v": "x"}), verdict(0, {"v": "y"}, model="n")]
    first.append(verdict(2, {"v": "x"}))
    found = score_agreement(first, first[::-1], fields=["v"])
    assert found["agreement"].value == 1


def answered(id_: str, *answers: tuple[str, str], **changes: Any) -> dict[str, Any]:
    """Return a record with answers, each with its model."""
    outputs = [{"model": model, "text": text} for model, text in answers]
    return {"id": id_, "prompt": f"{id_}?", "outputs": outputs, **changes}


def test_a_label_of_a_record_meets_the_answers_of_that_record() -> None:
    """Also if a question has several records with several answers each."""
    rows = [
        answered("1", ("A", "yes"), ("A", "no"), references=["yes"]),
        answered("2", ("A", "no"), references=["no"]),
        answered("1", ("B", "no"), ("B", "no"), references=["yes"]),
    ]
    found = score_agreement(rows, fields=["references", "outputs.text"], from_="record")

    assert (found["kappa"].count, found["kappa"].unscored) == (5, 0)
    assert found["kappa"].questions == 2
    # One of the four answers to the first question, and that to the second.
    assert found["agreement"].value == (1 / 4 + 1) / 2


def test_a_record_without_answers_does_not_end_the_pairing_by_model() -> None:
    """Answers in another order are still those of their models."""
    first = [answered("1", ("A", "yes"), ("B", "no")), answered("2")]
    second = [answered("1", ("B", "no"), ("A", "yes")), answered("2")]
    found = score_agreement(first, second, fields=["outputs.text"], from_="record")

    assert (found["agreement"].count, found["agreement"].value) == (2, 1)
    assert "1 answer without a label in input 1: left out" in found.notes


@pytest.mark.parametrize("on_invalid", ["fail", "skip"])
def test_records_of_both_inputs_count_together(on_invalid: Any) -> None:
    """As few as `min_records` forbids are an error, also if invalid rows are not."""
    found = agreement(*both(8), min_records=16, on_invalid=on_invalid)

    assert found["agreement"].count == 8
    reason = "there are 16 valid records, fewer than 17"
    with pytest.raises(ValidationFailed, match=reason):
        agreement(*both(8), min_records=17, on_invalid=on_invalid)


def test_one_question_has_no_interval() -> None:
    """And this is reported."""
    rows = verdicts(["bad", "good"])
    found = score_agreement(rows, rows)
    assert [one.interval for one in found] == [None, None]
    assert {one.remark for one in found} == {"one question has no interval"}


def test_kappa_of_one_label_is_not_defined() -> None:
    """It is an error that says why."""
    rows = verdicts(["good"] * 6)
    with pytest.raises(ScoreError, match="both have one label only, the same"):
        score_agreement(rows, rows)


@for_each_case(
    "options, message",
    [
        ({"fields": ["nope"]}, r"no record has a label in nope \(there are: "),
        (
            {"fields": ["score"] * 3},
            "two raters have at most two fields, and 3 are given with fields",
        ),
        ({"weights": "linear"}, "linear weights need the labels in their order"),
        ({"weights": "cubic"}, "there are no weights 'cubic'"),
        ({"labels": ["a"]}, "labels must be 2 to 100 different texts"),
        ({"labels": ["x", "y"]}, "no record has a label of the named labels in score"),
        ({"fields": ["outputs.model"]}, "outputs.model holds no labels"),
    ],
)
def test_wrong_options_are_errors(options: Any, message: str) -> None:
    """Each says what is wrong."""
    with pytest.raises(ScoreError, match=message):
        agreement(**options)


def test_options_that_agreement_does_not_use_are_refused() -> None:
    """An option of scores without an effect is an error that says which."""
    with pytest.raises(OptionError, match="there is no option metrics"):
        agreement(metrics=("em",))


def test_texts_are_no_labels() -> None:
    """More than 100 of them are an error."""
    rows = [verdict(at, {"why": f"reason {at}"}) for at in range(120)]
    with pytest.raises(ScoreError, match="why has more than 100 labels"):
        score_agreement(rows, rows, fields=["why"])


def test_verdicts_of_two_judges_are_not_one_rater() -> None:
    """They are an error that names both."""
    mixed = verdicts(drawn(1))[:4] + verdicts(drawn(1), "b")[4:]
    with pytest.raises(ScoreError, match=r"several ways.*judge.model:b"):
        score_agreement(mixed, verdicts(drawn(2)))


def test_other_labels_than_the_named_are_left_out() -> None:
    """They count as no label."""
    found = agreement(fields=["verdict"], labels=["bad", "good"])["kappa"]
    assert found.confusion.labels == ("bad", "good")
    assert found.unscored == 80 - found.count > 0


def test_the_table_of_labels_names_both_raters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the table is, and no note speaks of it where it is not."""
    one, other = map(file, (tmp_path / "a.jsonl", tmp_path / "b.jsonl"), both())
    words = ["score", "agreement", str(one), str(other), "--field", "verdict"]
    printed = {}
    for form in ("table", "markdown", "json"):
        assert exit_code(*words, "--output-format", form) == 0
        printed[form] = capsys.readouterr()

    assert "rows are labels of a.jsonl, columns are labels of b.jsonl" in (
        printed["table"].out
    )
    assert "reference" not in "".join(printed["table"])
    assert "columns" not in printed["markdown"].err
    (system,) = json.loads(printed["json"].out)["systems"]
    assert system["scores"][1]["confusion"]["sides"] == ["a.jsonl", "b.jsonl"]


def test_the_definition_declares_the_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Integers of a range are in their order, which weights need."""
    one, other = map(file, (tmp_path / "a.jsonl", tmp_path / "b.jsonl"), both())
    outputs = [{"name": "score", "type": "integer", "minimum": 1, "maximum": 3}, "why"]
    definition = tmp_path / "judge.json"
    definition.write_text(
        json.dumps(
            {
                "instructions": "Rate.",
                "inputs": ["responses"],
                "outputs": outputs,
                "examples": [],
            }
        )
    )
    words = ["score", "agreement", str(one), str(other), "--weights", "quadratic"]
    chosen = ["--definition", str(definition), "--output-format", "json"]
    assert exit_code(*words, *chosen) == 0
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    expected = score_agreement(one, other, labels=[1, 2, 3], weights="quadratic")
    assert system["scores"][1]["value"] == expected["kappa"].value
    assert exit_code(*words, *chosen, "--field", "why") == 2
    assert "declares neither choices nor integers" in capsys.readouterr().err
