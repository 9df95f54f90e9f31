"""Exact match and token F1, against values worked out elsewhere."""

import pytest

from harpia_formats.filling import filling_of
from harpia_formats.metrics import METRICS
from harpia_formats.needs import ConversionError
from harpia_formats.notes import Notes, Unconvertible
from harpia_formats.record import Output, Record, Score

PT = "A ação foi rápida e não tem "
#: An answer, its references, exact match and F1 by NVIDIA's SDK.
CASES = [
    ("Paris", ["Paris"], 1, 1),
    ("the cat sat", ["the cat sat"], 1, 1),
    ("the cat sat down", ["the cat sat down"], 1, 1),
    ("The cat sat on the mat.", ["The cat sat on the mat."], 1, 1),
    ("The dog sat on the floor.", ["The cat sat on the mat."], 0, 0.5),
    ("PARIS is the capital", ["paris is the capital"], 1, 1),
    ("Hello, world of cats and dogs!", ["Hello world of cats and dogs"], 1, 1),
    ("foo bar baz qux", ["one two three four"], 0, 0),
    ("", ["Paris"], 0, 0),
    ("", [""], 1, 1),
    ("The cat is on the mat.", ["The cat sits on the mat."], 0, 0.75),
    (f"{PT}preço.", [f"{PT}custo."], 0, 0.857143),
    ("北京是中国的首都", ["北京是中国的首都"], 1, 1),
    ("Paris.", ["paris"], 1, 1),
    ("the Paris", ["Paris"], 1, 1),
    ("U.S.A.", ["USA"], 1, 1),
    ("don't know", ["dont know"], 1, 1),
    ("a", ["the"], 1, 1),
    ("¿Qué?", ["qué"], 0, 0),
    ("“Paris”", ["paris"], 0, 0),
    ("state-of-the-art", ["stateoftheart"], 1, 1),
    ("theatre", ["atre"], 0, 0),
]


@pytest.mark.parametrize(("answer", "references", "em", "f1"), CASES)
def test_scores_are_those_of_the_reference(
    answer: str, references: list[str], em: float, f1: float
) -> None:
    """Both metrics give the known values, with the rules of SQuAD v2."""
    assert METRICS["em"].score(answer, references) == em
    assert METRICS["f1"].score(answer, references) == pytest.approx(f1, abs=1e-6)


def test_the_best_of_several_references_counts() -> None:
    """An answer is scored by the reference that suits it best."""
    references = ["A cat is sitting on the mat.", "The cat is on the mat!"]

    assert METRICS["em"].score("the cat is on the mat", references) == 1
    assert METRICS["f1"].score("the cat sat", ["dog", "cat"]) == pytest.approx(2 / 3)


def test_a_score_says_how_it_was_worked_out() -> None:
    """What is filled in has the metric, its signature, and whether it is right."""
    record = Record(references=["r"], outputs=[Output(text="R"), Output(text="x")])
    notes = Notes()
    filled = filling_of("em")(record, notes)
    scores = [each.scores for each in filled.outputs]

    assert scores == [
        [Score(metric="em", value=1.0, is_correct=True, signature=signature("em"))],
        [Score(metric="em", value=0.0, is_correct=False, signature=signature("em"))],
    ]
    assert {each.path for each in notes.said} == {
        "outputs.scores.value",
        "outputs.scores.is_correct",
        "outputs.scores.metric",
        "outputs.scores.signature",
    }


def signature(metric: str) -> str:
    """Return how a metric says that it is worked out."""
    return METRICS[metric].signature


def test_a_score_that_is_there_stays() -> None:
    """An answer with a score keeps it."""
    score = Score(value=0.25)
    record = Record(references=["r"], outputs=[Output(text="r", scores=[score])])

    assert filling_of("f1")(record, Notes()) == record


def test_an_answer_is_the_last_turn_where_it_is_a_conversation() -> None:
    """Without a text the assistant's last turn is scored."""
    turns = [
        {"role": "assistant", "content": "x"},
        {"role": "assistant", "content": "r"},
        {"role": "tool", "content": "y"},
    ]
    record = Record(references=["r"], outputs=[Output(turns=turns)])
    (output,) = filling_of("em")(record, Notes()).outputs

    assert output.scores
    assert output.scores[0].value == 1.0


@pytest.mark.parametrize(
    ("record", "cure"),
    [
        (Record(outputs=[Output(text="a")]), "references"),
        (Record(references=[], outputs=[Output(text="a")]), "references"),
        (Record(references=["r"], outputs=[Output()]), "outputs.text"),
        (Record(references=["r"], outputs=[Output(text=None)]), "outputs.text"),
    ],
)
def test_nothing_to_compare_is_no_score(record: Record, cure: str) -> None:
    """Without an answer or a reference there is no score of 0, but a reason."""
    with pytest.raises(Unconvertible) as caught:
        filling_of("em")(record, Notes())

    assert caught.value.path == "outputs.scores.value"
    assert f"--set {cure}=VALUE" in str(caught.value)


def test_an_unknown_metric_is_refused() -> None:
    """A metric that there is not is told with those that there are."""
    with pytest.raises(ConversionError, match=r"'bleu' \(known: em, f1\)"):
        filling_of("bleu")
