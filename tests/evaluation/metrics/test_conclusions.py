"""multiple-choice: conclusions behind reasoning on other choices, and denials."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from harpia_formats import ScoreError
from metric_scores import answered, totals, values

CITIES = ("Paris", "London", "Berlin", "Madrid")
#: What names other choices, and how the text concludes that B is right.
CONCLUSIONS = {
    (
        "Option A is wrong because Paris is in France. Option C is wrong, too. ",
        "Berlin is in Germany and Madrid in Spain.\n\n",
    ): (
        "So, B.",
        "Therefore, B.",
        "Hence B.",
        "Thus, (B) London.",
        "Correct: B",
        "Solution: B",
        "=> B",
        "#### B",
        "✅ B. London",
        "We choose B.",
        "I would answer B.",
        "Choose B.",
        "This makes B the correct answer.",
    ),
    ("Paris liegt in Frankreich, Berlin in Deutschland. ", "A und C sind falsch. "): (
        "Also ist die Antwort B.",
        "Daher ist die richtige Antwort B) London.",
        "Somit lautet die Antwort **B**.",
        "Somit ist B richtig.",
        "Daher ist B die Lösung.",
        "Damit bleibt B.",
        "Ich wähle daher B.",
        "Also: B",
    ),
    ("Paris是法国的首都，Berlin是德国的首都。", "A和C是错误的。"): (
        "【答案】B",
        "所以B。",
    ),
    ("ParisはフランスでBerlinはドイツです。", "Aは違います。"): ("よってB。",),
    ("Paris fica na França e Berlin na Alemanha. ",): ("Logo, letra B.",),
    ("Paris está en Francia y Berlin en Alemania. ",): ("Por lo tanto, B.",),
}
CASES = [
    begin + end
    for begins, ends in CONCLUSIONS.items()
    for begin, end in product(begins, ends)
]
#: No credit for any choice.
DENIED = [
    "The answer is not Paris.",
    "The answer isn't Paris.",
    "The answer cannot be Paris.",
    "A resposta não é Paris.",
    "La respuesta no es Paris.",
    "答案不是Paris。",
    "Dann ist die Antwort nicht Paris.",
    "Therefore, not B.",
    "Therefore, A and B are wrong.",
    "Also ist die Antwort A oder B.",
    "A is correct and so B.",
    "If so, B.",
    "Don't choose B.",
    "This makes A the wrong answer.",
]


def record(answer: str, right: str, choices: Sequence[str] = CITIES) -> Any:
    """Return a record whose right choice is that of a letter."""
    return answered(answer, [right], choices=[*choices])


def test_a_conclusion_counts_whatever_else_is_named() -> None:
    """What a text concludes is its answer, in each of six languages."""
    found = values("multiple-choice", [record(answer, "B") for answer in CASES])

    assert [at for at, one in zip(CASES, found, strict=True) if one != (1,)] == []


@pytest.mark.parametrize("answer", DENIED)
def test_a_denied_text_gets_no_credit(answer: str) -> None:
    """A choice is denied by its text as it is by its letter."""
    with pytest.raises(
        ScoreError, match=r"names (no choice|several choices|a choice only to deny)"
    ):
        totals("multiple-choice", [record(answer, "A")], unreadable="left-out")


def test_not_but_names_the_other_text() -> None:
    """`Not A but B` names B, also by texts; a denial in a choice's own text is none."""
    stated = ("Not stated", "Yes", "No")
    rows = [
        record("The answer isn't Paris but London.", "B"),
        record("The answer is Not stated.", "A", stated),
        record("The answer: Not stated.", "A", stated),
    ]

    assert values("multiple-choice", rows) == [(1,)] * 3
