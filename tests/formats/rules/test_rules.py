"""Every rule: its examples, its severities, and how it is named and selected."""

import json
import re
from collections import Counter
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

import harpia_converters
from cases import for_each_case
from effort import some_pairs
from harpia_formats import (
    HarpiaFormatsError,
    Report,
    UnknownRule,
    check_schema,
    preflight,
    validate,
)
from harpia_formats.plugins import Container, Dialect, Format, Rule, Severity
from in_process import InProcess
from known_formats import FORMATS, RULES, row_validator
from problem_codes import codes_of as codes_in
from unchecked import converted, score

ROOT = Path(__file__).parents[3]
NEAR_DUPLICATE = "X102"
#: The rules that data can break.
EXEMPLIFIED = [code for code, rule in RULES.items() if rule.has_example]
#: What the arguments of an example are called in the Python API.
OPTIONS = {"--max-row-bytes": "max_row_bytes", "--min-records": "min_records"}
FLAGS = {"--assert-formats": "assert_formats", "--strict": "strict"}


def options_of(rule: Rule, folder: Path) -> dict[str, Any]:
    """Return the options with which the examples of `rule` are validated."""
    by = rule.validated_as
    options: dict[str, Any] = {"format" if isinstance(by, str) else "schema": by}
    if by in ("", "eee"):  # recognised among all
        options = {}
    options["lint"] = rule.lint
    if rule.code != NEAR_DUPLICATE:  # the rows of other examples may say the same
        options["ignore"] = (NEAR_DUPLICATE,)
    if rule.companion:
        options["companion"] = folder / "beside.json"
        options["companion"].write_bytes(rule.companion)
    words = iter(rule.arguments)
    for each in words:
        if each in FLAGS:
            options[FLAGS[each]] = True
        else:
            options[OPTIONS[each]] = int(next(words))
    return options


def lost_codes_of(data: bytes, rule: Rule, folder: Path) -> Counter[str]:
    """Return how often each rule is broken by converting an example of `rule`."""
    words, losses = dict(pairwise(rule.arguments)), folder / "losses.json"
    _, report = converted(
        data,
        to=words["--to"],
        from_=str(rule.validated_as),
        group=words.get("--group"),
        loss_report=losses,
        overwrite=True,
    )
    found = Counter(codes_in(report.report))
    if losses.exists():
        listed = json.loads(losses.read_bytes())["problems"]
        found.update(one["code"] for one in listed)
    return found


def scored_codes_of(data: bytes, rule: Rule) -> Counter[str]:
    """Return how often each rule is broken by scoring an example of `rule`."""
    words = dict(pairwise(rule.arguments))
    metrics = (words.get("--metrics", "em"),)
    is_stored = "--stored" in rule.arguments
    is_judged = rule.validated_as == "judge-verdicts" or is_stored
    scores = score(
        data,
        metrics=() if is_judged else metrics,
        from_=str(rule.validated_as),
        stored=is_stored,
        replicates=0,
    )
    return Counter(each.code for each in scores.problems)


def preflight_codes_of(data: bytes, rule: Rule, folder: Path) -> Counter[str]:
    """Return how often expectations are broken by an example of `rule`.

    The findings that a limit counts are findings of other rules, and left out.
    """
    (folder / "data.jsonl").write_bytes(data)
    (folder / "other.jsonl").write_bytes(rule.companion or data)
    (folder / "schema.json").write_text(json.dumps(rule.validated_as))
    by = f'format = "{rule.validated_as}"'
    if not isinstance(rule.validated_as, str):
        by = 'schema = "schema.json"'
    path = folder / "preflight.toml"
    tables = (("data", rule.arguments), ("other", ()))
    path.write_text(
        "\n".join(
            f'[datasets.{name}]\nfiles = "{name}.jsonl"\n{by}\nmax-invalid = 9\n'
            + "\n".join(limits)
            for name, limits in tables
        ).replace("max-invalid = 9\nmax-invalid", "max-invalid")
    )
    report = preflight(path)
    assert not report.failures
    return Counter(one.code for one in report.problems if one.code.startswith("P"))


def codes_of(data: bytes, rule: Rule, folder: Path) -> Counter[str]:
    """Return how often each rule is broken by an example of `rule`."""
    if rule.command == "preflight":
        return preflight_codes_of(data, rule, folder)
    if rule.command == "convert":
        return lost_codes_of(data, rule, folder)
    if rule.command == "score":
        return scored_codes_of(data, rule)
    if rule.command == "schema check":
        checked = check_schema(data, lint=rule.lint)
        assert not checked.failures
        return Counter(each.code for each in checked.problems)
    return Counter(each.code for each in report_of(data, rule, folder).problems)


def report_of(data: bytes, rule: Rule, folder: Path, **more: Any) -> Report:
    """Return the report on an example of a rule of `validate`, with more options."""
    given: bytes | Path = data
    options = {**options_of(rule, folder), **more}
    if rule.is_about_schema:
        given, options["schema"] = b'{"name": "Ana"}\n', json.loads(data)
    if rule.file_name:
        given = folder / rule.file_name
        given.write_bytes(data)
    report = validate(given, **options)
    assert not report.failures
    return report


#: Rules that say why the records of a file break other rules.
HINTS = {"S201", "S210"}


@for_each_case("code", EXEMPLIFIED)
def test_bad_example_breaks_its_rule(code: str, tmp_path: Path) -> None:
    """The bad example of a rule breaks that rule, once, and no other."""
    found = codes_of(RULES[code].bad, RULES[code], tmp_path)

    assert found.pop(code) == 1
    assert bool(found) == (code in HINTS)


#: The rule on records without a verdict, and those that say as much of a whole file.
NO_VERDICT, NO_VERDICTS, TOO_FEW = "V901", {"J307", "S301"}, "J115"
VALIDATED = [
    code
    for code in EXEMPLIFIED
    if RULES[code].command == "validate" and code != NO_VERDICT
]


@for_each_case("code, severity", some_pairs(VALIDATED, [*Severity]))
def test_every_rule_has_a_severity_that_is_asked_for(
    code: str, severity: Severity, tmp_path: Path
) -> None:
    """Another severity holds in problems, groups, counts and the verdict."""
    check_severity(code, severity, tmp_path)


@pytest.mark.long
@for_each_case("code, severity", product(VALIDATED, Severity))
def test_every_rule_has_each_severity_that_is_asked_for(
    code: str, severity: Severity, tmp_path: Path
) -> None:
    """The same holds for each rule with each severity."""
    check_severity(code, severity, tmp_path)


def check_severity(code: str, severity: Severity, tmp_path: Path) -> None:
    """Assert that findings of a rule have another severity wherever one is reported."""
    data, rule = RULES[code].bad, RULES[code]
    plain = report_of(data, rule, tmp_path)
    others = sum(group.count for group in plain.groups if group.code != code)
    report = report_of(data, rule, tmp_path, severity={code: severity})

    found = [one for one in report.problems if one.code == code]
    assert [one.severity for one in found] == [severity]
    assert report.summary()[f"{severity}s"] in {1, 1 + others}
    if severity is Severity.ERROR:
        assert not report.ok
    elif not others:
        assert (report.errors, report.summary()["invalid"]) == (0, 0)


@for_each_case("code", VALIDATED)
def test_a_baseline_holds_every_rule(code: str, tmp_path: Path) -> None:
    """Findings are held but where records have no verdict, or are too few."""
    data, rule = RULES[code].bad, RULES[code]
    path = tmp_path / "baseline.json"
    plain = report_of(data, rule, tmp_path, write_baseline=path)

    held = report_of(data, rule, tmp_path, baseline=path)

    left = [group for group in plain.groups if group.code in {TOO_FEW, *NO_VERDICTS}]
    assert [group.code for group in held.groups] == [group.code for group in left]
    assert held.baseline is not None
    known = sum(group.count for group in plain.groups if group not in left)
    assert held.baseline.held == known
    assert held.ok == (not left and held.summary()["undetermined"] == 0)


@for_each_case("code", EXEMPLIFIED)
def test_good_example_keeps_its_rule(code: str, tmp_path: Path) -> None:
    """The good example of a rule has no finding at all."""
    assert codes_of(RULES[code].good, RULES[code], tmp_path) == {}


def is_error_of_one_row(rule: Rule) -> bool:
    """Tell whether `rule` makes a row of a record format invalid by the row alone."""
    format_ = FORMATS.get(str(rule.validated_as))
    if format_ is None or not format_.adapter or rule.command != "validate":
        return False
    is_in_columns = format_.dialects[0].container is Container.COLUMNS
    is_across_rows = rule.code[0] == "X" or bool(rule.companion) or is_in_columns
    is_optional = rule.lint or "--strict" in rule.arguments
    return rule.severity is Severity.ERROR and not (is_across_rows or is_optional)


@for_each_case(
    "code", [code for code in EXEMPLIFIED if is_error_of_one_row(RULES[code])]
)
def test_file_that_breaks_an_error_rule_is_not_converted(code: str) -> None:
    """A row that a rule makes invalid is refused by a conversion, too."""
    rule = RULES[code]
    _, report = converted(rule.bad, to="record", from_=str(rule.validated_as))

    assert not report.written
    assert [problem.code for problem in report.report.problems] == [code]


#: Dialects of record formats whose rows can have remarks, with their formats.
REMARKING = [
    (format_, dialect)
    for format_ in FORMATS.values()
    for dialect in format_.dialects
    if format_.adapter and dialect.remarks
    if dialect.container is not Container.COLUMNS
]


@for_each_case(
    "format_, dialect", REMARKING, ids=lambda each: getattr(each, "id", each.name)
)
def test_dialect_whose_remarks_are_errors_refuses_rows(
    format_: Format, dialect: Dialect
) -> None:
    """No dialect without `remarks_refuse` reports an error for a row of an example."""
    assert dialect.remarks is not None
    is_allowed = row_validator(dialect).is_valid
    codes = {
        remark.code
        for rule in RULES.values()
        if rule.validated_as == format_.id and is_error_of_one_row(rule)
        for row in rows_of(rule.bad, dialect)
        if is_allowed(row)
        for remark in dialect.remarks(row)
    }
    errors = {code for code in codes if RULES[code].severity is Severity.ERROR}

    assert dialect.remarks_refuse or errors == set()


def rows_of(data: bytes, dialect: Dialect) -> list[Any]:
    """Return the rows of an example, which is one document or one row."""
    document = json.loads(data)
    found: Any = document
    for key in dialect.rows_path:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, list) else [document]


def test_codes_and_names_are_unique() -> None:
    """No two rules have the same name, and no two of vendors the same code."""
    codes = [each.code for each in harpia_converters.RULES]

    assert len({each.name for each in RULES.values()}) == len(RULES)
    assert len(set(codes)) == len(codes)


@for_each_case("code", RULES)
def test_rule_is_well_formed(code: str) -> None:
    """A built-in rule has a letter and three digits, a name and whole sentences."""
    rule = RULES[code]

    assert rule.code == code
    assert re.fullmatch(r"[A-Z]\d{3}", code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.summary.endswith(".")
    assert rule.explanation.endswith(".")


def test_rules_are_those_of_the_documentation() -> None:
    """Their page has code, name, severity and summary of each, and which are lints."""
    text = (ROOT / "docs" / "reference" / "rules.md").read_text("utf-8")
    checked = {False: "always", True: "with `--lint`"}
    rows = {
        f"| {code} | `{rule.name}` | {rule.severity} | {checked[rule.lint]} | "
        f"{rule.summary} |"
        for code, rule in RULES.items()
    }

    assert rows == {line for line in text.splitlines() if re.match(r"\| [A-Z]\d", line)}


def test_rules_that_no_file_breaks_have_no_example() -> None:
    """Each rule has examples, but for our errors, folders, packages and huge rows."""
    assert RULES.keys() - set(EXEMPLIFIED) == {"J114", "P501", "S106", "S107", "V902"}


@pytest.mark.parametrize(
    ("asked", "codes"),
    [
        ("J101", "J101"),
        ("j101", "J101"),
        (" broken-json ", "J101"),
        ("Broken-JSON", "J101"),
        ("C", "C101 C201 C202"),
        ("C2", "C201 C202"),
        ("S10", "S101 S102 S103 S104 S105 S106 S107"),
    ],
)
def test_rules_are_found_by_code_prefix_and_name(
    run: InProcess, asked: str, codes: str
) -> None:
    """A rule is found by its code, the start of it, or its name, in any case."""
    shown = run("rule", asked).out

    assert re.findall(r"^([A-Z]\d{3}) [a-z-]+ \(", shown, re.MULTILINE) == codes.split()


@pytest.mark.parametrize("option", ["select", "ignore"])
@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("J1011", "J101"),
        ("broken-jsno", "broken-json"),
        ("conditional-turn", "conditional-turns"),
        ("", ""),
        ("  ", ""),
        ("qqqqqq", ""),
    ],
)
def test_unknown_rule_names_near_ones(asked: str, near: str, option: str) -> None:
    """A rule that there is not can neither be selected nor ignored.

    The error says which one may be meant, and where nothing is near it does not guess.
    """
    options: dict[str, Any] = {option: [asked]}
    with pytest.raises(UnknownRule) as caught:
        validate(b"", schema=True, **options)

    assert caught.value.asked == asked
    if near:
        assert any(each.startswith(near) for each in caught.value.near)
        assert "did you mean" in str(caught.value)
    else:
        listed = "`harpia-formats rule --all` lists them"
        assert str(caught.value) == f"no rule is called {asked!r}; {listed}"


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ({}, "J105 J106"),
        ({"lint": True}, "J105 J106 J204"),
        ({"select": ["J204"]}, "J204"),
        ({"select": ["J"]}, "J105 J106 J204"),
        ({"select": ["J"], "ignore": ["J2"]}, "J105 J106"),
        ({"select": ["J2", "duplicate-key"]}, "J105 J204"),
        ({"ignore": [*({each[0] for each in RULES} - {"J"}), "J2", "J106"]}, "J105"),
    ],
)
def test_selection(options: dict[str, Any], codes: str) -> None:
    """The default rules are in force unless some are selected, less those to ignore.

    Rules that are only checked when asked for are asked for by name or by lint. A
    problem of an ignored rule is neither reported nor counted.
    """
    data = b'{"a": 1, "a": 2}\n{"a": NaN}\n{"a": 12345678901234567}\n'
    report = validate(data, schema=True, **options)

    assert codes_in(report) == codes.split()
    assert report.files[0].invalid == sum(code < "J2" for code in codes.split())


def test_selection_leaves_a_rule() -> None:
    """Selecting rules and ignoring all of them is an error."""
    with pytest.raises(HarpiaFormatsError, match="all are ignored by condition"):
        validate(b"", schema=True, select=["C101"], ignore=["condition"])


@for_each_case(
    "code", [code for code in EXEMPLIFIED if RULES[code].command == "validate"]
)
def test_selected_rule_is_found(code: str, tmp_path: Path) -> None:
    """A rule that is the only one selected is found in its bad example."""
    rule = RULES[code]
    given: bytes | Path = rule.bad
    options = {**options_of(rule, tmp_path), "select": (code,)}
    if rule.is_about_schema:
        given, options["schema"] = b"{}\n", json.loads(rule.bad)
    if rule.file_name:
        given = tmp_path / rule.file_name
        given.write_bytes(rule.bad)
    report = validate(given, **options)

    assert [problem.code for problem in report.problems] == [code]
