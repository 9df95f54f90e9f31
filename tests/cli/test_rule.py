import subprocess
import sys

import pytest

from harpia_formats.registry import all_rules

COMMAND = [sys.executable, "-m", "harpia_formats", "rule"]


def page_of(*arguments: str) -> str:
    """Return what the command writes, which must go well."""
    done = subprocess.run(  # noqa: S603 - the command is ours
        [*COMMAND, *arguments], capture_output=True, check=True, timeout=30
    )
    assert done.stderr == b""
    return done.stdout.decode()


def test_rule_that_must_be_asked_for_says_so() -> None:
    """The first line of a rule tells whether it is only checked when asked for."""
    lint = [each.code for each in all_rules().values() if each.lint]
    pages = page_of(*all_rules()).splitlines()
    told = [each for each in pages if each.endswith(" (only with --lint or --select)")]

    assert [each.split()[0] for each in told] == lint != []


def test_name_of_the_example_is_told_where_it_matters() -> None:
    """A rule on names of files says what its example is called."""
    for each in all_rules().values():
        if each.file_name:
            assert f"\nbad (as {each.file_name}" in page_of(each.code)


@pytest.mark.parametrize("code", ["E201", "H201"])
def test_other_file_is_shown(code: str) -> None:
    """A rule across two files shows the one that the example is checked against."""
    page = page_of(code)
    other, examples = page.split("\nchecked against:\n")[1].split("\nbad:\n")
    beside = all_rules()[code].companion.decode()

    assert "".join(other.split()) == "".join(beside.split())
    assert "\ngood:\n" in examples


def test_other_file_is_shown_only_where_there_is_one() -> None:
    """The page of a rule on one file speaks of no other."""
    assert "checked against" not in page_of("S101")


def test_list_is_aligned() -> None:
    """The severities and the sentences of all rules begin at one column each."""
    lines = page_of("--all").splitlines()
    rules = all_rules().values()

    pairs = list(zip(lines, rules, strict=True))
    assert len({line.index(f"  {rule.severity.value}") for line, rule in pairs}) == 1
    assert len({line.index(rule.summary) for line, rule in pairs}) == 1
