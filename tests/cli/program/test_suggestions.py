"""Wherever a name is asked for, a misspelt one gets the name that was meant.

The options and their names are those that completion lists, from the registries.
"""

import contextlib
import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from cases import for_each_case
from harpia_formats.api.options import options_of, values_of
from harpia_formats.cli.app import run
from harpia_formats.cli.command_table import COMMANDS, TWO_WORDS
from harpia_formats.cli.completion_answer import FILES
from harpia_formats.cli.streams_and_exit_codes import exceptions_to_exit_codes
from harpia_formats.model.spelling import nearest

ROW = (
    b'{"input": {"prompt": "a", "ideal_response": "b", "category": "c", '
    b'"source": "d"}, "response": "b", "llm_name": "m"}\n'
)
#: What a command needs besides the option; others need one file.
NEEDS = {
    "completion": "",
    "config": ".",
    "convert": "a.jsonl --to tencent-outputs",
    "diff": "a.jsonl a.jsonl",
    "formats": "",
    "judge": "a.jsonl -d definition.json",
    "merge": "a.jsonl a.jsonl",
    "preflight": "--init a.jsonl",
    "roundtrip": "a.jsonl --via tencent-outputs",
    "rule": "",
    "sample": "a.jsonl 1",
    "schema": "nemo-output",
    "score": "a.jsonl --metrics em",
    "score agreement": "a.jsonl a.jsonl --field category",
    "score compare": "a.jsonl a.jsonl --metrics em",
    "split": "a.jsonl --valid v.jsonl --invalid i.jsonl",
}
#: The definition is read before the format of the inputs is looked at.
LATE = {("judge", "--from"), ("score", "--plot"), ("score compare", "--plot")}


def misspelt(values: list[str]) -> tuple[str, str]:
    """Return a value and the same with two letters swapped, near no other one."""
    for value in sorted(values, key=len):
        for index, (one, other) in enumerate(pairwise(value)):
            swapped = value[:index] + other + one + value[index + 2 :]
            is_word = index and one.isalpha() and other.isalpha() and one != other
            if len(value) > 3 and is_word and nearest(swapped, values) == value:
                return value, swapped
    return "", ""


def mistakes() -> Iterator[tuple[str, str, str, str]]:
    """Yield each command and option with a name and the same name misspelt."""
    words = {module: " ".join(two) for two, module in TWO_WORDS.items()}
    for module in (*COMMANDS, *TWO_WORDS.values()):
        command = words.get(module, module)
        for option in options_of(module):
            name, wrong = misspelt([value for value, _ in values_of(option)])
            word = option.words[0] if option.words else ""
            if name and option.noun not in FILES and (command, word) not in LATE:
                yield command, word, name, wrong


MISTAKES = list(mistakes())


def printed(words: list[str]) -> str:
    """Return the error that a command line ends with."""
    err = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with (
        pytest.raises(SystemExit) as ended,
        contextlib.redirect_stderr(err),
        exceptions_to_exit_codes(),
    ):
        run(words)
    err.seek(0)

    assert ended.value.code == 2
    return err.read()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with a valid file the working folder."""
    (tmp_path / "a.jsonl").write_bytes(ROW)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@for_each_case("command, option, name, wrong", MISTAKES)
def test_misspelt_name_is_suggested(
    command: str, option: str, name: str, wrong: str
) -> None:
    """Exit code 2, and the name that was meant, for each kind of name."""
    given = [option, wrong + ("true" if wrong.endswith("=") else "")]
    needed = NEEDS.get(command, "a.jsonl").split()
    if option in needed:
        needed = needed[: needed.index(option)]
    words = [*needed, *given] if option else [wrong]
    message = printed([*command.split(), *words])
    meant = {name, name.rstrip("="), name.rstrip("=").rpartition(".")[2]}

    assert any(f"did you mean {each}?" in message for each in meant), message


def test_every_kind_of_name_is_tried() -> None:
    """Formats, rules, metrics, profiles, reporters and the other names are there."""
    tried = {(command, option) for command, option, *_ in MISTAKES}

    assert tried > {
        ("convert", "--to"),
        ("rule", ""),
        ("schema", "--dialect"),
        ("score", "--by"),
        ("score", "--metrics"),
        ("score", "--param"),
        ("score", "--profile"),
        ("score", "--to"),
        ("score compare", "--test"),
        ("validate", "--from"),
        ("validate", "--output-format"),
        ("validate", "--select"),
    }


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("validate a.jsonl --map pormpt=a", "prompt"),
        ("validate a.jsonl --report htlm=x", "html"),
        ("convert a.jsonl --to tencent --group pormpt -o x", "prompt"),
        ("convert a.jsonl --to eee --set evaluation_idd=1", "evaluation_id"),
        ("score a.jsonl -m em --to nemo-results --name taks=a -o x", "task"),
        ("score a.jsonl -m em --model n", "'m'"),
        ("validate a.jsonl", "examples"),
    ],
)
def test_other_names_are_suggested(words: str, meant: str, folder: Path) -> None:
    """Fields, settings and names of the data get suggestions, too."""
    if meant == "examples":
        (folder / "harpia-formats.toml").write_text("exampels = 3\n")
    if meant == "'m'":
        meant, words = "'model'", words.replace("--model n", "--model modle")
        (folder / "a.jsonl").write_bytes(ROW.replace(b'"m"', b'"model"'))

    assert f"did you mean {meant}?" in printed(words.split())
