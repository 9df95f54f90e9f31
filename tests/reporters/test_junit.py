"""The XML is that of JUnit, as Jenkins' schema and a parser of it read it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml, Skipped, TestSuite

import harpia_formats as hf
from effort import examples
from generated_reports import expectation, reports, text_of
from harpia_formats import FileCount, Group, Report, Severity

FIXTURES = Path(__file__).parents[2] / "fixtures" / "nemo-output"
#: The elements of `junit-10.xsd` of Jenkins' xUnit plug-in that we write: what they may
#: hold, the attributes that they must have, and those that they may have.
SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (
        {"testsuite"},
        set(),
        {"name", "time", "tests", "failures", "errors"},
    ),
    "testsuite": (
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors"},
        {"skipped", "time", "timestamp", "hostname", "id", "package", "file"},
    ),
    "testcase": (
        {"skipped", "error", "failure", "system-out", "system-err"},
        {"name"},
        {"time", "classname", "group"},
    ),
    **{name: (set(), set(), {"type", "message"}) for name in ("failure", "error")},
    "skipped": (set(), set(), {"type", "message"}),
    "system-out": (set(), set(), set()),
}
GROUP = Group("a.jsonl", "S101", "missing-key", Severity.ERROR, "/a", 3, 7, 1, 2)


def breaks(element: ET.Element) -> Iterator[str]:
    """Yield what the schema does not allow of an element."""
    children, required, allowed = SCHEMA[element.tag]
    names = set(element.attrib)
    if not required <= names <= required | allowed:
        yield f"attributes of {element.tag}: {names}"
    for child in element:
        if child.tag not in children:
            yield f"{child.tag} in {element.tag}"
        yield from breaks(child)


def suites_of(text: str) -> list[TestSuite]:
    """Return the suites of a report as a parser reads them."""
    return list(JUnitXml.fromstring(text.encode("utf-8", "backslashreplace")))


def results_of(report: Report, **options: object) -> dict[str, object]:
    """Return the type of the result of each case by its name, None if it passed."""
    return {
        case.name: type(case.result[0]) if case.result else None
        for suite in suites_of(text_of("junit", report, **options))
        for case in suite
    }


@given(reports(), st.booleans())
@examples(15)
def test_any_report_is_valid_and_counts_its_cases(
    report: Report, error_on_warning: bool
) -> None:
    """Whatever data says, the schema holds, and a parser counts what is written."""
    text = text_of("junit", report, error_on_warning=error_on_warning)
    root = ET.fromstring(text)  # noqa: S314 - our own text
    assert list(breaks(root)) == []

    whole = JUnitXml.fromstring(text.encode())
    counted = (whole.tests, whole.failures, whole.errors)
    whole.update_statistics()  # type: ignore[no-untyped-call]  # of another package
    assert (whole.tests, whole.failures, whole.errors) == counted
    assert len(list(whole)) >= len(report.files)


def test_each_file_is_a_suite_and_each_rule_a_case() -> None:
    """Files without findings pass, and files that cannot be read are errors."""
    report = Report(
        (
            FileCount("a.jsonl", records=3, errors=3, complete=True),
            FileCount("good.jsonl", records=2, complete=True),
            FileCount("b.gz", reason="is not gzip data"),
            FileCount("c.bin", reason="is an image", skipped="an image"),
        ),
        (GROUP, replace(GROUP, pointer="/b"), replace(GROUP, code="S102")),
        (),
    )
    suites = suites_of(text_of("junit", report))

    assert [suite.name for suite in suites] == [
        "a.jsonl",
        "good.jsonl",
        "b.gz",
        "c.bin",
    ]
    assert [[case.name for case in suite] for suite in suites] == [
        ["S101 missing-key", "S102 missing-key"],
        ["no findings"],
        ["read to the end"],
        ["read to the end"],
    ]
    assert results_of(report)["S101 missing-key"] is Failure
    assert [len(suite) for suite in suites] == [2, 1, 1, 1]
    kinds = [type(case.result[0]) for suite in suites[2:] for case in suite]
    assert kinds == [Error, Skipped]


@pytest.mark.parametrize(
    ("severity", "error_on_warning", "kind"),
    [
        (Severity.WARNING, False, None),
        (Severity.WARNING, True, Failure),
        (Severity.NOTE, True, None),
    ],
)
def test_a_case_fails_where_the_run_does(
    severity: Severity, error_on_warning: bool, kind: object
) -> None:
    """Warnings fail with --error-on-warning only, notes never."""
    report = Report((), (replace(GROUP, severity=severity),), ())
    found = results_of(report, error_on_warning=error_on_warning)

    assert found == {"S101 missing-key": kind}


def test_expectations_are_cases_and_decide() -> None:
    """Of a preflight, checks pass or fail, and findings that they allow do not."""
    checks = (
        expectation("met", "records at least 3", "3", line=4),
        expectation("broken", "models exactly m", "n", line=5),
        replace(expectation("undecided", "ids unique", line=9), data_set="other"),
    )
    report = Report((FileCount("a.jsonl", errors=3),), (GROUP,), (), checks=checks)
    (answers, other, _) = suites_of(text_of("junit", report))

    assert (answers.name, other.name) == ("answers", "other")
    assert [case.result[0].message for case in answers if case.result] == [
        "n (p.toml:5)"
    ]
    assert results_of(report) == {
        "records at least 3": None,
        "models exactly m": Failure,
        "ids unique": Error,
        "S101 missing-key": None,
    }


def test_records_without_a_verdict_are_an_error() -> None:
    """What no finding says is a case of its own."""
    file = FileCount("a", records=2, undetermined=2, complete=True)
    found = results_of(Report((file,), (), ()))

    assert found["every record"] is Error


def test_fixtures_are_reported() -> None:
    """Each invalid fixture has a failure, each valid one none."""
    report = hf.validate(FIXTURES)
    suites = suites_of(text_of("junit", report))
    failed = {suite.name for suite in suites if suite.failures}

    assert len(suites) == len(report.files)
    assert failed == {file.path for file in report.files if file.errors}
