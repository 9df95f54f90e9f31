"""Answers of several models are several systems, which are never added up."""

import csv
import io
import itertools
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from command_runs import run
from harpia_formats import ScoreError
from json_lines import jsonl
from known_formats import FORMATS

Outputs = list[dict[str, Any]]
RIGHT: Outputs = [{"model": "org/right", "text": "yes"}]
WRONG: Outputs = [{"model": "org/wrong", "text": "no"}]


def lines(*outputs: Outputs, references: int = 1) -> bytes:
    """Return a record for each list of outputs, one a line."""
    rows = (
        {
            "id": number,
            "prompt": f"question {number}",
            "references": ["yes", "maybe"][:references],
            "category": "abc"[number % 3],
            "outputs": found,
        }
        for number, found in enumerate(outputs)
    )
    return jsonl(*rows)


#: The formats of results that hold one model.
OF_ONE_MODEL = {"harpia-output", "harpia-log", "haystack-results", "haystack-run"}
#: The metrics of an answer and its references.
COMPARING = [
    name
    for name in harpia_formats.metric_names()
    if not name.startswith("document-")
    and name not in {"multiple-choice", "inspect-choice", "length", "lm-eval-acc"}
    and name not in {"sas", "bertscore"}  # of a plug-in
]
MODELS = ("org/right", "org/wrong")
BOTH = lines(*[RIGHT + WRONG] * 9)


def test_models_are_scored_apart() -> None:
    """Each model has its own scores, and there is no common one."""
    scores = harpia_formats.score(BOTH, metrics=("em",), replicates=0)

    assert [system.key for system in scores.systems] == [
        {"model": "org/right"},
        {"model": "org/wrong"},
    ]
    assert [system["em"].value for system in scores.systems] == [1.0, 0.0]
    assert "scored apart: org/right, org/wrong" in scores.notes[0]
    for common in (lambda: scores["em"], lambda: scores.total):
        with pytest.raises(
            ScoreError, match=r"several models \(org/right, org/wrong\)"
        ):
            common()
    for found in (scores, scores.systems[0]):
        with pytest.raises(KeyError, match=r"is called 'nope' \(scored: em\)"):
            found["nope"]
    assert scores.headline() == "em of 2 models over 18 answers"


def test_scores_can_be_asked_for_a_name_and_counted_through() -> None:
    """`in` says whether a name has a score, and a system yields its scores."""
    metrics = ("length", "em")
    scores = harpia_formats.score(BOTH, metrics=metrics, replicates=0)
    system = scores.systems[0]
    known, unknown = ("em", "words", "length.tokens"), ("f1", "em.f1", 0, None)

    assert all(name in found for name in known for found in (scores, system))
    assert not any(name in found for name in unknown for found in (scores, system))
    assert tuple(system) == system.scores
    assert list(scores) == [score for each in scores.systems for score in each]
    assert all(score in scores for score in system)


def test_table_has_the_models(tmp_path: Any) -> None:
    """The table has a line for each model, none for both, and says so."""
    path = tmp_path / "both.jsonl"
    path.write_bytes(BOTH)

    done = run("score", path, "-m", "em", "--by", "category", "--replicates", "0")
    rows = [line.split()[:2] for line in done.stdout.decode().splitlines()[2:10]]

    assert done.returncode == 0, done.stderr
    assert rows == [
        [model, group]
        for model in ("org/right", "org/wrong")
        for group in ("a", "b", "c", "(all)")
    ]
    assert b"2 models, which are scored apart" in done.stderr


def test_groups_and_models_have_the_scores_of_their_answers() -> None:
    """What a model or a group has among others, it has alone."""
    options: dict[str, Any] = {"metrics": ("em", "f1"), "by": ("category",)}
    alone = [harpia_formats.score(BOTH, model=name, **options) for name in MODELS]

    both = harpia_formats.score(BOTH, **options)

    assert [one.scores for one in both.systems] == [one.total.scores for one in alone]
    assert {tuple(group.key.values()): group.scores for group in both.groups} == {
        (name, group.key["category"]): group.scores
        for name, one in zip(MODELS, alone, strict=True)
        for group in one.groups
    }


@for_each_case("to", [each.id for each in FORMATS.values() if each.results])
def test_results_of_several_models(to: str, tmp_path: Any) -> None:
    """Results tell the models apart, or are refused; nothing is written then."""
    output = tmp_path / "out_samples.jsonl"
    constants = {"evaluation_id": "e", "evaluation_name": "n"} if "eee" in to else {}
    options: dict[str, Any] = {"metrics": ("em",), "to": to, "constants": constants}
    fails = to.startswith("eee") or to in OF_ONE_MODEL

    if fails:
        with pytest.raises(ScoreError, match=r"with model|model=NAME selects"):
            harpia_formats.score(BOTH, output=output, **options)
        assert not list(tmp_path.iterdir())
        return
    harpia_formats.score(BOTH, output=output, **options)
    assert all(model.encode() in output.read_bytes() for model in MODELS)


def test_answers_without_a_model_are_of_the_only_one() -> None:
    """Next to one model, answers without a model are its own, with a note."""
    unnamed: Outputs = [{"text": "no"}]
    missing: Outputs = []
    data = lines(missing, RIGHT, unnamed, RIGHT)
    model = {"model": "org/right"}
    named = lines([model], RIGHT, [model | {"text": "no"}], RIGHT)
    options: dict[str, Any] = {
        "metrics": ("em", "f1", "bleu"),
        "missing": "skip",
        "by": ("category",),
    }

    scores = harpia_formats.score(data, **options)
    alone = harpia_formats.score(named, **options)

    assert (scores["em"].count, scores["em"].unscored) == (3, 1)
    assert scores.models == ("org/right",)
    assert [one.scores for one in scores.systems] == [
        one.scores for one in alone.systems
    ]
    by_key = {str(group.key): group.scores for group in alone.groups}
    assert {str(group.key): group.scores for group in scores.groups} == by_key
    assert "answers without a model: 1, scored as those of org/right" in (scores.notes)


def test_a_record_with_answers_with_and_without_a_model_counts_once() -> None:
    """Where both are of one system, their records are not counted for each of them."""
    data = lines(*[[*RIGHT, {"text": "no"}]] * 3, RIGHT, [{"text": "no"}])
    scores = harpia_formats.score(data, metrics=("em",), by=("category",))

    assert (scores.total.records, scores.total.answers) == (5, 8)
    assert [(one.records, one.answers) for one in scores.groups] == [
        (2, 3),
        (2, 3),
        (1, 2),
    ]


def test_answers_without_a_model_next_to_several_are_apart() -> None:
    """Next to several models, answers without a model are a system of their own."""
    data = lines(RIGHT + WRONG, [{"text": "yes"}])
    options: dict[str, Any] = {"metrics": ("em",)}

    scores = harpia_formats.score(data, **options)

    assert [system.key["model"] for system in scores.systems] == [*MODELS, "(none)"]
    first = harpia_formats.score(lines([{"text": "yes"}], RIGHT + WRONG), **options)
    assert [system.key["model"] for system in first.systems] == ["(none)", *MODELS]


def test_a_model_may_be_called_as_those_without_one() -> None:
    """Its answers are neither those of another model nor those that name none."""
    none: Outputs = [{"model": "(none)", "text": "no"}]
    two = harpia_formats.score(lines(RIGHT + none), metrics=("em",))
    assert [one.key["model"] for one in two.systems] == ["org/right", "(none)"]
    assert [one["em"].value for one in two.systems] == [1.0, 0.0]

    nameless: Outputs = [{"text": "yes"}]
    three = harpia_formats.score(lines(RIGHT + none, nameless), metrics=("em",))
    names = ["org/right", "(none)", "(none) (without a model)"]
    assert [one.key["model"] for one in three.systems] == names
    assert [one["em"].value for one in three.systems] == [1.0, 0.0, 1.0]


def test_answers_without_a_field_are_not_those_whose_value_says_so() -> None:
    """A category that is the text `(none)` is another group than no category."""
    row = {"references": ["a"], "outputs": [{"text": "a"}]}
    data = jsonl({**row, "category": "(none)"}, row)
    found = harpia_formats.score(data, metrics=("em",), by=("category",))

    assert [group.key["category"] for group in found.groups] == ['"(none)"', "(none)"]


def test_redaction_hides_models_and_keeps_what_stands_for_none() -> None:
    """A model called `(none)` has a number, and answers without a model have none."""
    data = lines([{"model": "(none)", "text": "no"}, {"text": "Paris"}, *RIGHT])
    found = harpia_formats.score(data, metrics=("em",), redact=True)

    keys = [one.key["model"] for one in found.systems]
    assert keys == ["model 1", "(none)", "model 2"]
    assert list(found.models) == ["model 1", "model 2"]
    assert [one.request.label for one in found.measured] == ["em"]
    assert found.systems[0]["em"].signature.startswith("em|")
    of_answers = harpia_formats.score_answers(
        data, metrics=("em",), by=("model",), redact=True
    )
    assert [row.key["model"] for row in of_answers][:3] == keys
    only = lines([*RIGHT, {"text": "Paris"}])
    hidden = harpia_formats.score(only, metrics=("em",), redact=True)
    assert [*hidden.files.values()] == ["model 1"]
    counts = [
        {"model": model, "text": "a", "token_usage": {"total": 1}}
        for model in ("(none)", "org/right")
    ]
    tokens = harpia_formats.stats(
        lines([*counts, {"text": "a", "token_usage": {"total": 1}}]), redact=True
    ).tokens
    assert {one["model"] for one in tokens["models"]} == {"", "model 1", "model 2"}


def test_a_file_with_a_name_must_be_there(tmp_path: Any) -> None:
    """As one without a name must be."""
    for name in ("", "A="):
        done = run("score", f"{name}{tmp_path / 'no.jsonl'}", "-m", "em")
        assert done.returncode == 2
        assert b"no.jsonl: does not exist" in done.stderr


def test_missing_answers_of_no_model() -> None:
    """Next to several models, missing answers of none count for none, with a note."""
    data = lines([], RIGHT + WRONG)

    scores = harpia_formats.score(data, metrics=("em",), missing="skip")

    assert [system["em"].count for system in scores.systems] == [1, 1]
    assert "missing answers without a model: 1, left out" in scores.notes
    with pytest.raises(ScoreError, match="choose one with model"):
        harpia_formats.score(data, metrics=("em",), missing="zero")


# Signatures


@for_each_case(
    "name, references, number",
    [(one, *two) for one, two in itertools.product(COMPARING, [(1, "1"), (2, "2")])],
)
def test_signature_has_the_number_of_references(
    name: str, references: int, number: str
) -> None:
    """The signature of each metric ends with the number of references of a record."""
    data = lines(RIGHT, WRONG, references=references).replace(
        b"org/wrong", b"org/right"
    )
    data = data.replace(b'"yes', b'"1 yes').replace(b'"no', b'"2 no')
    if name == "f1-binary":
        data = data.replace(b'"1 yes"', b'"1"')

    scores = harpia_formats.score(
        data.replace(b'"maybe"', b'"1 maybe"'), metrics=(name,), replicates=0
    )

    for score in scores.total.scores:
        assert score.signature.endswith(f"|scale:{score.scale}|nrefs:{number}")


def test_other_numbers_of_references_are_another_signature() -> None:
    """Records with other numbers of references have the number `var`."""
    data = lines(RIGHT) + lines(RIGHT, references=2).replace(b'"id": 0', b'"id": 1')

    assert harpia_formats.score(data, metrics=("em",))["em"].signature.endswith(
        "|nrefs:var"
    )


@for_each_case("name", ["bleu", "chrf", "ter", "wer", "cer", "relative-length"])
def test_column_of_single_answers_has_its_own_name(name: str, tmp_path: Any) -> None:
    """In a table, the score of a row is not called like the score of the corpus."""
    output = tmp_path / "out.csv"
    found = harpia_formats.score(BOTH, metrics=(name, "em"), to="csv", output=output)
    assert [one.is_mean for one in found.systems[0].scores] == [False, True]
    header, *_ = csv.reader(io.StringIO(output.read_text()))
    signatures = (tmp_path / "out.csv.signatures.txt").read_text().splitlines()

    assert header == ["id", "model", "category", f"{name}.row", "em"]
    assert signatures[0].startswith(f"{name}.row\t{name}|")
    assert signatures[0].endswith("|of:row")


def test_comparison_has_the_number_of_references() -> None:
    """The signature of a comparison has the references that both sides have."""
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    one, two = (lines(*[RIGHT] * 9, references=number) for number in (1, 2))

    (score,) = harpia_formats.compare_scores(one, one, metrics=("em",)).compared
    (pair,) = harpia_formats.compare_scores(two, two, metrics=("em",)).compared

    assert score.signature.endswith("|refs:max|scale:0-1|nrefs:1")
    assert pair.signature.endswith("|refs:max|scale:0-1|nrefs:2")


@pytest.mark.parametrize("missing", [None, "skip", "zero"])
def test_unknown_model_is_the_only_error(missing: str | None, tmp_path: Any) -> None:
    """It names the models there are, and no answer is reported as missing."""
    data = b"".join(
        b'{"id": "%d", "prompt": "p", "references": ["a"], '
        b'"outputs": [{"model": "m", "text": "a"}]}\n' % number
        for number in range(600)
    )
    path = tmp_path / "answers.jsonl"
    path.write_bytes(data)
    options = [] if missing is None else ["--missing", missing]

    done = run("score", path, "-m", "em", "--model", "nope", *options)

    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert b"'nope' (there are: 'm')" in line


def test_headline_counts_scored_answers() -> None:
    """It says how many of all answers are scored, unless all are."""
    missing: Outputs = [{"model": "org/right", "text": None}]
    data = lines(*[RIGHT] * 2, *[missing] * 10)

    some = harpia_formats.score(data, metrics=("em",), missing="skip")
    every = harpia_formats.score(data, metrics=("em",), missing="zero")

    assert some.headline().endswith(" over 2 of 12 answers")
    assert every.headline().endswith(" over 12 answers")
