"""Errors of the Python functions that score name arguments, not options."""

import json
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any

import pytest

from harpia_formats import (
    ConversionError,
    ScoreError,
    ValidationFailed,
    compare_scores,
    convert,
    diff,
    iter_problems,
    read,
    roundtrip,
    score,
    score_agreement,
    score_answers,
    stats,
    validate,
)
from harpia_formats.api.keyword_options import with_score_arguments

pytest.importorskip("numpy", reason="comparing needs the extra score")


def rows(right: int, signature: str) -> list[dict[str, Any]]:
    """Return 30 records with stored scores, of which the first ones are right."""
    return [
        {
            "id": number,
            "prompt": f"question {number}",
            "references": ["yes"],
            "outputs": [
                {
                    "text": f"answer {number}",
                    "scores": [
                        {
                            "metric": "acc",
                            "value": float(number < right),
                            "signature": signature,
                        }
                    ],
                }
            ],
        }
        for number in range(30)
    ]


def read_answers(given: Any) -> list[Any]:
    """Return the stored scores of each answer."""
    return list(score_answers(given, stored=True))


ONE, OTHER = rows(12, "acc|v1"), rows(24, "acc|v2")


@pytest.mark.parametrize(
    ("message", "reworded"),
    [
        ("use --test permutation", 'use test="permutation"'),
        (
            "--param mcc.labels=A,B,C names",
            'parameters={"mcc.labels": ["A", "B", "C"]} names',
        ),
        ("with --labels, or", "with labels, or"),
        ("leave out --missing zero", 'leave out missing="zero"'),
        ("--metrics a,b", 'metrics=["a", "b"]'),
        ("nothing of options", "nothing of options"),
        ("give --set a.b=VALUE", 'give constants={"a.b": VALUE}'),
        (
            "give --set a=VALUE, --set b=VALUE and --score em or --score f1",
            'give constants={"a": VALUE, "b": VALUE} and score="em" or score="f1"',
        ),
        (
            "give --set a=VALUE and --set b=VALUE",
            'give constants={"a": VALUE, "b": VALUE}',
        ),
        ("is there; --overwrite replaces it", "is there; overwrite=True replaces it"),
        ("--prefix-ids puts", "prefix_ids=True puts"),
        ("--on-invalid skip leaves", 'on_invalid="skip" leaves'),
        ("--group id makes", 'group="id" makes'),
        ("choose with --responses", "choose with responses"),
        ("take --responses expand", 'take responses="expand"'),
        ("or take --turns transcript", 'or take turns="transcript"'),
        ("name a file with --quarantine", "name a file with quarantine"),
        ("say --from csv or --to csv", 'say from_="csv" or to="csv"'),
        ("the limit with --max-row-bytes", "the limit with max_row_bytes"),
        ("with --from csv --delimiter ';'", 'with from_="csv", delimiter=";"'),
        ("with --delimiter tab", 'with delimiter="tab"'),
        ("or give --delimiter", "or give delimiter"),
        (
            "with --map prompt=KEY, where KEY is one",
            'with columns={"prompt": KEY}, where KEY is one',
        ),
        ("--map prompt=KEYS, or", 'columns={"prompt": "KEYS"}, or'),
        ("(it failed); use --jobs 1", "(it failed); use jobs=1"),
        ("give --set body.model=NAME", 'give constants={"body.model": VALUE}'),
        (
            "not UTF-8; read it with --encoding gb18030, or convert it with: iconv",
            "not UTF-8; convert it with: iconv",
        ),
        ("--limit and --fix cannot", "limit and fix() cannot"),
        ("a--set and --settle are words", "a--set and --settle are words"),
        ("a --word", "a --word"),
        ("x--test y", "x--test y"),
    ],
)
def test_options_become_arguments(message: str, reworded: str) -> None:
    """Each option becomes the argument with its meaning; other text stays."""
    assert with_score_arguments(message) == reworded


def test_errors_name_arguments() -> None:
    """Those of each function, also while answers are read."""
    unscored = [{"prompt": "a", "outputs": [{"text": "b"}]}]
    calls: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = [
        (score_agreement, (ONE, OTHER), {"weights": "linear"}, "name them with labels"),
        (score_agreement, (ONE,), {"fields": ["id"]}, "1 is given with fields"),
        (
            compare_scores,
            (ONE, ONE),
            {"metrics": ["length"], "test": "mcnemar"},
            'use test="permutation"',
        ),
        (score, (ONE,), {"stored": True, "missing": "zero"}, 'out missing="zero"'),
        (read_answers, (unscored,), {}, "without stored=True scores are computed"),
    ]
    for function, inputs, options, message in calls:
        with pytest.raises(ScoreError, match=message) as caught:
            function(*inputs, **options)
        assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda data: validate(data).problems, "format"),
        (lambda data: tuple(iter_problems(data)), "format"),
        (lambda data: tuple(read(data)), "format"),
        (stats, "from_"),
        (partial(convert, to="record", output=BytesIO()), "from_"),
    ],
)
def test_advice_names_the_argument_of_the_function(
    function: Callable[[bytes], Any], name: str
) -> None:
    """The format of inputs is `format` of some functions, and `from_` of the others."""
    try:
        problems = function(b'{"frage": "q"}\n')
    except ValidationFailed as failed:
        problems = failed.report.problems
    (problem,) = problems

    assert f"; name a format with {name}, or" in problem.help


def test_stored_scores_are_compared() -> None:
    """As by `score compare --stored`, with force if signatures differ."""
    found = compare_scores(ONE, rows(24, "acc|v1"), stored=True)
    forced = compare_scores(ONE, OTHER, stored=True, force=True)

    assert (found.compared[0].first, found.compared[0].second) == (0.4, 0.8)
    assert [one.scores["acc"].value for one in found.systems] == [0.4, 0.8]
    assert forced.compared[0].is_forced
    with pytest.raises(ScoreError, match="; force=True compares anyway"):
        compare_scores(ONE, OTHER, stored=True)
    with pytest.raises(ScoreError, match=r"force=True is about .* needs stored=True"):
        compare_scores(ONE, OTHER, metrics=["em"], force=True)


def lines_of(*rows: Any) -> bytes:
    """Return rows as lines of JSON."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


INSTANCE = {"id": "1", "input": "q", "expected-output": ["r"], "actual-output": "a"}


def test_round_trips_and_comparisons_name_arguments() -> None:
    """Their errors, and the reasons in their reports, name arguments."""
    row = {
        "messages": [{"role": "user", "content": "q"}],
        "model_outputs": [{"model_name": "m", "responses": [{"content": "x"}]}],
    }
    with pytest.raises(ConversionError, match=r'constants=\{"evaluation_id": VALUE'):
        roundtrip(lines_of(INSTANCE), via="eee")
    with pytest.raises(ConversionError, match='from_="csv" or to="csv"'):
        diff(lines_of(INSTANCE), lines_of(INSTANCE), columns={"prompt": "q"})
    report = roundtrip(lines_of(row), via="haystack")
    (line,) = report.fields.values()

    assert line.reason.endswith('give constants={"model_outputs.model_name": VALUE}')
