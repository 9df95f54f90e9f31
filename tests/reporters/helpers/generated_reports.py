"""Strategies for reports with any text in them, and what a reporter makes of one."""

from typing import Any

from hypothesis import strategies as st

from harpia_formats import (
    Because,
    Check,
    Excerpt,
    FileCount,
    Fix,
    Group,
    Place,
    Problem,
    Report,
    Severity,
)
from harpia_formats.model.report import State
from harpia_formats.plugins import Result
from harpia_formats.reporters import REPORTERS, Options

#: Text that consumers of reports could take for something else.
NASTY = (
    "a|b`c``d```e~~~",
    "<script>alert(1)</script>&amp;<!-- -->]]>",
    "@team #12 GH-3 www.example.com https://example.com/ x@example.com",
    "[a](javascript:alert(1)) ![i](http://x/i.png) **b** _i_ ~~s~~",
    "\n::error::pwned\r\n##[add-mask]x%0A%25,:;=",
    "\ud800\udfff\udc80\x00\x1b[31m\x85\u2028\ufffe\uffff\u202e",
    "log.eval!samples/1 a%20b.json",
    "C:\\data\\x.jsonl",
    "../x/./y.jsonl",
    "</details>\n# h\n- a\n> q\n| - |",
)
#: Any characters, lone surrogates and controls too.
ANY_TEXT = st.sampled_from(NASTY) | st.text(
    st.characters(exclude_categories=()), max_size=30
)
PATHS = ANY_TEXT.filter(bool)
CODES = st.sampled_from(("S101", "J106", "V902", "AB101", "\ud800", "a|b"))
NUMBERS = st.integers(0, 10**12)
POINTERS = st.sampled_from(("", "/a", "/a/0/b", "/a~1b/12")) | ANY_TEXT


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Return a problem with any text wherever data or a rule of a plug-in can get."""
    line = draw(NUMBERS)
    column = draw(NUMBERS)
    text = draw(ANY_TEXT)
    start = draw(st.integers(0, len(text)))
    place = Place(
        path=draw(PATHS | st.sampled_from(("a/b.jsonl", "<stdin>", "s3://b/x"))),
        line=line,
        column=column,
        end_column=column + draw(st.integers(0, 9)),
        byte_offset=draw(NUMBERS),
        record=draw(st.none() | NUMBERS),
        record_id=draw(st.none() | ANY_TEXT | st.integers()),
        pointer=draw(POINTERS),
        record_id_key=draw(ANY_TEXT),
        member=draw(st.just("") | ANY_TEXT),
    )
    return Problem(
        code=draw(CODES),
        name=draw(ANY_TEXT),
        severity=draw(st.sampled_from(Severity)),
        place=place,
        message=draw(ANY_TEXT),
        because=tuple(
            draw(
                st.lists(
                    st.builds(Because, POINTERS, ANY_TEXT, NUMBERS, NUMBERS), max_size=2
                )
            )
        ),
        help=draw(ANY_TEXT),
        schema_pointer=draw(ANY_TEXT),
        fix=draw(
            st.none()
            | st.builds(
                Fix,
                st.sampled_from(("rename-key", "remove", "replace")),
                POINTERS,
                ANY_TEXT | st.none() | st.integers(),
            )
        ),
        excerpt=draw(st.none() | st.just(Excerpt(text, start, len(text)))),
        key=draw(st.just("") | ANY_TEXT),
        cause=draw(ANY_TEXT),
    )


FILES = st.builds(
    FileCount,
    path=PATHS,
    format=st.none() | ANY_TEXT,
    dialect=ANY_TEXT,
    records=NUMBERS,
    invalid=NUMBERS,
    undetermined=st.just(0) | NUMBERS,
    errors=st.just(0) | NUMBERS,
    warnings=st.just(0) | NUMBERS,
    notes=st.just(0) | NUMBERS,
    bytes=NUMBERS,
    complete=st.booleans(),
    reason=st.none() | ANY_TEXT,
    unreported=st.just(()) | st.just(("S301",)),
    skipped=st.just("") | ANY_TEXT,
    baseline=st.none() | NUMBERS,
)


CHECKS = st.builds(
    Check, ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT, st.sampled_from(State), PATHS
)


def _group(problem: Problem, count: int, baseline: int | None) -> Group:
    """Return a group whose first problem is `problem`."""
    place = problem.place
    return Group(
        path=place.path,
        code=problem.code,
        name=problem.name,
        severity=problem.severity,
        pointer=place.pointer,
        count=count,
        line=place.line,
        column=place.column,
        record=place.record,
        key=problem.key,
        cause=problem.cause,
        message=problem.message,
        baseline=baseline,
        member=place.member,
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Return a report whose groups have their first problem, or have none of it."""
    found = draw(st.lists(problems(), max_size=4))
    groups = tuple(
        _group(one, draw(st.integers(1, 10**9)), draw(st.none() | NUMBERS))
        for one in found
    )
    files = {file.path: file for file in draw(st.lists(FILES, max_size=3))}
    for group in groups:
        files.setdefault(group.path, FileCount(group.path, errors=1, complete=True))
    kept = draw(st.integers(0, len(found)))
    checks = tuple(draw(st.lists(CHECKS, max_size=2)))
    return Report(tuple(files.values()), groups, tuple(found[:kept]), checks=checks)


def text_of(name: str, report: Report, **options: Any) -> str:
    """Return what the reporter called `name` writes of a report."""
    texts: list[str] = []
    problems_in = iter(report.problems)
    REPORTERS[name].write(problems_in, lambda: report, texts.append, Options(**options))
    return "".join(texts)


def result_text(name: str, result: Result, **options: Any) -> str:
    """Return what the reporter called `name` writes of any result."""
    texts: list[str] = []
    write = REPORTERS[name].write_result
    assert write is not None
    write(result, texts.append, Options(**options))
    return "".join(texts)


def page_of(result: Result, **options: Any) -> str:
    """Return the HTML page of a result."""
    return result_text("html", result, **options)


def expectation(state: str, expected: str, found: str = "", line: int = 1) -> Check:
    """Return an expectation of a preflight, which is in a state such as "met"."""
    return Check("answers", "a-key", expected, found, State(state), "p.toml", line)
