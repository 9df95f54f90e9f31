"""How Tencent's rows are detected, and remarks on those that are valid."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats.plugins import Dialect, Remark
from known_formats import FORMATS, RULES

OWN = {id_: each for id_, each in FORMATS.items() if each.vendor == "Tencent TI"}
ROWS = [each.dialects[0] for each in OWN.values() if each is not FORMATS["tencent-csv"]]
TABLES = FORMATS["tencent-csv"].dialects
DIALECTS = [*ROWS, *TABLES]
QUESTION = {"role": "user", "content": "Quantos dias tem fevereiro?"}
ANSWER = {"role": "assistant", "content": "28 ou 29"}
SYSTEM = {"role": "system", "content": "请简短回答。"}
OUTPUT = {"model_name": "finch-3b", "responses": [{"content": "28"}]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = (
    "messages model_outputs conversation ref_answer outputs role content model_name "
    "system prompt response answer interaction_type answer_attribution responses"
).split()
#: Objects that may look like anything, with the keys that matter.
OBJECTS = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), JSON, max_size=6)
#: Objects with lists of such objects where the formats have them.
NESTED = st.dictionaries(
    st.sampled_from(KEYS), JSON | OBJECTS | st.lists(OBJECTS, max_size=3), max_size=6
)


def signs_of(row: Mapping[str, Any], dialects: Iterable[Dialect]) -> dict[str, str]:
    """Return the keys by which `row` is detected, for each schema that fits."""
    signs = {each.schema: each.sniff(row) for each in dialects}
    return {schema: sign for schema, sign in signs.items() if sign}


def remarks_on(row: Any, dialect: Dialect) -> list[Remark]:
    """Return what `dialect` has to say of `row`."""
    remarks = dialect.remarks or dialect.header_remarks
    return list(remarks(row)) if remarks else []


def remarks_of(row: Any, format_: str, dialect: int = 0) -> list[tuple[str, Any]]:
    """Return the code and the place of each remark on `row`."""
    found = remarks_on(row, FORMATS[format_].dialects[dialect])
    return [(each.code, each.path) for each in found]


@for_each_case(
    "row, kind, sign",
    [
        ({"messages": [QUESTION]}, "tencent-messages", "`messages`"),
        ({"messages": [1, {"role": 2}]}, "tencent-messages", "`messages`"),
        (
            {"messages": [QUESTION], "conversation": [{"prompt": ""}]},
            "tencent-messages",
            "`messages`",
        ),
        ({"ref_answer": "29"}, "tencent-messages", "`ref_answer`"),
        ({"messages": None, "ref_answer": 29}, "tencent-messages", "`ref_answer`"),
        ({"messages": [], "model_outputs": []}, "tencent-outputs", "`model_outputs`"),
        ({"messages": 1, "model_outputs": 2}, "tencent-outputs", "`model_outputs`"),
        ({"model_outputs": [], "outputs": 1}, "tencent-outputs", "`model_outputs`"),
        ({"conversation": {"prompt": 1}}, "tencent-manual", "`conversation`"),
        (
            {"conversation": [{}, {"response": 2}], "ref_answer": ""},
            "tencent-manual",
            "`conversation`",
        ),
    ],
)
def test_row_is_detected_by_its_most_specific_key(
    row: Any, kind: str, sign: str
) -> None:
    """A row is detected by its most specific key, even if the value is wrong."""
    assert signs_of(row, ROWS) == {kind: sign}


@for_each_case(
    "row",
    [
        {},
        {"messages": "Olá", "id": 1},
        {"messages": None},
        {"messages": []},
        {"messages": [{"id": 1, "subject": "Re:"}]},
        {"model_outputs": None},
        {"conversation": 1, "system": 2},
        {"conversation": [{"from": "Ana"}]},
        {"prompt": "Olá", "response": "Oi"},
        {"system": "", "prompt": ""},
        {"messages": [QUESTION], "outputs": []},
        {"ref_answer": "", "outputs": []},
        {"messages": [QUESTION], "interaction_type": "agentic"},
        {"messages": [QUESTION], "answer_attribution": []},
        {"model_outputs": [], "interaction_type": "", "answer_attribution": []},
    ],
)
def test_row_of_others_is_left_to_them(row: Any) -> None:
    """A row with the signs of another format, or with none, is not Tencent's."""
    assert signs_of(row, ROWS) == {}


@for_each_case(
    "header, schema, sign",
    [
        ("system prompt response", "tencent-csv", "`system`, `prompt` and `response`"),
        ("prompt response", "tencent-csv", "`prompt` and `response`"),
        ("response id prompt", "tencent-csv", "`prompt` and `response`"),
        ("system response", "tencent-csv", "`system` and `response`"),
        ("system prompt", "tencent-csv", "`system` and `prompt`"),
        ("system prompt response a b c", "tencent-csv", "`prompt` and `response`"),
        ("prompt response answer", "tencent-csv", "`prompt` and `response`"),
        ("prompt answer", "tencent-csv-answer", "`prompt` and `answer`"),
        ("system answer", "tencent-csv-answer", "`system` and `answer`"),
        ("id prompt answer a b", "tencent-csv-answer", "`prompt` and `answer`"),
    ],
)
def test_table_is_detected_by_its_columns(header: str, schema: str, sign: str) -> None:
    """A table is detected by two of its columns, in any order, among other columns."""
    (found,) = signs_of(dict.fromkeys(header.split(), ""), TABLES).items()

    assert found[0] == schema
    assert found[1].endswith(sign)


@for_each_case(
    "header",
    [
        "",
        "prompt",
        "response id",
        "question answer",
        "prompt response a b c d",
        "Prompt Response",
    ],
)
def test_other_tables_are_not_detected(header: str) -> None:
    """A table with one of the columns, or with many other columns, is not detected."""
    assert signs_of(dict.fromkeys(header.split(), ""), TABLES) == {}


@examples(30)
@given(NESTED | OBJECTS)
def test_signs_exclude_each_other(row: dict[str, Any]) -> None:
    """No object is two kinds of row at once, nor two dialects of the table."""
    assert len(signs_of(row, ROWS)) <= 1
    assert len(signs_of(row, TABLES)) <= 1


@examples(30)
@given(NESTED | OBJECTS | JSON)
def test_any_json_can_be_remarked_on(row: Any) -> None:
    """Remarks are made of any JSON value without a failure, in known codes."""
    codes = {each.code for one in DIALECTS for each in remarks_on(row, one)}

    assert codes <= RULES.keys()


@for_each_case(
    "row, expected, kind",
    [
        (*one, two)
        for one, two in itertools.product(
            [
                ([QUESTION], []),
                ([SYSTEM, QUESTION, ANSWER, QUESTION, ANSWER], []),
                ([QUESTION, QUESTION], []),
                ([QUESTION, {"role": "tool"}], [("T101", ("messages", 1, "role"))]),
                ([{"role": "User"}], [("T101", ("messages", 0, "role"))]),
                ([SYSTEM], [("T102", ("messages",))]),
                ([ANSWER], [("T102", ("messages",))]),
            ],
            ["tencent-messages", "tencent-outputs"],
        )
    ],
)
def test_messages_are_remarked_on(row: Any, expected: Any, kind: str) -> None:
    """Odd roles and a missing question get remarks, in order."""
    whole = {"messages": row, "model_outputs": [OUTPUT]}

    assert remarks_of(whole, kind) == expected


def test_question_under_an_unknown_role_is_not_missed() -> None:
    """An unknown role gets a remark, and no second one that there is no question."""
    row = {"messages": [{"role": "human"}, {"role": "gpt"}]}

    assert [code for code, _ in remarks_of(row, "tencent-messages")] == ["T101"] * 2


def test_outputs_are_remarked_on() -> None:
    """An empty list of outputs gets a remark."""
    empty = {"messages": [QUESTION], "model_outputs": []}

    assert remarks_of(empty, "tencent-outputs") == [("T103", ("model_outputs",))]


@pytest.mark.parametrize(("dialect", "answers"), [(0, "response"), (1, "answer")])
def test_columns_are_remarked_on(dialect: int, answers: str) -> None:
    """A missing system column gets a remark at the row, another column at its key."""
    full = dict.fromkeys(("system", "prompt", answers), "")
    own = FORMATS["tencent-csv"].dialects[dialect]
    with_id = {"id": "1", "prompt": "", answers: ""}

    assert remarks_on(full, own) == []
    assert remarks_of(with_id, "tencent-csv", dialect) == [
        ("T104", ()),
        ("T105", ("id",)),
    ]
    assert [each.at_key for each in remarks_on(with_id, own)] == [False, True]
    assert answers in remarks_on(with_id, own)[1].message


def test_answer_beside_response_is_another_column() -> None:
    """The alias is one only in a table that has no column response."""
    row = dict.fromkeys(("system", "prompt", "response", "answer"), "")

    assert signs_of(row, TABLES).keys() == {"tencent-csv"}
    assert remarks_of(row, "tencent-csv") == [("T105", ("answer",))]


def test_only_the_alias_is_undocumented() -> None:
    """The format's page documents every dialect but the table with answer."""
    undocumented = [each.name for each in DIALECTS if not each.documented]

    assert undocumented == ["answer"]


def test_automated_evaluation_is_one_family() -> None:
    """Both kinds of automated evaluation are recognised for the name tencent."""
    family = {each.id for each in OWN.values() if each.family == "tencent"}

    assert family == {"tencent-messages", "tencent-outputs"}
