"""Fields of records that are read from keys which the format has no place for."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from cases import for_each_case
from harpia_formats import (
    ConversionError,
    MapError,
    Record,
    ValidationFailed,
    read,
    score,
    stats,
    validate,
)
from harpia_formats.plugins import Outcome
from json_lines import jsonl, jsonl_rows
from outcomes_of_fields import field_lines_in
from unchecked import converted

MAP = {"response": "model_response", "references": "expected_answer"}
FIXTURES = Path(__file__).parents[3] / "fixtures"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def chat(**others: Any) -> dict[str, Any]:
    """Return a row of tencent-messages with other keys."""
    return {"messages": [{"role": "user", "content": "2+2?"}], **others}


def only(data: bytes, **options: Any) -> Record:
    """Return the only record of some lines."""
    (record,) = read(data, **options)
    return record


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3))
def test_keys_are_read_as_fields(answer: str, references: list[str]) -> None:
    """A text is the answer, a list the references, and neither is extra any more."""
    row = chat(model_response=answer, expected_answer=references, note="kept")
    record = only(jsonl(row), columns=MAP)

    assert [output.text for output in record.outputs] == [answer]
    assert record.references == references
    assert record.prompt == "2+2?"
    assert record.extra == {"tencent": {"note": "kept"}}


def test_rows_without_the_key_lack_the_field() -> None:
    """A row without the key, or with null, is read without the field."""
    rows = [chat(), chat(model_response=None), chat(model_response="4")]
    records = list(read(jsonl(*rows), columns={"response": "model_response"}))

    assert [len(record.outputs) for record in records] == [0, 0, 1]


def test_answers_under_a_key_are_scored() -> None:
    """The answers of a format without answers are scored from a mapped key."""
    rows = [
        chat(model_response="4", expected_answer="4"),
        chat(model_response="5", expected_answer=["4", "four"]),
    ]
    scores = score(jsonl(*rows), metrics=("em",), columns=MAP)

    assert (scores.total.answers, scores["em"].value) == (2, 0.5)


def test_fields_of_an_answer_are_added_to_it() -> None:
    """A field of an answer that the row has is added to that answer."""
    row = {"prompt": "2+2?", "ideal_response": "4", "actual_response": "4", "llm": "m"}
    record = only(jsonl(row), columns={"model": "llm"})
    (output,) = record.outputs

    assert (output.text, output.model) == ("4", "m")


def test_conversion_writes_the_fields() -> None:
    """A conversion of rows writes the fields of mapped keys as its own."""
    rows = jsonl(*[chat(model_response="4")] * 3)
    given = {"columns": {"response": "model_response"}, "constants": {"model": "m"}}
    output, _ = converted(rows, to="tencent-outputs", **given)

    for row in jsonl_rows(output):
        assert row["model_outputs"][0]["responses"] == [{"content": "4"}]
    assert output.count(b"\n") == 3


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ({"response": "model_respons"}, "did you mean model_response"),
        ({"response": "qq"}, r"has such a key .there are: messages, model_response.$"),
        ({"response": "messages"}, "tencent-messages reads this key already"),
        ({"answer": "model_response"}, "no field is called answer"),
    ],
)
def test_map_that_cannot_be_used_is_refused(
    columns: dict[str, str], error: str
) -> None:
    """A key that no row has, one of the format's own and an unknown field fail."""
    with pytest.raises(MapError, match=error):
        list(read(jsonl(chat(model_response="4")), columns=columns))


def test_a_missing_key_is_why_a_record_ends_the_conversion() -> None:
    """A record that lacks what is required names the key, as far as rows were read."""
    rows = jsonl(*[chat(answer="4")] * 3)
    with pytest.raises(MapError, match="no row of <data> up to here has such a key"):
        converted(rows, to="nemo-input", columns={"references": "answr"})


def question(**others: Any) -> dict[str, Any]:
    """Return a row of tencent-messages with labelled choices."""
    choices = {"text": ["3", "4"], "label": ["A", "B"]}
    return chat(answerKey="B", choices=choices, **others)


def test_paths_reach_into_values() -> None:
    """A path finds a list, and the item with the label of another key."""
    columns = {"prompt": "messages.0.content", "choices": "choices.text"}
    columns["references"] = "choices.text[answerKey]"
    record = only(jsonl(question()), columns=columns)
    kept = {"answerKey": "B", "choices": question()["choices"]}

    assert (record.prompt, record.choices) == ("2+2?", ["3", "4"])
    assert record.references == ["4"]
    assert record.extra == {"tencent": kept}


@for_each_case(
    "field, wrong, found",
    [
        ("response", [5, True], "must be a text, found the number 5"),
        ("references", [7, [4, "four"]], "an array of texts, found the number 7"),
        ("references", [["4", 4], {}], "found an array with the number 4"),
        ("choices", [[None, 1.5], False], "found an array with the number 1.5"),
        ("messages", [5, ["q"]], "must be messages or text, found the number 5"),
        ("id", [True, 1.0], "must be text or an integer, found true"),
        ("score", [[1], {}], "must be a number, true, false or text, found an array"),
        ("category", [[], {}], "must be a text, found an array"),
    ],
)
def test_a_value_of_another_type_is_invalid_for_every_command(
    field: str, wrong: list[Any], found: str
) -> None:
    """What validation refuses of mapped values is not read, and never made a text.

    The values of two rows are wrong, and it is told what was found.
    """
    for key in ("x", "doc.x"):
        columns = {"prompt": "q", field: key}
        # So many rows are read by a typed decoder, without the remarks on each.
        rows = [{"q": "a", "x": "1", "doc": {"x": "1"}}] * 70
        rows += [{"q": "b", "x": one, "doc": {"x": one}} for one in wrong]
        data, options = jsonl(*rows), dict[str, Any](columns=columns)
        report = validate(data, format="json", columns=columns)
        _, skipped = converted(data, to="record", on_invalid="skip", **options)

        assert (report.files[0].valid, report.files[0].invalid) == (70, 2)
        assert found in report.problems[0].message
        assert skipped.skipped == 2
        reads: list[Callable[..., Any]] = [
            lambda *given, **named: list(read(*given, **named)),
            functools.partial(score, metrics=("em",), missing="skip"),
            stats,
        ]
        for command in reads:
            with pytest.raises(ValidationFailed, match="S102"):
                command(data, **options)


def test_a_map_to_a_key_with_invalid_values_only_is_no_missing_key() -> None:
    """Rows that are left out because of a mapped key have it."""
    rows = jsonl({"q": "a", "x": 1}, {"q": "b", "x": 2})
    columns = {"prompt": "q", "response": "x"}
    _, report = converted(rows, to="record", on_invalid="skip", columns=columns)
    with pytest.raises(ValidationFailed, match=r"2 errors, first .* S102: x"):
        report.raise_for_errors()


def test_an_integer_stays_an_id() -> None:
    """The integer of a mapped key is the id of rows in any format."""
    assert only(jsonl(chat(n=7)), columns={"id": "n"}).id == 7


@for_each_case(
    "column, error",
    [
        ("choices.txt", "'choices.txt': no row .* did you mean choices.text"),
        ("choices.text[answerKye]", "'answerKye': no row .* did you mean answerKey"),
        ("choice[answerKey]", "'choice': no row .* did you mean choices"),
        ("/choices/text", "no row .* a path is written as choices.text"),
    ],
)
def test_path_that_finds_nothing_is_refused(column: str, error: str) -> None:
    """A part of a path that no row has is named."""
    data = jsonl(question(other="C"))
    with pytest.raises(MapError, match=error):
        list(read(data, columns={"references": column}))


def test_row_with_a_label_without_an_item_is_invalid() -> None:
    """A row whose label is not among the labels is named, with these."""
    data, columns = jsonl(question(other="C")), {"references": "choices.text[other]"}
    with pytest.raises(ValidationFailed, match=r"1:.* S102: .*no label is 'C' .A, B."):
        list(read(data, columns=columns))


def test_format_of_whole_documents_has_no_keys() -> None:
    """A format whose records are not rows takes no map."""
    with pytest.raises(ConversionError, match="and for other keys of JSON rows"):
        list(read(b"{}", format="nemo-results", columns={"response": "a"}))


ASKED: dict[str, Any] = {"input": [{"role": "user", "content": "2+2?"}], "ideal": "4"}


def test_what_a_mapped_value_replaces_stays_in_extra() -> None:
    """The format's own value of a mapped field is kept, also if the path has none."""
    rows = [ASKED | {"note": {"answer": "four"}}, ASKED]
    mapped, lacking = read(jsonl(*rows), columns={"references": "note.answer"})

    assert mapped.references == ["four"]
    assert lacking.references is UNSET
    for record in (mapped, lacking):
        assert isinstance(record.extra, dict)
        assert record.extra["map"] == {"references": ["4"]}


def test_a_replaced_value_is_reported_as_lost_where_it_has_no_place() -> None:
    """The table names the mapped path as kept, and the format's own key as dropped."""
    rows = jsonl(ASKED | {"note": {"answer": "four"}})
    columns = {"references": "note.answer"}
    _, report = converted(rows, to="nemo-input", columns=columns)
    lines = field_lines_in(report)

    assert lines["note.answer (references)"].kept == 1
    assert lines["ideal"].outcomes == {Outcome.DROPPED: 1}


@for_each_case(
    "row, left",
    [
        ({"in": {"topic": "t"}}, UNSET),
        ({"in": {"topic": "t", "n": 1}}, {"json": {"in": {"n": 1}}}),
        ({"in": {"topic": "x"}, "in.topic": "t"}, {"json": {"in": {"topic": "x"}}}),
    ],
)
def test_a_value_inside_of_an_object_is_read_once(row: Any, left: Any) -> None:
    """What a path finds in an object is a field, and no rest of the row any more.

    Values next to it are kept, and those that a key with the text of the path hides.
    """
    columns = {"prompt": "q", "category": "in.topic"}
    record = only(jsonl({"q": "2+2?"} | row), columns=columns)

    assert (record.category, record.extra) == ("t", left)


@for_each_case(
    "path, column",
    [
        ("inspect-log/valid/early-version.json", "score.value"),
        ("helm/valid/R106-scenario-state-alone.json", "instance.id"),
    ],
)
def test_a_format_reads_its_own_values_also_if_a_path_does(
    path: str, column: str
) -> None:
    """A value that a path finds in an object is there for the format of the row, too.

    Some formats read members of objects that no field of theirs begins with.
    """
    plain = [*read(FIXTURES / path)]
    mapped = [*read(FIXTURES / path, columns={"source": column})]

    assert all(record.source for record in mapped)
    assert [replace(record, source=UNSET) for record in mapped] == plain


def test_a_value_of_an_answer_is_read_once() -> None:
    """A value in what an answer keeps of its row is a field, and kept no more."""
    columns = {"source": "gradingResult.reason"}
    (record, *_) = read(FIXTURES / "promptfoo/valid/items.jsonl", columns=columns)
    (output,) = record.outputs

    assert record.source == "All assertions passed"
    assert (output.extra or {})["promptfoo"]["gradingResult"] == {
        "pass": True,
        "score": 1,
        "componentResults": [],
    }


def test_a_used_value_is_no_loss() -> None:
    """A value inside of an object that is read as a field is not counted as dropped."""
    row = {"q": "2+2?", "a": "4", "in": {"topic": "sums"}}
    columns = {"prompt": "q", "references": "a", "category": "in.topic"}
    given = {"columns": columns, "constants": {"source": "own"}}
    _, report = converted(jsonl(row), to="nemo-input", on_loss="fail", **given)

    assert report.written == 1


def test_a_list_is_no_text() -> None:
    """A mapped value that is a list is refused for a field that is text."""
    with pytest.raises(ValidationFailed, match=r"prompt, must be a text, found an"):
        only(jsonl(ASKED), columns={"prompt": "input.content"})
