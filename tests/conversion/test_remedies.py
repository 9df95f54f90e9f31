"""Which options are named for what a conversion lacks or drops."""

import io
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import Problem, SinkError, ValidationFailed, convert, to_table
from json_lines import jsonl

CHAT = {
    "messages": [
        {"role": "user", "content": "2+2?"},
        {"role": "assistant", "content": "4"},
    ]
}


def refused(data: Any, **options: Any) -> Problem:
    """Return why rows are not converted, which must have one reason."""
    with pytest.raises(ValidationFailed) as failed:
        convert(data, output=io.BytesIO(), **options)
    (problem,) = failed.value.report.problems
    return problem


def refused_by_eee(row: object, **options: Any) -> Problem:
    """Return why a row is not converted to EvalEval, given what all its rows need."""
    constants = {"evaluation_id": "e", "model_id": "m", "evaluation_name": "n"}
    return refused(jsonl(row), to="eee@0.3.0", constants=constants, **options)


def test_a_chat_with_an_answer_may_take_it_as_reference() -> None:
    """A record without a reference is reported with the one that its chat ends with."""
    problem = refused(jsonl(CHAT), to="nemo-input")

    assert 'reference_from="gt"' in (problem.help or "")


@pytest.mark.parametrize(
    ("to", "remedy"),
    [
        ("nemo-output", 'or leave such records out with on_invalid="skip"'),
        ("eee", 'or compute the score with score="em" or score="f1"'),
    ],
)
def test_rows_without_an_answer_or_a_score_have_a_remedy(to: str, remedy: str) -> None:
    """Without an answer a row may be left out, and a score may be computed."""
    rows = jsonl({"frage": "q", "gold": "r", "antwort": None})
    columns = {"prompt": "frage", "references": "gold", "response": "antwort"}

    assert remedy in (refused(rows, to=to, columns=columns).help or "")


def test_a_score_of_an_answer_without_text_is_not_advised() -> None:
    """Where an answer has no text, as of calls of tools, no metric has a score."""
    call = {"name": "f", "id": "1", "arguments": {}}
    turns = [{"role": "assistant", "tool_calls": [call]}]
    row = {"prompt": "P", "references": ["r"], "outputs": [{"turns": turns}]}
    problem = refused_by_eee(row)

    assert "`evaluation.score` and `evaluation.is_correct`" in problem.message
    assert problem.help == 'leave such records out with on_invalid="skip"'


@for_each_case(
    "output, message, advised",
    [
        (None, "nothing for `output.raw`", ['constants={"output.raw": VALUE}']),
        ({"text": None}, "em needs an answer", []),
        (
            {"text": "a", "scores": [{"value": None}]},
            "nothing for `evaluation.score` and `evaluation.is_correct`",
            [],
        ),
        (
            {"text": "a", "scores": [{"value": 0.7}]},
            "nothing for `evaluation.is_correct`",
            ["say with correct_from=NUMBER from which score on an answer is correct"],
        ),
    ],
)
def test_what_is_given_is_not_advised(
    output: dict[str, Any] | None, message: str, advised: list[str]
) -> None:
    """Options that were given are no remedy: what they cannot make up for is named."""
    row = {"prompt": "P", "references": ["r"], "outputs": [output] if output else []}
    problem = refused_by_eee(row, score="em")

    assert message in problem.message
    assert "evaluation_id" not in problem.message
    *others, last = str(problem.help).split(", or ")
    assert [other.removeprefix("give it with ") for other in others] == advised
    assert last == 'leave such records out with on_invalid="skip"'


def test_a_constant_without_a_place_is_told(tmp_path: Path) -> None:
    """A note says which of the given fields the target has no place for."""
    row = jsonl({"prompt": "P", "references": ["r"], "outputs": []})
    path, names = tmp_path / "x.json", tmp_path / "{model}.json"
    constants = {"model": "m", "category": "c", "metadata.a": 1, "ideal_response": "x"}
    report = convert(row, to="nemo-input", output=path, constants=constants)
    split = convert(row, to="nemo-input", output=names, constants={"model": "m"})

    given = 'constants={"model": VALUE, "metadata.a": VALUE}'
    message = f"{given} does nothing: nemo-input has no place for them"
    assert report.notes == (message,)
    assert (split.notes, split.outputs) == ((), (f"{tmp_path / 'm.json'}",))


def test_a_dropped_answer_of_a_chat_is_reported_with_the_option(tmp_path: Path) -> None:
    """A note names the option where a target has a place for references."""
    path = tmp_path / "x.jsonl"
    report = convert(jsonl(CHAT), to="inspect-dataset", output=path)

    assert [note for note in report.notes if "reference" in note]


def test_a_table_of_any_columns_is_pointed_to_the_map(tmp_path: Path) -> None:
    """Columns with other names are an error or a loss, and both name the option.

    A table of which no column is known is undetermined, whatever it becomes.
    """
    pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    table, path = tmp_path / "t.parquet", tmp_path / "x.json"
    pq.write_table(pa.table({"id": ["a"], "question": ["2+2?"]}), table)
    found = [refused(table, to=to) for to in ("nemo-input", "haystack")]
    pq.write_table(pa.table({"frage": ["2+2?"], "response": ["4"]}), table)
    notes = convert(table, to="haystack", output=path).notes

    assert [problem.code for problem in found] == ["S301", "S301"]
    assert all('columns={"prompt": "question"' in (one.help or "") for one in found)
    assert [note for note in notes if "COLUMN" in note]


@pytest.mark.parametrize(
    ("to", "name"), [("parquet", "x.jsonl"), ("record", "x.parquet")]
)
def test_a_name_of_another_kind_is_reported(to: str, name: str, tmp_path: Path) -> None:
    """An output with a suffix of text, or of a table, that is not one has a note."""
    pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    report = convert(jsonl(CHAT), to=to, output=tmp_path / name)

    assert [note for note in report.notes if name in note]


class Terminal(io.BytesIO):
    """A standard output that is a terminal."""

    @property
    def buffer(self) -> "Terminal":
        """The stream of bytes."""
        return self

    def isatty(self) -> bool:
        """Tell that it is a terminal."""
        return True


def test_no_table_is_written_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A binary format needs a file, or a pipe."""
    pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    with pytest.raises(SinkError, match="name a file"):
        convert(jsonl(CHAT), to="parquet", output="-")

    assert not terminal.getvalue()


def test_only_records_become_a_table() -> None:
    """Something else than a record is named by its type."""
    pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    with pytest.raises(TypeError, match="str is no Record"):
        to_table("abc")  # type: ignore[arg-type] # what is refused
