"""What a word on the command line can become, by the tables of the program."""

import re
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import metric_names
from harpia_formats.cli import REQUEST
from harpia_formats.reporters import REPORTERS
from in_process import completed_in
from known_formats import FORMATS, RULES, WRITABLE

#: Where bash puts the line up to the cursor, and the characters that end its words.
LINE, WORD_BREAKS = "_HARPIA_FORMATS_LINE", "_HARPIA_FORMATS_WORD_BREAKS"
FAMILIES = {each.family for each in FORMATS.values()} - {None, ""}


def answer(request: dict[str, str], words: list[str]) -> str:
    """Return what a shell gets for a request in its variables."""
    found = completed_in(Path.cwd(), *words, variables=request, stdin=b"")
    assert (found.returncode, found.stderr) == (0, b"")
    return found.stdout.decode()


def candidates(line: str) -> tuple[bool, list[str]]:
    """Return whether the last word of a line can be a path, and its other values."""
    kind, *values = answer({REQUEST: "fish"}, line.split(" ")).splitlines()
    return kind == "files", [value.split("\t")[0] for value in values]


def values(line: str) -> list[str]:
    """Return the values that the last word of a line can become."""
    return candidates(line)[1]


def help_page(name: str, option: str = "-h") -> str:
    """Return the help page of a command."""
    words = [*name.split(), option]
    return completed_in(Path.cwd(), *words, variables={}).stdout.decode()


#: The commands of the help page, and those of two words, which it lists with them.
COMMANDS = re.findall(r"^  (\w+(?: \w+)?) {2,}\w", help_page(""), re.MULTILINE)


@for_each_case(
    "line, found",
    [
        ("", [name for name in COMMANDS if " " not in name]),
        ("completion ", ["bash", "zsh", "fish"]),
        ("validate --output-format ", REPORTERS),
        (
            "validate --output-format=",
            [f"--output-format={name}" for name in REPORTERS],
        ),
        ("score -m ", [*metric_names(), "f1-label", "documents"]),
        (
            "score --profile ",
            "default squad harpia nemo nemo-custom nemo-sdk nemo-evaluator haystack "
            "tencent lm-eval inspect".split(),
        ),
        (
            "score --to ",
            "eee@0.2.0 eee@0.2.0-tag eee@0.3.0 harpia-output harpia-log nemo-results "
            "haystack-results haystack-run record csv".split(),
        ),
        ("score compare a b --test ", ["permutation", "bootstrap"]),
        ("convert --turns ", ["last", "transcript", "fail"]),
        ("score --missing ", ["skip", "zero"]),
        ("rule ", [*RULES, *(rule.name for rule in RULES.values())]),
        ("rule J101 dupl", ["duplicate-key"]),
        ("validate --select J101,J10", [f"J101,J10{each}" for each in range(1, 10)]),
        ("validate --select J101,dupl", ["J101,duplicate-key"]),
        ("convert --from harpia-", ["harpia-output", "harpia-log"]),
        ("schema inf", ["infer"]),
        ("score compare a b --met", ["--metrics"]),
        ("validate --quiet --qui", []),
        ("validate --exclude a --excl", ["--exclude"]),
        ("nonsense ", []),
        ("--ver", ["--version"]),
        ("validate --jobs ", []),
    ],
)
def test_words_become_what_the_tables_hold(line: str, found: Any) -> None:
    """The values of each word are those of its table, in their order."""
    assert values(line) == list(map(str, found))


@pytest.mark.parametrize(
    ("options", "formats"),
    [
        (["convert --from", "convert -f", "validate --format"], FORMATS),
        (["convert --to", "convert -t", "roundtrip --via"], WRITABLE),
    ],
)
def test_formats_and_families(options: list[str], formats: Any) -> None:
    """Each format that can be read or written is named, and each family of formats."""
    for option in options:
        assert set(values(f"{option} ")) == {*formats, *FAMILIES}


@for_each_case("name", COMMANDS)
def test_every_option_is_completed(name: str) -> None:
    """Each command has the options of its help page."""
    names = values(f"{name} --")
    page = help_page(name, "--help-all").partition("\nOptions:\n")[2]
    heads = re.findall(r"^ {2,6}(-.*?)(?: {2,}|$)", page, re.MULTILINE)
    options = set(re.findall(r"(?<!\S)--[a-z-]+", " ".join(heads)))

    assert "--help" in names
    assert "--help" in options <= {*names}
    assert len(options) > 1 or name == "completion"


@for_each_case(
    "line",
    [
        "validate ",
        "validate a ",
        "score f",
        "convert -o ",
        "diff a ",
        "validate -- --x",
    ],
)
def test_paths_are_the_task_of_the_shell(line: str) -> None:
    """Where a path is wanted, the shell completes the names of files."""
    assert candidates(line) == (True, [])


def test_second_words_come_with_their_beginning() -> None:
    """`score c` can be `score compare`; a path is as likely without a letter."""
    assert values("score c") == ["compare"]
    assert candidates("score ") == (True, ["compare", "agreement"])
    assert set(values("schema ")) == {*FORMATS, "check", "infer"}
    twos = {name.split()[0] for name in COMMANDS if " " in name}
    assert twos == {"schema", "score"}


@for_each_case(
    "line, words",
    [
        ("harpia-formats convert --to eee@0.3", "@0.3.0"),
        ("harpia-formats convert --from=har", "harpia\nharpia-output\nharpia-log"),
        ("harpia-formats validate 'a b' --fail-", "--fail-fast"),
        ("harpia-formats validate 'a b --fail-", None),
        ('harpia-formats validate "a" --select J101,J102,C20', "J101,J102,C201"),
    ],
)
def test_bash_breaks_words_at_its_own_characters(line: str, words: str | None) -> None:
    """For bash a value lacks what bash takes for an earlier word."""
    request = {REQUEST: "bash", LINE: line, WORD_BREAKS: " \t\n\"'@><=;|&(:"}
    expected = "files\n" if words is None else f"values\n{words}\n"

    assert answer(request, []).startswith(expected)


def test_other_shells_get_descriptions() -> None:
    """Zsh and fish get a few words on each value, in their own form."""
    fish = answer({REQUEST: "fish"}, ["validate", "--output-format", "conc"])
    zsh = answer({REQUEST: "zsh"}, ["validate", "--output-format", "conc"])

    assert fish == "values\nconcise\tone line for each problem\n"
    assert zsh == "values\nconcise:one line for each problem\n"
    assert answer({REQUEST: "zsh"}, ["score", "--param", "ter.c"]).startswith(
        "partial\n"
    )
