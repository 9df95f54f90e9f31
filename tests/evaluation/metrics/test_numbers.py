"""Metrics against numbers that other libraries and versions computed."""

from typing import Any

import pytest

from cases import for_each_case
from metric_scores import answered, totals, value, values_of_pairs

pytest.importorskip("sacrebleu", reason="the extra score is not installed")
pytest.importorskip("nltk", reason="the extra score is not installed")
pytest.importorskip("rapidfuzz", reason="the extra score is not installed")

PT = "A ação foi rápida e não tem "
TEXTS = {
    "exact 1": ("Paris", ["Paris"]),
    "exact 3": ("the cat sat", ["the cat sat"]),
    "exact 4": ("the cat sat down", ["the cat sat down"]),
    "long": ("The cat sat on the mat.", ["The cat sat on the mat."]),
    "partial": ("The dog sat on the floor.", ["The cat sat on the mat."]),
    "case": ("PARIS is the capital", ["paris is the capital"]),
    "punct": ("Hello, world of cats and dogs!", ["Hello world of cats and dogs"]),
    "no overlap": ("foo bar baz qux", ["one two three four"]),
    "empty": ("", ["Paris"]),
    "empty both": ("", [""]),
    "multi": (
        "The cat is on the mat.",
        ["The cat sits on the mat.", "A cat is sitting on the mat."],
    ),
    "pt": (f"{PT}preço.", [f"{PT}custo."]),
    "zh": ("北京是中国的首都", ["北京是中国的首都"]),
}


def table(text: str) -> dict[str, list[float]]:
    """Return the numbers in the lines of a table by the names that begin them."""
    rows = (line.rsplit(maxsplit=6) for line in text.strip().splitlines())
    return {name.strip(): [*map(float, numbers)] for name, *numbers in rows}


#: Of each text: sacreBLEU of the sentence and of a corpus of one, and NLTK's BLEU by
#: method0, 1 and 3 and with auto_reweigh.
BLEU = table("""
exact 1     100      0        1.82183e-231  0.177828  0.353553  1
exact 3     100      0        1.22134e-77   0.562341  0.840896  1
exact 4     100      100      1             1         1         1
long        100      100      1             1         1         1
partial     27.7762  27.7762  6.20602e-78   0.217119  0.324668  6.20602e-78
case        59.4604  59.4604  8.63617e-78   0.397635  0.594604  8.63617e-78
punct       54.1082  54.1082  0.508133      0.508133  0.508133  0.508133
no overlap  0        0        0             0         0         0
empty       0        0        0             0         0         0
empty both  0        0        0             0         0         0
multi       53.7285  53.7285  8.16758e-78   0.285744  0.427287  8.16758e-78
pt          75.0624  75.0624  0.840896      0.840896  0.840896  0.840896
zh          100      0        1.82183e-231  0.177828  0.353553  1
""")
#: Of each text: em, f1, and ROUGE 1, 2, 3 and L.
OVERLAP = table("""
exact 1     1  1         1         0         0         1
exact 3     1  1         1         1         1         1
exact 4     1  1         1         1         1         1
long        1  1         1         1         1         1
partial     0  0.5       0.666667  0.4       0.25      0.666667
case        1  1         1         1         1         1
punct       1  1         1         1         1         1
no overlap  0  0         0         0         0         0
empty       0  0         0         0         0         0
empty both  1  1         0         0         0         0
multi       0  0.75      0.833333  0.6       0.25      0.833333
pt          0  0.857143  0.869565  0.857143  0.842105  0.869565
zh          1  1         0         0         0         0
""")
METRICS: list[tuple[str, dict[str, Any]]] = [
    ("sentence-bleu", {}),
    ("bleu", {}),
    ("nltk-bleu", {"references": "clip"}),
    ("nltk-bleu", {"references": "clip", "smoothing_function": "method1"}),
    ("nltk-bleu", {"references": "clip", "smoothing_function": "method3"}),
    ("nltk-bleu", {"references": "clip", "auto_reweigh": True}),
    ("em", {"references": "first"}),
    ("f1", {"references": "first"}),
    *(
        (name, {"references": "first", "stemmer": True})
        for name in ("rouge1", "rouge2", "rouge3", "rougeL")
    ),
]
#: Of "exact 1", "partial", "multi" and "pt" by each smoothing method of NLTK; method6
#: refuses the first, which is 0 here.
SMOOTHED: list[list[float]] = [
    [1.82183e-231, 6.20602e-78, 8.16758e-78, 0.840896],
    [0.177828, 0.217119, 0.285744, 0.840896],
    [0.594604, 0.427287, 0.537285, 0.859948],
    [0.353553, 0.324668, 0.427287, 0.840896],
    [1, 0.251198, 0.330596, 0.840896],
    [0.19245, 0.319507, 0.441096, 0.94823],
    [0, 0.279307, 0.502025, 0.843687],
    [0.19245, 0.348268, 0.471521, 0.94823],
]


@for_each_case("case", TEXTS)
def test_the_numbers_of_the_libraries_come_out(case: str) -> None:
    """Every metric gives the number that its reference gave."""
    answer, references = TEXTS[case]
    found = [value(name, answer, references, **more) for name, more in METRICS]

    assert found == pytest.approx([*BLEU[case], *OVERLAP[case]], rel=1e-5)


@for_each_case("number", range(8))
def test_every_smoothing_of_nltk(number: int) -> None:
    """Each method gives its number, and 0 where nothing is shared or there."""
    method = f"method{number}"
    cases = ("exact 1", "partial", "multi", "pt", "empty", "no overlap")
    pairs = [TEXTS[each] for each in cases]
    options = {"smoothing_function": method, "references": "clip"}
    found = [one for (one,) in values_of_pairs("nltk-bleu", pairs, **options)]

    assert (found[0] is None) == (method == "method6")
    assert [each or 0 for each in found] == pytest.approx(
        [*SMOOTHED[number], 0, 0], rel=1e-5
    )


def test_nltk_reweighs_with_weights_from_json() -> None:
    """A list of the default weights is reweighed as NLTK does with its own tuple."""
    found = value("nltk-bleu", "a b", ["a b"], weights=[0.25] * 4, auto_reweigh=True)

    assert found == 1


TWO = (
    ("The cat is on the mat.", TEXTS["multi"][1]),
    ("Hello world!", ["Hello world!", "Hi world!"]),
)


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("sentence-bleu", {}, 76.8642),
        ("sentence-bleu", {"scale": 1}, 0.768642),
        ("bleu", {"references": "first"}, 53.8956),
        ("bleu", {}, 57.5082),
    ],
)
def test_corpus_and_sentence_are_two_numbers(
    name: str, parameters: dict[str, Any], expected: float
) -> None:
    """Means of sentences and pooled counts differ, and so do rules for references."""
    (found,) = totals(name, [answered(*each) for each in TWO], **parameters)

    assert found.value == pytest.approx(expected, abs=1e-4)


def test_short_answers_have_a_sentence_score_and_no_corpus_score() -> None:
    """Answers of one word against a sentence: 4.9787 each, 0 for the corpus."""
    pairs = [(each, [f"The answer is {each}"]) for each in ("4", "16", "10")]
    found = [value("sentence-bleu", *each) for each in pairs]
    corpus = [value("bleu", *each) for each in pairs]

    assert found == pytest.approx([4.9787] * 3, abs=1e-4)
    assert corpus == [0, 0, 0]


def test_identical_chinese_is_0_by_ascii_and_1_by_unicode() -> None:
    """The signature tells the two apart."""
    texts = ("北京是中国的首都", ["北京是中国的首都"])

    assert value("rouge1", *texts) == 0
    assert value("rouge1", *texts, tokenizer="unicode") == 1
    assert value("rougeL", *texts, tokenizer="unicode") == 1


def test_stems() -> None:
    """Words of more than three letters are stemmed, in the mode of rouge-score."""
    pair = ("running runs ran cats the", ["run run ran cat the"])

    assert value("rouge1", *pair, stemmer=True) == 1
    assert value("rouge1", *pair) == pytest.approx(0.4)
