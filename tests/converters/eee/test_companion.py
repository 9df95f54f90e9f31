"""An EvalEval aggregate and its samples: what they must agree on."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats import Problem, validate
from json_lines import jsonl, jsonl_rows
from known_formats import RULES

#: A row of samples, and an aggregate of such rows.
GOOD: dict[str, Any] = jsonl_rows(RULES["E204"].good)[0]
WHOLE: dict[str, Any] = json.loads(RULES["E204"].companion)
RESULT: dict[str, Any] = WHOLE["evaluation_results"][0]
RESULT.pop("evaluation_result_id", None)
NAME = "samples.jsonl"
ROW = {
    "evaluation_id": "geo/aurora/1785542400",
    "model_id": "aurora-labs/aurora-7b",
    "evaluation_name": "redação",
}
AGGREGATE: dict[str, Any] = WHOLE | {
    "evaluation_id": ROW["evaluation_id"],
    "model_info": WHOLE["model_info"] | {"id": ROW["model_id"]},
    "evaluation_results": [
        RESULT
        | {"evaluation_name": "geografia", "evaluation_result_id": "geografia:exact"},
        RESULT | {"evaluation_name": "redação"},
    ],
}
ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*AGGREGATE, "id", "total_rows"]), inner)
    ),
    max_leaves=8,
)


def problems_of(
    folder: Path, aggregate: Any, *rows: Any, **details: Any
) -> list[Problem]:
    """Return where rows disagree with an aggregate that has these details of them."""
    data, companion = jsonl(*rows), folder / "aggregate.json"
    known = {"format": "jsonl", "file_path": NAME, "total_rows": len(rows)}
    known |= {"hash_algorithm": "sha256", "checksum": hashlib.sha256(data).hexdigest()}
    own = {"detailed_evaluation_results": known | details}
    companion.write_text(json.dumps(aggregate | own))
    return found_in(data, companion)


def found_in(data: bytes, companion: Path) -> list[Problem]:
    """Return where samples disagree with their aggregate."""
    report = validate(data, format="eee@0.3.0", companion=companion, select=["E2"])
    return list(report.problems)


def codes_of(problems: list[Problem]) -> list[str]:
    """Return the codes of problems."""
    return [each.code for each in problems]


def test_silent_aggregate_expects_nothing(tmp_path: Path) -> None:
    """An aggregate that says nothing is not contradicted by any row or file."""
    companion = tmp_path / "aggregate.json"
    silent = {key: AGGREGATE[key] for key in ("schema_version", "source_metadata")}
    companion.write_text(json.dumps(silent | {"evaluation_results": []}))

    assert found_in(jsonl(GOOD | ROW), companion) == []


@for_each_case(
    "changes, codes",
    [
        ({}, []),
        ({"evaluation_id": "geo/aurora/1"}, ["E201"]),
        ({"model_id": "aurora-labs/aurora-70b"}, ["E202"]),
        ({"evaluation_name": "poesia"}, ["E205"]),
        ({"evaluation_result_id": "geografia:exact"}, []),
        # A row that names its result by id may have a name of its own.
        (
            {"evaluation_result_id": "geografia:exact", "evaluation_name": "poesia"},
            [],
        ),
        ({"evaluation_result_id": None}, []),
        ({"evaluation_result_id": None, "evaluation_name": "poesia"}, ["E205"]),
        ({"evaluation_result_id": "redação"}, ["E205"]),
        (
            {"evaluation_id": "x", "model_id": "y", "evaluation_name": "z"},
            ["E201", "E202", "E205"],
        ),
        ({"evaluation_id": 1, "model_id": None, "evaluation_name": []}, []),
    ],
)
def test_rows_are_compared_with_the_aggregate(
    changes: dict[str, Any], codes: list[str], tmp_path: Path
) -> None:
    """A key that differs from the aggregate gets a remark."""
    row = without_result(GOOD) | ROW | changes

    assert sorted(codes_of(problems_of(tmp_path, AGGREGATE, row))) == codes


def without_result(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row that has neither the id of its result nor a score."""
    return {key: row[key] for key in row if key not in REMOVED}


REMOVED = {"evaluation_result_id", "evaluation", *ROW}


def test_missing_keys_are_not_compared(tmp_path: Path) -> None:
    """A row that lacks what the aggregate has does not contradict it."""
    assert problems_of(tmp_path, AGGREGATE, without_result(GOOD)) == []


def test_row_remark_says_where_and_what(tmp_path: Path) -> None:
    """A remark stands at the key that differs and shows what the aggregate has."""
    row = without_result(GOOD) | ROW | {"model_id": "outro"}
    (problem,) = problems_of(tmp_path, AGGREGATE, row)

    assert problem.place.pointer == "/model_id"
    assert '"aurora-labs/aurora-7b"' in problem.message


@for_each_case(
    "total, codes",
    [
        (3, []),
        (3.0, []),  # draft-07 takes it for a whole number
        (2, ["E203"]),
        (4, ["E203"]),
        (True, []),
        ("3", []),
        (None, []),
        ([3], []),
    ],
)
def test_rows_are_counted(total: Any, codes: list[str], tmp_path: Path) -> None:
    """The number of rows is that of the aggregate; other values are not compared."""
    rows = [without_result(GOOD) | ROW] * 3

    assert codes_of(problems_of(tmp_path, AGGREGATE, *rows, total_rows=total)) == codes


def digest(algorithm: str) -> str:
    """Return the checksum of the samples with one row."""
    data = jsonl(without_result(GOOD) | ROW)
    return hashlib.new(algorithm, data).hexdigest()


@for_each_case(
    "algorithm, checksum, codes",
    [
        ("sha256", digest("sha256"), []),
        ("sha256", digest("sha256").upper(), []),
        ("sha256", "cd" * 32, ["E204"]),
        ("md5", digest("md5"), []),
        ("md5", digest("sha256"), ["E204"]),
        (None, digest("sha256"), []),
        (None, "cd" * 32, ["E204"]),
        ("crc32", digest("md5"), []),
        (None, "a" * 8, []),
        (None, None, []),
    ],
)
def test_checksum_is_compared_by_its_algorithm(
    algorithm: Any, checksum: Any, codes: list[str], tmp_path: Path
) -> None:
    """The hash algorithm is the named one, else it follows from the digest length."""
    row = without_result(GOOD) | ROW
    details = {"hash_algorithm": algorithm, "checksum": checksum}

    assert codes_of(problems_of(tmp_path, AGGREGATE, row, **details)) == codes


def test_count_and_checksum_are_compared_both(tmp_path: Path) -> None:
    """Other rows than those of the aggregate are another number and other bytes."""
    row = without_result(GOOD) | ROW
    found = problems_of(tmp_path, AGGREGATE, row, total_rows=4, checksum="cd" * 32)

    assert codes_of(found) == ["E203", "E204"]


@for_each_case(
    "name, file_path, samples, are_found",
    [
        ("X.json", "data/a/b/u_samples.jsonl", "u_samples.jsonl", True),
        ("X.json", "data\\a\\u_samples.jsonl", "u_samples.jsonl", True),
        ("X.json", "data/a/u_samples.jsonl", "X_samples.jsonl", True),
        ("X_aggregate.json", "u_samples.jsonl", "X_samples.jsonl", True),
        ("q2.5:0.5b.json", "data/a/..", "q2.5:0.5b_samples.jsonl", True),
        ("X.json", "data/a/", "X_samples.jsonl", True),
        ("X.json", "data/a/..", "Y_samples.jsonl", False),
        ("X.json", "data/a/..", "X.jsonl", False),
        ("_aggregate.json", "a", "_samples.jsonl", False),
    ],
)
def test_samples_are_looked_for_by_path_then_by_stem(
    name: str, file_path: str, samples: str, are_found: bool, tmp_path: Path
) -> None:
    """The last part of the given path comes first, and is never a folder above."""
    details = {"format": "jsonl", "file_path": file_path, "total_rows": 4}
    own = {"detailed_evaluation_results": details}
    (tmp_path / name).write_text(json.dumps(AGGREGATE | own))
    (tmp_path / samples).write_bytes(jsonl(without_result(GOOD) | ROW))

    assert codes_of(list(validate(tmp_path, select=["E203"]).problems)) == (
        ["E203"] * are_found
    )


@examples(10)
@given(ANY_JSON, ANY_JSON)
def test_comparing_any_two_files_does_not_fail(
    tmp_path_factory: pytest.TempPathFactory, value: Any, row: Any
) -> None:
    """Comparing two files with any content raises no error."""
    folder = tmp_path_factory.mktemp("files")
    given_row = row if isinstance(row, dict) else GOOD | dict.fromkeys(ROW, row)
    for changes in (
        {"evaluation_results": value},
        {"model_info": row, "evaluation_id": row, "evaluation_results": [value]},
    ):
        companion = folder / "aggregate.json"
        companion.write_text(json.dumps(AGGREGATE | changes))
        found = found_in(jsonl(given_row), companion)

        assert {each.code for each in found} <= RULES.keys()


def means(folder: Path, *rows: Any, score: Any = 0.5) -> list[Problem]:
    """Return the problems of the scores of rows of a result that has this score."""
    results = [
        RESULT
        | {
            "evaluation_name": "gsm8k",
            "evaluation_result_id": "gsm8k:em",
            "score_details": {"score": score},
        },
        RESULT | {"evaluation_name": "arc", "score_details": {"score": 1}},
    ]
    found = problems_of(folder, AGGREGATE | {"evaluation_results": results}, *rows)
    return [each for each in found if each.code == "E206"]


def scored(score: Any, name: str = "gsm8k", result: str | None = "gsm8k:em") -> Any:
    """Return a row with a score."""
    evaluation = {"score": score, "is_correct": score == 1}
    names = {"evaluation_name": name, "evaluation_result_id": result}
    return GOOD | ROW | names | {"evaluation": evaluation}


@for_each_case(
    "rows, score",
    [
        ((scored(1), scored(0)), 0.5),
        ((scored(True), scored(0.0)), 0.5),
        ((scored(1), scored(0), scored(0)), 0.33),
        ((scored(1), scored(0), scored(0)), 33.3),
        ((scored(0, "other", "other:em"), scored(0, "other", None)), 0.5),
        ((scored("1"),), 0.5),
        ((scored(1, "arc", None),), 0.5),
        # The mean of the other rows is not compared with the score of all of them.
        ((scored(1), scored(1), scored("1")), 0.5),
        ((scored(1), scored(1), scored(10**400)), 0.5),
        (
            (
                scored(1),
                scored(1),
                without_result(GOOD) | {"evaluation_result_id": "gsm8k:em"},
            ),
            0.5,
        ),
        # An aggregate may hold an integer of any size.
        ((scored(1),), 10**400),
    ],
)
def test_mean_of_the_samples_is_the_score(
    rows: Any, score: float, tmp_path: Path
) -> None:
    """A score may be rounded or a percentage; rows of no known result do not count."""
    assert means(tmp_path, *rows, score=score) == []


def test_other_mean_is_placed_in_the_aggregate(tmp_path: Path) -> None:
    """The finding names the result, its score, and the mean of its rows."""
    (one,) = means(tmp_path, scored(1), scored(1), scored(0), score=0.5)

    assert one.place.pointer == "/evaluation_results/0/score_details/score"
    assert '"gsm8k:em" is 0.5, and the mean of its 3 rows is 0.6667' in one.message


def test_result_without_an_id_is_found_by_its_name(tmp_path: Path) -> None:
    """Rows without a result id belong to the result of their name."""
    (one,) = means(tmp_path, scored(0, "arc", None))

    assert one.place.pointer.startswith("/evaluation_results/1/")
