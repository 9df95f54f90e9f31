"""An EvalEval aggregate and its samples: what they must agree on."""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from corpora import CORPORA
from harpia_converters.eee import aggregate_checks, formats, rules
from harpia_converters.eee.formats import (
    Expected,
    file_remarks,
    mean_scores,
    row_remarks,
    samples_names,
    stem_of,
)
from harpia_formats.plugins import Remark
from json_lines import jsonl_rows

SAMPLES = CORPORA / "eee" / "samples"
#: The remarks on the rows of the real pairs, by what wrote them; no others have any.
KNOWN = {
    "conv_inspect": {"E205": 21},
    "era96bd610f": {"E201": 12, "E205": 12},
}
AGGREGATE: dict[str, Any] = {
    "evaluation_id": "geo/aurora/1785542400",
    "model_info": {"id": "aurora-labs/aurora-7b"},
    "evaluation_results": [
        {"evaluation_name": "geografia", "evaluation_result_id": "geografia:exact"},
        {"evaluation_name": "redação"},
    ],
    "detailed_evaluation_results": {
        "file_path": "data/geo/aurora-labs/aurora-7b/amostras_samples.jsonl",
        "hash_algorithm": "sha256",
        "checksum": "AB" * 32,
        "total_rows": 3,
    },
}
ROW = {
    "evaluation_id": "geo/aurora/1785542400",
    "model_id": "aurora-labs/aurora-7b",
    "evaluation_name": "redação",
}
EXPECTED = Expected(AGGREGATE)

any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*AGGREGATE, "id", "total_rows"]), inner)
    ),
    max_leaves=8,
)


def codes_of(row: dict[str, Any]) -> list[str]:
    """Return the remarks on `row` with the aggregate above."""
    return [each.code for each in row_remarks(EXPECTED, row)]


def with_details(**changed: Any) -> Expected:
    """Return what the aggregate above says with some of its details changed."""
    details = AGGREGATE["detailed_evaluation_results"] | changed
    return Expected(AGGREGATE | {"detailed_evaluation_results": details})


def test_expectations_are_read_from_the_aggregate() -> None:
    """Each expectation is read from its place, the checksum in lower case."""
    expected = {
        "evaluation_id": "geo/aurora/1785542400",
        "model_ids": frozenset({"aurora-labs/aurora-7b"}),
        "result_ids": frozenset({"geografia:exact"}),
        "result_names": frozenset({"geografia", "redação"}),
        "file_path": "data/geo/aurora-labs/aurora-7b/amostras_samples.jsonl",
        "total_rows": 3,
        "checksum": "ab" * 32,
        "hash_algorithm": "sha256",
        "has_details": True,
        "scores": (),
        "bounds": {},
        "metrics": {},
        "metric": None,
    }

    assert {name: getattr(EXPECTED, name) for name in expected} == expected


def test_silent_aggregate_expects_nothing() -> None:
    """An aggregate that says nothing is not contradicted by any row or file."""
    expected = Expected({})

    assert not expected.has_details
    assert not list(row_remarks(expected, ROW))
    assert not list(file_remarks(expected, 7, "00"))


@for_each_case(
    "row, codes",
    [
        (ROW, []),
        ({}, []),
        (ROW | {"evaluation_id": "geo/aurora/1"}, ["E201"]),
        (ROW | {"model_id": "aurora-labs/aurora-70b"}, ["E202"]),
        (ROW | {"evaluation_name": "poesia"}, ["E205"]),
        (ROW | {"evaluation_result_id": "geografia:exact"}, []),
        (ROW | {"evaluation_result_id": None}, []),
        (ROW | {"evaluation_result_id": "redação"}, ["E205"]),
        (
            {"evaluation_id": "x", "model_id": "y", "evaluation_name": "z"},
            ["E201", "E202", "E205"],
        ),
        ({"evaluation_id": 1, "model_id": None, "evaluation_name": []}, []),
    ],
)
def test_rows_are_compared_with_the_aggregate(
    row: dict[str, Any], codes: list[str]
) -> None:
    """A key that differs from the aggregate gets a remark, a missing key does not."""
    assert codes_of(row) == codes


def test_name_is_not_asked_where_an_id_is_given() -> None:
    """A row that names its result by id may have a name of its own."""
    row = ROW | {"evaluation_result_id": "geografia:exact", "evaluation_name": "poesia"}

    assert codes_of(row) == []


def test_row_remark_says_where_and_what() -> None:
    """A remark stands at the key that differs and shows what the aggregate has."""
    (remark,) = row_remarks(EXPECTED, ROW | {"model_id": "outro"})

    assert remark.path == ("model_id",)
    assert '"aurora-labs/aurora-7b"' in remark.message


@for_each_case(
    "rows, digest, codes",
    [
        (3, "ab" * 32, []),
        (3, "AB" * 32, []),
        (3, None, []),
        (2, None, ["E203"]),
        (3, "cd" * 32, ["E204"]),
        (4, "cd" * 32, ["E203", "E204"]),
    ],
)
def test_file_is_compared_with_the_aggregate(
    rows: int, digest: str | None, codes: list[str]
) -> None:
    """The number of rows and the digest must be those of the aggregate."""
    assert [each.code for each in file_remarks(EXPECTED, rows, digest)] == codes


@pytest.mark.parametrize("total", [True, "3", None, [3]])
def test_odd_count_is_not_compared(total: Any) -> None:
    """A count that is no number is for the schema to refuse."""
    assert not list(file_remarks(with_details(total_rows=total), 9, None))


def test_count_of_three_point_nought_is_three() -> None:
    """Draft-07 takes 3.0 for a whole number, and so does the comparison."""
    expected = with_details(total_rows=3.0)

    assert not list(file_remarks(expected, 3, None))
    assert [each.code for each in file_remarks(expected, 4, None)] == ["E203"]


@for_each_case(
    "given_algorithm, checksum, algorithm",
    [
        ("sha256", "a" * 64, "sha256"),
        ("md5", "a" * 32, "md5"),
        ("md5", "a" * 64, "md5"),
        (None, "a" * 64, "sha256"),
        ("crc32", "a" * 32, "md5"),
        (None, "a" * 8, ""),
        (None, None, ""),
    ],
)
def test_hash_algorithm_is_given_or_derived_from_length(
    given_algorithm: Any, checksum: Any, algorithm: str
) -> None:
    """The hash algorithm is the named one, else it follows from the digest length."""
    expected = with_details(hash_algorithm=given_algorithm, checksum=checksum)

    assert expected.hash_algorithm == algorithm


@for_each_case(
    "name, stem",
    [
        ("X.json", "X"),
        ("X_aggregate.json", "X"),
        ("X_samples.jsonl", "X"),
        ("qwen2.5:0.5b_samples.jsonl", "qwen2.5:0.5b"),
        ("_aggregate.json", "_aggregate"),
        ("X.jsonl", ""),
        ("_samples.jsonl", ""),
        (".json", ""),
        ("X", ""),
    ],
)
def test_aggregate_and_samples_have_one_stem(name: str, stem: str) -> None:
    """An aggregate and its samples have one stem, other files have none."""
    assert stem_of(name) == stem


@for_each_case(
    "file_path, name, names",
    [
        ("data/a/b/u_samples.jsonl", "X.json", ("u_samples.jsonl", "X_samples.jsonl")),
        ("data\\a\\u_samples.jsonl", "X.json", ("u_samples.jsonl", "X_samples.jsonl")),
        ("X_samples.jsonl", "X_aggregate.json", ("X_samples.jsonl",)),
        ("data/a/..", "X.json", ("X_samples.jsonl",)),
        ("data/a/", "X.json", ("X_samples.jsonl",)),
        ("", "X.txt", ()),
    ],
)
def test_samples_are_looked_for_by_path_then_by_stem(
    file_path: str, name: str, names: tuple[str, ...]
) -> None:
    """The last part of the given path comes first, and is never a folder above."""
    assert samples_names(name, with_details(file_path=file_path)) == names


@given(any_json, any_json)
def test_comparing_any_two_files_does_not_fail(aggregate: Any, row: Any) -> None:
    """Comparing two files with any content raises no error."""
    expected = Expected(AGGREGATE | {"evaluation_results": aggregate})
    details = {"detailed_evaluation_results": aggregate, "model_info": row}
    other = Expected(details | {"evaluation_id": row})
    rows = [row] if isinstance(row, dict) else [dict.fromkeys(ROW, row)]

    remarks = [each for one in rows for each in row_remarks(expected, one)]
    remarks += file_remarks(other, 1, "00")
    for known in (expected, other):
        scores = mean_scores(known)
        for one in rows:
            scores.add(one)
        remarks += scores.remarks()

    assert {each.code for each in remarks} <= {each.code for each in rules.RULES}


def means(*rows: Any, score: float = 0.5) -> list[Remark]:
    """Return the remarks on the scores of rows of a result that has this score."""
    results = [
        {
            "evaluation_name": "gsm8k",
            "evaluation_result_id": "gsm8k:em",
            "score_details": {"score": score},
        },
        {"evaluation_name": "arc", "score_details": {"score": 1}},
    ]
    scores = mean_scores(Expected({"evaluation_results": results}))
    for row in rows:
        scores.add(row)
    return list(scores.remarks())


def scored(score: Any, name: str = "gsm8k", result: str | None = "gsm8k:em") -> Any:
    """Return a row with a score."""
    evaluation = {"score": score, "is_correct": score == 1}
    return {
        "evaluation_name": name,
        "evaluation_result_id": result,
        "evaluation": evaluation,
    }


@for_each_case(
    "rows, score",
    [
        ((), 0.5),
        ((scored(1), scored(0)), 0.5),
        ((scored(True), scored(0.0)), 0.5),
        ((scored(1), scored(0), scored(0)), 0.33),
        ((scored(1), scored(0), scored(0)), 33.3),
        ((scored(0, "other", "other:em"), scored(0, "other", None)), 0.5),
        ((scored("1"),), 0.5),
        ((scored(1, "arc", None),), 0.5),
    ],
)
def test_mean_of_the_samples_is_the_score(rows: Any, score: float) -> None:
    """A score may be rounded or a percentage; rows of no known result do not count."""
    assert means(*rows, score=score) == []


@pytest.mark.parametrize(
    "other", [scored("1"), scored(10**400), {"evaluation_name": "gsm8k"}, {}]
)
def test_rows_without_a_score_leave_the_mean_unknown(other: Any) -> None:
    """The mean of the other rows is not compared with the score of all of them."""
    if other:
        other = {**other, "evaluation_result_id": "gsm8k:em"}
    assert means(scored(1), scored(1), other) == []


def test_score_that_is_no_float_is_not_compared() -> None:
    """An aggregate may hold an integer of any size."""
    assert means(scored(1), score=10**400) == []


def test_other_mean_is_placed_in_the_aggregate() -> None:
    """The finding names the result, its score, and the mean of its rows."""
    (one,) = means(scored(1), scored(1), scored(0), score=0.5)

    assert one.path == ("evaluation_results", 0, "score_details", "score")
    assert '"gsm8k:em" is 0.5, and the mean of its 3 rows is 0.6667' in one.message


def test_result_without_an_id_is_found_by_its_name() -> None:
    """Rows without a result id belong to the result of their name."""
    (one,) = means(scored(0, "arc", None))

    assert one.path[1] == 1


def test_rules_of_the_pair_are_in_the_table() -> None:
    """Each code that the comparison gives is an EvalEval rule.

    Two more are about aggregates alone.
    """
    used = {
        formats.EVALUATION,
        formats.MODEL,
        formats.ROWS,
        formats.CHECKSUM,
        formats.RESULT,
        formats.MEAN,
        formats.BOUNDS,
    }

    found = {each.code for each in rules.RULES if each.code.startswith("E2")}
    alone = {aggregate_checks.ORDER, aggregate_checks.TIME}

    assert used == found - alone


@for_each_case("code", ["E201", "E202", "E203", "E204", "E205"])
def test_examples_break_and_keep_their_rule(code: str) -> None:
    """Beside the aggregate of the example, only the bad samples break its rule."""
    (rule,) = (each for each in rules.RULES if each.code == code)
    expected = Expected(json.loads(rule.companion))
    found = []
    for data in (rule.bad, rule.good):
        rows = jsonl_rows(data)
        digest = hashlib.sha256(data).hexdigest()
        remarks = [each for row in rows for each in row_remarks(expected, row)]
        remarks += file_remarks(expected, len(rows), digest)
        found.append([each.code for each in remarks])

    assert found == [[code], []]


def real_pairs() -> list[tuple[Path, Path]]:
    """Return each aggregate of the corpus with its samples, found by name."""
    pairs = []
    for each in sorted(SAMPLES.glob("*_aggregate.json")):
        names = samples_names(each.name, Expected(json.loads(each.read_bytes())))
        found = [each.with_name(one) for one in names if each.with_name(one).exists()]
        pairs.append((each, found[0]))
    return pairs


@pytest.mark.corpora
def test_real_pairs_agree_on_count_and_checksum() -> None:
    """All 18 real pairs have the rows and the bytes that their aggregates say."""
    pairs = real_pairs()

    assert len(pairs) == 18
    for aggregate, samples in pairs:
        expected = Expected(json.loads(aggregate.read_bytes()))
        data = samples.read_bytes()
        digest = hashlib.new(expected.hash_algorithm, data).hexdigest()
        assert not list(file_remarks(expected, data.count(b"\n"), digest)), aggregate
        assert expected.checksum
        assert expected.total_rows


@pytest.mark.corpora
def test_rows_of_real_pairs_are_remarked_as_known() -> None:
    """Inspect's rows join no result, the earliest name no run; all others do both."""
    found: dict[str, Counter[str]] = {}
    for aggregate, samples in real_pairs():
        expected = Expected(json.loads(aggregate.read_bytes()))
        group = next((each for each in KNOWN if samples.name.startswith(each)), "")
        counts = found.setdefault(group, Counter())
        for row in samples.read_bytes().splitlines():
            counts.update(each.code for each in row_remarks(expected, json.loads(row)))

    assert found == KNOWN | {"": {}}
