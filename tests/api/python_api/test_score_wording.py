"""Messages for Python name arguments, not options of the command line."""

import ast
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import (
    ConversionError,
    OptionError,
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
from harpia_formats.api import options as table
from harpia_formats.api.keyword_options import rendered_for_python
from harpia_formats.api.options import OPTIONS, Option, arguments_of
from json_lines import jsonl

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


@for_each_case(
    "message, reworded",
    [
        ("use `--test permutation`", 'use test="permutation"'),
        (
            "`--param mcc.labels=A,B,C` names",
            'parameters={"mcc.labels": ["A", "B", "C"]} names',
        ),
        ("give `--param f1.scale=0-1`", 'give parameters={"f1.scale": "0-1"}'),
        (
            "`--param a.stemmer=true --param b.threshold=SCORE`",
            'parameters={"a.stemmer": True, "b.threshold": SCORE}',
        ),
        ("with `--labels`, or", "with labels, or"),
        ("leave out `--missing zero`", 'leave out missing="zero"'),
        ("such as `--metrics f1`", 'such as metrics=["f1"]'),
        ("`--metrics a,b`", 'metrics=["a", "b"]'),
        ("nothing of options", "nothing of options"),
        ("give `--set a.b=VALUE`", 'give constants={"a.b": VALUE}'),
        (
            "give `--set a=VALUE --set b=VALUE` and `--score em` or `--score f1`",
            'give constants={"a": VALUE, "b": VALUE} and score="em" or score="f1"',
        ),
        ("is there; `--overwrite` replaces it", "is there; overwrite=True replaces it"),
        ("without `--no-strict`", "without strict=False"),
        ("`--prefix-ids` puts", "prefix_ids=True puts"),
        ("`--on-invalid skip` leaves", 'on_invalid="skip" leaves'),
        ("`--group id` makes", 'group="id" makes'),
        ("choose with `--responses`", "choose with responses"),
        (
            "`--responses first --score em` scores",
            'responses="first", score="em" scores',
        ),
        ("or take `--turns transcript`", 'or take turns="transcript"'),
        ("name a file with `--quarantine`", "name a file with quarantine"),
        ("say `--from csv` or `--to csv`", 'say from_="csv" or to="csv"'),
        ("the limit with `--max-row-bytes`", "the limit with max_row_bytes"),
        ("with `--from csv --delimiter ';'`", 'with from_="csv", delimiter=";"'),
        ("with `--delimiter tab`", 'with delimiter="tab"'),
        ("or give `--delimiter`", "or give delimiter"),
        (
            "with `--map prompt=KEY`, where KEY is one",
            'with columns={"prompt": KEY}, where KEY is one',
        ),
        (
            "`--map 'prompt=the question,gt=a'`, or",
            'columns={"prompt": "the question", "gt": "a"}, or',
        ),
        ("`--exclude PATTERN` leaves out", "exclude=[PATTERN] leaves out"),
        ("(it failed); use `--jobs 1`", "(it failed); use jobs=1"),
        ("with `NAME=FILE`, or `--pool`", "with systems={FILE: NAME}, or pool=True"),
        ("`--name task=NAME`", 'names={"task": NAME}'),
        ("`validate --unsafe-fixes` does", "fix(unsafe=True) does"),
        ("`convert --to parquet` does", 'convert(to="parquet") does'),
        ("`score agreement --field NAME`", "score_agreement(fields=[NAME])"),
        ("read it with `--encoding gb18030`", "read it with the command line"),
        ("`--limit` and `--fix` cannot", "limit and fix() cannot"),
    ],
)
def test_options_become_arguments(message: str, reworded: str) -> None:
    """Each option in backquotes becomes the argument with its meaning."""
    assert rendered_for_python(message) == reworded


@for_each_case(
    "message",
    [
        "a --overwrite that is in no backquotes",
        "`overwrite` and a--set",
        "`--no-such-option`",
        "`--overwrite it`",
        "`--jobs many`",
        "`--turns none`",
        "`--set a`",
        "`--to a b`",
        "`--map 'prompt=a`",
        "`convert --unsafe-fixes`",
        "`harpia-formats convert --overwrite`",
        "`the data --overwrite`",
    ],
)
def test_what_is_no_option_stays(message: str) -> None:
    """Text, and what only looks like an option with its value, is left as it is."""
    assert rendered_for_python(message) == message


def test_the_function_says_which_argument_it_is() -> None:
    """One option may be another argument of another function."""
    message = "say `--from csv`, or `--by model`"

    assert rendered_for_python(message, "score") == 'say from_="csv", or by=["model"]'
    assert rendered_for_python(message, "split") == 'say from_="csv", or by="model"'
    assert 'format="csv"' in rendered_for_python(message, "validate")


#: A value of each kind, as it is typed.
_VALUES = {
    table.FLAG: "",
    table.WHOLE: "3",
    table.NUMBER: "0.5",
    table.WORKERS: "2",
    table.DELIMITER: "';'",
    table.MAP: "prompt=question,gt=answer",
    table.CONSTANTS: "a.b=VALUE",
    table.PAIRS: "task=NAME",
    table.PARAMETERS: "f1.scale=100",
    table.NAMES: "one,two",
    table.METRICS: "em,f1",
}


@for_each_case(
    "option, word",
    [
        (option, word)
        for option in OPTIONS
        for word in option.all_words()
        if word.startswith("--") and option.all_functions()
    ],
    ids=lambda given: given if isinstance(given, str) else given.commands.split()[0],
)
def test_each_option_becomes_an_argument(option: Option, word: str) -> None:
    """With a value of its kind it is an argument of its function in Python."""
    value = option.choices.partition(" ")[0] or _VALUES.get(option.kind, "text")
    function = option.all_functions()[0]
    text = rendered_for_python(f"`{word} {value}`", function)
    fields = [each.field for each in arguments_of(function) if word in each.all_words()]
    (call,) = ast.parse(f"f({text})").body

    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    assert [each.arg for each in call.value.keywords] == fields[:1]


def test_errors_name_arguments() -> None:
    """Those of each function, also while answers are read."""
    unscored = [{"prompt": "a", "outputs": [{"text": "b"}]}]
    calls: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = [
        (score_agreement, (ONE, OTHER), {"weights": "linear"}, "name them with labels"),
        (score_agreement, (ONE,), {"fields": ["id"]}, "1 is given with fields"),
        (
            compare_scores,
            (ONE, ONE),
            {"metrics": ["em"], "test": "mcnemar"},
            'use test="permutation"',
        ),
        (score, (ONE,), {"stored": True, "missing": "zero"}, 'out missing="zero"'),
        (read_answers, (unscored,), {}, "without stored=True scores are computed"),
    ]
    for function, inputs, options, message in calls:
        with pytest.raises((ScoreError, OptionError), match=message) as caught:
            function(*inputs, **options)
        assert "--" not in str(caught.value)


@for_each_case(
    "function, name",
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


INSTANCE = {"id": "1", "input": "q", "expected-output": ["r"], "actual-output": "a"}


def test_round_trips_and_comparisons_name_arguments() -> None:
    """Their errors, and the reasons in their reports, name arguments."""
    row = {
        "messages": [{"role": "user", "content": "q"}],
        "model_outputs": [{"model_name": "m", "responses": [{"content": "x"}]}],
    }
    with pytest.raises(ConversionError, match=r'constants=\{"evaluation_id": VALUE'):
        roundtrip(jsonl(INSTANCE), via="eee")
    with pytest.raises(ConversionError, match='from_="csv" or to="csv"'):
        diff(jsonl(INSTANCE), jsonl(INSTANCE), columns={"prompt": "q"})
    report = roundtrip(jsonl(row), via="haystack")
    (line,) = report.fields.values()

    assert line.reason.endswith('give constants={"model_outputs.model_name": VALUE}')
