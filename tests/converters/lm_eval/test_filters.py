"""Samples of several filters: one record of the rows that each filter has of it."""

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import (
    Record,
    ValidationFailed,
    convert,
    read,
    score,
    stats,
    validate,
)
from harpia_formats.conversion.reading import merged_rows
from json_lines import jsonl, jsonl_rows

FILTERS = ("strict", "flexible", "none")


def row(doc: int, filter_: str, **members: Any) -> dict[str, Any]:
    """Return the row of a filter: the last document is answered rightly."""
    text = f"The answer is {doc}."
    kept = {"strict": "[invalid]", "flexible": str(doc), "none": text}[filter_]
    return {
        "doc_id": doc,
        "doc": {"question": f"{doc}?", "filter": "of the document"},
        "target": str(doc),
        "arguments": {"gen_args_0": {"arg_0": f"{doc}?", "arg_1": {"until": ["\n"]}}},
        "resps": [[text]],
        "filtered_resps": [kept],
        "filter": filter_,
        "metrics": ["exact_match"],
        "exact_match": float(kept == str(doc)),
        **members,
    }


def records_of(rows: list[dict[str, Any]], tmp_path: Path) -> list[Record]:
    """Return the records of rows in a file."""
    path = tmp_path / "samples_task_2026.jsonl"
    path.write_bytes(jsonl(*rows))
    return list(read(path))


def scores_of(record: Record) -> dict[str, Any]:
    """Return the values of the scores of the first answer, by their signatures."""
    return {f"{one.signature}": one.value for one in record.outputs[0].scores or ()}


def test_rows_of_filters_are_one_record(tmp_path: Path) -> None:
    """An answer occurs once, with what each filter kept and every score."""
    rows = [row(doc, name) for name in FILTERS for doc in range(3)]
    records = records_of(rows, tmp_path)
    attribution: Any = records[2].outputs[0].attribution

    assert [record.id for record in records] == [0, 1, 2]
    assert [record.outputs[0].text for record in records][2] == "The answer is 2."
    assert [
        (step["extraction_method"], step["extracted_value"]) for step in attribution
    ] == [("strict", "[invalid]"), ("flexible", "2"), ("none", "The answer is 2.")]
    assert scores_of(records[2]) == {
        "exact_match|impl:lm-eval|filter:strict": 0.0,
        "exact_match|impl:lm-eval|filter:flexible": 1.0,
        "exact_match|impl:lm-eval|filter:none": 0.0,
    }


@pytest.mark.parametrize("text", [b'"filter": "none"', b'"filter" :\n "none"'])
def test_another_filter_is_found_wherever_blocks_end(
    text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only row of another filter may be the last one, with other white space."""
    path = tmp_path / "samples_task_2026.json"
    rows = [row(doc, "strict") for doc in range(3)] + [row(2, "none")]
    path.write_bytes(json.dumps(rows).encode().replace(b'"filter": "none"', text))

    for size in (1, 7, 50, 301, 1000, 1001, 1002, 5000):
        monkeypatch.setattr(merged_rows, "_block", size)
        assert len(list(read(path))) == 3, size


def contents(records: list[Record]) -> dict[Any, Any]:
    """Return the answer, scores and extractions of each record, by its id."""
    return {
        record.id: (
            record.outputs[0].text,
            scores_of(record),
            {json.dumps(step) for step in record.outputs[0].attribution or ()},
        )
        for record in records
    }


@given(chance=st.randoms(use_true_random=False), count=st.integers(1, 40))
def test_order_of_rows_is_no_matter(
    tmp_path_factory: pytest.TempPathFactory, chance: Any, count: int
) -> None:
    """Rows filter by filter, document by document or in any order: the same records."""
    folder = tmp_path_factory.mktemp("rows")
    rows = [row(doc, name) for name in FILTERS for doc in range(count)]
    expected = contents(records_of(rows, folder))
    chance.shuffle(rows)
    found = records_of(rows, folder)
    order = list(dict.fromkeys(each["filter"] for each in rows))

    assert len(found) == count
    assert contents(found) == expected
    # Filters are in the order in which they first stand in the file.
    for record in found:
        names = [name.rpartition(":")[2] for name in scores_of(record)]
        assert names == sorted(names, key=order.index)


def test_a_second_run_is_not_merged(tmp_path: Path) -> None:
    """Rows of one filter are never one record, even if all else in them is equal."""
    rows = [row(doc, name) for name in FILTERS[:2] for doc in range(2)]
    records = records_of([*rows, *rows], tmp_path)

    assert [record.id for record in records] == [0, 1, 0, 1]
    assert all(len(scores_of(record)) == 2 for record in records)


def test_other_answers_are_not_merged(tmp_path: Path) -> None:
    """Rows of one id with other answers are other records."""
    rows = [row(0, "strict"), row(0, "flexible", resps=[["Another one."]])]

    assert len(records_of(rows, tmp_path)) == 2


def test_metrics_that_are_no_numbers_keep_their_filters(tmp_path: Path) -> None:
    """What filters differ in stands in the extra under the name of the later filter."""
    rows = [
        row(0, name, metrics=["words"], words=[-0.5, number])
        for number, name in enumerate(FILTERS[:2])
    ]
    (record,) = records_of(rows, tmp_path)
    extra: Any = record.extra

    assert extra["lm-eval"]["words"] == [-0.5, 0]
    assert extra["lm-eval"]["words,flexible"] == [-0.5, 1]


def test_what_each_filter_kept_is_kept(tmp_path: Path) -> None:
    """What is no text stands in the extra, under the name of each later filter."""
    kept = {"strict": [4711], "flexible": [["a", "b"]], "none": ["c"]}
    (record,) = records_of(
        [row(0, name, filtered_resps=value) for name, value in kept.items()], tmp_path
    )
    attribution: Any = record.outputs[0].attribution
    (step,) = attribution

    assert record.extra == {
        "lm-eval": {
            "filtered_resps": [4711],
            "filtered_resps,flexible": [["a", "b"]],
        }
    }
    assert (step["extraction_method"], step["extracted_value"]) == ("none", "c")


@pytest.mark.parametrize("count", [1, 300])
@pytest.mark.parametrize(
    "kept", [[4711], [None], [], [["a", "b"]], ["a", "b"], [["a", 1]]]
)
def test_what_is_kept_as_no_text_is_a_loss(
    kept: Any, count: int, tmp_path: Path
) -> None:
    """It is named among what is lost, however many rows are read with it."""
    path, output = tmp_path / "samples_task_2026.jsonl", tmp_path / "out.json"
    rows = [row(doc, "none") for doc in range(count)]
    rows[-1]["filtered_resps"] = kept
    path.write_bytes(jsonl(*rows))
    report = convert(path, to="nemo-output", output=output)
    lost = {
        outcome.path: number.count
        for file in report.losses
        for outcome, number in file.losses.counts.items()
    }

    assert lost["extra.lm-eval.filtered_resps"] == 1


def test_fail_on_a_loss_sees_what_a_filter_kept(tmp_path: Path) -> None:
    """What is no text is named in the message."""
    path = tmp_path / "samples_task_2026.jsonl"
    path.write_bytes(jsonl(row(0, "none", filtered_resps=[4711])))
    name = re.escape("filtered_resps (as it is)")

    with pytest.raises(ValidationFailed, match=f"it would lose .*{name}"):
        convert(path, to="nemo-output", output=tmp_path / "out.json", on_loss="fail")


def test_answers_of_which_no_text_is_kept_are_left_out(tmp_path: Path) -> None:
    """exact_match of a filter says which answers it cannot compare."""
    path = tmp_path / "samples_task_2026.jsonl"
    kept = [[1], [None], ["2"], [["3"]]]
    rows = [row(at, "strict", filtered_resps=each) for at, each in enumerate(kept)]
    path.write_bytes(jsonl(*rows))
    result = score(
        path,
        profile="lm-eval",
        metrics=["exact_match"],
        parameters={"exact_match.filter": "strict"},
        missing="skip",
    )
    (total,) = result.total.scores

    assert (total.value, total.count, total.unscored) == (1, 2, 2)
    assert [problem.code for problem in result.problems] == ["M103", "M103"]


@pytest.mark.parametrize("how", ["file", "gzip", "stream", "list"])
def test_all_ways_in_give_the_same_records(how: str, tmp_path: Path) -> None:
    """A pipe, a compressed file and an array have the same records as a file."""
    rows = [row(doc, name) for name in FILTERS[:2] for doc in range(5)]
    source: Any = tmp_path / "samples_task_2026.jsonl"
    source.write_bytes(jsonl(*rows))
    expected = [(record.id, record.outputs) for record in read(source)]
    if how == "gzip":
        source = tmp_path / "samples_task_2026.jsonl.gz"
        source.write_bytes(gzip.compress(jsonl(*rows)))
    elif how == "stream":
        source = io.BytesIO(jsonl(*rows))
    elif how == "list":
        source = tmp_path / "samples_task_2026.json"
        source.write_text(json.dumps(rows, indent=2))
    found = [(record.id, record.outputs) for record in read(source)]

    assert len(found) == 5
    assert [id_ for id_, _ in found] == [id_ for id_, _ in expected]
    assert [one[0].text for _, one in found] == [one[0].text for _, one in expected]
    assert [len(one[0].scores or ()) for _, one in found] == [2] * 5


@for_each_case(
    "names, count",
    [
        (["none"], 2),
        ([None], 2),
        (["strict"], 2),
        (["strict", None], 4),
        (["strict", "none", None], 4),
    ],
)
def test_a_stream_is_read_as_a_file_is(
    names: list[str | None], count: int, tmp_path: Path
) -> None:
    """One filter is none of several, and a row without one is a record of its own."""
    rows = [row(doc, name or "none") for name in names for doc in range(2)]
    for place, each in enumerate(rows):
        each["doc"] = {"question": "?"}
        if names[place // 2] is None:
            del each["filter"]
    # A name with a task in it would be read, too.
    path = tmp_path / "rows.jsonl"
    path.write_bytes(jsonl(*rows))
    found = list(read(path))

    assert list(read(io.BytesIO(jsonl(*rows)))) == found
    assert len(found) == count


@pytest.mark.parametrize("jobs", [1, 2])
def test_conversion_and_statistics_count_the_same(jobs: int, tmp_path: Path) -> None:
    """Each answer becomes one row, however many filters it was read with."""
    count = 2_000 if jobs > 1 else 400
    rows = [row(doc, name) for name in FILTERS for doc in range(count)]
    path, output = tmp_path / "samples_task_2026.jsonl", tmp_path / "out.json"
    path.write_bytes(jsonl(*rows))
    constants = {"llm_name": "m"}
    report = convert(
        path, to="nemo-output", output=output, constants=constants, jobs=jobs
    )

    assert report.rows == len(json.loads(output.read_bytes())) == count
    assert stats(path, jobs=jobs).records == count


def test_invalid_rows_are_left_out_alone(tmp_path: Path) -> None:
    """A broken row of one filter leaves the record with the other filters."""
    rows = [row(doc, name) for name in FILTERS[:2] for doc in range(3)]
    rows[4]["resps"] = 3
    path = tmp_path / "samples_task_2026.jsonl"
    path.write_bytes(jsonl(*rows))
    output = tmp_path / "out.jsonl"
    convert(path, to="record", output=output, on_invalid="skip")
    found = jsonl_rows(output)

    assert not validate(path).ok
    assert [len(one["outputs"][0]["scores"]) for one in found] == [2, 1, 2]


def test_a_quarantine_gets_all_rows_of_a_record(tmp_path: Path) -> None:
    """A record that cannot be converted is put aside with the rows of all filters."""
    rows = [row(doc, name) for name in FILTERS[:2] for doc in range(2)]
    for each in (rows[0], rows[2]):
        each["target"] = ["a", 2]
    path = tmp_path / "samples_task_2026.jsonl"
    path.write_bytes(jsonl(*rows))
    aside = tmp_path / "aside.jsonl"
    convert(
        path,
        to="nemo-output",
        output=tmp_path / "out.json",
        constants={"llm_name": "m"},
        on_invalid="quarantine",
        quarantine=aside,
    )

    assert aside.read_bytes() == jsonl(rows[0], rows[2])
