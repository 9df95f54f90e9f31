"""Rows 25 to 28: text of data on terminals, in CI systems and in pages."""

import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from command_runs import error_lines, run
from faults import Injections
from harpia_formats.reporters import REPORTERS
from hostile_text import (
    BROKEN,
    COMMANDS,
    PAGES,
    VALID,
    on_terminal,
    write_files,
)
from strict_page import StrictPage

#: Sequences of a terminal that the program never writes: seven-bit and C1 commands, a
#: link and a title, and marks that turn or hide text.
CONTROLS = (
    "a\x1b[7777Xb\x9b7777Xc\u202edef\u2066g\u200bh\x07\x7f\x85"
    "\x1b]8;;http://pwn/\x1b\\i\x1b]0;title\x07j\x08k"
)
#: What a terminal may get: text, line ends, and the colours and links of the program.
OWN = re.compile(
    r"\x1b\[[0-9;]*m|\x1b\]8;;(?:https://harpia-formats\.github\.io/[^\x1b]*)?\x1b\\"
)
OBEYED = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f]"
)
MARKUP = "[/] [bold]x[/bold] [link=http://pwn]y[/link] :smile:"
WORKFLOW = "x\n::error::pwn\r\n::set-output name=a::b\n##[add-mask]z\n##vso[task.x]y"
#: What a test case of JUnit may hold.
JUNIT = ("failure", "error", "skipped", "system-out", "properties", "property")
ELEMENTS = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`]]>--><!--"
    "</textarea></style><svg onload=alert(1)>&lt;b&gt;[a](javascript:alert(1))"
    "![i](http://pwn/i.png)\u2028|</table>"
)


def _is_escaped(shown: str) -> bool:
    return not OBEYED.search(OWN.sub("", shown))


@pytest.mark.parametrize("columns", [40, 200])
def test_25_no_control_of_data_reaches_a_terminal(
    columns: int, tmp_path: Path, fault: Injections
) -> None:
    """On a narrow and on a wide terminal every command shows controls as escapes."""
    write_files(tmp_path, CONTROLS)
    for command in (*COMMANDS, f"head {VALID}", f"convert {VALID} --to csv"):
        code, shown = on_terminal(command, tmp_path, columns)

        assert code in {0, 1}, (command, shown)
        assert _is_escaped(shown), (command, OBEYED.findall(OWN.sub("", shown)))
        assert "http://pwn/\x1b" not in shown
        fault.add("terminal escapes in data, a command on a terminal", "escaped")


def test_25_no_control_in_the_name_of_a_file_reaches_a_terminal(
    tmp_path: Path, fault: Injections
) -> None:
    """The name of a file is shown with escapes, too."""
    write_files(tmp_path, "text")
    name = "\x1b[7777X\x9b7777X\u202e\x07.jsonl"
    (tmp_path / BROKEN).rename(tmp_path / name)
    for command in (
        *(f"validate . --from record --output-format {each}" for each in REPORTERS),
        "detect .",
        "stats . --from record",
        "convert . --to nemo -o out.jsonl --from record",
    ):
        code, shown = on_terminal(command, tmp_path, 80)

        assert code in {0, 1, 2}, (command, shown)
        assert _is_escaped(shown), command
        assert "Traceback" not in shown
        fault.add("terminal escapes in the name of a file", "escaped")


def test_26_markup_is_printed_as_it_stands(tmp_path: Path, fault: Injections) -> None:
    """Markup of the terminal library is text: no link, no error, no picture."""
    write_files(tmp_path, MARKUP)
    counts = Counter[bool]()
    for command in COMMANDS:
        code, shown = on_terminal(command, tmp_path, 200)
        seen = OWN.sub("", shown)

        assert code in {0, 1}, (command, shown)
        assert "\x1b" not in seen
        assert "\U0001f604" not in seen
        counts["[link=http://pwn]y[/link]" in " ".join(seen.split())] += 1
        fault.add("markup in data, a command on a terminal", "printed as it stands")
    assert counts[True] >= len(COMMANDS) // 3, (
        "the commands show too little of the data"
    )


def test_27_no_workflow_command_comes_from_data(
    tmp_path: Path, fault: Injections
) -> None:
    """No line of any output is a workflow command, except the findings for GitHub."""
    write_files(tmp_path, WORKFLOW)
    for command in COMMANDS:
        found = run(*command.split(), cwd=tmp_path)
        text = (found.stdout + b"\n" + found.stderr).decode()
        lines = re.split(r"[\r\n\x85\u2028]", text)
        commands = [line for line in lines if line.lstrip().startswith("::")]

        assert found.returncode in {0, 1}, (command, found.stderr)
        assert not re.search(r"##\[|##vso\[", text), command
        if "github" in command:
            assert len(commands) == _annotations(tmp_path, command)
            assert all(
                re.match(r"::(error|warning|notice) (file|title)=", line)
                for line in commands
            )
            fault.add("workflow commands in data, findings for GitHub", "none of data")
        else:
            assert commands == [], command
            fault.add("workflow commands in data, another output", "none of data")


def _annotations(folder: Path, command: str) -> int:
    """Return how many annotations a report must have: ten of each severity at most."""
    words = command.replace("github", "json").split()
    groups = json.loads(run(*words, cwd=folder).stdout)["groups"]
    problems = json.loads(run(*words, cwd=folder).stdout)["problems"]
    severity = {(each["path"], each["code"]): each["severity"] for each in problems}
    counts = Counter(severity[each["path"], each["code"]] for each in groups)
    return sum(min(10, count) for count in counts.values())


def test_28_no_element_of_data_is_in_a_page(tmp_path: Path, fault: Injections) -> None:
    """Pages are well-formed, load nothing and have only the elements of their own."""
    write_files(tmp_path, ELEMENTS)
    for number, command in enumerate(PAGES):
        place = tmp_path / f"{number}.html"
        found = run(*command.split(), "--report", place, cwd=tmp_path)
        page = StrictPage(place.read_text(encoding="utf-8"))

        assert found.returncode in {0, 1}, found.stderr
        assert page.faults == [], command
        assert not {"img", "textarea"} & set(page.elements)
        assert page.elements.count("script") <= 1, command
        fault.add("elements and scripts in data, a page", "no element of data")


def test_28_reports_stay_well_formed(tmp_path: Path, fault: Injections) -> None:
    """SARIF, JUnit, GitLab's report and Markdown can be read, and have no element."""
    write_files(tmp_path, ELEMENTS)
    for name in ("sarif", "junit", "gitlab", "json", "jsonl", "markdown"):
        command = f"validate {BROKEN} --from record --lint --output-format {name}"
        text = run(*command.split(), cwd=tmp_path).stdout.decode()

        assert text
        if name == "junit":
            tags = {each.tag for each in ET.fromstring(text).iter()}  # noqa: S314 - ours
            assert tags <= {"testsuites", "testsuite", "testcase", *JUNIT}
        elif name == "markdown":
            _check_markdown(text)
        else:
            for line in text.splitlines() if name == "jsonl" else [text]:
                json.loads(line)
        fault.add("elements and scripts in data, a report for programs", "well-formed")


def test_28_tables_have_no_element_of_data(tmp_path: Path, fault: Injections) -> None:
    """A table in Markdown has no element, picture or link of data."""
    write_files(tmp_path, ELEMENTS)
    command = f"score {VALID} -m em --by category,model --output-format markdown"
    found = run(*command.split(), cwd=tmp_path)

    assert not error_lines(found)
    _check_markdown(found.stdout.decode())
    fault.add("elements and scripts in data, a table in Markdown", "no element of data")


def _check_markdown(text: str) -> None:
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    tags = set(re.findall(r"<([a-zA-Z]+)", page))
    assert not tags & {"script", "img", "svg", "textarea", "style"}, tags
    targets = re.findall(r'href="([^"]*)"', page)
    assert all(each.startswith("https://harpia-formats.github.io/") for each in targets)
