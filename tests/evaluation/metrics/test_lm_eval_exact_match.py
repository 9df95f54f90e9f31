"""lm-eval-exact-match: what is left out of both texts, and what a filter kept."""

from typing import Any

import pytest

from harpia_formats import ScoreError
from metric_scores import answered, totals, value, values


def score(answer: str, kept: dict[str, str], **more: Any) -> Any:
    """Return the score of an answer of which filters kept these texts."""
    (found,) = totals("lm-eval-exact-match", [filtered(answer, kept)], **more)
    return found.value


def filtered(answer: str, kept: dict[str, str]) -> Any:
    """Return a record whose right answer is 4, with what filters kept of its own."""
    row = answered(answer, ["4"])
    row["outputs"][0]["attribution"] = [
        {"extraction_method": name, "extracted_value": text}
        for name, text in kept.items()
    ]
    return row


def test_a_filter_says_what_is_compared() -> None:
    """What the filter kept is compared; an answer of another filter does not count."""
    kept = {"strict": "4", "flexible": "[invalid]"}
    rows = [filtered("It is 4.", kept), filtered("4", {"other": "4"})]

    assert score("It is 4.", kept, filter="strict") == 1
    assert score("It is 4.", kept, filter="flexible") == 0
    assert values("lm-eval-exact-match", rows, filter="other") == [(None,), (1,)]
    (found,) = totals("lm-eval-exact-match", rows, filter="other")
    assert (found.value, found.count, found.unscored) == (1, 1, 0)
    with pytest.raises(ScoreError, match="which one counts: strict, flexible"):
        score("It is 4.", kept)
    assert score("4", {}, filter="none") == 1
    assert score("It is 4", {"none": "4"}) == 1


def test_what_is_kept_as_no_text_has_no_score() -> None:
    """Answers of a filter that kept no text of them have no score, which is said."""
    row = filtered("4", {"first": "4"})
    row["outputs"][0]["scores"] = [
        {"metric": "exact_match", "value": 1, "signature": f"exact_match|filter:{name}"}
        for name in ("first", "second", "none")
    ]
    row["outputs"].append({"text": "4"})
    row["extra"] = {"lm-eval": {"filtered_resps,second": [["4", "4", "4"]]}}

    assert values("lm-eval-exact-match", [row], filter="first") == [(1,), (None,)]
    (found,) = totals("lm-eval-exact-match", [row], filter="first")
    assert (found.count, found.unscored) == (1, 0)
    for name in ("second", "none"):
        with pytest.raises(ScoreError, match=f"what the filter {name} kept is not one"):
            totals("lm-eval-exact-match", [row], filter=name)


def test_null_characters_at_the_end_do_not_count() -> None:
    """Neither do those that end a text once something behind them is left out."""

    def equals(answer: str, **more: Any) -> Any:
        return value("lm-eval-exact-match", answer, ["a"], **more)

    assert equals("a\0") == equals("a\0!", ignore_punctuation=True) == 1
    assert equals("a\0b1", regexes_to_ignore=["b"], ignore_numbers=True) == 1
    assert equals("a\0!b", regexes_to_ignore=["b", "!$"]) == 1
    assert equals("\0a") == equals("a\0!") == equals("a\0b") == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"regexes_to_ignore": "x"},
        {"regexes_to_ignore": ["("]},
        {"ignore_case": "yes"},
        {"filter": ""},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    """What is no regular expression, flag or name is an error that names it."""
    with pytest.raises(ScoreError, match="lm-eval-exact-match"):
        value("lm-eval-exact-match", "a", ["a"], **wrong)
