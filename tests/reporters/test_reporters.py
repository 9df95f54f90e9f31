import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from cases import for_each_case
from harpia_formats import (
    Because,
    Excerpt,
    FileCount,
    Fix,
    Group,
    Place,
    Problem,
    Report,
    Severity,
)
from harpia_formats.plugins import json_text, safe
from harpia_formats.reporters import REPORTERS, Options
from json_lines import jsonl_rows

SCHEMA = json.loads(
    (
        Path(__file__).parents[2]
        / "schemas"
        / "harpia-formats"
        / "report-1.schema.json"
    ).read_bytes()
)
LINE = '…"interaction_type": "multi_turn", "interactions": null, "output"…'
START = LINE.index("null")
PROBLEM = Problem(
    code="C201",
    name="conditional-turns",
    severity=Severity.ERROR,
    place=Place(
        path="runs.jsonl",
        line=3,
        column=287,
        end_column=291,
        byte_offset=5120,
        record=3,
        record_id="gsm8k_0003",
        pointer="/interactions",
        record_id_key="sample_id",
    ),
    message="interactions must be an array, found null",
    because=(Because("/interaction_type", '"multi_turn"', 3, 139),),
    help='give the turns in interactions, or set interaction_type to "single_turn"',
    schema_pointer="/allOf/0/then/properties/interactions/type",
    excerpt=Excerpt(LINE, START, START + 4),
)
FULL = """\
runs.jsonl:3:287  C201 conditional-turns  /interactions  (sample_id "gsm8k_0003")
  3 | …"interaction_type": "multi_turn", "interactions": null, "output"…
    |                                                    ^^^^
  interactions must be an array, found null
  because interaction_type is "multi_turn"  (runs.jsonl:3:139)
  help: give the turns in interactions, or set interaction_type to "single_turn"
"""
CONCISE = (
    "runs.jsonl:3:287: C201 conditional-turns "
    "interactions must be an array, found null "
    'because interaction_type is "multi_turn" [/interactions]\n'
)
GROUP = Group(
    path="runs.jsonl",
    code="C201",
    name="conditional-turns",
    severity=Severity.ERROR,
    pointer="/interactions",
    count=12_345,
    line=3,
    column=287,
    record=3,
)
FILE = FileCount(
    path="runs.jsonl",
    format="eee@0.2.0",
    records=20_000,
    invalid=12_345,
    errors=12_345,
    bytes=10_000_000,
    complete=True,
)
EMPTY = Report(files=(), groups=(), problems=())
QUIET = Options(quiet=True)
HOSTILE = (
    "\x1b]8;;http://x\x07y\x1b\\",
    "\x9b31m",
    "[/]",
    "[link=http://x]y[/link]",
    "::error::pwned",
    "\n::error::pwned",
    "##[add-mask]a",
    "\u202egnp.exe",
    "\ud800",
    "a\r\x00\x7f\u2028b",
    "\x1b" * 10_000_000,
)


def reported(
    name: str,
    problems: Iterable[Problem] = (),
    report: Report = EMPTY,
    options: Options = QUIET,
) -> str:
    """Return what the reporter called `name` writes."""
    texts: list[str] = []
    REPORTERS[name].write(problems, lambda: report, texts.append, options)
    return "".join(texts)


def summary_lines(report: Report) -> list[str]:
    """Return what the full report ends with, a line for each file and their total."""
    lines = reported("full", [], report, Options()).splitlines()
    return [line for line in lines if not line.startswith("...")]


def statistics_lines(report: Report) -> list[str]:
    """Return the lines of the table of rules."""
    lines = reported("concise", [], report, Options(statistics=True)).splitlines()
    return [line for line in lines if line.startswith(" ")]


def frame(excerpt: Excerpt, room: int) -> tuple[str, str]:
    """Return what is shown of an excerpt, which has some columns, and its carets."""
    problem, narrow = replace(PROBLEM, excerpt=excerpt), Options(width=room + 6)
    lines = reported("full", [problem], EMPTY, narrow).splitlines()
    text, carets = lines[1:3]
    assert text.startswith("  3 | ")
    assert carets.startswith("    | ")
    return text[6:], carets[6:]


def placed(problem: Problem = PROBLEM, **changes: Any) -> Problem:
    """Return `problem` at a place with `changes`."""
    return replace(problem, place=replace(problem.place, **changes))


def grouped(*groups: Group) -> Report:
    """Return a report of `groups`."""
    return Report(files=(FILE,), groups=groups, problems=())


def hostile(text: str) -> Problem:
    """Return a problem that has `text` wherever data can get."""
    place = replace(
        PROBLEM.place, path=text, record_id=text, pointer=text, record_id_key=text
    )
    return replace(
        PROBLEM,
        place=place,
        message=text,
        help=text,
        because=(Because(text, text, 1, 1),),
        fix=Fix("replace", text, {text: [text]}),
        excerpt=Excerpt(text, 0, len(text)),
    )


def hostile_report(text: str) -> Report:
    """Return a report that has `text` wherever data can get."""
    file = replace(FILE, path=text, format=text, reason=text)
    group = replace(GROUP, path=text, pointer=text, name=text)
    return Report(files=(file, file), groups=(group,), problems=())


def check(instance: Any, definition: str = "") -> None:
    """Raise an error unless `instance` is what the published schema says."""
    schema = SCHEMA
    if definition:
        schema = {
            "definitions": SCHEMA["definitions"],
            "$ref": f"#/definitions/{definition}",
        }
    jsonschema.Draft7Validator(schema).validate(instance)


def test_the_builtin_reporters_stay() -> None:
    """No built-in reporter is taken away or renamed: programs ask for them."""
    assert {"concise", "full", "json", "jsonl"} <= REPORTERS.keys()


@for_each_case("name", REPORTERS)
def test_reporter_has_a_name_and_a_summary_for_the_help(name: str) -> None:
    """A reporter stands in the table under its own name, with a line of help."""
    reporter = REPORTERS[name]

    assert reporter.name == name
    assert re.fullmatch(r"[a-z][a-z0-9-]*", name)
    assert reporter.summary
    assert not reporter.summary.endswith(".")


@for_each_case("name", REPORTERS)
def test_every_reporter_writes_the_rule(name: str) -> None:
    """Each reporter names the rule of a problem in UTF-8 text."""
    text = reported(name, [PROBLEM], grouped(GROUP))

    assert PROBLEM.code in text
    assert text.encode().decode() == text


@pytest.mark.parametrize(
    ("name", "unwanted"),
    [
        ("concise", ("rich", "orjson", "typer", "jsonschema")),
        ("full", ("rich", "orjson", "typer", "jsonschema")),
        ("json", ("rich", "typer", "jsonschema")),
    ],
)
def test_imports_are_light(name: str, unwanted: tuple[str, ...]) -> None:
    """A reporter imports nothing that its output has no need of."""
    script = f"""
import sys
from harpia_formats.model.report import Report
from harpia_formats.reporters import REPORTERS, Options
REPORTERS[{name!r}].write([], lambda: Report((), (), ()), len, Options(color=True))
print([each for each in {unwanted!r} if each in sys.modules])
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - our own script

    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", ["concise", "full", "jsonl"])
def test_problems_are_written_as_they_come(name: str) -> None:
    """Each problem is out before the next one is asked for."""
    texts: list[str] = []
    counts: list[int] = []

    def problems() -> Iterator[Problem]:
        for line in range(1, 4):
            counts.append(len(texts))
            yield placed(line=line)

    REPORTERS[name].write(problems(), lambda: EMPTY, texts.append, QUIET)

    assert counts == [0, 1, 2]


@for_each_case("name", REPORTERS)
def test_report_is_asked_for_last(name: str) -> None:
    """The report is asked for once, after the last problem."""
    events: list[str] = []

    def problems() -> Iterator[Problem]:
        yield PROBLEM
        events.append("exhausted")

    def finish() -> Report:
        events.append("finished")
        return EMPTY

    REPORTERS[name].write(problems(), finish, lambda _: None, Options())

    assert events == ["exhausted", "finished"]


def test_concise_is_one_line() -> None:
    """A problem is one line that starts with a place to click on."""
    assert reported("concise", [PROBLEM]) == CONCISE


def test_concise_names_the_severity_below_error() -> None:
    """Only a warning and a note say what they are; no pointer, no brackets."""
    problem = placed(replace(PROBLEM, severity=Severity.WARNING), pointer="")

    assert reported("concise", [problem]) == (
        "runs.jsonl:3:287: warning C201 conditional-turns "
        "interactions must be an array, found null "
        'because interaction_type is "multi_turn"\n'
    )


def test_concise_folds_repeats() -> None:
    """A group with more problems than shown has a line with both counts."""
    whole = replace(GROUP, code="S101", name="type", pointer="", count=2)

    assert reported("concise", [PROBLEM] * 5, grouped(GROUP, whole)) == (
        CONCISE * 5
        + "runs.jsonl: C201 conditional-turns /interactions: 12,345 in all, 5 shown\n"
        + "runs.jsonl: S101 type: 2 in all, 0 shown\n"
    )


def test_concise_leaves_the_summary_to_its_caller() -> None:
    """A pipe gets findings only, whether quiet or not."""
    assert reported("concise", [], grouped(), Options()) == ""


def test_concise_adds_statistics() -> None:
    """The counts of each rule come last."""
    report = grouped(replace(GROUP, count=1))

    assert reported("concise", [PROBLEM], report, Options(statistics=True)) == (
        CONCISE + "  1  C201 conditional-turns  /interactions\n"
    )


def test_full_shows_everything() -> None:
    """A problem has a headline, a frame, a message, its reason and help."""
    assert reported("full", [PROBLEM]) == FULL


def test_full_sets_problems_apart() -> None:
    """There is an empty line between two problems, and none at the end."""
    assert reported("full", [PROBLEM, PROBLEM]) == f"{FULL}\n{FULL}"


@for_each_case(
    "changes, headline",
    [
        ({"record_id_key": ""}, '/interactions  (id "gsm8k_0003")'),
        ({"record_id": 7}, "/interactions  (sample_id 7)"),
        ({"record_id": None}, "/interactions  (record 3)"),
        ({"record_id": None, "record": None}, "/interactions"),
        ({"record_id": 'x"' * 50}, f'/interactions  (sample_id "{"x" + chr(34)}'),
        ({"record_id": 2**20_000}, "/interactions  (sample_id 0x1000"),
    ],
)
def test_full_names_the_record(changes: dict[str, Any], headline: str) -> None:
    """A record is known by its id, else by its number, else not at all."""
    line = reported("full", [placed(**changes)]).splitlines()[0]

    assert line.startswith(f"runs.jsonl:3:287  C201 conditional-turns  {headline}")
    assert len(line) <= 200


def test_full_omits_missing_parts() -> None:
    """Without pointer, record, excerpt, reason and help, two lines are written."""
    problem = Problem(
        code="J101",
        name="invalid-json",
        severity=Severity.NOTE,
        place=Place("a.jsonl", 1, 2, 3, 1),
        message="expected a value",
    )

    assert reported("full", [problem]) == (
        "a.jsonl:1:2  note J101 invalid-json\n  expected a value\n"
    )


def test_full_writes_pointers_with_dots() -> None:
    """A reason names its place with dots, or the record if there is no pointer."""
    because = (
        Because("/a~1b/0/c~0d", "1", 1, 1),
        Because("", "[]", 2, 1),
    )

    assert reported("full", [replace(PROBLEM, because=because)]).splitlines()[4:6] == [
        "  because a/b[0].c~d is 1  (runs.jsonl:1:1)",
        "  because the record is []  (runs.jsonl:2:1)",
    ]


@pytest.mark.parametrize(
    ("severity", "code"),
    [(Severity.ERROR, 31), (Severity.WARNING, 33), (Severity.NOTE, 34)],
)
def test_full_paints_for_a_terminal(severity: Severity, code: int) -> None:
    """Colour is added around our own words and changes none of them."""
    problem = replace(PROBLEM, severity=severity)
    text = reported("full", [problem], options=Options(color=True, quiet=True))
    plain = text
    for each in (0, 1, 2, code):
        plain = plain.replace(f"\x1b[{each}m", "")

    assert plain == reported("full", [problem])
    assert text.startswith(f"\x1b[1mruns.jsonl:3:287\x1b[0m  \x1b[{code}m")
    assert "\n\x1b[2m  3 | \x1b[0m…" in text
    assert f"^^^^\x1b[0m\n  {PROBLEM.message}\n" in text


def test_concise_paints_the_place_and_the_code() -> None:
    """Colour changes no character of the line."""
    text = reported("concise", [PROBLEM], options=Options(color=True))

    assert text.startswith("\x1b[1mruns.jsonl:3:287\x1b[0m: \x1b[31mC201\x1b[0m ")
    assert re.sub(r"\x1b\[\d+m", "", text) == CONCISE


def test_full_folds_repeats() -> None:
    """A group with more problems than shown says how many more."""
    groups = (
        GROUP,
        replace(GROUP, code="S101", pointer=""),
        replace(GROUP, code="S102", count=3),
    )

    assert reported("full", [PROBLEM] * 5, grouped(*groups)).split("\n\n")[-1] == (
        "... and 12,340 more like the 5 above: C201 at /interactions\n"
        "... and 12,345 not shown: S101\n"
        "... and 3 not shown: S102 at /interactions\n"
    )


@pytest.mark.parametrize("name", ["concise", "full"])
def test_groups_at_one_place_are_distinguished(name: str) -> None:
    """Groups of one code and pointer have their key, or else a message, in the line."""
    group = replace(GROUP, pointer="", count=9)
    keys = [replace(group, key=each, cause=each) for each in ("turns", "output")]
    causes = [replace(group, cause=each, message=each) for each in ("low", "high")]
    problem = placed(replace(PROBLEM, cause="turns"), pointer="")
    lines = reported(name, [problem], grouped(*keys)).splitlines()[-2:]
    others = reported(name, [], grouped(*causes)).splitlines()[-2:]

    assert [" (turns)" in lines[0], " (output)" in lines[1]] == [True, True]
    assert [line.rpartition("; ")[2] for line in others] == ["low", "high"]


def test_full_says_which_file_is_cut() -> None:
    """Among several files a group that is not shown whole names its own."""
    report = Report(files=(FILE, FILE), groups=(GROUP,), problems=())

    assert reported("full", [PROBLEM], report).endswith(
        "... and 12,344 more like the 1 above: C201 at /interactions in runs.jsonl\n"
    )


def test_full_ends_with_statistics_and_summary() -> None:
    """The counts of each rule and of each file follow in sections of their own."""
    report = grouped(replace(GROUP, count=1))

    assert reported("full", [PROBLEM], report, Options(statistics=True)) == (
        f"{FULL}\n"
        "  1  C201 conditional-turns  /interactions\n\n"
        "runs.jsonl: 20,000 records: 7,655 valid, 12,345 invalid; 12,345 errors "
        "(eee@0.2.0)\n"
    )


#: Characters of one column and of two, and such that are shown as escapes.
PIECES = st.text("ab 1é漢字😀\x1b\u202e\u200b\udc80", max_size=80)


def test_frame_fits_the_terminal() -> None:
    """A long line is cut on both sides, and the mark stays in it."""
    excerpt = Excerpt("a" * 300 + "null" + "b" * 300, 300, 304)

    assert frame(excerpt, 20) == ("…aaaaaaanullbbbbbbb…", "        ^^^^")


@for_each_case(
    "parts, text, carets",
    [
        (("", "a" * 100, "b"), "a" * 19 + "…", "^" * 20),
        (("aa", "x", "b" * 100), "aax" + "b" * 16 + "…", "  ^"),
        (("a" * 100, "x", "bb"), "…" + "a" * 16 + "xbb", " " * 17 + "^"),
        (("", "", ""), "", "^"),
        (("a" * 100, "", ""), "…" + "a" * 19, " " * 20 + "^"),
        (("", "", "a" * 100), "a" * 19 + "…", "^"),
        (("abc", "", ""), "abc", "   ^"),
        (("模型", "评估", "x"), "模型评估x", "    ^^^^"),
        (("e\u0301", "o\u0308", ""), "e\u0301o\u0308", " ^"),
        (("\u1112\u1161\u11ab", "x", ""), "\u1112\u1161\u11abx", "  ^"),
        (("\x1b", "\u202e", ""), r"\x1b\u202e", "    ^^^^^^"),
        (("", "#", "#[error]x"), r"\x23#[error]x", "^^^^"),
        (("\t", "1", ""), r"\t1", "  ^"),
    ],
)
def test_carets_are_under_the_mark(
    parts: tuple[str, str, str], text: str, carets: str
) -> None:
    """Wide, combining and escaped characters move the carets as they move the text."""
    before, marked, after = parts
    excerpt = Excerpt("".join(parts), len(before), len(before + marked))

    assert after in excerpt.text
    assert frame(excerpt, 20) == (text, carets)


@given(PIECES, PIECES, PIECES)
def test_frame_keeps_to_its_room(before: str, marked: str, after: str) -> None:
    """A frame is never wider than its room, and its carets never behind its text."""
    excerpt = Excerpt(before + marked + after, len(before), len(before + marked))
    text, carets = frame(excerpt, 30)

    assert cell_len(text) <= 30
    assert len(carets) <= max(cell_len(text), 1) + 1
    assert safe(f"x{text}") == f"x{text}"


def test_frame_follows_the_width() -> None:
    """A narrow terminal gets a narrow frame, but none below twenty columns."""
    lines = reported("full", [PROBLEM], options=Options(quiet=True, width=40))
    narrow = reported("full", [PROBLEM], options=Options(quiet=True, width=1))

    assert max(map(cell_len, lines.splitlines()[1:3])) == 40
    assert cell_len(narrow.splitlines()[1]) == len("  3 | ") + 20


def test_folds_by_the_shape_of_a_pointer() -> None:
    """Indices count for the group with `*`, keys that look like one for their own."""
    pointers = ("/turns/*/role", "/10/a", "/11/a", "/*/a", "/1/2/*/x", "/runs/2024/*/x")
    groups = [replace(GROUP, pointer=each, count=3) for each in pointers]
    places = ("/turns/0/role", "/turns/1/role", "/10/a", "/runs/2024/5/x", "/none")
    problems = [placed(pointer=each) for each in places]
    *_, one, two, three, four, five, six = reported(
        "concise", problems, grouped(*groups)
    ).splitlines()

    found = [line.rpartition(": ")[2] for line in (one, two, three, four, five, six)]
    assert found == [f"3 in all, {times} shown" for times in (2, 1, 0, 0, 0, 1)]


def test_group_shown_in_full_has_no_summary() -> None:
    """No summary line follows a group whose problems were all shown."""
    report = grouped(replace(GROUP, count=1))

    assert reported("concise", [PROBLEM], report) == CONCISE


def test_statistics_are_sorted_by_count() -> None:
    """Rules are added over files; the most frequent first, then by code."""
    groups = (
        replace(GROUP, code="S102", name="b", pointer="", count=7),
        replace(GROUP, code="S101", name="a", pointer="/x", count=7),
        GROUP,
        replace(GROUP, path="other.jsonl"),
    )

    assert statistics_lines(grouped(*groups)) == [
        "  24,690  C201 conditional-turns  /interactions",
        "       7  S101 a  /x",
        "       7  S102 b",
    ]


def test_statistics_of_nothing_are_empty() -> None:
    """Without findings there is no table."""
    assert statistics_lines(grouped()) == []


@for_each_case(
    "changes, line",
    [
        ({}, "a.jsonl: 12 records, all valid (eee@0.2.0)"),
        ({"records": 1}, "a.jsonl: 1 record, valid (eee@0.2.0)"),
        ({"records": 0}, "a.jsonl: no records (eee@0.2.0)"),
        ({"format": None}, "a.jsonl: 12 records, all valid"),
        (
            {"warnings": 1, "notes": 2},
            "a.jsonl: 12 records, all valid; 1 warning, 2 notes (eee@0.2.0)",
        ),
        (
            {"invalid": 2, "errors": 1234, "warnings": 1},
            (
                "a.jsonl: 12 records: 10 valid, 2 invalid; 1,234 errors, 1 warning "
                "(eee@0.2.0)"
            ),
        ),
        (
            {"errors": 1},
            (
                "a.jsonl: 12 records: 12 valid, 0 invalid; the file is not valid; "
                "1 error (eee@0.2.0)"
            ),
        ),
        (
            {"undetermined": 1},
            "a.jsonl: 12 records: 11 valid, 0 invalid, 1 undetermined (eee@0.2.0)",
        ),
        (
            {"complete": False},
            "a.jsonl: 12 records, all valid (eee@0.2.0); stopped as asked",
        ),
        (
            {"complete": False, "reason": "the data ends early"},
            "a.jsonl: 12 records, all valid (eee@0.2.0); not read to the end",
        ),
    ],
)
def test_summary_of_one_file(changes: dict[str, Any], line: str) -> None:
    """One file is one line: what is valid, what was found, and how it ended."""
    clean = FileCount("a.jsonl", format="eee@0.2.0", records=12, complete=True)
    report = Report(files=(replace(clean, **changes),), groups=(), problems=())

    assert summary_lines(report) == [line]


def test_summary_omits_unread_files() -> None:
    """A file that was not read at all has no line; standard error has the reason."""
    file = FileCount("a.jsonl", reason="no such file")

    assert summary_lines(Report(files=(file,), groups=(), problems=())) == []


def test_summary_of_several_files() -> None:
    """Several files have a total, which says how many could not be read."""
    files = (
        FileCount("a.jsonl", records=3_200, complete=True),
        FileCount("b.jsonl", records=10, invalid=10, errors=12, warnings=1),
        FileCount("c.jsonl", reason="no such file"),
    )

    assert summary_lines(Report(files=files, groups=(), problems=())) == [
        "a.jsonl: 3,200 records, all valid",
        (
            "b.jsonl: 10 records: 0 valid, 10 invalid; 12 errors, 1 warning; "
            "stopped as asked"
        ),
        (
            "3 files, 3,210 records: 3,200 valid, 10 invalid; 12 errors, 1 warning; "
            "1 file not read to the end"
        ),
    ]


def test_summary_counts_the_files_that_are_not_valid() -> None:
    """The total says how many files are not valid although their records are."""
    good = FileCount("a.jsonl", records=1, complete=True)
    files = (good, *[replace(good, errors=1)] * 2)
    last = summary_lines(Report(files=files, groups=(), problems=()))[-1]

    assert last == (
        "3 files, 3 records: 3 valid, 0 invalid; "
        "2 files of valid records are not valid; 2 errors"
    )


def test_summary_of_nothing() -> None:
    """A run without files says so."""
    assert summary_lines(EMPTY) == ["0 files, no records"]


def obeyed(line: str) -> bool:
    """Whether a build server or a terminal would take `line` for more than text."""
    return safe(line, len(line) + 1) != line


@for_each_case("text, name", itertools.product(HOSTILE, ["concise", "full"]))
def test_hostile_text_stays_text(name: str, text: str) -> None:
    """No data reaches a terminal raw, makes a line of its own or floods it."""
    options = Options(statistics=True)
    shown = reported(name, [hostile(text)], hostile_report(text), options)
    plain = reported(name, [hostile("x")], hostile_report("x"), options)
    lines = shown.split("\n")

    assert not [each for each in lines if obeyed(each)]
    assert len(lines) == len(plain.split("\n"))
    assert max(map(len, lines)) < 6_000
    assert shown.encode().decode() == shown


@for_each_case("text, name", itertools.product(HOSTILE[:-1], ["json", "jsonl"]))
def test_hostile_text_survives_json(name: str, text: str) -> None:
    """JSON carries every text unchanged but a surrogate, and is safe to look at."""
    shown = reported(name, [hostile(text)], hostile_report(text))
    read = json.loads(shown.split("\n")[0] if name == "jsonl" else shown)
    problem = read if name == "jsonl" else read["problems"][0]

    expected = r"\ud800" if text == "\ud800" else text
    assert problem["message"] == expected
    assert problem["fix"]["value"] == {expected: [expected]}
    assert not [each for each in shown.split("\n") if obeyed(each)]


def test_json_follows_the_contract() -> None:
    """The report is one object, in the order of the contract, indented by two."""
    text = reported("json", [PROBLEM], grouped(GROUP))
    report = json.loads(text)

    check(report)
    assert text.startswith('{\n  "schema": "harpia-formats/report/1",\n  "files": [\n')
    assert text.endswith("}\n")
    assert list(report) == ["schema", "files", "groups", "problems", "summary"]
    assert report["problems"][0]["because"][0]["value"] == '"multi_turn"'
    assert report["groups"][0]["count"] == 12_345
    assert report["summary"]["bytes"] == 10_000_000


def test_jsonl_follows_the_contract() -> None:
    """Each problem is a line, and the last line has all that is exact."""
    text = reported("jsonl", [PROBLEM, PROBLEM], grouped(GROUP))
    lines = jsonl_rows(text)
    report = json.loads(reported("json", [PROBLEM], grouped(GROUP)))

    for each in lines:
        check(each, "line")
    assert [each["kind"] for each in lines] == ["problem", "problem", "summary"]
    assert lines[0] == {"kind": "problem", **report.pop("problems")[0]}
    assert lines[2] == {"kind": "summary", **report}


@for_each_case("value", [10**30, 2**64, -(2**63) - 1, float("nan"), float("-inf"), 0.5])
def test_json_keeps_numbers_it_cannot_carry_as_text(value: float) -> None:
    """Numbers that JSON readers would change or refuse are text."""
    fixed = replace(PROBLEM, fix=Fix("replace", "/a", {"b": [value]}))
    report = json.loads(reported("json", [placed(fixed, record_id=10**30)], grouped()))
    problem = report["problems"][0]

    check(report)
    assert problem["record_id"] == "1" + "0" * 30
    assert problem["fix"]["value"] == {"b": [value if value == 0.5 else str(value)]}


@for_each_case("value", [2**64 - 1, -(2**63), True, None, "é", 1.0])
def test_json_leaves_other_values_alone(value: Any) -> None:
    """What JSON can carry is carried with its type."""
    read = json.loads(json_text({"value": value}))["value"]

    assert (read, type(read)) == (value, type(value))


def test_json_writes_integers_of_any_size() -> None:
    """An integer with more digits than Python writes is hexadecimal text."""
    assert json.loads(json_text({"value": 2**20_000})) == {"value": hex(2**20_000)}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(deadline=None)  # many small validations on a busy machine
@given(JSON, st.text(st.characters(), max_size=20), st.integers(min_value=1))
def test_json_always_follows_the_contract(value: Any, text: str, number: int) -> None:
    """Whatever is found in whatever data, both reports validate."""
    found = placed(PROBLEM, path=text, record_id=text, record=number % 10**9 + 1)
    found = replace(found, fix=Fix("replace", "", value), message=text)
    report = grouped(replace(GROUP, path=text))

    check(json.loads(reported("json", [found], report)))
    for each in reported("jsonl", [found], report).splitlines():
        check(json.loads(each), "line")


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield each schema inside `schema` that has properties."""
    if isinstance(schema, dict):
        if "properties" in schema and "type" in schema:
            yield schema
        for each in schema.values():
            yield from objects(each)


def test_published_schema_is_closed() -> None:
    """The schema is valid, and no object takes or lacks a key it does not name."""
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    found = list(objects(SCHEMA))

    assert len(found) == 11
    for each in found:
        assert each["additionalProperties"] is False
        # What is there only if a baseline is given, for members of archives, in a
        # preflight, or where the reason of a finding is in another file.
        names = each["properties"]
        seldom = ("baseline", "member", "checks")
        always = [key for key in names if not key.startswith(seldom)]
        if "value" in names:
            always.remove("path") if "path" in names else None
        assert each["required"] == always


def remove_line(report: dict[str, Any]) -> None:
    """Make a problem of `report` lack its line."""
    del report["problems"][0]["line"]


@for_each_case(
    "spoil",
    [
        remove_line,
        lambda report: report.update(extra=1),
        lambda report: report["files"][0].update(valid=-1),
        lambda report: report["problems"][0].update(line=0),
        lambda report: report["problems"][0].update(severity="fatal"),
        lambda report: report["groups"][0].update(code="c1"),
    ],
)
def test_published_schema_refuses_other_reports(
    spoil: Callable[[dict[str, Any]], None],
) -> None:
    """A report that breaks the contract does not validate."""
    report = json.loads(reported("json", [PROBLEM], grouped(GROUP)))
    check(report)
    spoil(report)

    with pytest.raises(jsonschema.ValidationError):
        check(report)
