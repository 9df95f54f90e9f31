import pytest

from command_runs import run
from known_formats import RULES


def page_of(*arguments: str) -> str:
    """Return the standard output of `rule`, which must end with 0 and no message."""
    result = run("rule", *arguments)
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout.decode()


@pytest.mark.parametrize("asked", ["C201", "c201", "conditional-turns"])
def test_rule_is_explained(asked: str) -> None:
    """The page of a rule has its name, what it says, and both its examples."""
    page = page_of(asked)

    assert page.startswith("C201 conditional-turns (error)\n")
    assert all(f"\n{heading}:\n" in page for heading in ("format", "bad", "good"))


def test_prefix_explains_all_its_rules() -> None:
    """A prefix gives the pages of all rules that begin so, each of them once."""
    page = page_of("J2", "J201")

    assert page.count("byte-order-mark (warning)") == 1
    assert page.count("blank-lines (note)") == 1
    assert page.count("misleading-name (note)") == 1
    found = [code for code in RULES if code.startswith("J2")]
    assert page.count("\ngood:\n") == len(found)


def test_all_rules_are_listed() -> None:
    """The list has one line for each rule, with code, name and severity."""
    listed = [line.split()[:3] for line in page_of("--all").splitlines()]

    rules = RULES.values()
    assert listed == [[rule.code, rule.name, rule.severity.value] for rule in rules]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["duplicate-keys"], "did you mean duplicate-key"),
        ([], "use `--all`"),
        (["--all", "E103"], "`--all` lists every rule"),
    ],
)
def test_unknown_or_missing_rule_is_one_line(arguments: list[str], hint: str) -> None:
    """Without a rule of that name the command ends with 2 and says what to do."""
    result = run("rule", *arguments)

    assert (result.returncode, result.stdout) == (2, b"")
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("error: ")
    assert hint in line


def test_raw_control_character_differs_from_an_escape() -> None:
    """An example shows a raw tab differently from an escaped one."""
    bad, good = page_of("J109").split("\nbad:\n")[1].split("good:\n")

    assert bad.strip() != good.strip()
    assert "\t" not in bad + good


def test_rule_that_must_be_asked_for_says_so() -> None:
    """The first line of a rule tells whether it is only checked when asked for."""
    lint = [each.code for each in RULES.values() if each.lint]
    pages = page_of(*RULES).splitlines()
    marked = [
        each for each in pages if each.endswith(" (only with --lint or --select)")
    ]

    assert [each.split()[0] for each in marked] == lint != []


def test_list_marks_rules_that_must_be_asked_for() -> None:
    """The lines of rules that are only checked with --lint say so."""
    lines = page_of("--all").splitlines()

    marked = [line.split()[0] for line in lines if line.endswith(" (--lint)")]
    assert marked == [each.code for each in RULES.values() if each.lint]


def test_rule_about_file_names_shows_the_example_name() -> None:
    """The page of a rule about file names shows the file name of its bad example."""
    for each in RULES.values():
        if each.file_name:
            assert f"\nbad (as {each.file_name}" in page_of(each.code)


@pytest.mark.parametrize("code", ["E201", "H201"])
def test_other_file_is_shown(code: str) -> None:
    """A rule across two files shows the one that the example is checked against."""
    page = page_of(code)
    other, examples = page.split("\nchecked against:\n")[1].split("\nbad:\n")
    companion = RULES[code].companion.decode()

    assert "".join(other.split()) == "".join(companion.split())
    assert "\ngood:\n" in examples


def test_other_file_is_shown_only_where_there_is_one() -> None:
    """The page of a rule on one file speaks of no other."""
    assert "checked against" not in page_of("S101")


def test_list_is_aligned() -> None:
    """The severities and the sentences of all rules begin at one column each."""
    lines = page_of("--all").splitlines()
    rules = RULES.values()

    pairs = list(zip(lines, rules, strict=True))
    assert len({line.index(f"  {rule.severity.value}") for line, rule in pairs}) == 1
    assert len({line.index(rule.summary) for line, rule in pairs}) == 1
