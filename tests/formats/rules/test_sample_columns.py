"""Rows of a table that are checked together: the same findings as one by one."""

import csv
from io import StringIO
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from effort import examples
from harpia_formats import validate
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of, all_formats, all_rules
from harpia_formats.formats.rules import near_duplicates
from harpia_formats.formats.rules.sample_lints import _SampleChecks
from harpia_formats.model.lint import Agreement, TextColumns
from harpia_formats.validation.unit import row_linter
from harpia_formats.validation.unit.row_linter import RowLinter
from harpia_formats.validation.unit.selected_lints import selected_lints
from harpia_formats.validation.unit.validators import FileValidators
from json_lines import jsonl

PROMPT = "Qual é a capital do Brasil, e de que ano?"
CELLS = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "ano",
            "CAPITAL",
            "A capital!",
            "capital  do\nBrasil",
            '["capital"]',
            '["", "x"]',
            "[1]",
            '["ano", "ano "]',
            "None",
            PROMPT,
            f"{PROMPT} Rio.",
            f"Brasília. {PROMPT}",
            "429 Too Many Requests",
            "Error code: 500",
            "x</s>",
            "[INST] x",
            "length",
            "NaN",
            "None ",
            '["a", "a "]',
            '["a"]',
            "true",
            "1",
            "a\u200bb",
            "Ã©",
            "\ufffd",
            "12345678901234567890",
            "首都是哪里\uff0c哪一年",
            "\uff46\uff55ll width ① \ufb01, \1 and so on and on and on",
            "𠀀𠀁 mais do que vinte letras deste texto, ß \u017f \u212a",
        ]
    ),
    st.text("aAbB \n1é首都\u017f\1。\uff0c\ufb01", max_size=40),
)
KEYS = [
    *("id", "prompt", "system", "messages", "references", "response", "score"),
    *("is_correct", "error", "choices", "finish_reason", "model", "answer", "notes"),
]
TABLES = st.sets(st.sampled_from(KEYS), min_size=1).flatmap(
    lambda keys: st.lists(
        st.fixed_dictionaries(dict.fromkeys(sorted(keys), CELLS)),
        min_size=1,
        max_size=6,
    )
)


def linter_of(name: str, dialect: str) -> RowLinter:
    """Return what checks rows of a dialect of a format by all rules."""
    format_ = all_formats()[name]
    (found,) = (each for each in format_.dialects if each.name == dialect)
    lints = selected_lints(FormatVariant(format_, found), all_rules())
    assert lints is not None
    return RowLinter(lints)


def columns_of(rows: list[dict[str, str]]) -> TextColumns:
    """Return rows as columns."""
    texts = {key: [row[key] for row in rows] for key in rows[0]}
    data = "\n".join(text for row in rows for text in row.values()).encode()
    return TextColumns(texts, data, len(rows))


@pytest.mark.parametrize(
    ("name", "dialect"), [("csv", ""), ("tencent-csv", ""), ("tencent-csv", "answer")]
)
@given(rows=TABLES)
def test_columns_are_clean_only_if_each_row_is(
    name: str, dialect: str, rows: list[dict[str, str]]
) -> None:
    """What is found in columns holds for each of their rows, and across them."""
    rows = [{key: row[key] for key in rows[0]} for row in rows]  # in one order
    linter = linter_of(name, dialect)
    columns = columns_of(rows)
    remarks = [found for row in rows for found in linter.findings_in(0, row, ())]
    assert linter.are_clean(columns) is not bool(remarks)
    one_by_one = linter.digests([linter.compared(row) for row in rows])
    for reader, together, singly in zip(
        linter.across, linter.digests_of_texts(columns), one_by_one, strict=True
    ):
        if reader.rule.agreement is Agreement.BY_KEY:  # one of equal rows is enough
            assert set(together) == set(singly)
        elif reader.rule.are_plain is None:
            assert together == singly
        else:  # ids are left out if all that are asked of together are plain
            assert set(singly) <= set(together)
    for lint in linter._rows:  # noqa: SLF001 - what each of them says
        if lint.are_clean is not None and lint.are_clean(columns):
            assert not any(found for row in rows for found in lint.remarks(row))


VALUES = st.one_of(CELLS, st.none(), st.lists(CELLS, max_size=2))


@given(
    rows=st.lists(
        st.fixed_dictionaries(dict.fromkeys(("a", "b", "c"), VALUES)), max_size=5
    ),
    context=st.integers(0, 1),
)
@example(rows=[{"a": "x", "b": "首" * 30, "c": "é" * 30}, {}], context=0)
def test_rough_texts_of_rows_are_those_of_each(
    rows: list[dict[str, Any]], context: int
) -> None:
    """Summing up many texts at once gives the same as one after the other."""
    said = near_duplicates.ComparedTexts(context, 2, ((), (), ()))
    columns = [[row.get(key) for row in rows] for key in ("a", "b", "c")]
    values = list(zip(*columns, strict=True))
    singly = [said.roughly_and_whole(*each) for each in values]
    assert said.all_roughly_and_whole(columns) == singly
    assert [each and each[0] for each in singly] == [
        said.roughly(*each) for each in values
    ]


@examples(12)
@given(rows=st.lists(st.fixed_dictionaries(dict.fromkeys(KEYS[1:], CELLS)), max_size=5))
def test_reports_do_not_depend_on_blocks(rows: list[dict[str, str]]) -> None:
    """A table gives the same report whether or not its records are cut in blocks."""
    file = StringIO(newline="")
    writer = csv.DictWriter(file, KEYS[1:])
    writer.writeheader()
    writer.writerows(rows)
    data = file.getvalue().encode()
    at_once = validate(data, format="csv", lint=True, jobs=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FileValidators, "accept_any_texts", lambda *_: False)
        singly = validate(data, format="csv", lint=True, jobs=1)
    assert at_once.problems == singly.problems
    assert at_once.files == singly.files


def test_adapter_of_tables_is_flat() -> None:
    """Texts of tables are at single keys, which columns can be looked up by."""
    for name in ("csv", "tencent-csv"):
        adapter = adapter_of(all_formats()[name])
        assert all(len(field.path) == 1 for field in adapter.fields)


TEXTS = st.sampled_from(
    [
        *(
            "Rio",
            "capital",
            "",
            " ",
            "None",
            "x</s>",
            "[INST]",
            "429 Too Many Requests",
        ),
        *(PROMPT, f"{PROMPT} Rio.", "首都是哪里", "user"),
    ]
)


def chat(roles: tuple[str, ...], answers: int) -> st.SearchStrategy[dict[str, Any]]:
    """Return rows of Tencent with these roles, and so many answers of one model."""
    messages = [
        st.fixed_dictionaries({"role": st.just(role), "content": TEXTS})
        for role in roles
    ]
    response = st.fixed_dictionaries(
        {"content": TEXTS}, optional={"reasoning_content": TEXTS}
    )
    responses = [response] * answers
    model = {
        "model_name": st.sampled_from(["m", "m", " m"]),
        "responses": st.tuples(*responses),
    }
    return st.fixed_dictionaries(
        {
            "messages": st.tuples(*messages),
            "model_outputs": st.tuples(st.fixed_dictionaries(model)),
        },
        optional={"ref_answer": TEXTS},
    )


ROLES = ("system", "user", "assistant")
CHATS = st.one_of(
    st.lists(chat(("user",), 1), min_size=1, max_size=3),
    st.lists(chat(("user",), 2), min_size=1, max_size=3),
    st.lists(chat(ROLES, 1), min_size=1, max_size=3),
    st.lists(chat((*ROLES, "user"), 1), min_size=1, max_size=3),
    st.lists(st.one_of(chat(("user",), 1), chat(ROLES, 2)), min_size=1, max_size=3),
)


@examples(16)
@given(rows=CHATS)
def test_nested_texts_are_checked_alike_at_once(rows: list[dict[str, Any]]) -> None:
    """Chats give the same report whether or not their texts are read as columns."""
    data = jsonl(*rows)

    def problems() -> Any:
        report = validate(data, format="tencent-outputs", lint=True, jobs=1)
        assert not report.failures
        return report.problems

    at_once = problems()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_SampleChecks, "suspects", lambda *_: None)
        patch.setattr(_SampleChecks, "is_clean", lambda *_: False)
        patch.setattr(
            row_linter, "_possible_suspects", lambda _, typed: enumerate(typed)
        )
        assert problems() == at_once


def test_texts_of_chats_are_read_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where chats are alike and nothing is wrong, none is looked at on its own."""
    row = {
        "messages": [{"role": "user", "content": PROMPT}],
        "ref_answer": "Brasília",
        "model_outputs": [{"model_name": "m", "responses": [{"content": "Rio"}]}],
    }
    data = jsonl(
        *({**row, "ref_answer": f"Brasília {number}"} for number in range(500))
    )
    asked: list[Any] = []

    def is_clean(_: _SampleChecks, row: Any) -> bool:
        asked.append(row)
        return True

    monkeypatch.setattr(_SampleChecks, "is_clean", is_clean)
    report = validate(data, format="tencent-outputs", lint=True, jobs=1)
    assert not report.failures
    assert not asked
