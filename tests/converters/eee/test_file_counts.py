"""E116 and E118 of whole files: by their counts, by their aggregate, by any process."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from eee_rows import KINDS, SEED, SHAPES, Row, changed, clean_row
from harpia_formats import Report, validate
from json_lines import jsonl

Found = list[tuple[str, str, int | None]]
#: Returns the changes of row `number`.
Changes = Callable[[int], dict[str, Any]]
COUNT = 40


def scored(score: Any, *, is_correct: bool) -> dict[str, Any]:
    """Return the changes that give a row a score and a verdict."""
    return {"evaluation.score": score, "evaluation.is_correct": is_correct}


def rows_of(changes: Changes, count: int = COUNT, shape: str = SEED) -> list[Row]:
    """Return clean rows with changes."""
    return [
        changed(clean_row(shape, KINDS[number % 3], number), changes(number))
        for number in range(count)
    ]


def found_in(report: Report, *codes: str) -> Found:
    """Return the code, severity and record of the problems of some rules."""
    return [
        (each.code, each.severity.value, each.place.record)
        for each in report.problems
        if each.code in codes
    ]


def found_in_rows(changes: Changes, shape: str = SEED, **options: Any) -> Found:
    """Return what E116 and E118 find in rows with changes."""
    data = jsonl(*rows_of(changes, shape=shape))
    report = validate(data, format=shape, lint=True, jobs=1, **options)
    return found_in(report, "E116", "E118")


def of_range(number: int) -> dict[str, Any]:
    """Return a score from 1 to 10, of which more than 6 is correct."""
    return scored(number % 10 + 1, is_correct=number % 10 > 5)


def of_error_rate(number: int) -> dict[str, Any]:
    """Return an error rate, of which 0 is correct."""
    return scored([0, 0.25, 1, 0][number % 4], is_correct=number % 4 in {0, 3})


def with_mistakes(*wrong: int) -> Changes:
    """Return right and wrong scores, and in some records the other verdict."""
    return lambda number: scored(
        number % 2, is_correct=(number % 2 == 1) != (number in wrong)
    )


SCORES = [
    pytest.param(of_range, [], id="range"),
    pytest.param(of_error_rate, [("E116", "note", 1)], id="lower-is-better"),
    pytest.param(with_mistakes(7, 9), [("E116", "warning", 8)], id="minority"),
    pytest.param(with_mistakes(*range(COUNT)), [("E116", "note", 1)], id="all"),
    pytest.param(with_mistakes(*range(20)), [("E116", "warning", 1)], id="half"),
    pytest.param(
        lambda number: scored(number % 4 / 2, is_correct=number == 1), [], id="outside"
    ),
    pytest.param(
        lambda number: scored(1, is_correct=number > 3), [], id="no-score-of-zero"
    ),
    pytest.param(
        lambda number: scored(
            number % 2 == 0, is_correct=number % 2 == 0 or number == 5
        ),
        [("E116", "error", 6)],
        id="booleans",
    ),
]


@pytest.mark.parametrize(("changes", "found"), SCORES)
def test_numbers_are_judged_by_the_file(changes: Changes, found: Found) -> None:
    """Without an aggregate one finding a file at most says what many rows show."""
    assert found_in_rows(changes) == found


def test_results_are_judged_on_their_own() -> None:
    """A mistake in one result is no matter of direction in another one."""

    def changes(number: int) -> dict[str, Any]:
        pair = number // 2
        mistaken = with_mistakes(3)(pair) if number % 2 else of_error_rate(pair)
        return {**mistaken, "evaluation_result_id": "ab"[number % 2]}

    assert found_in_rows(changes) == [("E116", "note", 1), ("E116", "warning", 8)]


@for_each_case("shape, kind", itertools.product(SHAPES, KINDS))
def test_correct_rows_of_any_scale_have_no_error(shape: str, kind: str) -> None:
    """Rows of 0 and 1, typed or not, have no finding where all agree."""
    rows = [
        changed(clean_row(shape, kind, number), {"evaluation_name": "a", **extra})
        for number, extra in enumerate([{}] * 9 + [{"model_id": "a/b"}])
    ]
    report = validate(jsonl(*rows), format=shape, lint=True, jobs=1)

    assert found_in(report, "E116", "E118") == []


AGGREGATE = {
    "schema_version": "0.2.0",
    "evaluation_id": "orchard/finch_finch-3b/1770768000",
    "model_info": {"id": "finch/finch-3b"},
}
RISING = {"lower_is_better": False, "score_type": "continuous"}
FALLING = {**RISING, "lower_is_better": True}
BY_AGGREGATE = [
    ({**FALLING, "min_score": 0, "max_score": 1}, of_error_rate, []),
    ({"lower_is_better": True, "score_type": "binary"}, of_error_rate, []),
    ({"lower_is_better": True}, of_error_rate, []),
    (FALLING, of_error_rate, []),
    ({**RISING, "min_score": 1, "max_score": 10}, of_range, []),
    ({"lower_is_better": False, "score_type": "levels"}, of_error_rate, []),
    ({}, of_error_rate, [("E116", "note", 1)]),
    (
        {**RISING, "min_score": 0, "max_score": 1},
        with_mistakes(7, 9),
        [("E116", "error", 8), ("E116", "error", 10)],
    ),
    ({"lower_is_better": False}, with_mistakes(7, 9), [("E116", "warning", 8)]),
    (RISING, with_mistakes(*range(COUNT)), [("E116", "warning", 1)]),
    (
        {**RISING, "min_score": 1, "max_score": 10},
        lambda number: scored(10, is_correct=number != 2),
        [("E116", "error", 3)],
    ),
    *(
        (
            {**FALLING, "min_score": 0, "max_score": unusable},
            lambda number: scored(number / 2, is_correct=number == 4),
            [("E116", "error", 1)],
        )
        for unusable in (None, 10**400)
    ),
]


@for_each_case(
    "config, changes, found, is_first",
    [(*one, two) for one, two in itertools.product(BY_AGGREGATE, [False, True])],
)
def test_aggregate_decides_what_a_score_means(
    config: dict[str, Any],
    changes: Changes,
    found: Found,
    *,
    is_first: bool,
    tmp_path: Path,
) -> None:
    """Its metric_config decides, named or met in the run, before or after the rows."""
    result = {
        "evaluation_name": "orchard",
        "metric_config": config,
        "score_details": {},
    }
    rows, aggregate = tmp_path / "b_samples.jsonl", tmp_path / "b.json"
    rows.write_bytes(jsonl(*rows_of(changes)))
    aggregate.write_text(json.dumps({**AGGREGATE, "evaluation_results": [result]}))
    names = [aggregate, rows] if is_first else [rows, aggregate]

    paired = validate(*names, lint=True, select=("E116",), jobs=1)
    named = validate(rows, lint=True, select=("E116",), companion=aggregate, jobs=1)

    assert found_in(paired, "E116") == found_in(named, "E116") == found
    errors = sum(severity == "error" for _, severity, _ in found)
    assert named.summary()["invalid"] == errors


def tokens(total: int, given: int = 100, read: int = 50) -> dict[str, Any]:
    """Return the changes that give a row counts of tokens, 10 of them of the answer."""
    return {
        "token_usage": {
            "input_tokens": given,
            "output_tokens": 10,
            "total_tokens": total,
            "input_tokens_cache_read": read,
        }
    }


@for_each_case(
    "changes, found",
    [
        (lambda _: tokens(110), []),
        (lambda _: tokens(160), []),
        (lambda _: tokens(110, read=400), []),
        (lambda number: tokens(160 if number == 4 else 110), [("E118", "warning", 5)]),
        (lambda number: tokens(110 if number == 4 else 160), [("E118", "warning", 5)]),
        (
            lambda number: tokens(110, read=400 if number == 4 else 1),
            [("E118", "warning", 5)],
        ),
        (lambda number: tokens(150 if number == 4 else 110), [("E118", "warning", 5)]),
    ],
)
def test_cached_tokens_are_counted_in_one_way(changes: Changes, found: Found) -> None:
    """Either way is right, and the rows of a file that differ are reported once."""
    assert found_in_rows(changes) == found


def test_written_tokens_count_as_cached() -> None:
    """Tokens that were written to the cache are apart from those of the input, too."""
    usage = tokens(190)["token_usage"] | {"input_tokens_cache_write": 30}

    assert found_in_rows(lambda _: {"token_usage": usage}) == []


def test_findings_are_equal_for_any_jobs(tmp_path: Path) -> None:
    """Files that processes share, and many that each takes one of, are judged alike."""
    large = tmp_path / "large_samples.jsonl"
    filler = {"metadata": {"filler": "word " * 3000}}
    rows = rows_of(lambda number: {**with_mistakes(301)(number), **filler}, 600)
    large.write_bytes(jsonl(*rows))
    for name in range(6):
        path = tmp_path / f"{name}_samples.jsonl"
        path.write_bytes(jsonl(*rows_of(of_error_rate, 9)))

    one, two = (
        validate(tmp_path, lint=True, select=("E116", "V301"), jobs=jobs)
        for jobs in (1, 2)
    )

    assert one == two
    assert sorted(found_in(one, "E116")) == [
        *[("E116", "note", 1)] * 6,
        ("E116", "warning", 302),
    ]


def test_a_lower_severity_holds_for_all_findings() -> None:
    """A severity that the user gives is not raised, and lowers that of findings."""
    mistaken = with_mistakes(7)

    assert found_in_rows(mistaken, severity={"E116": "note"}) == [("E116", "note", 8)]
    assert found_in_rows(mistaken, ignore=("E116",)) == []
