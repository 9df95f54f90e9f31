"""Options of `validate` on how strict it is, and on what else it reads."""

import json
from pathlib import Path
from typing import Any

import pytest

from command_runs import run
from known_formats import RULES

FIXTURES = Path(__file__).parents[3] / "fixtures"


def codes(*arguments: object, cwd: Path | None = None) -> set[str]:
    """Return the codes that a validation finds."""
    result = run("validate", *arguments, "--output-format", "json", cwd=cwd)
    report: dict[str, Any] = json.loads(result.stdout)
    return {each["code"] for each in report["problems"]}


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Return a folder with the examples of rules across two files."""
    for code, ending in (("E201", "jsonl"), ("H201", "json")):
        (tmp_path / f"{code}.bad.{ending}").write_bytes(RULES[code].bad)
        (tmp_path / f"{code}.good.{ending}").write_bytes(RULES[code].good)
        (tmp_path / f"{code}.other").write_bytes(RULES[code].companion)
    return tmp_path


def test_commands_are_listed_on_the_help_page() -> None:
    """The help page names the commands in the order in which they are met."""
    page = run("--help").stdout.decode()
    places = [page.index(f" {each} ") for each in "validate detect formats".split()]
    places += [page.index(f" {each} ") for each in ("schema", "rule")]

    assert places == sorted(places)


@pytest.mark.parametrize("command", ["detect", "formats", "schema"])
def test_command_has_a_help_page(command: str) -> None:
    """Each command has its own help page, for which no other one is imported."""
    result = run(command, "--help")

    assert (result.returncode, result.stderr) == (0, b"")
    assert f"harpia-formats {command}" in result.stdout.decode()


@pytest.mark.parametrize("code", ["S202", "S204", "S205"])
def test_notes_name_the_option_that_comes_first(tmp_path: Path, code: str) -> None:
    """Notes and rules on the format of a file name `--from`, as help pages do."""
    rule = RULES[code]
    path = tmp_path / "a.jsonl"
    path.write_bytes(rule.bad)
    shown = run("validate", path, "--select", code).stdout.decode()
    about = run("rule", code).stdout.decode()

    assert "--from" in shown
    assert "--from" in about
    assert "--format" not in shown + about


def test_strict_holds_files_to_the_document() -> None:
    """What is only a note by default is an error with --strict."""
    path = FIXTURES / "nemo-output" / "valid" / "N101-without-category.jsonl"

    assert run("validate", path).returncode == 0
    assert run("validate", path, "--strict").returncode == 1
    assert codes(path, "--strict") == {"S101"}


def test_strict_refuses_a_dialect_that_is_not_documented() -> None:
    """An undocumented dialect is a note, and an error with --strict."""
    path = FIXTURES / "nemo-output" / "valid" / "flat.jsonl"

    assert codes(path) == {"S202"}
    assert codes(path, "--strict") == {"S201", "S101", "S104"}


def test_lint_checks_more(tmp_path: Path) -> None:
    """Optional rules are checked with --lint, or if they are selected."""
    lint = next(
        each
        for each in RULES.values()
        if each.lint and each.validated_as == "nemo-output" and not each.arguments
    )
    path = tmp_path / "doubtful.jsonl"
    path.write_bytes(lint.bad)
    arguments = (path, "--format", lint.validated_as)

    assert codes(*arguments) == set()
    assert lint.code in codes(*arguments, "--lint")
    assert codes(*arguments, "--select", lint.code) == {lint.code}


@pytest.mark.parametrize(
    ("option", "code", "name"),
    [
        ("--aggregate", "E201", "jsonl"),
        ("--with", "E201", "jsonl"),
        ("--with", "H201", "json"),
    ],
)
def test_other_file_is_checked_against(
    pair: Path, option: str, code: str, name: str
) -> None:
    """With the other file given, a file that disagrees with it has an error."""
    arguments = ("validate", option, f"{code}.other")
    bad = run(*arguments, f"{code}.bad.{name}", cwd=pair)
    good = run(*arguments, f"{code}.good.{name}", cwd=pair)

    assert (bad.returncode, good.returncode) == (1, 0)
    assert f" {code} ".encode() in bad.stdout
    assert run("validate", f"{code}.bad.{name}", cwd=pair).returncode == 0


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ("nope.json", "nope.json: "),
        ("H201.good.json", "H201.good.json: "),
        ("H201.other", "which none of the files belongs to"),
    ],
)
def test_other_file_that_is_of_no_use_is_one_line(
    pair: Path, other: str, words: str
) -> None:
    """A file that no input can be checked against ends with 2 and one line."""
    result = run("validate", "E201.good.jsonl", "--with", other, cwd=pair)

    assert result.returncode == 2
    (line,) = (each for each in result.stderr.decode().splitlines() if "error:" in each)
    assert words in line
    assert "Traceback" not in line


def test_dialect_is_in_the_summary() -> None:
    """The line of a file names its dialect behind its format."""
    path = FIXTURES / "nemo-output" / "valid" / "flat.jsonl"
    plain = FIXTURES / "nemo-output" / "valid" / "answers.jsonl"
    message = run("validate", path, plain).stderr.decode()

    assert "(nemo-output, flat)" in message
    assert "(nemo-output)" in message


def test_tables_of_a_folder_are_validated(tmp_path: Path) -> None:
    """A folder's CSV files are among its data files."""
    (tmp_path / "t.csv").write_bytes(b"system,prompt,response\n,Oi,Ol\xc3\xa1\n")
    result = run("validate", tmp_path)

    assert result.returncode == 0
    assert b"t.csv: 1 record, valid (tencent-csv)" in result.stderr


@pytest.mark.parametrize(
    ("columns", "code", "found"),
    [
        ("prompt=q,gt=a", 0, set()),
        ("prompt=q,gt=answer", 1, {"S101"}),
        ("prompt", 2, None),
        ("prmpt=q", 2, None),
    ],
)
def test_columns_are_mapped(
    tmp_path: Path, columns: str, code: int, found: set[str] | None
) -> None:
    """Columns that are mapped must be there, and a map must mean something."""
    (tmp_path / "t.csv").write_bytes(b"q,a\n1 + 1,2\n")
    arguments = ("t.csv", "--map", columns)
    result = run("validate", *arguments, cwd=tmp_path)

    assert result.returncode == code
    if found is not None:
        assert codes(*arguments, cwd=tmp_path) == found
    else:
        assert result.stderr.startswith(b"error: '")


def test_a_map_may_be_wrong(tmp_path: Path) -> None:
    """A column that is missing may be misspelt in the map; so may a key of JSON."""
    (tmp_path / "t.csv").write_bytes(b"question,a\n1 + 1,2\n")
    (tmp_path / "t.jsonl").write_bytes(b'{"Frage": "1 + 1"}\n')
    found = run("validate", "t.csv", "--map", "prompt=qestion", cwd=tmp_path)
    known = run("validate", "t.jsonl", "--map", "prompt=Frage", cwd=tmp_path)
    missing = run("validate", "t.jsonl", "--map", "prompt=Fragen", cwd=tmp_path)

    assert b'rename "question" to "qestion", or correct `--map`' in found.stdout
    assert known.returncode == 0
    assert missing.returncode == 1
    assert b"S101 missing-key Fragen, mapped to prompt, is missing" in missing.stdout


def test_a_map_is_one_of_the_files_that_are_read(tmp_path: Path) -> None:
    """Nothing is asked of files that the run writes, passes over or leaves out."""
    (tmp_path / "data").mkdir()
    rows = b'{"q": "1", "zz": 2}\n{"q": "2", "zz": 2}\n'
    (tmp_path / "data" / "a.jsonl").write_bytes(rows)
    arguments = ("validate", "data", "--map", "prompt=q")
    baseline = "data/baseline.json"

    written = run(*arguments, "--write-baseline", baseline, cwd=tmp_path)
    held = run(*arguments, "--baseline", baseline, cwd=tmp_path)
    noted = run(*arguments, cwd=tmp_path)
    report = ("--report", "sarif=data/r.json")
    reported = [run(*arguments, *report, cwd=tmp_path) for _ in range(2)]
    (tmp_path / "data" / "r.json").unlink()
    (tmp_path / "data" / "x.json").write_bytes(b'{\n"a": 1\n}\n')
    left_out = run(*arguments, "--exclude", "x.json", cwd=tmp_path)
    (tmp_path / "harpia-formats.toml").write_text('exclude = ["x.json"]\n')
    by_settings = run(*arguments, cwd=tmp_path)

    results = (written, held, noted, *reported, left_out, by_settings)
    assert [each.returncode for each in results] == [0] * 7
    assert b"J114 skipped-files passed over: 1 harpia-formats baseline" in noted.stdout
