import json
from functools import cache
from pathlib import Path
from typing import Any

import command_runs
from cases import for_each_case
from known_formats import READABLE, adapter_named


@cache
def mapping_page() -> str:
    """Return the page that the command writes."""
    done = run("--mapping")
    assert (done.stderr, done.returncode) == (b"", 0)
    return done.stdout.decode()


def mapping_table(format_: str) -> str:
    """Return the part of the page about a format."""
    head = f"## `{format_}`: {READABLE[format_].title}\n"
    return mapping_page().partition(head)[2].partition("\n## ")[0]


def rows_of(format_: str) -> list[list[str]]:
    """Return the cells of the table of a format, without its head."""
    lines = mapping_table(format_).splitlines()
    rows = [each for each in lines if each.startswith("| `")]
    return [[cell.strip() for cell in each.strip("|").split(" | ")] for each in rows]


def run(*arguments: str) -> command_runs.Result:
    """Return the result of `formats` with `arguments`."""
    return command_runs.run("formats", *arguments, timeout=60)


@for_each_case("format_", READABLE)
def test_every_field_has_its_row(format_: str) -> None:
    """A table has a row for each field of its format, with key and field."""
    found = [(each[0].strip("`"), each[1].strip("`")) for each in rows_of(format_)]
    fields = adapter_named(format_).fields

    assert [(each.name, each.record_path) for each in fields] == found


@for_each_case(
    "format_, key, column, text",
    [
        ("nemo-output", "response", 2, "required"),
        ("nemo-output", "llm_name", 2, '`"offline"` if unknown'),
        ("nemo-output", "input.category", 2, '`""` if unknown'),
        # An id is never asked for, since a record has a number.
        ("harpia", "id", 2, "the number of the record if unknown"),
        ("harpia", "actual-output", 3, "null becomes empty text; a list for several"),
    ],
)
def test_row_tells_of_a_field(format_: str, key: str, column: int, text: str) -> None:
    """A row states whether a missing value must be given, or which default is used.

    It has the description of the codec, and the note on the field.
    """
    (row,) = (each for each in rows_of(format_) if each[0] == f"`{key}`")
    assert row[column] == text


#: Formats with what is stated below their tables.
STATED = """
nemo-input: - A row holds one reference and no answer.
record: - A row holds several references, several answers of several models and several\
 scores of an answer.
tencent-messages: - The prompt may be a chat.
eee@0.3.0: - The prompt is one text; an answer may be a conversation.
nemo-output: - Other keys are in `extra.nemo` of the record.
harpia: - The document around the rows holds `header.metrics` and `header.extra.harpia`.
eee@0.2.0: - `--keep-extra` stores fields without a place in `metadata.harpia-formats`,\
 as JSON text.
haystack: - `--keep-extra` stores fields without a place in `harpia-formats`.
nemo-output: - Rows of the dialects `flat` and `reference` can be read
"""


@for_each_case(
    "format_, sentence", [line.split(": ", 1) for line in STATED.strip().split("\n")]
)
def test_row_capacity_is_shown_below_the_table(format_: str, sentence: str) -> None:
    """Below the table is stated how much a row holds, and where the rest goes."""
    end = "\n" if sentence.endswith(".") else ""
    assert sentence + end in mapping_table(format_)


def test_a_bar_in_a_cell_is_no_border() -> None:
    """Every row has as many cells as the head, whatever is in them."""
    for format_ in READABLE:
        lines = mapping_table(format_).splitlines()
        rows = [each.replace(r"\|", "") for each in lines if each.startswith("|")]

        assert {each.count("|") for each in rows} == {5}


def test_the_page_has_every_format_in_order() -> None:
    """The page has a heading for each record format, in the order of their list."""
    heads = [each for each in mapping_page().splitlines() if each.startswith("## ")]

    assert [f"## `{each.id}`: {each.title}" for each in READABLE.values()] == heads


def test_programs_get_the_same() -> None:
    """As JSON each format has its fields with what a row says of them."""
    printed: dict[str, Any] = json.loads(
        run("--mapping", "--output-format", "json").stdout
    )
    category = {
        "key": "category",
        "field": "category",
        "required": False,
        "default": "",
        "has_default": True,
        "how": [],
    }

    fields = {each["id"]: each["fields"] for each in printed["formats"]}
    assert {
        name: [(each["key"], each["field"]) for each in own]
        for name, own in fields.items()
    } == {
        name: [(each.name, each.record_path) for each in adapter_named(name).fields]
        for name in READABLE
    }
    assert category in fields["nemo-input"]


def test_two_tables_at_once_are_refused() -> None:
    """A call that asks for two tables is an error."""
    done = run("--mapping", "--pairs")

    assert (done.returncode, done.stdout) == (2, b"")
    assert b"cannot be combined" in done.stderr


def test_the_page_that_ships_is_up_to_date() -> None:
    """`docs/reference/mapping.md` is what the command writes today."""
    page = Path(__file__).parents[3] / "docs" / "reference" / "mapping.md"

    assert mapping_page() == page.read_text(encoding="utf-8")
