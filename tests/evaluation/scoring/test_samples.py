"""Scores by metrics that need more of a record than an answer and its references."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats import ScoreError
from json_lines import jsonl
from unchecked import score

DOCUMENTS = ("document-map", "document-recall")


def retrieved(
    found: Any, truth: Any, text: str | None = None, *references: str, **more: Any
) -> dict[str, Any]:
    """Return a record with documents in its metadata, and with an answer if given."""
    both = {"retrieved_documents": found, "ground_truth_documents": truth}
    return {
        "prompt": f"{found} {truth}",
        "metadata": {name: value for name, value in both.items() if value is not None},
        "references": list(references),
        "outputs": [] if text is None else [{"text": text}],
        **more,
    }


def test_documents_are_scored_without_an_answer() -> None:
    """A retrieval needs no answer and no reference, and has Wilson's interval."""
    scores = score(
        jsonl(retrieved(["a"], ["a"]), retrieved(["b", "a"], ["a"])),
        metrics=DOCUMENTS,
    )

    assert scores["document-map"].value == 0.75
    assert scores["document-recall"].value == 1.0
    assert scores["document-map"].method.startswith("wilson|")
    assert scores.problems == ()


def test_documents_without_an_answer_name_their_metrics() -> None:
    """Where an answer is wanted, the finding says what scores the documents."""
    lines = jsonl(retrieved(["a"], ["a"]))
    scores = score(lines, profile="haystack", missing="skip")

    assert scores["em"].value is None
    (problem,) = scores.problems
    assert problem.help == (
        "retrieved documents are scored by `--metrics "
        "document-map,document-mrr,document-ndcg,document-recall`"
    )


@pytest.mark.parametrize(
    ("field", "notes"),
    [
        ("meta.tag", []),
        ("id", ["no retrieved document has id, so that none is right by document-map"]),
        (
            "meta.x",
            [
                f"no {noun} document has meta.x, so that none is right by document-map"
                for noun in ("retrieved", "ground-truth")
            ],
        ),
    ],
)
def test_a_field_that_no_document_has_is_reported(field: str, notes: list[str]) -> None:
    """A score of 0 for want of what is compared comes with a note."""
    truth = [{"id": "1", "content": "a", "meta": {"tag": "x"}}]
    found = [{"content": "a", "meta": {"tag": "x"}}]
    scores = score(
        jsonl(retrieved([], truth), retrieved(found, truth)),
        metrics=("document-map", "document-mrr"),
        parameters={"document-map.field": field},
    )

    assert scores["document-mrr"].value == 0.5
    assert list(scores.notes) == notes


def test_a_record_without_a_part_is_reported_once() -> None:
    """What lacks is one finding with the metrics that need it, and no score of 0."""
    lines = jsonl(
        retrieved(None, ["a"], "4", "4"),
        retrieved(["a"], None, "4"),
        retrieved(["a"], ["a"]),
        retrieved(["a"], [1], "4", "5"),
        retrieved(["a"], ["a"], "4", "4"),
    )

    scores = score(lines, metrics=("em", *DOCUMENTS))

    assert [(one.place.line, one.code) for one in scores.problems] == [
        (1, "M106"),
        (2, "M102"),
        (2, "M106"),
        (3, "M101"),
        (4, "M103"),
        (4, "M103"),
    ]
    assert (
        "there are no retrieved documents, which document-map, document-recall need"
        in (scores.problems[0].message)
    )
    counts = {
        name: (scores[name].count, scores[name].unscored) for name in ("em", *DOCUMENTS)
    }
    assert counts == {"em": (3, 2), "document-map": (2, 3), "document-recall": (2, 3)}
    assert scores["em"].value == 2 / 3


def test_findings_name_the_model_or_are_of_the_record() -> None:
    """What a record lacks is reported once, and what an answer lacks with its model."""
    outputs = [
        {"model": name, "text": text} for name, text in zip("ab", "xz", strict=True)
    ]
    record = {"prompt": "p", "references": ["x"], "outputs": outputs}
    lines = jsonl(record, {**record, "choices": ["x", "y"]})

    left_out = {"multiple-choice.unreadable": "left-out"}
    scores = score(lines, metrics=("multiple-choice",), parameters=left_out)
    alone = score(lines, metrics=("multiple-choice",), parameters=left_out, model="b")

    message = "multiple-choice has no score: the answer names no choice"
    lacking = "there are no choices, which multiple-choice needs"
    assert [(one.place.line, one.message) for one in scores.problems] == [
        (1, lacking),
        (2, f"{message} (model b)"),
    ]
    assert [one.message for one in alone.problems] == [lacking, message]
    assert [system["multiple-choice"].unscored for system in scores.systems] == [1, 2]


def test_only_metrics_with_references_say_their_number() -> None:
    """The number of references is in no signature of a metric without them."""
    scores = score(jsonl(retrieved(["a"], ["a"], "4", "4")), metrics=("em", *DOCUMENTS))

    assert scores["em"].signature.endswith("|nrefs:1")
    assert scores["document-map"].signature.endswith("|scale:0-1")


def test_missing_answers_that_count_as_zero_leave_documents_alone() -> None:
    """A missing answer is 0 by metrics of answers only."""
    lines = jsonl(retrieved(["a"], ["a"], None, "4"), retrieved(["a"], ["a"]))
    scores = score(lines, metrics=("em", "document-map"), missing="zero")

    assert (scores["em"].value, scores["em"].count) == (0.0, 1)
    assert (scores["document-map"].value, scores["document-map"].count) == (1.0, 2)


def test_documents_are_found_where_vendors_have_them() -> None:
    """Documents are in the extra of an answer or a record, or in the metadata.

    Those of a record need no outputs.
    """
    both = {"retrieved_documents": ["a"], "ground_truth_documents": ["a"]}
    none = {"retrieved_documents": [], "ground_truth_documents": ["a"]}
    lines = jsonl(
        {"prompt": "1", "extra": {"haystack": both}},
        {"prompt": "2", "outputs": [], "extra": {"ours": both}},
        {"prompt": "3", "metadata": both},
        {
            "prompt": "4",
            "extra": {"haystack": none},
            "outputs": [{"text": "x", "extra": {"ours": both}}],
        },
    )

    found = score(lines, metrics=("document-map",))["document-map"]
    assert (found.value, found.count) == (1.0, 4)


def test_columns_of_haystack_hold_documents() -> None:
    """The columns of Haystack's evaluators are scored as they are written."""
    columns = {
        "questions": ["1", "2"],
        "ground_truth_documents": [[{"id": "1", "content": "a"}]] * 2,
        "retrieved_documents": [[{"id": "1", "content": "b"}], []],
    }
    scores = score(
        json.dumps(columns).encode(),
        metrics=("document-recall",),
        parameters={"document-recall.field": "id"},
    )

    assert scores["document-recall"].value == 0.5


def test_scores_without_an_answer_are_written_with_their_records(
    tmp_path: Path,
) -> None:
    """A record without an answer gets an output with its score, if it has one."""
    path = tmp_path / "scored.jsonl"
    records = [retrieved(["b", "a"], ["a"]), retrieved(["a"], None)]
    scores = score(jsonl(*records), metrics=DOCUMENTS[:1], to="record", output=path)
    first, second = map(json.loads, path.read_bytes().splitlines())
    signature = scores["document-map"].signature

    assert first == {
        **records[0],
        "outputs": [
            {
                "scores": [
                    {"metric": "document-map", "value": 0.5, "signature": signature}
                ]
            }
        ],
    }
    assert second == records[1]
    stored = score(path, stored=True)
    assert stored["document-map"].value == 0.5
    assert stored["document-map"].signature == signature


def test_contexts_of_ragas_are_scored() -> None:
    """Retrieved contexts are compared with the reference contexts next to them."""
    row = {
        "user_input": "q",
        "response": "a",
        "retrieved_contexts": ["x", "y"],
        "reference_contexts": ["y"],
    }
    scores = score(
        jsonl(row),
        metrics=("document-mrr",),
        parameters={"document-mrr.retrieved": "contexts"},
    )

    assert scores.report.files[0].format == "ragas"
    assert scores["document-mrr"].value == 0.5


def test_workers_give_what_one_process_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores, findings and counts are equal for any number of processes."""
    records = [
        retrieved(
            ["a"] * (at % 3), ["a"] if at % 5 else None, "4" if at % 2 else None, "4"
        )
        for at in range(40)
    ]
    monkeypatch.setattr("harpia_formats.evaluation.scoring.answer_stream.BATCH", 8)
    one, two = (
        score(jsonl(*records), metrics=("em", *DOCUMENTS), jobs=jobs) for jobs in (1, 2)
    )

    assert one.total.scores == two.total.scores
    assert one.problems == two.problems


def test_two_retrievers_are_compared() -> None:
    """Records with documents alone are paired by their questions."""
    first, second = (
        jsonl(*({**retrieved(found, ["a"]), "prompt": str(at)} for at in range(8)))
        for found in (["a"], ["b", "a"])
    )

    found = harpia_formats.compare_scores(first, second, metrics=("document-map",))

    assert (found.compared[0].first, found.compared[0].second) == (1.0, 0.5)
    assert found.compared[0].questions == 8


def test_a_missing_part_is_an_error_unless_it_is_skipped() -> None:
    """In Python an answer without a score is an error that says what lacks."""
    with pytest.raises(ScoreError, match="there are no ground-truth documents"):
        harpia_formats.score(jsonl(retrieved(["a"], None)), metrics=("document-map",))


def _mixed_records() -> bytes:
    """Return records that lack answers, references, choices or documents at random."""
    chance = random.Random(3)  # noqa: S311 - a seed, not secrecy
    records = []
    for number in range(40):
        metadata = {
            name: [chance.choice("abc") for _ in range(chance.randrange(4))]
            for name in ("retrieved_documents", "ground_truth_documents")
            if chance.random() < 0.8
        }
        outputs = [
            {"model": "m", "index": index}
            | ({"text": chance.choice("abc")} if chance.random() < 0.9 else {})
            for index in range(chance.randrange(4))
        ]
        records.append(
            {
                "id": number,
                "references": ["a"] if chance.random() < 0.9 else [],
                "metadata": metadata,
                "outputs": outputs,
            }
            | ({"choices": ["a", "b", "c"]} if chance.random() < 0.8 else {})
        )
    return jsonl(*records)


@pytest.mark.parametrize("missing", ["skip", "zero"])
def test_metrics_with_other_needs_change_no_score(missing: str) -> None:
    """Each metric gives what it gives alone, whatever else is computed."""
    data = _mixed_records()
    names = ("em", "mcc", "document-map", "multiple-choice", "pass@k", "length")
    together = score(data, metrics=names, missing=missing)

    for name in names:
        alone = score(data, metrics=(name,), missing=missing)
        assert [
            each
            for each in together.total.scores
            if each.metric == alone.total.scores[0].metric
        ] == list(alone.total.scores)
