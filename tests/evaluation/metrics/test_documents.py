"""The metrics of retrieved documents, by known values and by Haystack's own."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import HarpiaFormatsError, ScoreError, score
from json_lines import jsonl_rows
from metric_scores import answered, totals, values

NAMES = ("document-map", "document-mrr", "document-ndcg", "document-recall")
FIELDS = ("content", "id", "meta.tag", "meta.file.page")
#: Ground-truth and retrieved contents, and the scores by MAP, MRR, NDCG and recall with
#: one hit and with several: the examples of Haystack's documentation and its edges.
CASES: list[tuple[list[Any], list[Any], tuple[float, ...]]] = [
    (["France"], ["France"], (1, 1, 1, 1, 1)),
    (
        ["9th century", "9th"],
        ["9th century", "10th century", "9th"],
        (0.8333333333333333, 1, 0.9197207891481876, 1, 1),
    ),
    (["a", "b"], ["c", "b"], (0.25, 0.5, 0.38685280723454163, 1, 0.5)),
    (["a"], ["b"], (0, 0, 0, 0, 0)),
    (["a"], [], (0, 0, 0, 0, 0)),
    ([], ["a"], (0, 0, 0, 0, 0)),
    ([], [], (0, 0, 0, 0, 0)),
    (["a", "a"], ["a", "a"], (1, 1, 1, 1, 1)),
    ([""], [""], (1, 1, 1, 0, 0)),
    ([{"id": "1"}], [{"id": "1"}], (0, 0, 0, 0, 0)),
]


def with_documents(truth: Any, retrieved: Any, **more: Any) -> Any:
    """Return a record with documents that should be found, and those that were."""
    documents = {"ground_truth_documents": truth, "retrieved_documents": retrieved}
    return {"metadata": documents, "outputs": [], **more}


def score_of(metric: str, row: Any, **parameters: Any) -> Any:
    """Return the score of one record."""
    (found,) = totals(metric, [row], **parameters)
    return found.value


def scores_of(truth: Any, retrieved: Any, **parameters: Any) -> tuple[Any, ...]:
    """Return the scores of one record by all metrics and modes."""
    row = with_documents(truth, retrieved)
    several = score_of("document-recall", row, mode="multi_hit", **parameters)
    return (*(score_of(name, row, **parameters) for name in NAMES), several)


@for_each_case("truth, retrieved, expected", CASES)
def test_scores_are_the_known_ones(
    truth: list[Any], retrieved: list[Any], expected: tuple[float, ...]
) -> None:
    """Documents count once each, by their rank; none at all score 0."""
    assert scores_of(truth, retrieved) == pytest.approx(expected, abs=1e-12)


def test_gains_are_the_scores_of_the_truth() -> None:
    """NDCG takes the scores of ground-truth documents, of equal ones the highest."""
    truth = [{"content": "France", "score": 1.0}, {"content": "Paris", "score": 0.5}]
    row = with_documents(
        [*truth, {"content": "Paris", "score": 0.25}], ["France", "Germany", "Paris"]
    )

    assert score_of("document-ndcg", row) == pytest.approx(0.9502344167898356)


def test_documents_are_compared_by_what_is_chosen() -> None:
    """Content, id or a key of the metadata decides, whatever its type."""
    meta = {"file": {"page": [1, {"a": 2}]}}
    truth = [{"id": "1", "content": "a", "meta": meta}]
    retrieved = [
        {"id": "2", "content": "a", "meta": {"file": {"page": 2}}},
        {"id": "1", "content": "b", "meta": {}},
        {"id": "3", "content": "b", "meta": meta},
    ]
    row = with_documents(truth, retrieved)
    fields = ("content", "id", "meta.file.page")
    ranks = [score_of("document-mrr", row, field=field) for field in fields]

    assert ranks == [1, 1 / 2, 1 / 3]


def test_results_do_not_say_that_documents_are_correct(tmp_path: Path) -> None:
    """A score that may be between 0 and 1 is written, and no `is_correct` with it."""
    output = tmp_path / "out.jsonl"
    rows = [with_documents(["a", "b"], ["c", "b"]) | {"outputs": [{"text": "b"}]}]

    score(rows, from_="record", metrics=("document-map",), to="record", output=output)

    (row,) = jsonl_rows(output)
    (found,) = row["outputs"][0]["scores"]
    assert found["value"] == 0.25
    assert "is_correct" not in found


def test_contexts_are_retrieved_documents_if_asked_for() -> None:
    """With `retrieved=contexts` the contexts are ranked, as the signature states."""
    row = {"contexts": ["x", "a"], "metadata": {"ground_truth_documents": ["a"]}}
    (found,) = totals("document-mrr", [row | {"outputs": []}], retrieved="contexts")

    assert found.value == 0.5
    assert "|field:content|retrieved:contexts|scale:0-1" in found.signature
    with pytest.raises(ScoreError, match="there are no contexts"):
        score_of("document-mrr", with_documents(["a"], ["a"]), retrieved="contexts")


@for_each_case(
    "truth, message",
    [
        ("a", "ground-truth documents are not in a list"),
        ([1], "neither a text nor an object"),
        ([{"content": 1}], "no text"),
        ([{"content": "a", "score": 1}, "b"], "some .* have a score"),
        ([{"content": "a", "score": -1}], "no number of at least 0"),
        ([{"content": "a", "score": "1"}], "no number of at least 0"),
        (
            [{"content": name, "score": 1e308} for name in "abc"],
            "documents are too large",
        ),
        ([{"content": "a", "score": 10**400}], "no number of at least 0"),
    ],
)
def test_what_is_no_document_has_no_score(truth: Any, message: str) -> None:
    """A value that cannot be read is a finding with its reason."""
    with pytest.raises(ScoreError, match=message):
        score_of("document-ndcg", with_documents(truth, ["a"]))


def test_values_that_are_nested_as_deep_as_rows_may_be_are_compared() -> None:
    """A key of the metadata is compared as a whole, to the deepest level."""
    one, other = "[" * 190 + "1" + "]" * 190, "[" * 190 + "2" + "]" * 190
    documents = [{"meta": {"deep": json.loads(each)}} for each in (other, one)]
    row = with_documents(documents[1:], documents)

    assert score_of("document-mrr", row, field="meta.deep") == 0.5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"field": "text"}, "content, id or meta.KEY"),
        ({"field": "meta."}, "content, id or meta.KEY"),
        ({"retrieved": "answers"}, "one of documents, contexts"),
        ({"retrieved": "contexts", "field": "id"}, "contexts are texts alone"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    """A wrong value is an error that names the allowed ones."""
    for name in NAMES:
        with pytest.raises(ScoreError, match=message):
            score_of(name, with_documents(["a"], ["a"]), **parameters)


def test_a_pair_has_no_documents() -> None:
    """An answer and its references alone are no record with documents."""
    for name in NAMES:
        with pytest.raises(ScoreError, match="no retrieved documents"):
            score_of(name, answered("a", ["b"]))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from("ab"),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(json_values, json_values)
@example([True], [1])
@example([1], ["1"])
@example([[0]], ["[0]"])
def test_keys_are_equal_where_values_are(one: Any, other: Any) -> None:
    """A value of the metadata, a list or an object, is found exactly if it is there."""
    row = with_documents([{"meta": {"k": one}}], [{"meta": {"k": other}}])
    is_found = one == other and one is not None

    assert score_of("document-mrr", row, field="meta.k") == is_found


_scores = st.integers(-1, 3) | st.floats(0, 2) | st.just(1e308) | st.none()
_documents = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "content": st.sampled_from("abc") | json_values,
            "id": json_values,
            "meta": json_values,
            "tag": json_values,
            "score": _scores,
        },
    )
    | json_values,
    max_size=6,
)


@given(_documents | json_values, _documents | json_values, st.sampled_from(FIELDS))
def test_any_documents_have_a_score_or_a_reason(
    truth: Any, retrieved: Any, field: str
) -> None:
    """Scores are from 0 to 1, and what cannot be scored has a reason."""
    rows = [with_documents(truth, retrieved), with_documents(["a"], ["a"])]
    for name in NAMES:
        (found, _) = values(name, rows, field=field)
        assert found[0] is None or 0 <= found[0] <= 1


def _document(chance: random.Random, *, is_scored: bool) -> dict[str, Any]:
    """Return a document that shares its values with many others."""
    found: dict[str, Any] = {"id": chance.choice("12345"), "meta": {}}
    if chance.random() < 0.9:
        found["content"] = chance.choice(["", "a", "b", "c é", "d"])
    if chance.random() < 0.8:
        found["meta"]["file"] = chance.choice(["x", 1, True, {"page": 2}])
    if chance.random() < 0.5:
        found["meta"]["tag"] = chance.choice(["x", "y", None])
    if is_scored:
        found["score"] = chance.choice([0, 0.25, 1, 1.0, 3])
    return found


def _rankings(count: int) -> list[tuple[list[Any], list[Any]]]:
    """Return truths and rankings with duplicates, ties and empty lists."""
    chance = random.Random(20)  # noqa: S311 - a seed, not secrecy
    return [
        (
            [
                _document(chance, is_scored=number % 2 == 0)
                for _ in range(chance.choice((0, 1, 2, 3, 6)))
            ],
            [
                _document(chance, is_scored=chance.random() < 0.5)
                for _ in range(chance.choice((0, 1, 2, 3, 10)))
            ],
        )
        for number in range(count)
    ]


def _theirs(name: str, field: str, rows: Sequence[tuple[list[Any], list[Any]]]) -> Any:
    """Return what an evaluator of Haystack gives for truths and rankings."""
    haystack = pytest.importorskip(
        "haystack.components.evaluators", reason="haystack-ai is not installed"
    )
    from haystack import Document  # noqa: PLC0415 - installed, as seen above

    kinds = {
        "document-map": haystack.DocumentMAPEvaluator,
        "document-mrr": haystack.DocumentMRREvaluator,
        "document-ndcg": haystack.DocumentNDCGEvaluator,
        "document-recall": haystack.DocumentRecallEvaluator,
    }
    kind, _, mode = name.partition("/")
    given = {"mode": mode} if mode else {}
    evaluator = kinds[kind](document_comparison_field=field, **given)
    columns = [
        [[Document.from_dict(one) for one in many] for many in row]
        for row in zip(*rows, strict=True)
    ]
    return evaluator.run(
        ground_truth_documents=columns[0], retrieved_documents=columns[1]
    )


@pytest.mark.filterwarnings("default")  # what Haystack's own packages say
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "name", [*NAMES[:3], "document-recall/single_hit", "document-recall/multi_hit"]
)
@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_scores_are_those_of_haystack(name: str, field: str, count: int) -> None:
    """Every score, and the mean, equals that of Haystack's evaluator."""
    rows = _rankings(count)
    expected = _theirs(name, field, rows)
    kind, _, mode = name.partition("/")
    options = {"field": field} | ({"mode": mode} if mode else {})
    # Written flat, as Haystack writes documents, and read again.
    flat = [
        [
            [json.loads(json.dumps({**one["meta"], **one})) for one in many]
            for many in row
        ]
        for row in rows
    ]
    ours = [with_documents(*row) for row in flat]

    individual = [one for (one,) in values(kind, ours, **options)]
    assert individual == pytest.approx(expected["individual_scores"], abs=1e-9)
    (total,) = totals(kind, ours, **options)
    assert total.value == pytest.approx(expected["score"], abs=1e-9)


@pytest.mark.parametrize("levels", [480, 600])
def test_values_that_are_nested_too_deep_have_no_score(levels: int) -> None:
    """A cell of a table may hold more levels than can be compared, which is told."""
    deep = '{"a":' * levels + "1" + "}" * levels
    documents = f'[{{"content":"c","meta":{{"k":{deep}}}}}]'
    both = f'{{"ground_truth_documents":{documents},"retrieved_documents":{documents}}}'
    cell = both.replace('"', '""')
    table = f'id,prompt,metadata,model,response\n1,q,"{cell}",m,x\n'
    with pytest.raises(
        HarpiaFormatsError, match=r"the meta\.k of a document is nested"
    ):
        score(
            table.encode(),
            metrics="document-recall",
            parameters={"document-recall.field": "meta.k"},
        )
