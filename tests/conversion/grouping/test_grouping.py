"""`--group` makes one record of the rows that have one value and ask the same."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.plugins import Outcome
from json_lines import jsonl, jsonl_rows
from outcomes_of_fields import field_lines_in
from sample_rows import eee_sample
from unchecked import converted

#: Two values of each field of the input, by which records may differ.
QUESTION_FIELDS: dict[str, tuple[Any, Any]] = {
    "prompt": ("x", "y"),
    "system": ("x", "y"),
    "messages": ([{"role": "user", "content": "x"}], [{"role": "user"}]),
    "references": (["x"], ["x", "y"]),
    "gt": ("x", "y"),
    "choices": (["x"], ["x", "y"]),
    "contexts": (["x"], ["x", "y"]),
}


def answered(prompt: str, text: str, **more: Any) -> dict[str, Any]:
    """Return a record with one answer."""
    return {"prompt": prompt, "outputs": [{"text": text}], **more}


def grouped(key: str, rows: list[Any]) -> tuple[list[Any], set[tuple[str, str]]]:
    """Return the records that rows become, and what was lost of which field."""
    written, report = converted(jsonl(*rows), to="record", from_="record", group=key)
    assert report.ok, report.report.problems
    return jsonl_rows(written), {(row["fate"], row["field"]) for row in report.table()}


def conflicts(rows: list[Any]) -> list[tuple[int, int, str]]:
    """Return the numbers of the records with one id that ask different things.

    The earlier one is first, and what differs is last.
    """
    written, report = converted(jsonl(*rows), to="record", from_="record", group="id")
    problems = report.report.problems
    assert {each.code for each in problems} <= {"L203"}
    assert bool(written) is not bool(problems)
    found = []
    for each in problems:
        match = re.fullmatch(
            r"record (\d+) has .* of record (\d+), but not the same (.*)", each.message
        )
        assert match is not None, each.message
        assert int(match[1]) == each.place.record
        found.append((int(match[2]), int(match[1]), match[3]))
    return found


def texts_of(record: Any) -> list[str]:
    """Return the answers of a record."""
    return [each["text"] for each in record["outputs"]]


def test_answers_to_one_prompt_are_merged() -> None:
    """Records with the same prompt become one record with all answers in order."""
    rows = [answered("b", "1"), answered("a", "2"), answered("b", "3")]
    (first, second), outcomes = grouped("prompt", rows)

    assert texts_of(first) == ["1", "3"]
    assert second == rows[1]
    assert {outcome for outcome, _ in outcomes} == {"merged"}


def test_another_system_message_is_another_prompt() -> None:
    """Records are merged only if the system message and the chat are the same, too."""
    rows = [
        answered("a", "1"),
        answered("a", "2", system="s"),
        answered("a", "3", messages=[{"role": "user", "content": "a"}]),
        answered("a", "4", system="s"),
    ]

    found = [texts_of(each) for each in grouped("prompt", rows)[0]]
    assert found == [["1"], ["2", "4"], ["3"]]


def test_expanded_ids_are_one_id() -> None:
    """Rows with numbered ids of one record are merged and get the id without number."""
    rows = [answered("a", "1", id=each) for each in ("x#1", "x#2", "y", "x#1#2")]
    found, _ = grouped("id", rows)

    assert [each["id"] for each in found] == ["x", "y", "x#1#2"]
    assert [len(each["outputs"]) for each in found] == [2, 1, 1]


@pytest.mark.parametrize("key", ["id", "prompt", "category"])
def test_records_that_lack_the_field_stay_alone(key: str) -> None:
    """Records without the field are not merged with each other."""
    rows = [{"outputs": [{"text": each}]} for each in "ab"]

    assert grouped(key, rows) == (rows, set())


def test_a_group_is_counted_once() -> None:
    """What becomes of a field of any row of a group is counted for the group."""
    rows = [
        answered("q", "a", id="1", gt="r"),
        answered("q", "b", id="2", gt="r", references=["x"]),
        answered("p", "c", id="3"),
    ]
    _, report = converted(
        jsonl(*rows), to="record", group="prompt", prefix_ids=True, reference_from="gt"
    )
    lines = field_lines_in(report)
    ids, references = lines["id"], lines["references"]

    assert (ids.records, ids.kept) == (2, 0)
    assert ids.outcomes == {Outcome.CHANGED: 2, Outcome.DROPPED: 1}
    assert (references.records, references.kept) == (1, 0)
    assert references.outcomes == {Outcome.DEFAULTED: 1, Outcome.CHANGED: 1}


def test_fields_that_differ_within_a_group_are_dropped() -> None:
    """A field that differs among merged rows keeps the first value; a loss is noted."""
    rows = [answered("a", "1", category="x"), answered("a", "2", category="y")]
    (found,), outcomes = grouped("prompt", rows)

    assert found["category"] == "x"
    assert ("dropped", "category") in outcomes


@for_each_case("name", QUESTION_FIELDS)
def test_each_field_of_the_input_is_compared(name: str) -> None:
    """Records with one id and different input are no group, whichever field differs."""
    one, other = QUESTION_FIELDS[name]
    absent: dict[str, Any] = {"id": 1, "outputs": []}
    same = [absent | {name: one}] * 2

    assert conflicts([*same, absent | {name: other}]) == [(1, 3, name)]
    assert conflicts([*same, absent]) == [(1, 3, name)]
    assert len(grouped("id", same)[0]) == 1


@for_each_case(
    "ids, found",
    [
        # Two records of one id became two rows each.
        (["7#1", "7#2", "7#1", "7#2"], [(1, 3, "prompt")]),
        (["7", "7", "7#1", "7#2"], [(1, 3, "prompt")]),
        ([7, 7, "7", "7"], [(1, 3, "prompt")]),
        # Ids that end so by chance.
        (["7#1", "7#1", "7#2", "7#3"], [(1, 3, "prompt")]),
        (["7#1", "8#1", "7#2", "9#1"], []),
    ],
)
def test_merged_records_with_one_id_are_a_conflict(
    ids: list[str | int], found: list[tuple[int, int, str]]
) -> None:
    """Rows that ask different things never get one id, however their ids end."""
    rows = [answered(one, "x", id=id_) for one, id_ in zip("aabb", ids, strict=True)]

    assert conflicts(rows) == found


@pytest.mark.parametrize("key", ["id", "prompt", "category"])
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["7", "7#1", "7#2", "8", 7]),
            st.sampled_from("ab"),
            st.sampled_from(["x", "y"]),
            st.sampled_from([{}, {"category": "d"}]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_an_answer_stays_next_to_its_question(key: str, rows: list[Any]) -> None:
    """Either rows are a conflict, or each answer is in a record that asks the same."""
    records = [
        answered(prompt, f"{prompt}{each}", id=id_, references=[each], **more)
        for id_, prompt, each, more in rows
    ]
    written, report = converted(jsonl(*records), to="record", from_="record", group=key)
    if not report.written:
        assert {each.code for each in report.report.problems} == {"L203"}
        return
    merged = jsonl_rows(written)

    for record in merged:
        assert set(texts_of(record)) == {f"{record['prompt']}{record['references'][0]}"}
    assert sum(len(each["outputs"]) for each in merged) == len(rows)
    if key == "id":
        assert len({str(each["id"]) for each in merged}) == len(merged)


@pytest.mark.parametrize("key", ["id", "prompt"])
@given(keys=st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_every_answer_is_in_its_group(key: str, keys: list[int]) -> None:
    """No answer is lost, and groups are in the order of their first records."""
    rows = [
        answered(f"p{each}", f"{at}", id=f"i{each}") for at, each in enumerate(keys)
    ]
    found, _ = grouped(key, rows)

    assert [(each["id"], texts_of(each)) for each in found] == [
        (f"i{wanted}", [f"{at}" for at, each in enumerate(keys) if each == wanted])
        for wanted in dict.fromkeys(keys)
    ]


def test_numbers_keep_their_spelling_in_a_group() -> None:
    """Numbers of merged records keep every digit."""
    metadata = b'{"x":1e2,"y":123456789012345678901,"z":-0.0,"w":1.0}'
    row = b'{"prompt":"p","metadata":%b,"outputs":[{"text":"a"}]}\n' % metadata
    written, _ = converted(row * 2, to="record", from_="record", group="prompt")

    assert metadata in written
    assert len(jsonl_rows(written)) == 1


# Answers of several rows that differ in their scores only


def scored(name: str, *texts: str, step: str = "a", **more: Any) -> dict[str, Any]:
    """Return a row of EvalEval with a score of an answer, or of several."""
    attribution = {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": step,
        "extraction_method": "exact_match",
        "is_terminal": True,
    }
    own: dict[str, Any] = {
        "evaluation_name": name,
        "input": {"raw": "q", "reference": ["r"] if len(texts) > 1 else "r"},
        "output": {"raw": texts[0] if len(texts) == 1 else [*texts]},
        "answer_attribution": [attribution],
    }
    return eee_sample(**own | more)


def outputs_of(*rows: Any) -> list[Any]:
    """Return the answers of the only record that rows become."""
    written, report = converted(jsonl(*rows), to="record", group="id")
    assert report.written, report.report.problems
    return list(json.loads(written)["outputs"])


def names_in(output: Any) -> list[str]:
    """Return the names of the scores of an answer."""
    return [each["evaluation_name"] for each in output.get("scores", [])]


def test_answers_of_several_rows_get_all_scores() -> None:
    """The same answer of several rows is one, with the scores and attributions of all.

    What two of them have in common is there once.
    """
    rows = [scored("a", "4"), scored("b", "4"), scored("c", "4", step="b")]
    (output,) = outputs_of(*rows)

    assert output["text"] == "4"
    assert names_in(output) == ["a", "b", "c"]
    assert [each["extracted_value"] for each in output["attribution"]] == ["a", "b"]


def test_answers_of_one_row_stay_apart() -> None:
    """Two equal answers of one row were given one after the other."""
    found = outputs_of(scored("a", "4", "4"), scored("b", "4", "4"))

    assert [output["text"] for output in found] == ["4", "4"]
    assert [names_in(output) for output in found] == [["a", "b"], []]


def test_other_answers_are_added() -> None:
    """Answers that differ in anything else stay what they are."""
    rows = [scored("a", "4"), scored("a", "4", model_id="n"), scored("a", "5")]
    found = outputs_of(*rows)

    pairs = [(each["model"], each["text"]) for each in found]
    assert pairs == [("o/m", "4"), ("n", "4"), ("o/m", "5")]
