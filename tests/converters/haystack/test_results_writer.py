"""Scores as Haystack's evaluators return them, and as a run."""

import json
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import ScoreError, __version__, validate
from json_lines import jsonl
from unchecked import score

ROWS: list[dict[str, Any]] = [
    {
        "id": 2**70,
        "prompt": "Qual é a capital?",
        "references": ["Brasília", "BSB"],
        "contexts": ["Brasília é a capital."],
        "outputs": [{"model": "m", "text": "Brasília"}],
    },
    {
        "id": "问",
        "prompt": "水的沸点?",
        "references": ["100 °C"],
        "outputs": [{"model": "m", "text": "100 °c"}],
    },
    {"references": ["BSB"], "outputs": [{"model": "m", "text": "bsb"}]},
]


def written(
    data: Any, to: str, folder: Path, *, strict: bool = True, **options: Any
) -> dict[str, Any]:
    """Return the document that is written, which must be valid without a remark.

    What lints say of the numbers themselves is not the writer's.
    """
    path = folder / "out.json"
    options = {"replicates": 0, "overwrite": True, **options}
    scores = score(data, to=to, output=path, **options)
    report = validate(path, format=to, strict=strict, lint=True, ignore=("J204",))
    document: dict[str, Any] = json.loads(path.read_bytes())

    assert report.ok
    assert not report.problems
    assert validate(path).files[0].format == to
    assert set(scores.outputs) == {str(path), f"{path}.signatures.txt"}
    return document


def check_run(run: dict[str, Any]) -> None:
    """Assert what EvaluationRunResult checks, each in its words."""
    (length,) = {len(each) for each in run["inputs"].values()}

    assert run["inputs"], "No inputs provided."
    for name, each in run["results"].items():
        assert "score" in each, f"Aggregate score missing for {name}."
        assert "individual_scores" in each, f"Individual scores missing for {name}."
        assert len(each["individual_scores"]) == length
        assert name not in run["inputs"]


def test_metrics_missing_in_haystack_use_the_default_profile(tmp_path: Path) -> None:
    """A metric that Haystack lacks uses the default profile, with a notice."""
    scores = score(
        jsonl(*ROWS),
        to="haystack-results",
        output=tmp_path / "out.json",
        metrics=("em", "f1"),
        from_="record",
    )
    texts = (tmp_path / "out.json.signatures.txt").read_text().splitlines()

    assert scores.profile == "haystack"
    assert scores.notes[0].startswith(
        "the profile haystack has no f1: taken as in the profile default (haystack has"
    )
    assert texts == [f"{each.name}\t{each.signature}" for each in scores.total.scores]
    definition = f"em|impl:harpia-formats-{__version__}|norm:none|refs:first|scale:0-1"
    assert scores["em"].signature == f"{definition}|nrefs:var"


def test_scores_of_one_name_have_the_metric_in_front(tmp_path: Path) -> None:
    """Of several metrics, scores that are called alike are told apart."""
    pytest.importorskip("rapidfuzz", reason="ROUGE needs the extra score")
    several = written(
        jsonl(*ROWS),
        "haystack-results",
        tmp_path,
        metrics=("rouge1", "rouge"),
        from_="record",
    )

    assert {"rouge1.rouge1", "rouge.rouge1", "rougeL"} < set(several)
    for each in several.values():
        found = each["individual_scores"]
        assert each["score"] == pytest.approx(sum(found) / len(found))


def test_run_is_taken_by_haystack(tmp_path: Path) -> None:
    """Haystack's own class takes what is written, and reports it."""
    module = pytest.importorskip(
        "haystack.evaluation", reason="haystack-ai is not installed"
    )
    run = written(
        jsonl(*ROWS), "haystack-run", tmp_path, metrics=("em", "f1"), from_="record"
    )
    result = module.EvaluationRunResult(
        run["run_name"], inputs=run["inputs"], results=run["results"]
    )

    assert result.aggregated_report() == {
        "metrics": ["em", "f1"],
        "score": [1 / 3, 1.0],
    }
    assert result.detailed_report()["em"] == [1, 0, 0]


def test_metric_does_not_overwrite_an_input(tmp_path: Path) -> None:
    """A metric that is called like an input gets another name, as K203 asks."""
    data = json.dumps(
        {"responses": ["4"], "ground_truth_answers": ["4"], "em": ["x"]}
    ).encode()
    metrics = ("em_score=f1", "em")
    run = written(data, "haystack-run", tmp_path, metrics=metrics)

    assert run["inputs"]["em"] == ["x"]
    assert list(run["results"]) == ["em_score", "em_score_score"]


@pytest.mark.parametrize("name", ["individual_scores", "results", "tasks"])
def test_names_of_other_keys_are_refused(name: str, tmp_path: Path) -> None:
    """Results of several metrics are not read by a key that is another document's."""
    metrics = (f"{name}=em", "f1")
    with pytest.raises(ScoreError, match=f"no evaluator can be called {name}"):
        written(jsonl(*ROWS), "haystack-results", tmp_path, metrics=metrics)
    assert not list(tmp_path.iterdir())


def test_name_of_a_run(tmp_path: Path) -> None:
    """A run is called as the user says, else as its only model, else as its input."""
    path = tmp_path / "respostas.v2.jsonl"
    two = ROWS[0] | {"outputs": [{"text": "x"}, {"text": None}]}
    path.write_bytes(jsonl(two))
    name = {"run_name": 'execução "1"'}

    given = written(jsonl(*ROWS), "haystack-run", tmp_path, from_="record", names=name)
    of_file = written(path, "haystack-run", tmp_path, from_="record", strict=False)
    assert given["run_name"] == 'execução "1"'
    assert of_file["run_name"] == "respostas"
    assert len(of_file["inputs"]["query_id"]) == 2


@pytest.mark.parametrize("to", ["haystack-results", "haystack-run"])
def test_missing_score_is_null(to: str, tmp_path: Path) -> None:
    """An answer or a metric without a score is null in its place."""
    rows = [
        {"id": 1, "references": ["4"], "outputs": [{"text": None}]},
        {"id": 2, "references": ["4"], "outputs": []},
        {"id": 3, "references": [], "outputs": [{"text": "4"}]},
    ]
    options: dict[str, Any] = {"strict": False, "from_": "record"}
    none = written(jsonl(*rows), to, tmp_path, **options)
    some = written(jsonl(*rows, ROWS[0]), to, tmp_path, **options)
    if to == "haystack-run":
        check_run(none)
        check_run(some)
        none, some = none["results"]["em"], some["results"]["em"]

    assert none == {"individual_scores": [None] * 3, "score": None}
    assert some == {"individual_scores": [None] * 3 + [1], "score": 1.0}


def test_answer_to_a_chat_without_a_question_is_an_input(tmp_path: Path) -> None:
    """A chat in which nobody asks is no question; the rest of its record stays."""
    row = ROWS[0] | {"messages": [{"role": "assistant", "content": "Olá."}]}
    del row["prompt"]
    run = written(jsonl(row, ROWS[1]), "haystack-run", tmp_path, from_="record")

    assert run["inputs"]["questions"] == [None, "水的沸点?"]
    assert run["inputs"]["query_id"] == [2**70, "问"]
    assert run["inputs"]["predicted_answers"] == ["Brasília", "100 °c"]


def test_no_input_at_all_is_an_error(tmp_path: Path) -> None:
    """A run without any input, which Haystack refuses, is not written."""
    with pytest.raises(ScoreError, match="could be an input"):
        written(jsonl({"outputs": []}), "haystack-run", tmp_path, from_="record")
    assert not list(tmp_path.iterdir())


def test_constants_go_where_there_is_a_place(tmp_path: Path) -> None:
    """A run has what was given for inputs, and results refuse what they cannot hold."""
    given = {"questions": "?"}
    run = written(
        jsonl(*ROWS), "haystack-run", tmp_path, from_="record", constants=given
    )

    assert run["inputs"]["questions"][2] == "?"
    with pytest.raises(ScoreError, match="leave out `--set`"):
        written(
            jsonl(*ROWS), "haystack-results", tmp_path, from_="record", constants=given
        )
    with pytest.raises(ScoreError, match="did you mean questions"):
        written(
            jsonl(*ROWS),
            "haystack-run",
            tmp_path,
            from_="record",
            constants={"question": "?"},
        )


def test_standard_output_has_no_signatures_beside_it(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """Results alone go to standard output."""
    score(jsonl(*ROWS), to="haystack-results", from_="record")
    document = json.loads(capfdbinary.readouterr().out)

    assert document == {"individual_scores": [1, 0, 0], "score": 1 / 3}
