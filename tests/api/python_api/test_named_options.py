"""No error and no advice of a Python function names an option of the command line."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import harpia_formats as hf
from cases import for_each_case
from harpia_formats.api.keyword_options import rendered_for_python
from harpia_formats.api.options import OPTIONS
from json_lines import jsonl

pytest.importorskip("numpy", reason="comparing needs the extra score")

ROOT = Path(__file__).parents[3]
_OPTION = re.compile(r"(?<![\w-])--[a-z]")
#: Modules with texts that are no messages, and why.
_NO_MESSAGES = {
    "harpia_formats/api/apply_recipe.py": "a file that is written",
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
    'validate it with format="record"': lambda _: hf.validate(
        ONE, format="nemo-output"
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


@for_each_case("said", CALLS)
def test_errors_and_advice_name_arguments(tmp_path: Path, said: str) -> None:
    """They say which argument to use, and no option."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ONE)
    result: Any
    try:
        result = CALLS[said](path)
    except hf.HarpiaFormatsError as error:
        result = error
    texts = list(_texts_in(result))

    assert any(said in text for text in texts), texts
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
    for function in (hf.head, hf.sample):
        with pytest.raises(hf.HarpiaFormatsError, match="rows must be a whole number"):
            function(given, rows, output=BytesIO())


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
