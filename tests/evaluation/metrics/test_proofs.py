"""Metrics against the reference libraries, over many generated pairs.

The short form runs always, the long one with `-m long`.
"""

import random
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from effort import drawn
from metric_scores import answered, signature, totals, values_of_pairs
from text_kinds import squad_text

NOT_INSTALLED = "the extra score is not installed"
sacrebleu = pytest.importorskip("sacrebleu", reason=NOT_INSTALLED)
pytest.importorskip("nltk", reason=NOT_INSTALLED)
pytest.importorskip("rapidfuzz", reason=NOT_INSTALLED)
rouge_scorer = pytest.importorskip(
    "rouge_score.rouge_scorer", reason="rouge-score is not installed"
)

Pair = tuple[str, list[str]]
#: Words of each language and what stands between them.
LANGUAGES = {
    "en": (
        "the a an cat dogs sat running runs mat. floor, over house's U.S.A. relational "
        "state-of-the-art 3.14 1,000 don't “Paris” &amp; &lt;b&gt; -5 3-4 (yes) "
        "no/maybe x=2; nationalities <skipped> end.- ,b THE hopping"
    ).split(),
    "pt": (
        "a ação foi rápida, e não tem preço. coração você avós São Paulo “é” à 12,5% "
        "últimos anos; estão-se informações d'água ¿Qué? um o os 3.ª as à maçã"
    ).split(),
    "zh": (
        "北京 是 中国 的 首都 。 ， 上海 人口 2023年 AI 模型 很 大 ！ カタカナ 々 The"  # noqa: RUF001 - as it is written
    ).split(),
    "ar": (
        "الكتاب على الطاولة، العربيّة لغة جميلة؟ ٣ ١٢٫٥ في مدينة القاهرة كَتَبَ و هذا . AI"  # noqa: RUF001 - as it is written
    ).split(),
}
#: Words of most texts, and of the rare huge ones.
SIZES, HUGE = (0, 1, 2, 3, 4, 5, 8, 12, 20, 30), 1200
SHORT, LONG, SEED = drawn(60), 10_000, 20_240_229
ALL = [SHORT, pytest.param(LONG, marks=pytest.mark.long)]


def pairs(count: int, sizes: Sequence[int] = SIZES, huge: int = HUGE) -> Iterator[Pair]:
    """Yield answers and their one to three references; one in 2,000 is huge."""
    chance = random.Random(SEED)  # noqa: S311 - a seed, not secrecy
    for number in range(count):
        language = chance.choice(list(LANGUAGES))
        words, space = LANGUAGES[language], "" if language == "zh" else " "
        if chance.random() < 0.2:
            words = chance.sample(words, 4)
        size = huge if number % 2000 == 99 else chance.choice(sizes)
        reference = chance.choices(words, k=size)
        others = [
            changed(chance, reference, words)
            for _ in range(chance.choice((0, 0, 1, 2)) if size < huge else 0)
        ]
        answer = changed(chance, reference, words)
        if number % 50 == 7:
            answer = []
        texts = (spaced(chance, each, space) for each in (answer, reference, *others))
        first, *references = texts
        yield (references[0] if number % 29 == 3 else first), references


def changed(chance: random.Random, given: list[str], words: Sequence[str]) -> list[str]:
    """Return words that were dropped, replaced, added, put in capitals, or turned."""
    found: list[str] = []
    for each in given:
        kind = chance.random()
        if kind < 0.1:
            continue
        found.append(chance.choice(words) if kind < 0.2 else each)
        if kind > 0.95:
            found.append(chance.choice(words))
        elif kind > 0.9:
            found[-1] = each.upper()
    turn = chance.randrange(len(found)) if found and chance.random() < 0.2 else 0
    return found[turn:] + found[:turn]


def spaced(chance: random.Random, words: list[str], space: str) -> str:
    """Return a text, with line breaks and double spaces now and then."""
    spaces = (space, space, space, space, space, space, space, "\n", " \n\n", "  ")
    return "".join(f"{each}{chance.choice(spaces)}" for each in words)


def streams_of(given: Sequence[Pair]) -> list[list[str | None]]:
    """Return references as sacrebleu wants them: streams of all records."""
    most = max(len(references) for _, references in given)
    return [
        [each[place] if place < len(each) else None for _, each in given]
        for place in range(most)
    ]


def unicode_words(text: str) -> list[str]:
    """Return the runs of letters, numbers and marks, each ideograph or kana alone."""
    found = ""
    for character in unicodedata.normalize("NFC", text.lower()):
        if unicodedata.category(character)[0] not in "LNM":
            found += " "
        elif unicodedata.name(character).startswith(("CJK", "KATAKANA", "IDEOGRAPHIC")):
            found += f" {character} "
        else:
            found += character
    return found.split()


@pytest.mark.parametrize("count", ALL)
@pytest.mark.parametrize(
    ("tokenizer", "stemmer"),
    [("rouge_score", False), ("rouge_score", True), ("unicode", False)],
)
def test_rouge_is_that_of_rouge_score(
    count: int, tokenizer: str, stemmer: bool
) -> None:
    """All five scores are equal to those of rouge-score, by any tokens."""
    names = ("rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum")
    given = SimpleNamespace(tokenize=unicode_words)
    scorer = rouge_scorer.RougeScorer(
        list(names),
        use_stemmer=stemmer,
        tokenizer=None if tokenizer == "rouge_score" else given,
    )
    rows = list(pairs(count))
    scores = values_of_pairs("rouge", rows, tokenizer=tokenizer, stemmer=stemmer)

    for (answer, references), ours in zip(rows, scores, strict=True):
        theirs = scorer.score_multi(references, answer)
        expected = [theirs[each].fmeasure for each in names]
        assert ours == pytest.approx(expected, abs=1e-12, rel=0), (answer, references)


@pytest.mark.parametrize("count", ALL)
def test_a_rouge_alone_is_that_of_all(count: int) -> None:
    """Each of the five metrics gives the score that it has among all, in each mode."""
    names = ("rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum")
    rows = list(pairs(count))
    for options in ({"tokenizer": "unicode"}, {"references": "first"}):
        alone = [values_of_pairs(each, rows, **options) for each in names]
        expected = [tuple(one for (one,) in each) for each in zip(*alone, strict=True)]
        assert values_of_pairs("rouge", rows, **options) == expected
        signatures = {signature(each, **options) for each in names}
        assert signatures == {signature("rouge", **options)}


def squad_f1(answer: str, reference: str, *, empty: float | None) -> float:
    """Return F1 over words; `empty` is what v2 gives where one has none."""
    mine, other = squad_text(answer).split(), squad_text(reference).split()
    if empty is not None and (not mine or not other):
        return empty if mine == other else 0.0
    same = sum((Counter(mine) & Counter(other)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(mine), same / len(other)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("count", ALL)
def test_em_and_f1_are_those_of_squad(count: int) -> None:
    """Exact match and F1 follow the rules of SQuAD v1.1 and of v2."""
    rows = list(pairs(count))
    exact = values_of_pairs("em", rows, scale=100)
    old, new = (values_of_pairs("f1", rows, empty=each) for each in ("v1", "v2"))

    for at, pair in enumerate(rows):
        answer, references = pair
        same = [squad_text(answer) == squad_text(each) for each in references]
        first = [squad_f1(answer, each, empty=None) for each in references]
        second = [squad_f1(answer, each, empty=1.0) for each in references]
        assert exact[at] == (100.0 * max(same),), pair
        assert old[at] == (max(first),), pair
        assert new[at] == (max(second),), pair


#: A metric with parameters, and sacrebleu's with the same.
POOLED: list[tuple[str, dict[str, Any], Any]] = [
    ("bleu", {}, sacrebleu.BLEU()),
    (
        "bleu",
        {"lowercase": True, "smoothing": "floor", "smooth_value": 0.01},
        sacrebleu.BLEU(lowercase=True, smooth_method="floor", smooth_value=0.01),
    ),
    (
        "bleu",
        {"tokenizer": "zh", "smoothing": "add-k"},
        sacrebleu.BLEU(tokenize="zh", smooth_method="add-k"),
    ),
    (
        "bleu",
        {"tokenizer": "intl", "smoothing": "none", "effective_order": True},
        sacrebleu.BLEU(tokenize="intl", smooth_method="none", effective_order=True),
    ),
    ("bleu", {"tokenizer": "char"}, sacrebleu.BLEU(tokenize="char")),
    ("bleu", {"tokenizer": "none"}, sacrebleu.BLEU(tokenize="none")),
    ("chrf", {}, sacrebleu.CHRF()),
    (
        "chrf",
        {"word_order": 2, "beta": 3, "lowercase": True, "eps_smoothing": True},
        sacrebleu.CHRF(word_order=2, beta=3, lowercase=True, eps_smoothing=True),
    ),
    ("ter", {}, sacrebleu.TER()),
    (
        "ter",
        {"normalized": True, "no_punct": True, "asian_support": True},
        sacrebleu.TER(normalized=True, no_punct=True, asian_support=True),
    ),
]


@pytest.mark.parametrize("count", ALL)
@pytest.mark.parametrize(
    ("name", "parameters", "theirs"),
    POOLED,
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_the_score_of_a_corpus_is_that_of_sacrebleu(
    count: int, name: str, parameters: dict[str, Any], theirs: Any
) -> None:
    """Answers in any order, and in any files, score as sacrebleu scores them all."""
    # The edits of TER take the square of the length, and more.
    sizes = SIZES if name == "bleu" else (0, 1, 2, 4, 8, 12)
    given = list(pairs(count, sizes, HUGE if name == "bleu" else 60))
    rows = [answered(*each, id=str(at)) for at, each in enumerate(given)]
    answers = [answer for answer, _ in given]
    expected = theirs.corpus_score(answers, streams_of(given)).score
    chance = random.Random(SEED)  # noqa: S311 - a seed, not secrecy

    for _ in range(3):
        (found,) = totals(name, rows, **parameters)
        assert found.value == pytest.approx(expected, abs=1e-9, rel=0)
        chance.shuffle(rows)


@pytest.mark.parametrize("count", ALL)
@pytest.mark.parametrize(("rule", "scale"), [("all", 1), ("first", 100)])
def test_sentence_bleu_is_that_of_sacrebleu(count: int, rule: str, scale: int) -> None:
    """The score of a record is sacrebleu's of its sentence, on either scale."""
    options = {"references": rule, "scale": scale}
    theirs = sacrebleu.BLEU(effective_order=True)
    rows = list(pairs(count))
    scores = values_of_pairs("sentence-bleu", rows, **options)

    for (answer, references), found in zip(rows, scores, strict=True):
        used = references if rule == "all" else references[:1]
        expected = theirs.sentence_score(answer, used).score * scale / 100
        assert found == pytest.approx((expected,), abs=1e-9), (answer, references)


@pytest.mark.parametrize("count", ALL)
@pytest.mark.parametrize("number", [None, *range(8)])
def test_nltk_bleu_is_that_of_nltk(count: int, number: int | None) -> None:
    """Every smoothing method gives NLTK's number, or the reason that it has none."""
    from nltk.translate import bleu_score  # noqa: PLC0415 - where it is installed

    method = None if number is None else f"method{number}"
    smoothing = getattr(bleu_score.SmoothingFunction(), method) if method else None

    def theirs(answer: str, references: list[str]) -> float | None:
        tokens = [each.split() for each in references]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found: float = bleu_score.sentence_bleu(
                    tokens, answer.split(), smoothing_function=smoothing
                )
            except AssertionError:
                return None
        return found

    rows, options = list(pairs(count, huge=200)), {"smoothing_function": method}
    best, clip = (
        values_of_pairs("nltk-bleu", rows, **options, references=each)
        for each in ("max", "clip")
    )
    for at, (answer, references) in enumerate(rows):
        alone = [theirs(answer, [each]) for each in references]
        highest = max((each for each in alone if each is not None), default=None)
        assert best[at] == (highest,)
        assert clip[at] == (theirs(answer, references),)


def test_huge_texts_take_no_time_or_memory_to_speak_of() -> None:
    """Lines of 30,000 words are compared, whose table would have 10^9 cells."""
    words = [f"w{number % 7919}" for number in range(30_000)]
    text = " ".join(words)
    more = "\n".join([" ".join(words[100:]), "w1 w2"])
    found = {one.name: one.value for one in totals("rouge", [answered(more, [text])])}
    expected = 2 * 29_900 / (29_902 + 30_000)

    assert found["rougeL"] == pytest.approx(expected)
    assert (found["rougeLsum"] or 0) >= expected - 1e-9
