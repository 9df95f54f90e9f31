"""With `redact`, nothing that a validation writes shows a value of a record."""

import json
import traceback
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from canaries import Marker, marks_in, run_here
from harpia_formats import validate
from harpia_formats.plugins import ReporterOptions, Rule, mutants
from harpia_formats.reporters import REPORTERS
from known_formats import RULES as KNOWN_RULES

FIXTURES = Path(__file__).parents[3] / "fixtures"
FILES = sorted(path for path in FIXTURES.glob("*/*/*") if path.is_file())
LINES = [path for path in FILES if path.suffix == ".jsonl" and "valid" in path.parts]
RULES = [rule for rule in KNOWN_RULES.values() if rule.has_example]


def shown_by(data: bytes, name: str, folder: Path, **options: Any) -> Iterator[str]:
    """Yield what each reporter writes of the contents of a file, and the report."""
    path = folder / name
    path.write_bytes(data)
    report = validate(path, redact=True, lint=True, **options)
    for reporter in REPORTERS.values():
        parts: list[str] = []
        shown = ReporterOptions(width=500, statistics=True)
        reporter.write(iter(report.problems), lambda: report, parts.append, shown)
        yield "".join(parts)
    yield repr((report.problems, report.groups, report.files))


#: Data with a name, its schema or format, and what to call it in a failure.
Case = tuple[str, str, bytes, dict[str, Any]]


def leaks(cases: Iterable[Case], seeds: range, folder: Path) -> list[str]:
    """Return what is shown of values that are marked in data, a few at most."""
    found: list[str] = []
    number = -1
    for number, (label, name, data, options) in enumerate(cases):
        for seed in seeds:
            marked = Marker(seed + number, options.get("schema")).data(data)
            for output in shown_by(marked, name, folder, **options):
                found += [f"{label} {seed}: {mark}" for mark in marks_in(output)]
    assert number >= 0
    return found[:20]


def of_files(files: list[Path]) -> Iterator[Case]:
    """Yield fixtures."""
    for path in files:
        yield str(path), path.name, path.read_bytes(), {"format": path.parts[-3]}


def of_rules(rules: list[Rule]) -> Iterator[Case]:
    """Yield the bad examples of rules."""
    for rule in rules:
        options: dict[str, Any] = {}
        if isinstance(rule.validated_as, str) and rule.validated_as:
            options["format"] = rule.validated_as
        elif not rule.is_about_schema and rule.validated_as != "":
            options["schema"] = rule.validated_as
        yield rule.code, rule.file_name or "rows.jsonl", rule.bad, options


def of_mutants(files: list[Path], seeds: range) -> Iterator[Case]:
    """Yield some rows like those of files of lines, with edits."""
    for path in files:
        texts = path.read_bytes().splitlines()
        rows = [json.loads(text) for text in texts if text.strip()]
        for seed in seeds:
            drawn = islice(mutants(rows, seed), 20)
            # Characters are not escaped, and those that UTF-8 has not are errors.
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in drawn)
            data = "".join(lines).encode("utf-8", "surrogatepass")
            yield f"{path} {seed}", path.name, data, {"format": path.parts[-3]}


@pytest.mark.parametrize(
    "cases",
    [
        partial(of_files, FILES[::50]),
        partial(of_rules, RULES[::9]),
        partial(of_mutants, LINES[::29], range(1)),
    ],
    ids=["fixtures", "rules", "edited rows"],
)
def test_no_reporter_shows_a_value(
    cases: Callable[[], Iterator[Case]], tmp_path: Path
) -> None:
    """Of data with marked values, with errors of many kinds, no reporter has a mark."""
    assert leaks(cases(), range(1), tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("cases", "seeds"),
    [
        (partial(of_files, FILES), range(6)),
        (partial(of_rules, RULES), range(12)),
        (partial(of_mutants, LINES[::2], range(8)), range(1)),
    ],
    ids=["fixtures", "rules", "edited rows"],
)
def test_no_reporter_shows_a_value_of_many(
    cases: Callable[[], Iterator[Case]], seeds: range, tmp_path: Path
) -> None:
    """The same of all fixtures and examples, with several sets of marks."""
    assert leaks(cases(), seeds, tmp_path) == []


def test_marks_are_found_without_redaction() -> None:
    """The law would see values: without `redact` most fixtures show marks."""
    files = FILES[::60]
    seen = 0
    for path in files:
        data = Marker(0).data(path.read_bytes())
        report = validate(data, format=path.parts[-3], lint=True)
        seen += bool(marks_in(json.dumps(report.to_dict(), ensure_ascii=False)))

    assert seen > len(files) / 2


def test_command_line_shows_no_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither standard output nor standard error of the command shows a value."""
    for number, path in enumerate(FILES[7::90]):
        file = tmp_path / path.name
        file.write_bytes(Marker(number).data(path.read_bytes()))
        run_here("validate", "--isolated", "--redact", "--lint", "--jobs", 1, file)

    shown = capsys.readouterr()

    assert shown.out
    assert marks_in(shown.out + shown.err) == []


def test_repairs_are_listed_without_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lines on what `--fix` changed show no value, and no unknown key."""
    for number, path in enumerate(FILES[3::70]):
        file = tmp_path / path.name
        file.write_bytes(Marker(number).data(path.read_bytes()))
        options = ("--isolated", "--redact", "--unsafe-fixes", "--jobs", 1)
        run_here("validate", *options, file)

    shown = capsys.readouterr()

    assert "changed" in shown.err
    assert marks_in(shown.out + shown.err) == []


@pytest.mark.parametrize("option", ["--diff", "--write-baseline=new.json"])
def test_what_shows_lines_or_keys_is_refused(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A diff and a new baseline hold values, so `--redact` refuses them."""
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"id": 1,}\n')

    assert run_here("validate", "--isolated", "--redact", option, file) == 2
    assert "cannot be combined" in capsys.readouterr().err


def test_schema_errors_say_what_the_schema_wants() -> None:
    """Of a wrong value its type and length are shown, with what the schema wants."""
    schema = {
        "properties": {"score": {"type": "number"}, "kind": {"enum": ["chat", "tool"]}},
        "required": ["answer"],
    }
    row = b'{"score": "high", "kind": "secret", "anwser": "42", "more": {"x": 1}}'
    report = validate(row, schema=schema, redact=True)

    assert {problem.place.pointer: problem.message for problem in report.problems} == {
        "/*": "answer is missing, and another key looks like a misspelling of it",
        "/score": "score must be a number, found text of 4 characters",
        "/kind": 'kind must be one of "chat", "tool", found text of 6 characters',
    }


@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
@pytest.mark.parametrize(
    ("delimiter", "how"),
    [
        (";", 'delimiter=";"'),
        ("，", "write a comma in its place, as fix(unsafe=True) does"),
    ],
    ids=["semicolon", "wide"],
)
def test_how_a_table_is_cut_is_shown(
    tmp_path: Path, name: str, delimiter: str, how: str
) -> None:
    """Neither the delimiter of a table nor the advice on it holds a value."""
    path = tmp_path / name
    path.write_text(f"prompt{delimiter}response\na{delimiter}b\n", encoding="utf-8")
    (shown,) = validate(path, redact=True).problems
    (plain,) = validate(path).problems

    assert how in shown.help
    assert (shown.message, shown.help) == (plain.message, plain.help)


def test_groups_that_look_the_same_are_one() -> None:
    """Unknown keys are one group, with the sum of their counts."""
    schema = {"properties": {"a": {}}, "additionalProperties": False}
    rows = b'{"patient one": 1}\n{"patient two": 1}\n{"patient one": 1}\n'
    report = validate(rows, schema=schema, redact=True, examples=1)

    assert [(one.pointer, one.count) for one in report.groups] == [("/*", 3)]
    assert report.summary()["errors"] == 3


def test_settings_can_ask_for_redaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`redact = true` in the settings works as the option does."""
    (tmp_path / "harpia-formats.toml").write_text("redact = true\n")
    (tmp_path / "rows.jsonl").write_bytes(b'{"id": "secret", "score": NaN}\n')
    monkeypatch.chdir(tmp_path)
    run_here("validate", "rows.jsonl", "--output-format", "full")

    assert "secret" not in capsys.readouterr().out


def test_bugs_are_shown_without_values() -> None:
    """An exception that no data should cause loses its message, and its context."""

    def fail(_: Any) -> None:
        raise KeyError("secret value")

    with pytest.raises(Exception, match="KeyError in test_validate") as found:
        validate(b"{}", redact=True, progress=fail)

    assert "secret" not in "".join(traceback.format_exception(found.value))


def test_members_of_archives_are_not_named(tmp_path: Path) -> None:
    """Samples in Inspect's archives are in members that are named after their ids."""
    fixture = FIXTURES / "inspect-log/invalid/S102-choices-of-numbers.json"
    log = json.loads(fixture.read_bytes())
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        for number, sample in enumerate(log.pop("samples"), 1):
            name = f"samples/secret {number}_epoch_1.json"
            sample |= {"id": f"secret {number}", "epoch": 1}
            archive.writestr(name, json.dumps(sample))
        archive.writestr("header.json", json.dumps(log))
    plain, redacted = (validate(path, redact=redact) for redact in (False, True))

    assert "secret" in plain.problems[0].place.member
    assert redacted.problems[0].place.member == "samples/*.json"
    assert "secret" not in json.dumps(redacted.to_dict())
