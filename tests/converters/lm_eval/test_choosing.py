"""What of samples is written: one filter's scores, and the option that was chosen."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import ConversionError, ValidationFailed, convert
from json_lines import jsonl, jsonl_rows

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures" / "lm-eval-samples" / "valid"
DERIVED = "derived: the choice of the highest likelihood"
EEE = {"evaluation_id": "run", "evaluation_name": "sums", "model_id": "m"}


def sample(doc: int, filter_: str, kept: str) -> dict[str, Any]:
    """Return the row of a filter; the answer is right if the filter kept the id."""
    return {
        "doc_id": doc,
        "doc": {"question": f"{doc}?"},
        "target": str(doc),
        "arguments": {"gen_args_0": {"arg_0": f"{doc}?", "arg_1": {}}},
        "resps": [[f"It is {doc}."]],
        "filtered_resps": [kept],
        "filter": filter_,
        "metrics": ["exact_match"],
        "exact_match": float(kept == str(doc)),
    }


def choice(**members: Any) -> dict[str, Any]:
    """Return the row of a multiple choice, whose second option is the likeliest."""
    options = {
        f"gen_args_{number}": {"arg_0": "Capital?", "arg_1": f" {option}"}
        for number, option in enumerate(("Paris is it", "Lima", "Oslo"))
    }
    likelihoods = [["-5.0", "False"], ["-2.0", "True"], ["-3.0", "False"]]
    return {
        "doc_id": 0,
        "doc": {},
        "target": "1",
        "arguments": options,
        "resps": [[pair] for pair in likelihoods],
        "filtered_resps": likelihoods,
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
        **members,
    }


def written(
    rows: list[dict[str, Any]], to: str, tmp_path: Path, **options: Any
) -> tuple[list[Any], Any]:
    """Return the rows that samples become, and the report."""
    path = tmp_path / "samples_task_2026.jsonl"
    path.write_bytes(jsonl(*rows))
    output = tmp_path / "out.jsonl"
    options = {"container": None if to.startswith("eee") else "lines", **options}
    report = convert(path, to=to, output=output, overwrite=True, **options)
    text = output.read_text() if output.exists() else ""
    return jsonl_rows(text), report


def hows(report: Any) -> set[str]:
    """Return how fields of a conversion are lost or changed."""
    return {outcome.how for file in report.losses for outcome in file.losses.counts}


@pytest.fixture
def filters() -> list[dict[str, Any]]:
    """Return two documents as two filters kept them."""
    return [
        *(sample(doc, "strict", "[invalid]") for doc in (1, 2)),
        *(sample(doc, "flexible", str(doc)) for doc in (1, 2)),
    ]


def extractions(rows: list[Any]) -> list[tuple[str, float]]:
    """Return the extraction of each row, of which there is one, with its score."""
    found = []
    for row in rows:
        (step,) = row["answer_attribution"]
        found.append((step["extraction_method"], row["evaluation"]["score"]))
    return found


def test_first_filter_is_the_default(filters: Any, tmp_path: Path) -> None:
    """Where a row holds one score it is that of the first filter; a note says so."""
    rows, report = written(filters, "eee@0.2.0", tmp_path, constants=EEE)
    (note,) = [note for note in report.notes if "filter=NAME" in note]

    assert extractions(rows) == [("strict", 0.0)] * 2
    _, redacted = written(filters, "eee@0.2.0", tmp_path, constants=EEE, redact=True)
    end = 'are written; filter=NAME or filter="all" chooses others'
    assert note.endswith(f" those of the first (strict) {end}")
    assert any(each.endswith(f" those of the first {end}") for each in redacted.notes)
    how = "all but those of the filter strict"
    (losses,) = report.losses
    assert {one.path for one in losses.losses.counts if one.how == how} == {
        "outputs.scores",
        "outputs.attribution",
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("flexible", [("flexible", 1.0)] * 2),
        ("all", [("strict", 0.0), ("flexible", 1.0)] * 2),
    ],
)
def test_filter_is_chosen(
    name: str, expected: Any, filters: Any, tmp_path: Path
) -> None:
    """A filter, or all of them, is chosen: each score stands with its extraction."""
    rows, report = written(filters, "eee@0.2.0", tmp_path, constants=EEE, filter=name)

    assert extractions(rows) == expected
    assert not [note for note in report.notes if "filter=NAME" in note]


def test_chosen_filter_is_the_only_one(filters: Any, tmp_path: Path) -> None:
    """A filter that is named is chosen where there is room for all of them, too."""
    (row, _), _ = written(filters, "record", tmp_path, filter="flexible")
    (all_, _), _ = written(filters, "record", tmp_path)

    assert len(row["outputs"][0]["scores"]) == 1
    assert len(all_["outputs"][0]["scores"]) == len(all_["outputs"][0]["attribution"])
    assert len(all_["outputs"][0]["scores"]) == 2


def test_unknown_filter_is_refused(filters: Any, tmp_path: Path) -> None:
    """A filter that no score has is an error that names those that there are."""
    with pytest.raises(ValidationFailed, match="those are of strict, flexible"):
        written(filters, "eee@0.2.0", tmp_path, constants=EEE, filter="x")

    assert not (tmp_path / "out.jsonl").exists()


def test_filter_needs_a_place_for_scores(filters: Any, tmp_path: Path) -> None:
    """An option that chooses nothing is refused."""
    with pytest.raises(ConversionError, match="no place for a score"):
        written(filters, "nemo-output", tmp_path, filter="strict")


@for_each_case(
    "to, count",
    itertools.product(["nemo-output", "harpia", "tencent-outputs"], [1, 300]),
)
def test_chosen_option_is_the_answer(to: str, count: int, tmp_path: Path) -> None:
    """The option of the highest likelihood is written, and declared as derived."""
    rows = [{**choice(), "doc_id": number} for number in range(count)]
    path, output = tmp_path / "samples_task_2026.jsonl", tmp_path / "out.json"
    path.write_bytes(jsonl(*rows))
    constants = {} if to == "harpia" else {"model": "m"}
    report = convert(path, to=to, output=output, constants=constants)

    assert output.read_text().count('"Lima"') == 2 * count  # with the reference
    assert DERIVED in hows(report)


@pytest.mark.parametrize(
    ("members", "answer", "how"),
    [
        ({}, "Lima", DERIVED),
        (
            {"metrics": ["acc_norm"], "acc_norm": 0.0, "acc": 3},
            "Paris is it",
            f"{DERIVED} per character (acc_norm)",
        ),
        (
            {"metrics": ["acc", "acc_norm"], "acc_norm": 0.0},
            "Lima",
            f"{DERIVED} (acc), where acc_norm chooses another",
        ),
    ],
)
def test_which_option_was_chosen(
    members: Any, answer: str, how: str, tmp_path: Path
) -> None:
    """It is that of acc, or of acc_norm where a task has only that."""
    row = choice(**members)
    if "acc" not in row["metrics"]:
        del row["acc"]
    (found,), report = written([row], "nemo-output", tmp_path, constants={"model": "m"})

    assert found["response"] == answer
    assert how in hows(report)


@pytest.mark.parametrize("start", ["", " "])
def test_doubled_requests_are_no_options(start: str, tmp_path: Path) -> None:
    """What acc_mutual_info adds is no option, with the delimiter or without."""
    texts = [" Lima", "  Cusco", f"{start}Lima", f"{start} Cusco"]
    row = choice(
        target="0",
        arguments={
            f"gen_args_{at}": {"arg_0": "" if at > 1 else "Capital?", "arg_1": text}
            for at, text in enumerate(texts)
        },
        resps=[[[likelihood, "False"]] for likelihood in ("-2", "-1", "-0.5", "-5")],
        acc=0.0,
    )
    (found,), _ = written([row], "nemo-output", tmp_path)

    assert found["input"]["ideal_response"] == "Lima"
    assert found["response"] == " Cusco"


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"acc": 0.0}, "acc is 0, but"),
        ({"resps": [[["NaN", "False"]]] * 3}, "a likelihood is no number"),
        (
            {"resps": [[["-1", "False"]]] * 2 + [[["nan", "False"]]]},
            "a likelihood is no number",
        ),
        ({"resps": [[[-(10**309), "False"]]] * 3}, "not one likelihood for each"),
        (
            {
                "arguments": {
                    "gen_args_0": {"arg_0": "Capital?", "arg_1": " "},
                    "gen_args_1": {"arg_0": "Capital?", "arg_1": " Lima"},
                },
                "resps": [[["0.0", "False"]], [["-2.0", "False"]]],
                "metrics": ["acc_norm"],
                "acc_norm": 1.0,
            },
            "a likelihood per character is no number",
        ),
        ({"resps": [[["-1", "False"]]] * 2}, "not one likelihood for each choice"),
    ],
)
def test_unknown_option_is_refused(members: Any, reason: str, tmp_path: Path) -> None:
    """No answer is made up where the likelihoods and the score do not tell it."""
    with pytest.raises(ValidationFailed, match=reason):
        written([choice(**members)], "nemo-output", tmp_path, constants={"model": "m"})

    assert not (tmp_path / "out.jsonl").exists()


def test_likelihood_of_a_text_is_no_answer(tmp_path: Path) -> None:
    """A task that only computes how likely a text is has no answer to write."""
    output = tmp_path / "out.json"
    with pytest.raises(ValidationFailed, match="no choices"):
        convert(
            FIXTURES / "likelihoods.jsonl",
            to="nemo-output",
            output=output,
            constants={"model": "m"},
        )

    assert not output.exists()


@pytest.mark.parametrize(
    ("prompt", "is_named"),
    [
        ("Capital?", False),
        ("Capital? A) Paris is it B) Lima C) Oslo", True),
        ("Paris is it, Lima or Oslo?", True),
        # They stand in another order, or in other words.
        ("Lima, Paris is it or Oslo?", False),
        ("Paris is it, Lima or Oslos?", False),
        ("Paris is it, Limas, Lima or Oslo?", True),
    ],
)
def test_dropped_options_are_named(prompt: str, is_named: bool, tmp_path: Path) -> None:
    """Options that the prompt does not name are a loss that ends the question."""
    row = choice()
    for request in row["arguments"].values():
        request["arg_0"] = prompt
    rows, report = written([row], "nemo-input", tmp_path)

    assert rows
    is_lost = "the question cannot be answered without them" in hows(report)
    assert is_lost is not is_named


@pytest.mark.parametrize("count", [1, 300])
def test_formatted_prompt_has_the_options(count: int, tmp_path: Path) -> None:
    """The prompt that the model got is written, if that is chosen and there is one."""
    formatted = "Capital of Peru?\n\nA) Lima\nB) Oslo"
    record = {
        "prompt": "Capital of Peru?",
        "choices": ["Lima", "Oslo"],
        "references": ["A"],
        "outputs": [{"model": "m", "text": "A", "formatted_prompt": formatted}],
    }
    bare = {**record, "outputs": [{"model": "m", "text": "A"}]}
    path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text((json.dumps(record) + "\n" + json.dumps(bare) + "\n") * count)
    found = {}
    for prompt in ("question", "formatted"):
        report = convert(
            path,
            to="nemo-output",
            output=output,
            prompt=prompt,
            container="lines",
            from_="record",
            overwrite=True,
        )
        rows = jsonl_rows(output)
        losses = {
            (outcome.path, outcome.how): number.count
            for file in report.losses
            for outcome, number in file.losses.counts.items()
        }
        lost = losses.get(("choices", "the question cannot be answered without them"))
        found[prompt] = [row["input"]["prompt"] for row in rows[:2]], lost

    assert found == {
        "question": (["Capital of Peru?"] * 2, 2 * count),
        "formatted": ([formatted, "Capital of Peru?"], count),
    }
