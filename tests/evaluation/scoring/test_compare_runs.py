"""Two systems are compared on the records that both have answered."""

import io
import json
import math
import random
import sys
from itertools import chain, product
from operator import mul
from pathlib import Path
from typing import Any

import pytest

from comparison_tables import comparison_table
from harpia_formats import (
    HarpiaFormatsError,
    OptionError,
    ScoreError,
    ValidationFailed,
    compare_scores,
    score,
    score_answers,
    write_report,
)
from json_lines import jsonl, jsonl_rows
from sample_rows import answered

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


def reported(*inputs: list[dict[str, Any]], **options: Any) -> Any:
    """Return the report of a comparison, by exact match by default."""
    data = [jsonl(*rows) for rows in inputs]
    return compare_scores(*data, **{"metrics": ("em",)} | options)


def only_score(*inputs: list[dict[str, Any]], **options: Any) -> Any:
    """Return the only score of that comparison."""
    (found,) = reported(*inputs, **options).compared
    return found


def of_texts(*texts: str) -> list[dict[str, Any]]:
    """Return a record for each answer, all of them to one reference."""
    row = {"prompt": "?", "references": ["a b c d"]}
    return [
        row | {"id": at, "outputs": [{"text": one}]} for at, one in enumerate(texts)
    ]


def test_a_difference_that_is_no_number_is_refused() -> None:
    """A text is none, even if it has digits."""
    message = "detect must be a number or None, not '0.1'"
    with pytest.raises(HarpiaFormatsError, match=message):
        reported(system(0.5), system(0.9), detect="0.1")


def test_a_difference_is_found() -> None:
    """A large difference has a small p-value and an interval without 0."""
    found = only_score(system(0.9), system(0.4))

    assert (found.first, found.second) == pytest.approx((0.9, 0.4))
    assert found.comparison.p_value < 0.01
    assert found.comparison.low > 0
    assert found.questions == COUNT


def test_no_difference_is_found_where_there_is_none() -> None:
    """A system compared with itself has no difference and a p-value of 1."""
    found = reported(system(0.5), system(0.5), metrics=("f1",))

    assert found.ok
    assert found.compared[0].comparison.difference == 0
    assert found.compared[0].comparison.p_value == 1


def test_records_without_ids_are_paired_by_their_prompts() -> None:
    """Where one side has no ids, what is asked pairs the records."""
    theirs = system(0.4, ids=False)[::-1]

    assert only_score(system(0.9), theirs).questions == COUNT


def test_records_of_one_side_are_counted() -> None:
    """Records of one side only are not compared; the headline counts them as well."""
    found = reported(system(0.9)[10:], system(0.4)[:-20])

    assert found.compared[0].questions == COUNT - 30
    assert (found.pairs[0].only_first, found.pairs[0].only_second) == (20, 10)
    assert "over 30 questions; 20 questions only in the first, 10 only" in repr(found)


def test_models_of_one_file_are_compared() -> None:
    """Answers of two models in one file are paired by the names of the models."""
    rows = [
        one | {"outputs": one["outputs"] + other["outputs"]}
        for one, other in zip(system(0.9, "a"), system(0.4, "b"), strict=True)
    ]
    found = only_score(rows)

    assert [found.first, found.second] == pytest.approx([0.9, 0.4])


def test_chats_are_paired_by_all_messages() -> None:
    """Chats with the same last message are paired by their earlier messages."""
    rows = [
        {
            "messages": [
                {"role": "user", "content": f"about {number}"},
                {"role": "assistant", "content": "yes"},
                {"role": "user", "content": "go on"},
            ],
            "references": [answer],
            "outputs": [{"text": "1"}],
        }
        for number, answer in enumerate(["1", "2"] * 20)
    ]
    found = only_score(rows, rows[::-1], from_="record").comparison

    assert (found.low, found.high) == (0, 0)


@pytest.mark.parametrize("is_stored", [False, True])
def test_answers_without_a_model_are_of_none_of_several(*, is_stored: bool) -> None:
    """With two models they are a system of their own, and with one its own."""
    scored = {"text": "a", "scores": [{"metric": "em", "value": 1, "signature": "em"}]}

    def data(*names: str) -> bytes:
        outputs = [scored | ({"model": name} if name else {}) for name in names]
        return jsonl(
            *[
                {"id": f"{at}", "prompt": f"{at}", "references": ["a"]}
                | {"outputs": outputs}
                for at in range(COUNT)
            ]
        )

    def systems(*inputs: bytes) -> list[str]:
        if is_stored:
            return [one.name for one in compared(*inputs).systems]
        found = compare_scores(*inputs, metrics=("em",))
        return [one.name for one in found.systems]

    assert systems(data("m1", "m2", "")) == ["m1", "m2", "input 1"]
    assert systems(data("m1", ""), data("m2")) == ["m1", "m2"]


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

    with pytest.raises(ScoreError, match="different ways"):
        compare_scores(lab_input([0.25] * 4), lab_input([1, 0, 0, 0]), profile="harpia")


def test_no_common_record_is_an_error() -> None:
    """Two data sets without a common record are not compared."""
    theirs = [each | {"id": f"x{each['id']}"} for each in system(0.4)]

    with pytest.raises(ScoreError, match="no question is in both"):
        reported(system(0.9), theirs)


def stored(signature: str | None, share: float) -> bytes:
    """Return records that have scores already."""
    rows = system(share)
    for number, row in enumerate(rows):
        score: dict[str, Any] = {"metric": "em", "value": float(number < share * COUNT)}
        if signature is not None:
            score["signature"] = signature
        row["outputs"][0]["scores"] = [score]
    return jsonl(*rows)


def compared(*inputs: bytes, force: bool = False) -> Any:
    """Return the report of a comparison of stored scores."""
    return compare_scores(*inputs, stored=True, force=force)


def markdown(found: Any) -> list[str]:
    """Return the lines of a comparison as Markdown."""
    written = io.BytesIO()
    write_report(found, written, reporter="markdown")
    return written.getvalue().decode().splitlines()


def test_stored_scores_are_compared() -> None:
    """Scores that were computed the same way are compared."""
    found = compared(stored("em|a", 0.9), stored("em|a", 0.4)).compared[0]

    assert [found.first, found.second] == pytest.approx([0.9, 0.4])
    assert found.comparison.p_value < 0.01
    assert found.signature == "em|a"


def test_stored_scores_that_one_system_lacks_are_noted() -> None:
    """They are in no table of the comparison, which a note says."""
    other = stored("f1|a", 0.4).replace(b'"em"', b'"f1"')
    found = compared(stored("em|a", 0.9) + other, stored("em|a", 0.4))

    assert [one.metric for one in found.compared] == ["em"]
    assert "not compared, since not all systems have it: f1" in found.notes
    with pytest.raises(ScoreError, match=r"metric \(first: em; second: f1\)"):
        compared(stored("em|a", 0.4), other)


def test_stored_scores_of_several_filters_are_compared_one_by_one() -> None:
    """Each signature of a metric that both inputs have is a score of its own."""
    first, second = (
        stored("em|a|filter:one", share) + stored("em|a|filter:two", share - 0.3)
        for share in (0.9, 0.4)
    )
    found = compared(first, second).compared

    assert [(one.name, one.signature) for one in found] == [
        ("em|filter:one", "em|a|filter:one"),
        ("em|filter:two", "em|a|filter:two"),
    ]
    assert [(one.first, one.second) for one in found] == [
        pytest.approx((0.9, 0.4)),
        pytest.approx((0.6, 0.1), abs=0.02),
    ]
    with pytest.raises(ScoreError, match="do not prove"):
        compared(first, stored("em|a|filter:one", 0.4))


@pytest.mark.parametrize("other", ["em|b", None])
def test_unlike_signatures_are_not_compared(other: str | None) -> None:
    """Scores with unlike signatures, or without one, are compared only by force."""
    first, second = stored("em|a", 0.9), stored(other, 0.4)

    with pytest.raises(ScoreError, match="force=True"):
        compared(first, second)
    assert compared(first, second, force=True).notes


def test_scores_with_several_signatures_are_one_by_force() -> None:
    """Each answer counts with the mean of its scores, and all signatures are shown."""
    rows = jsonl_rows(stored("em|a", 0.9))
    for row in rows:
        row["outputs"][0]["scores"] += [{"metric": "em", "value": 0, "signature": "b"}]
    found = compared(jsonl(*rows), stored("em|a", 0.4), force=True)

    (score,) = found.compared
    assert (score.first, score.second) == pytest.approx((0.45, 0.4))
    assert (score.name, score.signature) == ("em", "em|a and b")
    assert [one.scores["em"].signature for one in found.systems] == [
        "em|a and b",
        "em|a",
    ]


def test_stored_answers_to_a_question_are_compared_by_all_of_them() -> None:
    """A score of questions is computed of stored scores and compared."""
    inputs = [stored("em|a", share) * 2 for share in (0.9, 0.4)]
    found = compare_scores(*inputs, stored=True, metrics=("pass@2",)).compared[0]

    assert (found.name, found.first, found.second) == ("pass@2", 0.9, 0.4)


def test_an_input_without_stored_scores_is_named() -> None:
    """It has nothing to compare."""
    with pytest.raises(ScoreError, match="the second input has no stored score"):
        compared(stored("em|a", 0.9), jsonl(*system(0.4)))


def test_compared_stored_scores_have_those_of_each_system() -> None:
    """They equal those that `score` shows of each input, also by the bootstrap."""
    inputs = [
        stored("em|a", share).replace(b'"value": 1.0', b'"value": 0.75')
        for share in (0.9, 0.4)
    ]
    found = compared(*inputs)
    alone = [score(one, stored=True).total for one in inputs]

    assert [one.scores.scores for one in found.systems] == [one.scores for one in alone]
    system, *_ = found.to_dict()["systems"]
    assert system["scores"][0]["low"] < system["scores"][0]["value"]


def test_systems_of_stored_scores_stand_in_published_tables(tmp_path: Path) -> None:
    """With their scores in the table, and with force both signatures and a warning."""
    like = stored("em|a", 0.9), stored("em|a", 0.4)
    unlike = stored("em|a", 0.9), stored("em|b", 0.4)
    forced = compared(*unlike, force=True)

    for form in ("markdown", "latex"):
        words = ("--stored", "--output-format", form)
        texts = [
            "\n".join(comparison_table(tmp_path, inputs, *words, *more))
            for inputs, *more in ((like,), (unlike, "--force"))
        ]
        assert all("em \u2191" in text or "em $\\uparrow$" in text for text in texts)
        assert ["Compared by force" in text for text in texts] == [False, True]
    signatures = [line for line in markdown(forced) if line.startswith("- Signature")]
    assert signatures == ["- Signature of em: `em|a`", "- Signature of em: `em|b`"]
    assert forced.compared[0].signature == "em|a and em|b"


def several(seed: int, shift: float = 0.0) -> list[dict[str, Any]]:
    """Return 40 questions with ten answers each, whose difficulty differs."""
    chance = random.Random(seed)  # noqa: S311 - a seed, not secrecy
    rows = system(0)[:40]
    for number, row in enumerate(rows):
        share = min(chance.random() + shift, 1)
        texts = [str(number) if chance.random() < share else "?" for _ in range(10)]
        row["outputs"] = [{"model": "m", "text": text} for text in texts]
    return rows


def apart(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each answer."""
    return [row | {"outputs": [output]} for row in rows for output in row["outputs"]]


@pytest.mark.parametrize("test", [None, "bootstrap"])
def test_answers_to_a_question_are_not_independent(test: str | None) -> None:
    """Ten equal answers to each question have the p-value and interval of one."""
    ones = system(0.7)[:40], system(0.5)[:40]
    tens = ([row | {"outputs": row["outputs"] * 10} for row in rows] for rows in ones)
    once, often = (only_score(*inputs, test=test) for inputs in (ones, tens))

    assert once.comparison is not None
    assert once.comparison == often.comparison
    assert (once.questions, often.questions) == (40, 40)


@pytest.mark.parametrize("test", ["permutation", "bootstrap"])
def test_lines_in_any_order_are_compared_by_question(test: str) -> None:
    """Answers on lines of their own, in any order, have the result of whole records."""
    inputs = several(1, 0.15), several(2)
    options: dict[str, Any] = {"metrics": ("f1",), "test": test}
    chance = random.Random(3)  # noqa: S311 - a seed, not secrecy
    shuffled = [apart(rows) for rows in inputs]
    for rows in shuffled:
        chance.shuffle(rows)

    whole = only_score(*inputs, **options)
    assert only_score(*shuffled, **options, jobs=2) == whole


def test_other_references_are_another_question() -> None:
    """Questions with other references are not paired, and counted in a note."""
    theirs = system(0.4)
    theirs[0]["references"] = ["none"]
    found = reported(system(0.9), theirs)

    assert found.compared[0].questions == COUNT - 1
    assert (found.pairs[0].only_first, found.pairs[0].only_second) == (1, 1)
    assert "1 with the same id and prompt have other references" in found.notes[0]


def test_one_id_on_several_questions_pairs_each_with_itself() -> None:
    """Questions with one id are paired by what they ask, and not by their order."""
    ours = [row | {"id": "same"} for row in system(0.9)]
    found = only_score(ours, ours[::-1])

    assert found.questions == COUNT
    assert (found.comparison.low, found.comparison.high) == (0, 0)


def test_data_without_prompts_are_paired_by_id_with_a_note() -> None:
    """If one input has no prompts at all, ids pair the questions, which is reported."""
    theirs = system(0.4)
    for row in theirs:
        del row["prompt"]
    found = reported(system(0.9), theirs, from_="record")

    assert found.compared[0].questions == COUNT
    assert found.notes == (
        "the second input has no prompts: questions are paired without them",
    )


@pytest.mark.parametrize("chosen", [{"metrics": "em"}, {"stored": True}])
def test_records_of_all_inputs_count_together(chosen: dict[str, Any]) -> None:
    """As few as `min_records` forbids are an error, and one input may have fewer."""
    inputs = [system(1), system(0.5, "n")[:40]]
    for row in chain(*inputs):
        (answer,) = row["outputs"]
        value = float(answer["text"] != "?")
        answer["scores"] = [{"metric": "em", "value": value, "signature": "em|own"}]
    data = [jsonl(*rows) for rows in inputs]
    found = compare_scores(*data, **chosen, min_records=COUNT + 40)

    assert found.compared[0].questions == 40
    with pytest.raises(ValidationFailed, match="are 100 valid records, fewer than 101"):
        compare_scores(*data, **chosen, min_records=COUNT + 41)


def test_p_values_of_several_scores_are_adjusted() -> None:
    """Holm's method adjusts the p-values of all scores that are compared together."""
    metrics = ("em", "f1", "string-check")
    found = reported(several(1, 0.15), several(2), metrics=metrics).compared
    raw = [score.comparison.p_value for score in found]

    first, *others = sorted(raw)
    least, middle = min(first * 3, 1.0), min(max(first * 3, others[0] * 2), 1.0)
    expected = [least, middle, max(middle, others[1])]
    adjusted = dict(zip(sorted(raw), expected, strict=True))
    assert [one.adjusted_p for one in found] == [adjusted[p] for p in raw]


def test_permutation_is_the_exact_test_of_single_answers() -> None:
    """For one answer of 0 or 1 a question it is McNemar's exact test."""
    inputs = system(0.6), system(0.5)

    # Six questions of six speak for the first system.
    assert only_score(*inputs).comparison.p_value == 2 / 2**6
    with pytest.raises(OptionError, match=r"permutation.*it is the same test"):
        reported(*inputs, test="mcnemar")


def test_more_than_a_thousand_questions_that_all_differ_are_a_difference() -> None:
    """The p-value is above 0 and significant, and shown as below what is shown."""
    inputs = (
        [answered(number, f"{number}{more}") for number in range(1200)]
        for more in ("", "?!x")
    )
    found = only_score(*inputs, replicates=100)

    assert found.comparison.p_value == found.adjusted_p == sys.float_info.min
    assert found.is_significant
    assert "p < 0.0001 over 1,200 questions" in found.headline()


@pytest.mark.parametrize("test", [None, "permutation"])
def test_pooled_scores_are_compared_by_question(test: str | None) -> None:
    """BLEU has the bootstrap by default, and exchanges of questions on request."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    chance = random.Random(2)  # noqa: S311 - a seed, not secrecy

    def rows(wrong: float) -> list[dict[str, Any]]:
        found = system(0)
        for row in found:
            words = chance.choices("abcdefgh", k=12)
            row["references"] = [" ".join("abcdefghabcd")]
            row["outputs"][0]["text"] = " ".join(
                word if chance.random() < wrong else right
                for word, right in zip(words, "abcdefghabcd", strict=True)
            )
        return found

    better, worse, alike = rows(0.2), rows(0.6), rows(0.2)
    apart, same = (
        only_score(better, other, metrics=("bleu",), test=test).comparison
        for other in (worse, alike)
    )

    assert apart.test.startswith(f"{test or 'bootstrap'}|unit:question|")
    assert apart.is_least
    assert same.p_value > 0.05


def test_differences_of_percentages_have_a_chart_of_their_own() -> None:
    """On the axis of shares those of shares could not be distinguished."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    right, wrong = (of_texts(*[text] * 9) for text in ("a b c d", "x"))
    found = reported(right, wrong, metrics=("em", "bleu"))

    assert found._repr_html_().count("Differences with their intervals") == 2


def test_the_exact_p_value_counts_all_exchanges_of_few_questions() -> None:
    """Of questions with other differences it is the share that is as far."""
    both = of_texts("a", "a b", "b", "a c d", "a b c"), of_texts(*"aaaaa")
    found = only_score(*both, metrics=("f1",)).comparison
    scored = (score_answers(each, metrics=("f1",)) for each in both)
    parts = [
        (one.scores["f1"] or 0) - (its.scores["f1"] or 0)
        for one, its in zip(*scored, strict=True)
    ]
    sums = [sum(map(mul, signs, parts)) for signs in product((1, -1), repeat=5)]

    as_far = sum(abs(one) >= abs(sum(parts)) - 1e-9 for one in sums)
    assert 1 < as_far < 32
    assert found.p_value == as_far / 32


def test_digits_are_the_same_in_every_version() -> None:
    """They follow from the seed and from the parts of each question."""
    found = only_score(system(0.5), system(0.4), test="bootstrap").comparison

    assert (found.low, found.high) == pytest.approx(
        (0.030291723202171, 0.180327868852459), rel=1e-12
    )


def test_references_that_one_input_has_more_of_are_not_in_the_signature() -> None:
    """Their number is that of all of its records, also of those that are not shared."""
    more = {"id": "x", "prompt": "?", "references": ["a", "b"], "outputs": [{}]}
    rows = system(0.5)
    found = only_score(rows, [*rows, more], missing="skip")

    assert only_score(rows, rows).signature == f"{found.signature}|nrefs:1"


def test_a_note_explains_up_to_ten_pairs_of_inputs() -> None:
    """Six inputs are fifteen pairs."""
    same, *_ = rows = system(0.5)[:2]
    inputs = [[*rows, same | {"id": "x", "prompt": f"{at}?"}] for at in range(6)]
    notes = reported(*inputs, replicates=1).notes

    assert sum("match: 1 with the same id have another" in one for one in notes) == 10


def test_a_wanted_score_that_one_input_lacks_is_an_error() -> None:
    """Whatever else is wanted, and shared."""
    first = stored("em|a", 0.5)
    both = first.replace(b'"scores": [', b'"scores": [{"metric": "acc", "value": 1}, ')
    assert both != first
    options: dict[str, Any] = {"stored": True, "metrics": ("em", "acc")}
    with pytest.raises(ScoreError, match="do not both have scores of acc"):
        compare_scores(first, both, **options)


@pytest.mark.parametrize(("share", "needed"), [(1, 40), (0.5, 155), (2, 12), (9, 6)])
def test_a_detectable_difference_is_what_the_questions_allow(
    share: float, needed: int
) -> None:
    """It shrinks with the root of the number of questions, and gives their number."""
    inputs = several(1), several(2)
    least = only_score(*inputs).comparison.detectable
    assert 0.1 < least < 0.4

    asked = only_score(*inputs, detect=min(share * least, 1))
    assert asked.questions_needed == needed


def test_questions_needed_do_not_depend_on_how_many_there_are() -> None:
    """Few questions that rarely differ need as many as many such questions."""
    found = []
    for often in (1, 10, 100):
        theirs = [
            row | {"id": f"{copy}-{row['id']}"}
            for copy in range(often)
            for row in system(1)[:10]
        ]
        wrong = {"outputs": [{"model": "m", "text": "?"}]}
        ours = [row | wrong if row["id"].endswith("-q0") else row for row in theirs]
        found.append(only_score(ours, theirs, detect=0.05).questions_needed)

    few, some, many = found
    assert few == pytest.approx(many, rel=0.25)
    assert some == pytest.approx(many, rel=0.05)


def test_no_detectable_difference_is_beyond_the_scale(tmp_path: Path) -> None:
    """Questions that detect none on the scale have none, and still tell how many do."""
    ours, theirs = system(0.9)[:4], system(0.9)[:4]
    ours[0]["outputs"][0]["text"] = theirs[1]["outputs"][0]["text"] = "?"
    found = only_score(ours, theirs, detect=0.1).comparison
    inputs = [jsonl(*ours), jsonl(*theirs)]
    printed = comparison_table(tmp_path, inputs, "--detect", "0.1")
    (line,) = (line for line in printed if "80 %" in line)

    assert found.detectable is None
    assert found.beyond_scale > 1
    assert "4 questions detect no difference on the scale with 80 % power" in line
    assert line.endswith(" one of 0.1")


def test_few_differing_answers_detect_no_small_difference() -> None:
    """An exact test of 0 and 1 needs six that differ, however few were seen."""
    ours, theirs = system(0.9)[:30], system(0.9)[:30]
    for at, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        one["outputs"][0]["text"] = "x"
        other["outputs"][0]["text"] = "x" if at else "?"
        one["references"] = other["references"] = ["x"]

    least = only_score(ours, theirs).comparison.detectable
    missed = sum(
        math.comb(30, k) * least**k * (1 - least) ** (30 - k) for k in range(6)
    )
    assert missed == pytest.approx(0.2)
    assert only_score(ours, theirs, detect=0.9).questions_needed == 7


def test_a_mean_without_a_best_score_has_a_detectable_difference(
    tmp_path: Path,
) -> None:
    """Lengths, whose scale has no end, tell how many questions detect any."""
    ours, theirs = system(0.9), system(0.4)
    for number, row in enumerate(theirs):
        row["outputs"][0]["text"] = "longer" * (number % 7)
    found = reported(ours, theirs, metrics=("length",), detect=5).compared[0]
    inputs, words = [jsonl(*ours), jsonl(*theirs)], ("-m", "length", "--detect", "5")
    text = "\n".join(comparison_table(tmp_path, inputs, *words))

    assert math.isfinite(found.comparison.detectable)
    assert "inf" not in text
    assert text.count(" one of 5") == 3


def test_one_question_tests_no_difference(tmp_path: Path) -> None:
    """The table and the exception say that it is one question."""
    data = jsonl(*system(1)[:1])
    remark = "one question: no difference can be tested"

    assert remark in "\n".join(comparison_table(tmp_path, [data, data], code=1))
    words = ("--output-format", "json")
    report = "\n".join(comparison_table(tmp_path, [data, data], *words, code=1))
    assert f'"remark": "{remark}"' in report
    with pytest.raises(ScoreError, match=remark):
        compare_scores(data, data, metrics=("em",))


def test_stored_scores_of_pooled_metrics_are_refused() -> None:
    """A mean of the BLEU of rows is not BLEU, and scores of rows say what they are."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    written = io.BytesIO()
    score(jsonl(*system(0.9)), metrics=("bleu", "em"), to="record", output=written)
    row = json.loads(written.getvalue().splitlines()[0])
    signatures = {
        each["metric"]: each["signature"] for each in row["outputs"][0]["scores"]
    }

    assert signatures["bleu"].endswith("|scale:0-100|of:row")
    assert "of:row" not in signatures["em"]
    for force in (False, True):
        with pytest.raises(ScoreError, match="compare without stored=True"):
            compared(written.getvalue(), written.getvalue(), force=force)


def test_stored_scores_are_compared_by_question() -> None:
    """Several stored scores of a question are one, and other prompts are refused."""
    data = jsonl_rows(stored("em|a", 0.9))
    once = compared(jsonl(*data), stored("em|a", 0.4)).compared[0]
    often = compared(jsonl(*(data * 3)), stored("em|a", 0.4)).compared[0]
    other = jsonl(*[row | {"prompt": "another"} for row in data])

    assert once.comparison is not None
    assert once.comparison == often.comparison
    with pytest.raises(ScoreError, match="have another prompt"):
        compared(other, stored("em|a", 0.4))


@pytest.mark.parametrize("score", [1e101, -1e200, 1e308])
def test_stored_scores_too_large_to_be_squared_are_none(score: float) -> None:
    """A question with such a score counts as one without."""
    data = jsonl_rows(stored("em|a", 0.9))
    data[0]["outputs"][0]["scores"][0]["value"] = score
    (found,) = compare_scores(
        jsonl(*data), stored("em|a", 0.4), stored=True, missing="skip"
    ).compared

    assert found.unscored == (1, 0)
    assert found.comparison is not None


@pytest.mark.parametrize("missing", [None, "zero"])
def test_stored_true_is_1_and_false_is_0(missing: Any) -> None:
    """They are compared as the numbers are, also if what is missing counts as 0."""

    def found(share: float, *, are_booleans: bool) -> bytes:
        data = stored("em|a", share)
        if are_booleans:
            data = data.replace(b": 1.0", b": true").replace(b": 0.0", b": false")
        return data

    numbers, booleans = (
        compare_scores(
            *(found(share, are_booleans=are_booleans) for share in (0.9, 0.4)),
            stored=True,
            missing=missing,
        )
        for are_booleans in (False, True)
    )

    assert booleans.compared[0].first == pytest.approx(0.9)
    assert booleans.compared == numbers.compared


def test_questions_without_a_stored_score_are_counted() -> None:
    """So are those that only one side has; a score that is no number is reported."""
    data = jsonl_rows(stored("em|a", 0.9))
    for row in data[:7]:
        del row["outputs"][0]["scores"]
    data[7]["outputs"][0]["scores"][0]["value"] = None

    inputs = jsonl(*data), stored("em|a", 0.4)
    found = compare_scores(*inputs, stored=True, missing="skip")
    codes = [one.code for report in found.reports for one in report.problems]

    assert codes == ["M104"]

    assert (found.pairs[0].questions, found.pairs[0].only_second) == (COUNT - 7, 7)
    (score,) = found.compared
    assert (score.questions, score.unscored) == (COUNT - 8, (1, 0))


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_ratings_without_a_scale_are_compared(share: float) -> None:
    """Verdicts beyond 0 and 1 are means without bounds, which are compared as means."""

    def verdicts(good: float) -> bytes:
        path = (
            Path(__file__).parents[3] / "fixtures/judge-verdicts/valid/verdicts.jsonl"
        )
        verdict = json.loads(path.read_bytes().splitlines()[0])
        return jsonl(
            *[
                verdict
                | {
                    "row": number + 1,
                    "record": number + 1,
                    "record_id": f"q{number}",
                    "result": {"rating": 5 if number < good * COUNT else 2},
                }
                for number in range(COUNT)
            ]
        )

    (found,) = compare_scores(verdicts(0.5), verdicts(share)).compared

    assert found.comparison is not None
    assert found.comparison.test.startswith("permutation|")
    assert found.first == pytest.approx(3.5)


def test_equal_differences_of_all_questions_are_marked() -> None:
    """An interval from 1 to 1 is approximate, which its remark says."""
    found = only_score(system(1), system(0)).comparison

    assert (found.low, found.high) == (1, 1)
    assert found.remark == "no replicate differs: the interval is approximate"


def test_systems_that_never_differ_have_no_size(tmp_path: Path) -> None:
    """No heading stands without lines, and what `detect` cannot tell is reported."""
    both = jsonl(*system(0.5)), jsonl(*system(0.5))
    alone = comparison_table(tmp_path, both)
    asked = comparison_table(tmp_path, both, "--detect", "0.05")

    assert "differences detected" not in "".join(alone + asked)
    unknown = "em: how many questions detect 0.05 is not known"
    assert any(line.startswith(unknown) for line in asked)


def test_groups_and_results_are_no_options_of_a_comparison() -> None:
    """An option of scores without an effect is an error that says which."""
    with pytest.raises(OptionError, match="there is no option by"):
        compare_scores(jsonl(*system(0.9)), by=("category",))  # type: ignore[call-arg] # what is refused


def test_the_table_has_the_share_of_unreadable_answers(tmp_path: Path) -> None:
    """Answers that are wrong since nothing is read from them are counted in a line."""
    rows = [
        {
            "id": f"q{number}",
            "prompt": f"which {number}?",
            "choices": ["Paris", "Rome"],
            "references": ["Paris"],
            "outputs": [{"text": "Paris" if number % 4 else "Paris or Rome"}],
        }
        for number in range(8)
    ]
    inputs = [jsonl(*rows), jsonl(*rows)]
    printed = comparison_table(tmp_path, inputs, "-m", "multiple-choice")
    unreadable = [line for line in printed if line.startswith("unreadable answers")]

    assert len(unreadable) == 2
    assert all(line.endswith(": multiple-choice 25.0%") for line in unreadable)
    named = compare_scores(
        jsonl(*rows).replace(b'"text"', b'"model": "one", "text"'),
        jsonl(*rows).replace(b'"text"', b'"model": "other", "text"'),
        metrics=("multiple-choice",),
    )
    notes = [line for line in markdown(named) if "are unread" in line]
    assert [line.split(":")[0] for line in notes] == [
        "- multiple-choice of one",
        "- multiple-choice of other",
    ]
