"""`--ids`, and rows that `--group` must not combine."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import ConversionError, read
from json_lines import jsonl, jsonl_rows
from known_formats import WRITABLE, adapter_named
from required_values import REQUIRED
from sample_rows import NEMO_QUESTION
from unchecked import convert, converted

GIVEN = REQUIRED | {"category": "c", "source": "s"}
REPEATED = [
    {"id": "7", "prompt": "a", "references": ["r"], "outputs": [{"text": "A"}]},
    {"id": "7", "prompt": "b", "references": ["r"], "outputs": [{"text": "B"}]},
]
WITH_IDS = [each for each in WRITABLE if adapter_named(each).carries("id")]


def records_of(data: bytes, **options: Any) -> list[Any]:
    """Return the records that are written as the hub's own."""
    written, report = converted(data, to="record", from_="record", **options)
    assert report.written, report.report.problems
    return jsonl_rows(written)


def test_rows_that_ask_different_things_are_not_combined() -> None:
    """The error has the numbers of both rows, and nothing is written."""
    _, report = converted(jsonl(*REPEATED), to="harpia", group="id")
    (problem,) = report.report.problems

    assert (problem.code, problem.place.line, problem.place.record) == ("L203", 2, 2)
    assert problem.message == (
        'record 2 has the id "7" of record 1, but not the same prompt'
    )
    assert 'ids="hash"' in problem.help
    assert (report.written, report.ok) == (False, False)


@for_each_case(
    "ids, prompts, message",
    [
        (["7", "7#1", "7#2"], "abb", '2 has the id "7" of record 1, but not the same'),
        ([7, 7], "ab", "2 has the id 7 of record 1, but not the same"),
        (["7#1", "7#1"], "ab", '2 has the id "7#1" of record 1, but not the same'),
        (["7#1", "7#1#1", "7#1#2"], "aaa", '2 would get the id "7#1", which is that'),
        (["7#1#1", "7#1#2", "7#1"], "aaa", '3 would get the id "7#1", which is that'),
    ],
)
def test_the_id_that_two_records_would_have_is_named(
    ids: list[str | int], prompts: str, message: str
) -> None:
    """The id is the written one: without a number only where rows become one."""
    rows = [
        dict[str, Any](id=id_, prompt=prompt, outputs=[])
        for id_, prompt in zip(ids, prompts, strict=True)
    ]
    _, report = converted(jsonl(*rows), to="record", group="id")
    (problem,) = report.report.problems

    assert problem.message.startswith(f"record {message}")


@pytest.mark.parametrize("on_invalid", ["fail", "skip", "quarantine"])
def test_no_choice_for_invalid_rows_combines_them(
    on_invalid: Any, tmp_path: Path
) -> None:
    """The rows are valid, so that leaving invalid rows out changes nothing."""
    output = tmp_path / "out.jsonl"
    options = {"group": "id", "on_invalid": on_invalid}
    report = convert(jsonl(*REPEATED), to="record", output=output, **options)

    assert [each.code for each in report.report.problems] == ["L203"]
    assert list(tmp_path.iterdir()) == []


def test_rows_of_two_files_are_named_with_their_files(tmp_path: Path) -> None:
    """A row of another file is named by the number that it has there."""
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for file, row in zip(files, REPEATED, strict=True):
        file.write_bytes(jsonl(row))
    _, report = converted(*files, to="record", group="id")
    (problem,) = report.report.problems

    assert problem.place.path == str(files[1])
    assert f"of record 1 of {files[0]}, but" in problem.message


def test_conflicts_are_counted_exactly() -> None:
    """All rows that cannot be combined are counted, and a few are described."""
    rows = [{"id": "1", "prompt": f"{at}", "outputs": []} for at in range(50)]
    _, report = converted(jsonl(*rows), to="record", group="id")

    assert report.report.errors == 49
    assert [each.place.record for each in report.report.problems] == [2, 3, 4, 5, 6]


def test_repeated_ids_have_a_way_out() -> None:
    """The advice on repeated ids works: with it the same file converts."""
    _, refused = converted(jsonl(*REPEATED), to="harpia")
    (problem,) = refused.report.problems
    output, numbered = converted(jsonl(*REPEATED), to="harpia", ids="number")

    assert problem.code == "L202"
    assert 'ids="number"' in problem.help
    assert numbered.written
    rows = json.loads(output)["instances"]
    found = [(row["id"], row["input"], row["actual-output"]) for row in rows]
    assert found == [("1", "a", "A"), ("2", "b", "B")]


@for_each_case("ids, target", itertools.product(["number", "hash"], WITH_IDS))
def test_every_format_gets_the_ids(target: str, ids: Any) -> None:
    """Repeated ids become different ones in every format that holds ids."""
    group = "id" if ids == "hash" else None
    data = jsonl(*REPEATED, *REPEATED)
    output, report = converted(data, to=target, ids=ids, group=group, constants=GIVEN)
    assert report.written, report.report.problems
    records = list(read(output, format=target))
    found = {str(each.id).partition("#")[0] for each in records}
    asked = {each.prompt for each in records}

    assert len(found) == (2 if ids == "hash" else 4)
    assert asked == {"a", "b"}


def test_hash_depends_on_what_is_asked_only() -> None:
    """Records get one id if and only if they ask the same."""
    question = {"prompt": "a", "references": ["r"], "system": "s", "choices": ["x"]}
    rows = [
        {**question, "id": "1", "category": "c", "outputs": [{"text": "A"}]},
        {**question, "outputs": []},
        {**question, "references": ["z"], "outputs": []},
        {**question, "system": "t", "outputs": []},
        {"prompt": "a", "outputs": []},
    ]
    ids = [each["id"] for each in records_of(jsonl(*rows), ids="hash")]

    assert ids[0] == ids[1]
    assert len(set(ids)) == len(ids) - 1
    assert all(len(id_) == 32 for id_ in ids)
    # The hash of a data set that was published must not change.
    assert ids[-1] == "732acbb3e402e912437dbe53442ca543"


@pytest.mark.parametrize("target", ["haystack", "tencent-messages"])
def test_hash_is_the_same_in_files_of_any_size(target: str) -> None:
    """A row has one hash, however its keys are ordered and many rows are decoded."""
    call = {"type": "function", "id": "1", "function": "f", "arguments": {"b": 1.5}}
    answer = {"content": "", "tool_calls": [call], "role": "assistant"}
    asked = {"content": "q", "source": "input", "role": "user"}
    row = jsonl({"input": [asked, answer, asked], "target": "r"})
    row = row.replace(b"1.5", b"1.50")
    constants = {"outputs.text": "a"}
    few, many = (
        converted(row * count, to=target, ids="hash", constants=constants)[0]
        for count in (1, 300)
    )
    (id_,) = {*re.findall(rb"\b[0-9a-f]{32}\b", few)}

    assert many.count(id_) == 300


def test_grouping_by_hash_combines_what_asks_the_same() -> None:
    """`--ids hash --group id` makes one record for each question."""
    rows = [*REPEATED, {**REPEATED[0], "outputs": [{"text": "C"}]}]
    first, second = records_of(jsonl(*rows), ids="hash", group="id")

    assert [each["text"] for each in first["outputs"]] == ["A", "C"]
    assert [each["text"] for each in second["outputs"]] == ["B"]


def test_record_that_asks_nothing_has_no_hash() -> None:
    """Such a record cannot be converted, and is left out if that is asked for."""
    rows = jsonl(REPEATED[0], {"id": "8", "outputs": [{"text": "x"}]})
    _, report = converted(rows, to="record", ids="hash")
    (problem,) = report.report.problems

    assert (problem.code, problem.place.line) == ("L201", 2)
    assert len(records_of(rows, ids="hash", on_invalid="skip")) == 1


def test_numbers_count_the_records_that_are_written_together() -> None:
    """Merged records are numbered after they were merged, over all files."""
    rows = [REPEATED[0], {**REPEATED[1], "id": "8"}, REPEATED[0], {**REPEATED[0]}]
    rows[3]["id"] = "9"

    assert [
        (each["id"], len(each["outputs"]))
        for each in records_of(jsonl(*rows), ids="number", group="id")
    ] == [("1", 2), ("2", 1), ("3", 1)]


def test_number_that_a_record_has_is_no_change() -> None:
    """An id that is the number of its record already is written without a note."""
    rows = [row | {"id": str(at)} for at, row in enumerate(REPEATED, 1)]
    _, report = converted(jsonl(*rows), to="record", from_="record", ids="number")
    _, changed = converted(jsonl(*REPEATED), to="record", from_="record", ids="number")

    assert report.table() == []
    assert [row["field"] for row in changed.table()] == ["id"]


def test_numbers_and_names_of_files_exclude_each_other() -> None:
    """An option that would have no effect is refused."""
    with pytest.raises(ConversionError, match="prefix_ids=True"):
        convert(b"{}\n", to="csv", ids="number", prefix_ids=True)


def test_rows_without_ids_that_ask_the_same_have_one_hash() -> None:
    """The hash is an id of two rows though their format has no ids, with a note."""
    options: dict[str, Any] = {"from_": "nemo-input", "constants": GIVEN}
    rows = jsonl(NEMO_QUESTION, NEMO_QUESTION)
    _, report = converted(rows, to="eee@0.3.0", ids="hash", **options)

    assert [each.code for each in report.report.problems] == ["L202"]
    assert not report.written
