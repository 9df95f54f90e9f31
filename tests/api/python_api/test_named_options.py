"""No error and no advice of a Python function names an option of the command line."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import harpia_formats as hf
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

ROOT = Path(__file__).parents[3]
_OPTION = re.compile(r"(?<![\w-])--[a-z]")
#: Modules with texts that are no messages, and why.
_NO_MESSAGES = {
    "harpia_formats/api/options.py": "the table of options",
    "harpia_formats/api/settings_file.py": "the page on settings",
    "harpia_formats/cli/app.py": "what parses the command line",
    "harpia_formats/cli/command_options.py": "what parses the command line",
    "harpia_formats/cli/command_table.py": "what parses the command line",
    "harpia_formats/cli/commands/completion.py": "scripts for shells",
    "harpia_formats/cli/commands/rule.py": "pages on rules",
    "harpia_formats/cli/help_page.py": "help pages",
    "harpia_formats/evaluation/plots.py": "properties of CSS",
    "harpia_formats/expectations/propose_preflight.py": "a file that is written",
    "harpia_formats/formats/rules/": "pages on rules",
    "harpia_formats/conversion/losses/field_map_markdown.py": "a page",
    "harpia_formats/formats/schema/to_python.py": "a module that is written",
    "converters/harpia_converters/hub/formats.py": "a page on formats",
    "converters/harpia_converters/mt_bench/formats.py": "pages on rules",
    "converters/harpia_converters/openai/formats.py": "pages on rules",
    "rules.py": "pages on rules",
}
#: Modules with messages that no function shows, and why.
_OF_COMMANDS = {
    "harpia_formats/api/results.py": "it names a command to run",
    "harpia_formats/cli/": "it is the command line",
    "harpia_formats/evaluation/llm_judge/": "the command judge",
    "converters/harpia_converters/haystack/judges.py": "the command judge",
}


def _texts(path: Path) -> Iterator[str]:
    """Yield the texts in a module, X for each value in one, without docstrings.

    Those of a module without two hyphens, which no option lacks, are not looked at.
    """
    source = path.read_text(encoding="utf-8")
    if "--" not in source:
        return
    tree = ast.parse(source)
    parts = {
        id(part)
        for node in ast.walk(tree)
        for part in (
            [node.value]
            if isinstance(node, ast.Expr)
            else node.values
            if isinstance(node, ast.JoinedStr)
            else []
        )
    }
    for node in ast.walk(tree):
        if id(node) in parts:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "X"
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


#: A name that is put into a span, with a value or without one.
_NAME = re.compile(r" ?--[a-z-]+(?: [\w=]+)? ?")
_SPAN = re.compile(r"`[^`]*`")
_KNOWN = {word for option in OPTIONS for word in option.all_words()}


def _with_values(text: str) -> str:
    """Return a text with a name and a map where they are put in."""
    return text.replace("`--X`", "`--limit`").replace("--map X`", "--map prompt=X`")


def _has_options(text: str) -> bool:
    """Return whether there is an option of the command line in a text."""
    return any(word in _KNOWN for word in re.findall(r"(?<![\w-])--[a-z-]+", text))


@cache
def _messages() -> list[tuple[str, str]]:
    """Return the texts that have options, each with its module."""
    found = []
    for folder in ("harpia_formats", "converters/harpia_converters"):
        for path in (ROOT / folder).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            if name.startswith(tuple(_NO_MESSAGES)) or path.name in _NO_MESSAGES:
                continue
            texts = _texts(path)
            found += [(name, text) for text in texts if _has_options(text)]
    return found


def test_each_option_in_a_message_is_in_backquotes() -> None:
    """So that it can be distinguished from other text, and is shown as it is typed."""
    left = [
        f"{name}: {text}"
        for name, text in _messages()
        if _has_options(_SPAN.sub("", text)) and not _NAME.fullmatch(text)
    ]

    assert left == []


def test_each_option_in_a_message_has_words_for_python() -> None:
    """A message with an option that Python cannot name is found before a user does."""
    left = [
        f"{name}: {text}"
        for name, text in _messages()
        if not name.startswith(tuple(_OF_COMMANDS))
        and not _NAME.fullmatch(text)
        and _OPTION.search(rendered_for_python(_with_values(text)))
    ]

    assert left == []


ROW = {"id": "1", "prompt": "q", "references": ["r"], "outputs": [{"text": "a"}]}
ONE = jsonl(ROW)
TWO = jsonl(
    {
        "id": "1",
        "prompt": "q",
        "outputs": [{"text": "a", "model": "m"}, {"text": "b", "model": "n"}],
    }
)
MANY = jsonl(*({**ROW, "id": f"{at}", "references": [f"x{at}"]} for at in range(120)))
CHINESE = b'{"prompt":"' + "问题回答".encode("gb18030") * 20 + b'"}\n'
DRAFT = b'{"$schema":"https://json-schema.org/draft/2020-12/schema"}'
Call = Callable[[Path], Any]
#: Calls by what their error or their advice says. The path is that of a file with rows.
CALLS: dict[str, Call] = {
    "read it with the command line, or convert it with: iconv": lambda _: hf.validate(
        CHINESE
    ),
    "UTF-16": lambda _: hf.validate(b'\xff\xfe{"a":1}'),
    "cross_check=True and fix()": lambda at: hf.fix(at, cross_check=True),
    "limit and fix()": lambda at: hf.fix(at, limit=3),
    "leave out output or diff=True": lambda at: hf.fix(
        at, diff=True, output=at.with_name("o")
    ),
    "redact=True and diff=True": lambda at: hf.fix(at, diff=True, redact=True),
    "overwrite=True replaces it": lambda at: hf.convert(ONE, to="record", output=at),
    "csv_safe=True is for": lambda _: hf.convert(
        ONE, to="record", output=BytesIO(), csv_safe=True
    ),
    "name a file with quarantine": lambda _: hf.convert(
        ONE, to="record", output=BytesIO(), on_invalid="quarantine"
    ),
    'and ids="number" replaces': lambda _: hf.convert(
        ONE, to="record", output=BytesIO(), ids="number", prefix_ids=True
    ),
    'constants={"input.ideal_response": VALUE}': lambda _: hf.convert(
        TWO, to="nemo-output", output=BytesIO()
    ),
    'constants={"body.model": NAME}': lambda _: hf.convert(
        ONE, to="openai-batch-input", output=BytesIO()
    ),
    'columns={"prompt": KEY}': lambda _: hf.convert(
        jsonl({"frage": 1}), to="record", output=BytesIO()
    ),
    'delimiter=";"': lambda _: hf.convert(
        b"frage;antwort\n1;2\n", to="record", output=BytesIO(), from_="csv"
    ),
    "or correct columns": lambda _: hf.validate(
        jsonl({"frage": 1}), columns={"prompt": "x"}
    ),
    'read it with format="record"': lambda _: hf.validate(ONE, format="nemo-output"),
    'read it with from_="record"': lambda _: hf.convert(
        ONE, to="harpia", output=BytesIO(), from_="nemo-output"
    ),
    "redact=True and write_baseline": lambda at: hf.validate(
        ONE, redact=True, write_baseline=at.with_name("b")
    ),
    "write it with write_baseline": lambda at: hf.validate(
        ONE, baseline=at.with_name("b")
    ),
    "write one with write_baseline": lambda at: hf.validate(ONE, baseline=at),
    'exclude=[""] names no file': lambda at: hf.validate(at.parent, exclude=[""]),
    "schema of validate takes": lambda _: hf.check_schema(DRAFT),
    'give from_="csv"': lambda _: hf.head(b"abc\n\x00def", rows=1),
    'convert(to="parquet")': lambda at: hf.head(
        ONE, rows=1, output=at.with_suffix(".parquet")
    ),
    'with from_="csv" or columns': lambda _: hf.stats(b"x;y\n1;2\n"),
    'with format="csv" or columns': lambda _: list(hf.read(b"x;y\n1;2\n")),
    'so with from_="csv"': lambda _: hf.detect(b"frage;x\n1;2\n"),
    "the profile default takes no": lambda at: hf.score(ONE, config=at),
    "without stored=True": lambda _: hf.score(ONE, stored=True),
    "leave out profile": lambda _: hf.score(ONE, stored=True, profile="squad"),
    "name one with to": lambda at: hf.score(ONE, metrics=["em"], output=at),
    "choose one with model": lambda _: hf.score(
        TWO, metrics=["length"], to="haystack-results", output=BytesIO()
    ),
    '"f1-macro.labels": ["A", "B", "C"]': lambda _: hf.score(
        MANY, metrics=["f1-macro"]
    ),
    "and needs stored=True": lambda _: hf.compare_scores(
        ONE, ONE, metrics=["em"], force=True
    ),
    "name them with labels": lambda _: hf.score_agreement(ONE, ONE, weights="linear"),
    "are given with fields": lambda _: hf.score_agreement(ONE),
    "fields names another value": lambda _: hf.score_agreement(ONE, ONE),
    'from_="csv" or to="csv"': lambda _: hf.diff(ONE, ONE, columns={"prompt": "a"}),
}


def _texts_in(result: Any) -> Iterator[str]:
    """Yield the texts for people in a result or an error."""
    if isinstance(result, Exception):
        yield str(result)
    for problem in getattr(result, "problems", ()):
        yield problem.help
    for file in getattr(result, "failures", ()):
        yield str(file.reason)
    if isinstance(result, (list, tuple)):
        yield from (str(getattr(each, "nearest", "")) for each in result)
    report = getattr(result, "report", None)
    if report is not None:
        yield from _texts_in(report)


@for_each_case("named", CALLS)
def test_errors_and_advice_name_arguments(tmp_path: Path, named: str) -> None:
    """They say which argument to use, and no option."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ONE)
    result: Any
    try:
        result = CALLS[named](path)
    except hf.HarpiaFormatsError as error:
        result = error
    texts = list(_texts_in(result))

    assert any(named in text for text in texts), texts
    assert not any("--" in text for text in texts)


def test_a_function_takes_its_own_options_only() -> None:
    """`read` names an option of `convert` as unknown, and advice fits the function."""
    rows = jsonl({"prompt": "q", "outputs": []})
    former: dict[str, Any] = {"skip_invalid": True}
    other: dict[str, Any] = {"on_invalid": "skip"}
    with pytest.raises(hf.HarpiaFormatsError, match="there is no option on_invalid"):
        hf.read(rows, **other)
    with pytest.raises(hf.HarpiaFormatsError, match=r'; use on_invalid="skip"$'):
        hf.stats(rows, **former)
    with pytest.raises(hf.HarpiaFormatsError, match=r"no option skip_invalid(?!; use)"):
        hf.validate(rows, **former)


@pytest.mark.parametrize("rows", [0, -2, "3", 1.5])
def test_rows_that_are_no_number_are_refused(rows: Any) -> None:
    """`head` and `sample` copy at least one row, as their commands do."""
    given = jsonl({"prompt": "q", "outputs": []})
    with pytest.raises(hf.HarpiaFormatsError, match="rows must be a whole number"):
        hf.head(given, rows, output=BytesIO())
    with pytest.raises(hf.HarpiaFormatsError, match="size must be a whole number"):
        hf.sample(given, rows, output=BytesIO())


def test_a_sample_takes_the_arguments_of_its_signature() -> None:
    """Each argument that editors show is one that the function takes."""
    given = jsonl({"prompt": "q", "outputs": []})
    shown = inspect.signature(hf.sample).parameters
    required = {name for name, one in shown.items() if one.default is one.empty}

    assert required == {"given", "size"}
    for name in shown.keys() - required - {"output"}:
        options = {"size": 1, "output": BytesIO(), name: shown[name].default}
        assert hf.sample(given, **options).ok


def test_split_takes_what_the_command_takes(tmp_path: Path) -> None:
    """The format has two names, and a ratio can be text."""
    path = tmp_path / "rows.jsonl"
    path.write_text(
        "".join(f'{{"prompt": "q{n}", "outputs": []}}\n' for n in range(40))
    )
    done = hf.split(
        path, format="record", ratio="0.5/0.5", output=tmp_path / "{value}.jsonl"
    )

    assert done.ok
    assert {one.name for one in tmp_path.iterdir()} == {
        "rows.jsonl",
        "1.jsonl",
        "2.jsonl",
    }


@for_each_case(
    "name", sorted({name for one in OPTIONS for name in one.all_functions()})
)
def test_help_of_a_function_names_its_arguments(name: str) -> None:
    """What `help` shows of the options has no option of the command line in it."""
    _, _, options = getattr(hf, name).__doc__.partition("\nOptions:\n")

    assert options
    assert _OPTION.findall(options) == []


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


STORED, OTHER = rows(12, "acc|v1"), rows(24, "acc|v2")


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
        (
            score_agreement,
            (STORED, OTHER),
            {"weights": "linear"},
            "name them with labels",
        ),
        (score_agreement, (STORED,), {"fields": ["id"]}, "1 is given with fields"),
        (
            compare_scores,
            (STORED, STORED),
            {"metrics": ["em"], "test": "mcnemar"},
            'use test="permutation"',
        ),
        (score, (STORED,), {"stored": True, "missing": "zero"}, 'out missing="zero"'),
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
    found = compare_scores(STORED, rows(24, "acc|v1"), stored=True)
    forced = compare_scores(STORED, OTHER, stored=True, force=True)

    assert (found.compared[0].first, found.compared[0].second) == (0.4, 0.8)
    assert [one.scores["acc"].value for one in found.systems] == [0.4, 0.8]
    assert forced.compared[0].is_forced
    with pytest.raises(ScoreError, match="; force=True compares anyway"):
        compare_scores(STORED, OTHER, stored=True)
    with pytest.raises(ScoreError, match=r"force=True is about .* needs stored=True"):
        compare_scores(STORED, OTHER, metrics=["em"], force=True)


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
