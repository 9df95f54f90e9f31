"""Quick searches in texts, in many at once too: they pass over nothing that is found.

What looks at columns of texts finds the same as what looks at each row.
"""

import csv
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from effort import examples
from format_variants import VARIANTS, name_of
from harpia_formats import validate
from harpia_formats.formats.rules import near_duplicates
from harpia_formats.formats.rules.cross_record_lints import other_reference_lints
from harpia_formats.formats.rules.damaged_values import (
    DAMAGE_LINTS,
    NO_VALUES,
    no_value_remarks,
)
from harpia_formats.formats.rules.doubtful_text_lints import MISREAD_LINT, TEXT_LINTS
from harpia_formats.formats.rules.json_rules import QUESTION_MARKS
from harpia_formats.formats.rules.request_faults import (
    api_error,
    may_be_error,
    may_loop,
    possible_errors,
)
from harpia_formats.formats.rules.row_texts import text_columns
from harpia_formats.formats.rules.sample_faults import (
    is_leaked,
    may_leak,
    possible_leaks,
    without_marks,
)
from harpia_formats.formats.rules.sample_lints import sample_lints
from harpia_formats.formats.rules.sample_rules import PLACEHOLDER
from harpia_formats.model import value_path
from harpia_formats.model.lint import Agreement, TextColumns
from harpia_formats.validation.unit.row_linter import RowLinter
from harpia_formats.validation.unit.selected_lints import selected_lints
from harpia_formats.validation.unit.validators import FileValidators
from json_lines import jsonl_rows
from known_formats import READABLE, RULES, adapter_named

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")
INTEGERS, TEXTS = TEXT_LINTS
SPECIAL = "\u200b\u202c\u2060\u2066\ufeff\ufffd\0é\xc3\xa9\xe2€™… f2"
DOUBTFUL = st.text(st.one_of(st.sampled_from(SPECIAL), st.characters(codec="utf-8")))
NUMBERS = st.one_of(
    st.integers(), st.integers(10**14, 10**19), st.floats(allow_nan=False)
)
DOUBTFUL_VALUES = st.recursive(
    st.one_of(NUMBERS, DOUBTFUL, st.none()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(DOUBTFUL, inner)),
    max_leaves=8,
)


@given(DOUBTFUL_VALUES, st.booleans(), st.integers(0, 20))
def test_what_is_doubtful_is_searched_for(
    value: Any, is_ascii: bool, before: int
) -> None:
    """A row with a remark is found, escaped or not, wherever it stands."""
    text = json.dumps(value, ensure_ascii=is_ascii)
    for lint in (INTEGERS, TEXTS):
        if any(True for _ in lint.remarks(value)):
            assert lint.text is not None
            assert lint.text.search(b" " * before + text.encode())
            assert lint.text.search(text.replace("\\uf", "\\uF").encode())


#: Chinese in UTF-8 that was read as GBK, and in GBK that was read as Latin-1; letters
#: and marks read as Chinese characters; and what may stand next to these.
MISREAD = (
    "中文数据".encode().decode("gbk", "ignore"),
    "数据".encode("gbk").decode("latin-1"),
    *("na茂ve", "it鈥檚", "锟斤拷"),
    *("数", "é", "ö", "\\", '"', "\n", "😺", "a", " "),
)


@given(st.lists(st.sampled_from(MISREAD)).map("".join), st.booleans())
def test_what_was_misread_is_searched_for(text: str, is_ascii: bool) -> None:
    """A row with misread characters is found, escaped or not, next to any others."""
    data = json.dumps(text, ensure_ascii=is_ascii)
    if any(True for _ in MISREAD_LINT.remarks(text)):
        assert MISREAD_LINT.text is not None
        assert MISREAD_LINT.text.search(data.encode())
        assert MISREAD_LINT.text.search(data.replace("\\u951f", "\\u951F").encode())


#: Parts of open places and of words with question marks, and what may stand there too.
PARTS = (
    *("{", "{", "}", "}}", "%(", ")s", "question", "item.", "题目", "answer", " "),
    *("?", "??", "gr", "e", "A", "\\", '"', "\n", "(1)", "\u3000"),
)


@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join), st.booleans())
@example(text="{题目}", is_ascii=True)
@example(text="{{ item.answer }}", is_ascii=False)
@example(text="gr??e", is_ascii=False)
@example(text="?? ??", is_ascii=False)
@example(text="?\n??(1) ?", is_ascii=True)
def test_open_places_and_lost_letters_are_searched_for(
    text: str, is_ascii: bool
) -> None:
    """A prompt with an open place is found, and a text with "?" for letters."""
    data = json.dumps({"prompt": text}, ensure_ascii=is_ascii).encode()
    lints = (*DAMAGE_LINTS, *sample_lints(adapter_named("record")))
    for lint in lints:
        if lint.codes[0] in {PLACEHOLDER, QUESTION_MARKS}:
            assert lint.text is not None
            is_found = any(True for _ in lint.remarks({"prompt": text}))
            assert lint.text.search(data) or not is_found


#: What stands for no value, white space around it, and what may stand next to both.
BLANKS = (
    *("nan", "NaN", "None", "NaT", "<NA>"),
    *" \n\t\r\f\v\x1c\x85",
    *'\xa0\u3000\u2028a\\"',
)


@given(
    st.lists(st.sampled_from(BLANKS), max_size=6).map("".join),
    st.booleans(),
    st.integers(0, 200),
)
def test_what_stands_for_no_value_is_searched_for(
    text: str, is_ascii: bool, before: int
) -> None:
    """A text of such a word and white space is found, escaped or not, in any place."""
    data = " " * before + json.dumps({"a": text}, ensure_ascii=is_ascii)
    if any(True for _ in no_value_remarks({"a": text})):
        assert NO_VALUES.search(data.encode())


@given(st.text(), st.text(), st.text())
def test_reference_with_spaces_around_is_found(
    before: str, reference: str, after: str
) -> None:
    """A reference of some length that is in a prompt as a whole word is found."""
    prompt = f"{before} {reference} {after}"
    words = " ".join(reference.split())

    if len(words) > 3 and all(letter.isalnum() or letter == " " for letter in words):
        assert may_leak(reference, prompt)
        assert is_leaked(reference, [prompt], []) == (len(words.casefold()) > 3)


@given(st.text())
def test_any_text_is_decided(answer: str) -> None:
    """Any text is decided, and none is an error that has not the form of one."""
    assert may_be_error(answer) or not api_error(answer)


ANSWERS = st.one_of(
    st.text(st.sampled_from("{<Tteh İſ\u3000"), max_size=6),
    st.sampled_from(
        ["429 Too Many Requests", "\n<html></html>", "Rate limit exceeded", "Ratio"]
    ),
)


@given(st.lists(ANSWERS, max_size=6))
def test_errors_are_found_among_other_answers(answers: list[str]) -> None:
    """Of many answers those are found that would be if they stood alone."""
    found = [place for place, answer in enumerate(answers) if may_be_error(answer)]
    assert possible_errors(answers) == found


MESSAGE_KEYS = ("role", "content")


class Turn(msgspec.Struct):
    """A message, or a model with its answers."""

    role: Any = None
    content: Any = None
    items: Any = None


LEAVES = st.one_of(st.none(), st.just(msgspec.UNSET), st.text("ab", max_size=2))
MESSAGES = st.builds(Turn, LEAVES, LEAVES)
ALIKE = st.builds(
    Turn,
    st.text("ab"),
    st.text("ab"),
    st.lists(st.builds(Turn, st.just("r"), st.text("ab")), min_size=1, max_size=2),
)
MESSAGE_VALUES = st.one_of(
    LEAVES,
    st.integers(),
    st.lists(LEAVES, max_size=2),
    st.lists(MESSAGES, max_size=2),
    st.dictionaries(st.sampled_from(MESSAGE_KEYS), LEAVES),
)
MESSAGE_COLUMNS = st.one_of(
    st.lists(MESSAGE_VALUES, min_size=1, max_size=4),
    st.lists(st.text("ab"), min_size=1, max_size=4),
    st.lists(st.lists(ALIKE, min_size=1, max_size=1), min_size=1, max_size=4),
    st.lists(st.lists(ALIKE, min_size=2, max_size=2), min_size=1, max_size=4),
)
PATHS = st.sampled_from([(), ("content",), ("items",), ("items", "content"), ("no",)])


@given(MESSAGE_COLUMNS, PATHS)
def test_columns_hold_the_texts_of_each_row(
    values: list[Any], path: tuple[str, ...]
) -> None:
    """A row's texts are those of the columns at its place, in the same order."""
    columns = text_columns(values, path, MESSAGE_KEYS)
    if columns is None:
        return
    for number, value in enumerate(values):
        expected: list[str] = []
        if value is not None and value is not msgspec.UNSET:
            value_path.add_texts(value, path, expected)
        assert [column[number] for column in columns] == expected


def test_rows_that_are_alike_have_columns() -> None:
    """Lists of the same size give a column for each text in them."""
    rows = [[Turn(role="user", content=text)] for text in "abc"]
    assert text_columns(rows, (), MESSAGE_KEYS) == [["user"] * 3, ["a", "b", "c"]]


WORDS = [
    *("Too Many Requests", "429", "<|im_end|>", "[/INST]", "a b", "Straße", "STRASSE"),
    *("红楼梦", "红", "《红楼梦》", "K", "\u212a", "\0", "\n", "\u2003", "\xa0", "  "),
    *("(b)", "_", ".", ",", "Rate limit reached", "long enough to be no chance"),
    *("null", "None", "“long enough”", "long enough", "北京是首都。", "北京是首都"),
]
SAMPLED = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=5).map("".join),
)
MANY = st.one_of(SAMPLED, st.lists(SAMPLED, max_size=3))


class Asked(msgspec.Struct):
    """The input of a typed row."""

    raw: str
    reference: str | list[str]
    choices: list[str] | msgspec.UnsetType | None = msgspec.UNSET


class Given(msgspec.Struct):
    """The output of a typed row."""

    raw: str | list[str]


class Message(msgspec.Struct):
    """A turn of a typed row."""

    role: str
    content: str


class Sample(msgspec.Struct):
    """A row as the typed decoder reads it, as far as the lints look at it."""

    input: Asked
    output: Given | None = None
    interactions: list[Message] | msgspec.UnsetType | None = msgspec.UNSET
    messages: list[Message] | msgspec.UnsetType | None = msgspec.UNSET


class ManualTurn(msgspec.Struct):
    """A turn of a typed row of tencent-manual."""

    prompt: str
    response: str


class ManualChat(msgspec.Struct):
    """A typed row of tencent-manual."""

    conversation: list[ManualTurn]
    system: str | msgspec.UnsetType = msgspec.UNSET


class Answer(msgspec.Struct):
    """An output of a typed record."""

    text: str
    turns: list[Message] | msgspec.UnsetType = msgspec.UNSET


class Answered(msgspec.Struct):
    """A typed record."""

    prompt: str
    references: list[str]
    outputs: list[Answer]
    messages: list[Message] | msgspec.UnsetType = msgspec.UNSET


TURNS = st.sampled_from(
    [msgspec.UNSET, None, [Message("assistant", "429 bad gateway")]]
)
SAMPLES = st.builds(
    Sample,
    st.builds(
        Asked,
        SAMPLED,
        MANY,
        st.one_of(
            st.none(),
            st.just(msgspec.UNSET),
            st.lists(st.sampled_from(["a", "b", "a "])),
        ),
    ),
    st.one_of(st.builds(Given, MANY), st.builds(Given, SAMPLED), st.none()),
    interactions=TURNS,
)


@given(st.lists(SAMPLES, min_size=1, max_size=6))
def test_all_rows_that_are_not_clean_are_suspects(given_rows: list[Any]) -> None:
    """Every row on which there is a remark is found among many."""
    lint, *_ = sample_lints(adapter_named("eee@0.2.0"))
    assert lint.suspects is not None
    suspects = lint.suspects(given_rows)
    if suspects is not None:
        for number, row in enumerate(given_rows):
            if number not in suspects:
                assert not list(lint.remarks(msgspec.to_builtins(row)))


def test_clean_chats_that_are_alike_are_no_suspects() -> None:
    """Where nothing is wrong, the texts of chats are read at once and none on its own.

    To look at each of them takes several times as long.
    """
    answer = msgspec.defstruct("Answer", [("content", str)])
    model = msgspec.defstruct("Model", [("model_name", str), ("responses", list)])
    chat = msgspec.defstruct(
        "Chat", [("messages", list), ("ref_answer", str), ("model_outputs", list)]
    )
    rows = [
        chat([Message("user", PROMPT)], f"Lima {number}", [model("m", [answer("Rio")])])
        for number in range(500)
    ]
    lint, *_ = sample_lints(adapter_named("tencent-outputs"))
    assert lint.suspects is not None

    assert lint.suspects(rows) == set()
    wrong = [model("m", [answer("429 Too Many Requests")])]
    rows[7] = chat([Message("user", PROMPT)], "Lima", wrong)
    assert lint.suspects(rows) is None


@given(st.lists(st.tuples(SAMPLED, SAMPLED), max_size=5))
def test_all_leaks_are_possible_leaks(pairs: list[tuple[str, str]]) -> None:
    """No reference that is in its prompt is passed over."""
    references, prompts = [one for one, _ in pairs], [other for _, other in pairs]
    leaked = [
        place
        for place, (reference, prompt) in enumerate(pairs)
        if is_leaked(reference, [prompt], [])
    ]
    assert set(leaked) <= set(possible_leaks(references, prompts))


@given(st.text() | st.text(st.sampled_from("a_9 .。„é中"), max_size=6))
@example("".join(map(chr, range(0xD800))))
def test_marks_around_a_text_are_no_letters_of_words(text: str) -> None:
    """What is left of a text begins and ends as a word does."""
    assert without_marks(text) == re.sub(r"\A\W+|\W+\Z", "", text)


@pytest.mark.parametrize("codes", [range(0x3100), range(0x3100, 0x110000)])
def test_letters_and_digits_of_every_script_are_no_marks(codes: range) -> None:
    """Each character is a mark or none, as expressions have it."""
    for letter in map(chr, codes):
        assert bool(without_marks(letter)) is bool(re.fullmatch(r"\w", letter))


def test_letters_are_found_in_any_case_beside_any_white_space() -> None:
    """A reference is found in a prompt that has it folded, with another space in it.

    So it is for each letter beyond ASCII, and for each character that is white space.
    """
    codes = [*range(0x80, 0xD800), *range(0xE000, 0x110000)]
    letters = [chr(code) for code in codes if chr(code).casefold() != chr(code)]
    spaces = [chr(code) for code in codes if chr(code).isspace()]
    references = [f"中文{each}数据" for each in letters] + ["中文 数据"] * len(spaces)
    prompts = [f"在{each.casefold()}中" for each in references[: len(letters)]]
    prompts += [f"在中文{each}{each}数据中" for each in spaces]

    for reference, prompt in zip(references, prompts, strict=True):
        assert possible_leaks([reference], [prompt]) == [0]


@pytest.mark.parametrize("text", ["naïve \ud83d", "\ud83d" * 200])
def test_texts_that_are_no_utf_8_are_searched(text: str) -> None:
    """Where a surrogate has no pair, nothing is passed over, and nothing fails."""
    assert 1 in possible_leaks([text, "Lima"], [text, "Lima, I say"])
    assert possible_leaks(["Lima"], [f"Lima {text}"]) == [0]
    assert may_loop([text]) == ([0] if len(text) >= 200 else [])


PROMPT = "Qual é a capital do Brasil, e de que ano?"
CELLS = st.one_of(
    st.sampled_from(jsonl_rows(CASES / "cells.jsonl")),
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


def linter_of(name: str) -> RowLinter:
    """Return what checks rows of a dialect of a format by all rules."""
    (found,) = (each for each in VARIANTS if name_of(each) == name)
    lints = selected_lints(found, RULES)
    assert lints is not None
    return RowLinter(lints)


def columns_of(rows: list[dict[str, str]]) -> TextColumns:
    """Return rows as columns."""
    texts = {key: [row[key] for row in rows] for key in rows[0]}
    data = "\n".join(text for row in rows for text in row.values()).encode()
    return TextColumns(texts, data, len(rows))


@pytest.mark.parametrize("name", ["csv", "tencent-csv", "tencent-csv/answer"])
@given(rows=TABLES)
def test_columns_are_clean_only_if_each_row_is(
    name: str, rows: list[dict[str, str]]
) -> None:
    """What is found in columns holds for each of their rows, and across them."""
    rows = [{key: row[key] for key in rows[0]} for row in rows]  # in one order
    linter = linter_of(name)
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


@pytest.mark.parametrize(
    ("format_", "row"),
    [
        (
            "tencent-manual",
            ManualChat([ManualTurn("What is the capital of Peru?", "Lima")]),
        ),
        (
            "record",
            Answered("What is the capital of Peru?", ["Lima"], [Answer("It is Lima.")]),
        ),
    ],
)
def test_clean_rows_without_messages_are_no_suspects(format_: str, row: Any) -> None:
    """What has no messages, or no text in them, is read at once as well."""
    lint, *_ = sample_lints(adapter_named(format_))
    assert lint.suspects is not None

    assert lint.suspects([row] * 50) == set()


@given(
    st.lists(
        st.lists(st.builds(ManualTurn, CELLS, CELLS), max_size=2),
        min_size=1,
        max_size=4,
    )
)
@example([[ManualTurn("a", "")], [ManualTurn("", "b")]])
def test_questions_and_references_of_rows_are_those_of_each(
    chats: list[list[ManualTurn]],
) -> None:
    """What is compared across records is the same for many rows as for each."""
    (lint,) = other_reference_lints(adapter_named("tencent-manual"), None)
    absent = [msgspec.UNSET] * len(chats)
    for of_each, of_all, paths in (
        (lint.key_text, lint.key_texts, lint.key),
        (lint.value_text, lint.value_texts, lint.value),
    ):
        columns = [chats if path == ("conversation",) else absent for path in paths]
        assert of_each is not None
        assert of_all is not None
        together = of_all(columns)
        if together is not None:
            each = [of_each(*row) for row in zip(*columns, strict=True)]
            assert list(together) == each


VALUES = st.one_of(CELLS, st.none(), st.lists(CELLS, max_size=2))


@given(
    rows=st.lists(
        st.fixed_dictionaries(dict.fromkeys(("a", "b", "c"), VALUES)), max_size=5
    ),
    context=st.integers(0, 1),
)
@example(rows=[{"a": "x", "b": "首" * 30, "c": "é" * 30}, {}], context=0)
@example(rows=[{"a": "x", "b": "y\1" * 30, "c": "z" * 30}] * 2, context=1)
@example(rows=[{"a": "\ud800", "b": "\udfff" * 30, "c": "z" * 30}] * 2, context=1)
def test_rough_texts_of_rows_are_those_of_each(
    rows: list[dict[str, Any]], context: int
) -> None:
    """Summing up many texts at once gives the same as one after the other."""
    compared = near_duplicates.ComparedTexts(context, 2, ((), (), ()))
    columns = [[row.get(key) for row in rows] for key in ("a", "b", "c")]
    values = list(zip(*columns, strict=True))
    found = compared.roughly(columns)
    singly = [compared.roughly([[value] for value in each]) for each in values]
    assert found.rough == [digest for each in singly for digest in each.rough]
    assert found.whole == [digest for each in singly for digest in each.whole]
    assert list(found.texts) == [text for each in singly for text in each.texts]


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


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "input prompt messages role content references response output text "
                "outputs scores value model_outputs responses conversation".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(ANY_JSON)
@examples(20)
def test_any_value_is_decided(value: Any) -> None:
    """Rows that a schema refuses are checked, too, whatever they hold."""
    codes = {code for code in RULES if code.startswith("V3") or code == "J210"}
    for name, format_ in READABLE.items():
        for dialect in format_.dialects:
            for lint in sample_lints(adapter_named(name), dialect.name):
                assert {each.code for each in lint.remarks(value)} <= codes
