"""Workflow commands are those that the runner of GitHub Actions parses."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated_reports import reports, text_of
from harpia_formats import Because, FileCount, Group, Place, Problem, Report, Severity

#: The annotations of a step that GitHub shows.
MOST = 10
#: How the runner splits a line: name, properties, message. Source: `ActionCommand.cs`
#: (`TryParseV2`) of actions/runner.
_command = re.compile(r"::(?P<name>\S+?)(?: (?P<properties>.*?))?::(?P<message>.*)")
_unescaped = {"%25": "%", "%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ","}
#: The properties of annotations. Source: "Workflow commands for GitHub Actions".
KNOWN = {"file", "line", "col", "endColumn", "title"}

PROBLEM = Problem(
    code="C201",
    name="conditional-turns",
    severity=Severity.ERROR,
    place=Place("runs/a,b:c%.jsonl", 3, 287, 291, 5120, 3, "x", "/turns/0"),
    message="must be an array, found null: 100%",
    because=(Because("/kind", '"multi"', 3, 139),),
    help="give the turns",
)
GROUP = Group(
    path="runs/a,b:c%.jsonl",
    code="C201",
    name="conditional-turns",
    severity=Severity.ERROR,
    pointer="/turns/*",
    count=12_345,
    line=3,
    column=287,
    record=3,
)


def parsed(line: str) -> tuple[str, dict[str, str], str]:
    """Return the name, the properties and the message of a command, as GitHub does."""
    found = _command.fullmatch(line)
    assert found, line
    pairs = (pair.split("=", 1) for pair in found["properties"].split(","))
    properties = {key.strip(): unescaped(value) for key, value in pairs}
    return found["name"], properties, unescaped(found["message"])


def unescaped(text: str) -> str:
    """Return a text with the escapes of commands decoded."""
    return re.sub("%(25|0D|0A|3A|2C)", lambda found: _unescaped[found[0]], text)


def commands_of(report: Report, **options: object) -> list[str]:
    """Return the lines of a report that are commands."""
    lines = text_of("github", report, **options).splitlines()
    return [line for line in lines if line.startswith("::")]


def test_a_finding_is_an_annotation_with_its_place() -> None:
    """File, line, columns, rule, reasons and count arrive as they were written."""
    report = Report((), (GROUP,), (PROBLEM,))
    (line,) = commands_of(report, folder="/w/repo/sub", root="/w/repo")

    assert parsed(line) == (
        "error",
        {
            "file": "sub/runs/a,b:c%.jsonl",
            "line": "3",
            "col": "287",
            "endColumn": "291",
            "title": "C201 conditional-turns /turns/*",
        },
        (
            "must be an array, found null: 100%\n"
            'because kind is "multi"\n'
            "help: give the turns\n"
            "the first of 12,345 such findings"
        ),
    )


def test_ten_annotations_at_most_the_worst_first() -> None:
    """Faults of files come first, then errors, and a sentence says what is missing."""
    notes = [
        replace(GROUP, severity=Severity.NOTE, code=f"S9{n:02}", count=10**6)
        for n in range(20)
    ]
    few = replace(GROUP, code="S101", count=1)
    unread = FileCount("b.jsonl", reason="is not gzip data")
    report = Report((unread,), (*notes, few, GROUP), ())
    lines = text_of("github", report).splitlines()
    found = [parsed(line) for line in lines[:-1]]

    assert len(found) == MOST
    assert found[0][1] == {"file": "b.jsonl", "title": "not read to the end"}
    assert [one[1]["title"][:4] for one in found[1:3]] == ["C201", "S101"]
    assert {one[0] for one in found[3:]} == {"notice"}
    assert lines[-1] == (
        "13 more kinds of findings without an annotation: name a file with "
        "`--report markdown=FILE` to see them"
    )


@pytest.mark.parametrize(
    ("changes", "file"),
    [({"path": "x.eval", "member": "a/1.json"}, "x.eval"), ({"path": "<stdin>"}, None)],
)
def test_a_place_that_github_cannot_show_is_in_the_message(
    changes: dict[str, str], file: str | None
) -> None:
    """Lines in a member are none of the archive, and standard input is no file."""
    group = replace(GROUP, count=1, **changes)  # type: ignore[arg-type]  # texts
    (line,) = commands_of(Report((), (group,), ()))
    _, properties, text = parsed(line)

    assert properties == {
        **({"file": file} if file else {}),
        "title": "C201 conditional-turns /turns/*",
    }
    assert text == f"at {'!'.join(changes.values())}:3:287"


def test_a_name_that_starts_as_a_command_is_the_file() -> None:
    """The property has the name as it is, for a finding and for an unread file."""
    unread = FileCount("::error::a", reason="is not gzip data")
    report = Report((unread,), (replace(GROUP, path="::b"),), ())
    found = [parsed(line)[1]["file"] for line in commands_of(report)]

    assert found == ["::error::a", "::b"]


def test_one_rule_at_one_pointer_is_one_annotation() -> None:
    """Findings of several files are one annotation, which counts them."""
    groups = tuple(replace(GROUP, path=f"{n}.jsonl", count=2) for n in range(3))
    (line,) = commands_of(Report((), groups, ()))

    assert parsed(line)[1]["file"] == "0.jsonl"
    assert parsed(line)[2].endswith("the first of 6 such findings in 3 files")


@given(reports(), st.booleans())
def test_any_report_is_commands_and_nothing_else(
    report: Report, has_summary: bool
) -> None:
    """Whatever data says, each line is a command of ours, or the last sentence."""
    text = text_of("github", report, has_job_summary=has_summary)
    lines = text.split("\n")

    assert lines.pop() == ""
    if lines and not lines[-1].startswith("::"):
        assert re.fullmatch(r"\d+ more kinds? of findings without .*", lines.pop())
    assert len(lines) <= MOST
    for line in lines:
        name, properties, message = parsed(line)
        assert name in {"error", "warning", "notice"}
        assert properties.keys() <= KNOWN
        assert message
        assert "##[" not in line
