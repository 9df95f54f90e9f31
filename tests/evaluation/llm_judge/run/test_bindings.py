"""How the inputs of a judge are bound to the fields of records."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from cases import for_each_case
from harpia_formats import Output, Record, read
from harpia_formats.evaluation.llm_judge import JudgeError
from harpia_formats.evaluation.llm_judge.judged_rows import bindings_for, rows_of
from harpia_formats.formats.registry import readable_formats

FIXTURES = Path(__file__).parents[4] / "fixtures"
RECORD = Record(
    id="r1",
    prompt="q?",
    references=["a"],
    contexts=["c"],
    category="x",
    metadata={"a": {"b": 1}, "c.d": 2, "n": None},
    extra={"vendor": {"note": "n"}},
    outputs=[
        Output(model="m", index=0, text="one", extra={"vendor": {"k": 1}}),
        Output(model="n", text=None),
    ],
)


def values(record: Record, **binds: str) -> list[Any]:
    """Return the values, or what is lacking, of each row of a record."""
    bindings = bindings_for(binds, {key: each for key, each in binds.items() if each})
    rows = rows_of([record], bindings)
    return [each.problem or each.values for each in rows]


def test_there_is_a_row_for_each_answer() -> None:
    """Each answer of each record is a row, which knows whose it is."""
    rows = list(rows_of([RECORD, RECORD], bindings_for(["responses"], {})))

    assert [each.values.get("responses") for each in rows] == ["one", None] * 2
    assert rows[0].identity == {
        "row": 1,
        "record": 1,
        "record_id": "r1",
        "model": "m",
        "index": 0,
    }
    assert rows[3].identity == {"row": 4, "record": 2, "record_id": "r1", "model": "n"}
    assert rows[1].problem == ("the record has no outputs.text for the input responses")


def test_known_input_names_are_bound_by_default() -> None:
    """The inputs of Haystack's evaluators are bound without a mapping."""
    names = "questions contexts predicted_answers ground_truth_answers category".split()
    first, _ = rows_of([RECORD], bindings_for(names, {}))

    assert list(first.values.values()) == ["q?", ["c"], "one", "a", "x"]


def test_a_record_is_one_row_where_no_answer_is_asked_for() -> None:
    """Without an input of an answer there is a row for each record."""
    assert values(RECORD, questions="") == [{"questions": "q?"}]


def test_record_without_an_answer_is_an_error() -> None:
    """A record without the answer that an input needs gives an error for its row."""
    record = Record(prompt="q?")

    assert values(record, responses="") == [
        "the record has no answer with outputs.text for the input responses"
    ]


@for_each_case(
    "path, found",
    [
        ("metadata", {"a": {"b": 1}, "c.d": 2, "n": None}),
        ("metadata.a.b", 1),
        ("metadata.c.d", 2),
        ("metadata.n", None),
        ("extra.vendor.note", "n"),
        ("outputs.extra.vendor.k", 1),
        ("outputs.model", "m"),
        ("metadata.a.b.c", UNSET),
        ("metadata.z", UNSET),
        ("params.z", UNSET),
        ("system", UNSET),
    ],
)
def test_any_field_can_be_named(path: str, found: Any) -> None:
    """A path leads to a field, or into what vendors and users keep there."""
    first = values(RECORD, x=path)[0]
    lacking = f"the record has no {path} for the input x"

    assert first == (lacking if found is UNSET else {"x": found})


def test_several_references_stay_several() -> None:
    """One reference is bound as a text, several as a list, none as an error."""
    several = Record(references=["a", "b"])

    assert values(several, x="references") == [{"x": ["a", "b"]}]
    assert "no references" in values(Record(references=[]), x="references")[0]


USER, ASSISTANT, SYSTEM = (
    {"role": role, "content": role[0]} for role in ("user", "assistant", "system")
)


@for_each_case(
    "record, question, gt, history",
    [
        (Record(prompt="q"), "q", None, ""),
        (Record(prompt="q", system="s", gt="g"), "q", "g", "system: s"),
        (
            Record(messages=[SYSTEM, USER, ASSISTANT, USER], gt="g"),
            "u",
            "g",
            "system: s\nuser: u\nassistant: a",
        ),
        (Record(messages=[USER, ASSISTANT]), "u", "a", ""),
        (Record(messages=[SYSTEM], gt="g"), UNSET, "g", "system: s"),
    ],
)
def test_a_chat_has_a_question_an_answer_and_a_history(
    record: Record, question: Any, gt: Any, history: str
) -> None:
    """The last message of the user, an answer at the end, the rest, as at Tencent."""
    lacking = "the record has no data.question for the input q"

    assert values(record, q="data.question") == [
        lacking if question is UNSET else {"q": question}
    ]
    assert values(record, g="data.gt", h="data.history") == [{"g": gt, "h": history}]


@for_each_case(
    "names, given, message",
    [
        (["response"], {}, "`--bind response=outputs.text`"),
        (["nota"], {}, "give `--bind nota=PATH`"),
        (["a"], {"aa": "prompt"}, "has no input 'aa'"),
        (["responses"], {"response": "prompt"}, "did you mean responses"),
        (["a"], {"a": "promt"}, "did you mean prompt"),
        (["a"], {"a": "text"}, "did you mean outputs.text"),
        (["a"], {"a": "nowhere"}, "such as prompt"),
        (["a"], {"a": "outputs.scores.value"}, "no field"),
        (["a"], {"a": "prompt.x"}, "no field"),
    ],
)
def test_input_that_cannot_be_bound_is_an_error(
    names: list[str], given: dict[str, str], message: str
) -> None:
    """An input without a field, an unknown name and an unknown path are errors."""
    with pytest.raises(JudgeError) as caught:
        bindings_for(names, given)

    assert message in str(caught.value)


# The columns of a csv file are whatever its writer called them.
@for_each_case("id_", sorted({*readable_formats()} - {"csv"}))
def test_every_format_gives_rows(id_: str) -> None:
    """The fixtures of each format make rows, each with its values or what it lacks."""
    names = "questions contexts responses ground_truth_answers".split()
    bindings = bindings_for(names, {"contexts": "data.history"})
    files = sorted((FIXTURES / id_ / "valid").iterdir())
    rows = [
        row for file in files[:3] for row in rows_of(read(file, format=id_), bindings)
    ]

    assert rows
    assert all(bool(each.values) != bool(each.problem) for each in rows)
