"""The map that is proposed for rows of keys that no format knows."""

import io
import json
from pathlib import Path

import pytest

from harpia_formats import ValidationFailed, convert, detect, read, score, validate
from in_process import InProcess
from json_lines import jsonl

FIXTURES = Path(__file__).parents[3] / "fixtures" / "json" / "valid"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"question": "q", "answer": "a"}, "prompt=question,references=answer"),
        (
            {"prompt": "p", "gold": ["g"], "answer": "a", "topic": "t"},
            "prompt=prompt,references=gold,response=answer,category=topic",
        ),
        ({"Question": "q", "ID": 3}, "prompt=Question,id=ID"),
        ({"question": "q", "Question": "Q"}, "prompt=question"),
        (
            {"question": "q", "model output": "a", "gold,1": "g"},
            "'prompt=question,response=model output'",
        ),
        ({"question": {"text": "q"}, "gold": "g"}, ""),
        ({"question": "q", "answer": 42, "id": 1.5}, "prompt=question"),
        ({"question": ["q"], "input": "i", "answer": [1]}, "prompt=input"),
        (
            {"question": "q", "choices": ["a", "b"], "answer": 1},
            "'prompt=question,references=choices[answer],choices=choices'",
        ),
        ({"question": "q", "choices": ["a"], "answer": 1}, "prompt=question"),
        (  # as ARC has them
            {
                "question": "q",
                "choices": {"text": ["a", "b"], "label": ["A", "B"]},
                "answerKey": "B",
            },
            "'prompt=question,references=choices.text[answerKey],choices=choices.text'",
        ),
        (  # as HellaSwag has them
            {"ctx": "q", "endings": ["a", "b"], "label": "1"},
            "'prompt=ctx,references=endings[label],choices=endings'",
        ),
        (  # a text of one of the options is no index
            {"question": "q", "choices": ["0", "1", "2"], "answer": "1"},
            "prompt=question,references=answer",
        ),
        ({"gold": "g"}, ""),
        ({}, ""),
    ],
)
def test_keys_are_proposed_by_name(
    row: dict[str, object], expected: str, run: InProcess, tmp_path: Path
) -> None:
    """A key is proposed for one field, and nothing without a prompt."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(jsonl(row))
    printed = run("validate", path, "--output-format", "json").out
    (problem,) = json.loads(printed)["problems"]
    _, _, proposed = problem["help"].partition("such as `--map ")

    assert problem["code"] == "S301"
    assert proposed.partition("`")[0] == expected


def test_proposed_map_reads_the_file_that_it_was_proposed_for() -> None:
    """The finding on a file of own keys names a map with which it is read."""
    path = FIXTURES / "quiz.jsonl"
    (problem,) = validate(path).problems
    proposed = problem.help.partition("columns=")[2].partition(";")[0]
    columns = json.loads(proposed)

    records = list(read(path, columns=columns))

    assert "name a format with format," in problem.help
    (detected,) = detect(path)
    assert f"such as columns={proposed}" in detected.nearest
    assert [each.prompt for each in records] == [
        "Which river flows through Manaus?",
        "How many legs has a beetle?",
        "2 + 2 = ?",
    ]
    assert [each.references for each in records] == [
        ["Rio Negro", "the Rio Negro"],
        ["six", "6"],
        ["4"],
    ]
    assert [each.outputs[0].text if each.outputs else None for each in records[:2]] == [
        "Rio Negro",
        "It has 6 legs.",
    ]


def test_proposed_map_takes_the_option_of_an_index() -> None:
    """The number of the right option is its index, and its text the reference."""
    row = {"question": "q", "options": ["a", "b"], "label": 1}
    (problem,) = validate(jsonl(row)).problems
    columns = json.loads(problem.help.partition("columns=")[2].partition(";")[0])
    (record,) = read(jsonl(row), columns=columns)

    assert (record.references, record.choices) == (["b"], ["a", "b"])


def test_no_index_is_proposed_that_counts_from_1(
    run: InProcess, tmp_path: Path
) -> None:
    """One row with the index of the number of options tells it."""
    path = tmp_path / "rows.jsonl"
    rows = [{"question": "q", "choices": ["a", "b"], "answer": 1}] * 2
    path.write_bytes(jsonl(*rows))
    unclear = run("validate", path).out
    path.write_bytes(jsonl(*rows, {**rows[0], "answer": 2}))
    from_one = run("validate", path).out

    assert "choices[answer],choices=choices'`; an index counts from 0;" in unclear
    assert "`--map prompt=question`" in from_one


def test_columns_of_a_table_are_proposed(tmp_path: Path) -> None:
    """Where no column of a table is a field, convert and score propose a map."""
    table = tmp_path / "t.csv"
    table.write_text("question,gold,model output\nq,g,a\n")
    with pytest.raises(ValidationFailed) as failed:
        convert(table, to="nemo-input", output=tmp_path / "x.jsonl")
    other = b'{"prompt": "q", "references": ["g"], "outputs": [{"text": "g"}]}\n'
    with pytest.raises(ValidationFailed) as unscored:
        score(table, other, metrics=["em"], missing="skip")

    columns = '{"prompt": "question", "references": "gold", "response": "model output"}'
    for refused in (failed, unscored):
        (problem,) = refused.value.report.problems
        assert f"such as columns={columns};" in problem.help
        assert "name a format with from_," in problem.help


def test_column_of_indices_is_proposed_with_that_of_the_options() -> None:
    """The advice for a typed table, whose options are known, is a map that works."""
    pyarrow = pytest.importorskip("pyarrow", reason="tables need the extra arrow")
    columns = {"question": ["q"], "choices": [["a", "b"]], "answer": [1]}
    table = pyarrow.table(columns)
    with pytest.raises(ValidationFailed) as failed:
        convert(table, to="nemo-input", output=io.BytesIO())
    (problem,) = failed.value.report.problems
    proposed = json.loads(problem.help.partition("columns=")[2].partition(";")[0])
    (record,) = read(table, columns=proposed)

    assert (record.prompt, record.references) == ("q", ["b"])


def test_a_column_is_proposed_where_only_references_are_missing(
    run: InProcess, tmp_path: Path
) -> None:
    """The advice on answers without a reference names the column that may have it."""
    table = tmp_path / "t.csv"
    table.write_text("prompt,reference,response,model\nq,a,a,m\n")
    asked = run("score", table, "-m", "em")
    answered = run("score", table, "-m", "em", "--map", "references=reference")
    table.write_text("prompt,note,response,model\nq,a,a,m\n")
    silent = run("score", table, "-m", "em")

    assert "read it with `--map references=reference`" in asked.err
    assert (asked.code, answered.code, answered.err) == (1, 0, "")
    assert "M102" in silent.err
    assert "--map" not in silent.err


@pytest.mark.parametrize(
    ("keys", "listed"),
    [
        (["frage", "antwort"], '"frage", "antwort"'),
        ([*"abcdefghij"], ", ".join(f'"{key}"' for key in "abcdefghij")),
        ([*"abcdefghijkl"], ", ".join(f'"{key}"' for key in "abcdefghij") + ", ..."),
    ],
)
def test_keys_that_mean_nothing_are_listed(keys: list[str], listed: str) -> None:
    """Without a proposal the keys of the file are listed, ten of them at most."""
    (problem,) = validate(jsonl(dict.fromkeys(keys, "x"))).problems

    expected = f'columns={{"prompt": KEY}}, where KEY is one of {listed};'
    assert expected in problem.help
