"""The text of a baseline, and what is refused as one."""

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.formats.schema.bundled_schemas import schema_text
from harpia_formats.validation.baselines.known_findings import (
    NEVER_KNOWN,
    Baseline,
    BaselineError,
    baseline_text,
    key_of,
    parse_baseline,
)

texts = st.text(st.characters(), max_size=5)
keys = st.tuples(st.sampled_from(["S101", "J106", "X101"]), texts, texts)
counts = st.dictionaries(keys, st.integers(1, 10**9), min_size=1, max_size=4)
baselines = st.dictionaries(texts, counts, max_size=4).map(Baseline)


@given(baselines)
def test_what_is_written_is_read(baseline: Baseline) -> None:
    """The text of a baseline is read as the same baseline."""
    data = baseline_text(baseline).encode()

    assert parse_baseline(data, "b") == baseline
    assert parse_baseline(b"\xef\xbb\xbf" + data, "b") == baseline


@given(baselines)
def test_the_text_has_its_published_schema(baseline: Baseline) -> None:
    """The text is valid by the schema of baselines, with a line for each finding."""
    text = baseline_text(baseline)

    jsonschema.validate(json.loads(text), json.loads(schema_text("baseline-1")))
    kinds = sum(map(len, baseline.counts.values()))
    assert len(text.split("\n")) == (kinds or 1) + 3


@given(baselines)
def test_the_text_is_sorted(baseline: Baseline) -> None:
    """Equal baselines have equal texts, in whatever order they were found."""
    turned = {
        path: dict(list(of_file.items())[::-1])
        for path, of_file in list(baseline.counts.items())[::-1]
    }

    assert baseline_text(Baseline(turned)) == baseline_text(baseline)


def test_records_without_a_verdict_are_not_written() -> None:
    """Rules that give no verdict say nothing about the data."""
    found = {(code, "", ""): 1 for code in (*NEVER_KNOWN, "S101")}

    text = baseline_text(Baseline({"a": found}))

    assert [one["code"] for one in json.loads(text)["findings"]] == ["S101"]


def text_with(**entry: object) -> bytes:
    """Return a baseline of one finding with these members."""
    whole = {"path": "a", "code": "S101", "pointer": "", "count": 1, **entry}
    return json.dumps(
        {"schema": "harpia-formats/baseline/1", "findings": [whole]}
    ).encode()


@for_each_case(
    "data, reason",
    [
        (b'{"schema": "harpia-formats/baseline/2"}', "has version 2, and this version"),
        (b'{"schema": "harpia-formats/report/1"}', "is no baseline"),
        (b"[]", "is no baseline"),
        (b"{", "is not JSON: .*line 1, column 2"),
        (b"\n<<<<<<< ours\n", "is not JSON: .*line 2, column 1"),
        (b"\xff", "is not UTF-8"),
        (b"[" * 100_000, "is not JSON"),
        (
            b'{"schema": "harpia-formats/baseline/1"}',
            'must have "schema" and "findings"',
        ),
        (text_with(count=0), 'finding 1 must have "count"'),
        (text_with(count=True), 'finding 1 must have "count"'),
        (text_with(code=None), 'finding 1 must have "code"'),
        (text_with(cause=1), 'finding 1 must have "cause"'),
        (text_with(counts=1), 'finding 1 has an unknown key "counts"'),
        (
            b'{"schema": "harpia-formats/baseline/1", "findings": [1]}',
            "finding 1 is no object",
        ),
    ],
)
def test_what_is_no_baseline_is_refused(data: bytes, reason: str) -> None:
    """A text that is no baseline of this version is refused with the reason."""
    with pytest.raises(BaselineError, match=f"baseline b: .*{reason}"):
        parse_baseline(data, "b")


def test_a_finding_that_is_there_twice_is_refused() -> None:
    """Two counts of one finding, as a bad merge leaves them, are refused."""
    document = json.loads(text_with())
    document["findings"] *= 2

    with pytest.raises(BaselineError, match="finding 2 repeats an earlier one"):
        parse_baseline(json.dumps(document).encode(), "b")


def test_files_are_named_from_the_folder_of_the_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file has one name in a baseline, however and from wherever it is named."""
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    baseline = str(tmp_path / "b.json")

    names = ["x.jsonl", "./x.jsonl", "../data/x.jsonl", str(tmp_path / "data/x.jsonl")]
    assert {key_of(name, baseline) for name in names} == {"data/x.jsonl"}
    assert {key_of("x.jsonl", "../b.json")} == {"data/x.jsonl"}
    for name in ("s3://bucket/x.jsonl", "<stdin>", "<data>"):
        assert key_of(name, baseline) == name


def test_only_what_is_still_found_is_kept() -> None:
    """A baseline is tightened where rules were checked in a file, and never grows."""
    one, two, lint = ("S101", "", ""), ("S102", "/a", ""), ("E103", "", "")
    old = Baseline({"a": {one: 3, two: 1, lint: 4}, "b": {one: 1}, "c": {one: 2}})
    found = Baseline({"a": {one: 2}, "b": {one: 9, two: 1}})
    rules = {"S101", "S102"}

    tightened = old.no_more_than(found, {"a": rules, "b": rules})

    kept = {"a": {one: 2, lint: 4}, "b": {one: 1}, "c": {one: 2}}
    assert tightened == Baseline(kept)
