"""Scores and comparisons where questions have unequal numbers of answers."""

import io
import json
import random
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import compare_scores, score
from in_process import InProcess
from json_lines import jsonl

pytest.importorskip("sacrebleu", reason="the extra score is not installed")
#: A metric of each kind: a mean with and without bounds, pooled, of labels.
METRICS = ("em", "f1", "length", "bleu", "chrf", "ter", "wer", "f1-macro", "kappa")
#: For each answer to a question, whether it is right.
Answers = list[list[bool]]


def lines(model: str, questions: Answers, seed: int | None = None) -> bytes:
    """Return a record for each answer, in random order if there is a seed."""
    rows = [
        {
            "id": f"q{number}",
            "prompt": f"question {number}",
            "references": [f"label{number % 3} is the right one"],
            "outputs": [
                {
                    "model": model,
                    "text": f"label{(number + (not is_right)) % 3} is the right one",
                }
            ],
        }
        for number, answers in enumerate(questions)
        for is_right in answers
    ]
    if seed is not None:
        random.Random(seed).shuffle(rows)  # noqa: S311 - a seed, not secrecy
    return jsonl(*rows)


def values(found: Any) -> dict[str, float | None]:
    """Return the value of each score by its name."""
    return {one.full_name: one.value for one in found}


def test_easy_questions_with_more_answers_make_no_difference() -> None:
    """Systems with the same answers are equal, however often each was asked."""
    easy, hard = [True], [False]
    first = lines("A", [easy * 5] * 10 + [hard] * 10)
    second = lines("B", [easy] * 10 + [hard * 5] * 10)

    found = compare_scores(first, second, metrics=METRICS)

    assert found.compared
    for one in found.compared:
        assert one.comparison is not None
        assert one.comparison.difference == pytest.approx(0, abs=1e-12), one.full_name
        assert one.comparison.p_value > 0.9, one.full_name
        assert one.comparison.low <= 1e-6 <= one.comparison.high + 2e-6


def test_answers_that_a_resumed_run_repeats_change_no_score() -> None:
    """A run with half of its answers twice has the scores of the run."""
    chance = random.Random(4)  # noqa: S311 - a seed, not secrecy
    once: Answers = [[chance.random() < 0.6] for _ in range(40)]
    resumed = [mine * (1 + number % 2) for number, mine in enumerate(once)]
    plain = score(lines("m", once), metrics=METRICS)
    twice = score(lines("m", resumed, 1), metrics=METRICS)

    for one, same in zip(twice, plain, strict=True):
        assert one.value == pytest.approx(same.value, abs=1e-12), one.full_name
        # Scores between 0 and 1 may vary less than verdicts do, by their number.
        if one.metric != "f1":
            assert one.interval == pytest.approx(same.interval, abs=1e-6), one.full_name
        assert one.standard_error == pytest.approx(same.standard_error)
        assert one.over_answers is not None


@pytest.mark.parametrize("metric", METRICS)
def test_a_comparison_has_the_scores_of_each_system(metric: str) -> None:
    """What `compare` shows of a system is what `score` shows of it."""
    chance = random.Random(2)  # noqa: S311 - a seed, not secrecy
    systems = [
        lines(
            name,
            [
                [chance.random() < 0.5 for _ in range(chance.randint(1, 4))]
                for _ in range(12)
            ],
        )
        for name in "AB"
    ]
    found = compare_scores(*systems, metrics=(metric,))
    alone = [score(one, metrics=(metric,)) for one in systems]

    for one in found.compared:
        name = f"{one.metric}.{one.name}"
        assert one.first == pytest.approx(alone[0][name].value, abs=1e-12)
        assert one.second == pytest.approx(alone[1][name].value, abs=1e-12)


def test_neither_order_nor_workers_change_a_digit(tmp_path: Path) -> None:
    """Shuffled answers and several processes give the same JSON."""
    chance = random.Random(3)  # noqa: S311 - a seed, not secrecy
    questions: Answers = [
        [chance.random() < 0.5 for _ in range(1 + number % 7)] for number in range(150)
    ]
    texts = []
    for seed, jobs in ((None, 1), (1, 2)):
        path = tmp_path / "answers.jsonl"
        path.write_bytes(lines("m", questions, seed))
        found = score(path, metrics=("em", "bleu", "f1-macro", "length"), jobs=jobs)
        texts.append(json.dumps([one.to_dict() for one in found.systems]))

    assert texts[0] == texts[1]


def test_macro_averages_weight_answers_by_their_question() -> None:
    """A metric of labels counts a question once, in its counts, too."""
    questions: Answers = [[True, True, True, False], [True], [False]] * 4
    found = score(lines("m", questions), metrics=("recall",))
    by_label = [
        fmean(fmean(mine) for at, mine in enumerate(questions) if at % 3 == label)
        for label in range(3)
    ]

    assert by_label == [0.75, 1, 0]
    assert found["recall"].value == pytest.approx(fmean(by_label), abs=1e-12)


def varied(copies: int) -> bytes:
    """Return one to four answers to a question, none alike, as often as they count.

    Each occurs once if `copies` is 1; `copies` are of each question if it is 12.
    """
    chance = random.Random(7)  # noqa: S311 - a seed, not secrecy
    words = "the cat sat on a mat while dogs ran over green hills".split()
    rows = []
    for question in range(12):
        reference = [chance.choice(words) for _ in range(chance.randint(5, 12))]
        count = chance.randint(1, 4)
        for _ in range(count):
            answer = [
                word if chance.random() < 0.7 else chance.choice(words)
                for word in reference[: chance.randint(4, 12)]
            ]
            row = {
                "id": f"q{question}",
                "prompt": f"question {question}",
                "references": [" ".join(reference)],
                "outputs": [{"model": "a", "text": " ".join(answer)}],
            }
            rows += [row] * (1 if copies == 1 else copies // count)
    return jsonl(*rows)


@for_each_case("metric", ["bleu", "chrf", "ter", "wer", "cer", "length", "rougeL"])
def test_answers_count_as_if_each_was_there_as_often_as_it_weighs(metric: str) -> None:
    """An answer's weight of 1 / answers is no rounded number in any metric."""
    (unequal, equal) = (
        list(score(io.BytesIO(varied(copies)), metrics=[metric], replicates=0))
        for copies in (1, 12)
    )
    assert [one.value for one in unequal] == pytest.approx(
        [one.value for one in equal], rel=1e-12
    )


def shown(run: InProcess, path: Path, form: str = "table", *more: str) -> str:
    """Return what `score` prints of exact match."""
    done = run("score", path, "--metrics", "em", "--output-format", form, *more)
    assert done.code == 0
    return done.out


def test_the_table_says_where_numbers_of_answers_differ(
    tmp_path: Path, run: InProcess
) -> None:
    """Below the table stand the numbers of answers and the score over all of them."""
    uneven, even = tmp_path / "uneven.jsonl", tmp_path / "even.jsonl"
    uneven.write_bytes(lines("A", [[True] * 5, [False]]))
    even.write_bytes(lines("A", [[True] * 2, [False] * 2]))
    note = "questions have 1 to 5 answers, and each question counts once"

    assert f"{note}; over all answers: em 0.8333" in shown(run, uneven)
    assert "each question counts once" not in shown(run, even)
    for form in ("markdown", "latex"):
        found = shown(run, uneven, form).replace("Questions of A", "questions")
        assert note in " ".join(found.split()).lower()
    (row,) = json.loads(shown(run, uneven, "json"))["systems"][0]["scores"]
    assert (row["value"], row["over_answers"]) == (0.5, pytest.approx(5 / 6))


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_unequal_numbers_of_answers_are_noted_by_the_name_of_their_row(
    form: str, tmp_path: Path, run: InProcess
) -> None:
    """Those of a group whose value is the empty text are not said of all answers."""
    path = tmp_path / "groups.jsonl"
    rows = [
        {
            "id": f"q{at}",
            "category": "",
            "references": ["r"],
            "outputs": [{"text": "r"}],
        }
        for at in (1, 1, 2)
    ]
    path.write_bytes(jsonl(*rows))
    found = shown(run, path, form, "--from", "record", "--by", "category")

    assert "uestions of (empty) have 1 to 2 answers" in found


@pytest.mark.parametrize("more", [0, 1, 2])
def test_unequal_numbers_of_answers_are_noted_for_five_rows(
    more: int, tmp_path: Path, run: InProcess
) -> None:
    """Of more rows there is one note."""
    path = tmp_path / "uneven.jsonl"
    names = [f"m{at}" for at in range(5 + more)]
    path.write_bytes(b"".join(lines(name, [[True] * 5, [False]]) for name in names))
    found = shown(run, path)

    assert found.count("have 1 to 5 answers") == 5
    rest = {1: "questions of 1 more row of", 2: "questions of 2 more rows of"}
    assert ("more row" in found) is (rest.get(more, "none") in found) is bool(more)


def test_results_of_vendors_hold_means_over_answers() -> None:
    """What a vendor's file calls a mean is the mean of all answers, with its error."""
    rows = lines("m", [[True] * 5, [False], [True]])
    output = io.BytesIO()

    score(rows, metrics=("em",), to="nemo-results", output=output)

    (task,) = json.loads(output.getvalue())["tasks"].values()
    found: dict[str, Any] = task["metrics"]["em"]["scores"]["em"]
    assert found["value"] == found["stats"]["mean"] == pytest.approx(6 / 7)
    assert found["stats"]["count"] == 7


def test_a_score_over_answers_has_a_remark_only_with_an_interval() -> None:
    """Of a metric without bounds the interval is by question, and so is its remark."""
    rows = lines("m", [[True] * 5, [False], [True]])
    found = score(rows, metrics=("em", "length"))
    over = found.as_over_answers()

    assert all(one.interval and one.remark for one in found)
    assert [bool(one.interval) for one in over] == [True, False, False, False]
    assert [one.remark for one in over] == [found["em"].remark, "", "", ""]


def test_equal_numbers_of_answers_are_added_up() -> None:
    """A pooled score is that of all answers, as its smoothing needs."""
    row = {"prompt": "?", "references": ["a b c d e"]}
    first, second = (
        jsonl(*(row | {"id": at, "outputs": [{"text": text}] * 2} for at in range(2)))
        for text in ("a x c y e", "a b c d e")
    )
    (one,) = compare_scores(first, second, metrics=("bleu",)).compared

    assert one.first == score(first, metrics=("bleu",))["bleu"].value
