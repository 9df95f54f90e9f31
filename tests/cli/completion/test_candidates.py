"""What a word on the command line can become, by the tables of the program."""

from typing import Any

import pytest

from cases import for_each_case
from harpia_formats.api.options import OPTIONS, options_of, values_of
from harpia_formats.cli import REQUEST
from harpia_formats.cli.command_table import COMMANDS, TWO_WORDS
from harpia_formats.cli.commands.completion import LINE, WORD_BREAKS
from harpia_formats.cli.completion_answer import FILES, LISTS, answer, candidates
from harpia_formats.conversion.mapping.choices import Turns
from harpia_formats.evaluation.metrics import GROUPS, METRICS
from harpia_formats.evaluation.scoring.measures.profiles import profile_names
from harpia_formats.evaluation.scoring.significance.p_values import TESTS
from harpia_formats.formats.registry import (
    FAMILIES,
    all_formats,
    all_rules,
    result_formats,
    writable_formats,
)
from harpia_formats.reporters import REPORTERS


def values(line: str) -> list[str]:
    """Return the values that the last word of a line can become."""
    *words, current = line.split(" ")
    return [value for value, _ in candidates(words, current).values]


@for_each_case(
    "line, found",
    [
        ("", COMMANDS),
        ("completion ", ["bash", "zsh", "fish"]),
        ("validate --output-format ", REPORTERS),
        (
            "validate --output-format=",
            [f"--output-format={name}" for name in REPORTERS],
        ),
        ("score -m ", [*METRICS, *GROUPS]),
        ("score --profile ", profile_names()),
        ("score --to ", result_formats()),
        ("score compare a b --test ", TESTS),
        ("convert --turns ", Turns),
        ("score --missing ", ["skip", "zero"]),
        ("rule ", [*all_rules(), *(rule.name for rule in all_rules().values())]),
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
        (["convert --from", "convert -f", "validate --format"], all_formats()),
        (["convert --to", "convert -t", "roundtrip --via"], writable_formats()),
    ],
)
def test_formats_and_families(options: list[str], formats: Any) -> None:
    """Each format that can be read or written is named, and each family of formats."""
    for option in options:
        assert set(values(f"{option} ")) == {*formats, *FAMILIES}


@for_each_case("name", [*COMMANDS, *TWO_WORDS.values()])
def test_every_option_is_completed(name: str) -> None:
    """Each command has its options, and its values wherever some are listed."""
    names = values(f"{name.replace('_', ' ')} --")

    assert "--help" in names
    for option in options_of(name):
        assert {word for word in option.all_words() if word[1] == "-"} <= {*names}
        if option.values:
            assert list(values_of(option)), option.names


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
    *words, current = line.split(" ")
    found = candidates(words, current)

    assert (found.files, found.values) == (True, ())


def test_nouns_are_those_of_the_table() -> None:
    """Each noun that is completed in its own way is that of some option."""
    assert {option.noun for option in OPTIONS} | {"FOLDER"} >= FILES | LISTS


def test_second_words_come_with_their_beginning() -> None:
    """`score c` can be `score compare`; a path is as likely without a letter."""
    assert values("score c") == ["compare"]
    both = candidates(["score"], "")

    assert both.files
    assert [value for value, _ in both.values] == ["compare", "agreement"]
    assert set(values("schema ")) == {*all_formats(), "check", "infer"}
    assert {first for first, _ in TWO_WORDS} == {"schema", "score"}


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
