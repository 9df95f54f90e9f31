"""The command line as a whole: version, help, usage errors, locales."""

from pathlib import Path

import pytest

from command_runs import error_lines, joined, run
from harpia_formats import __version__

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version_is_printed(flag: str) -> None:
    """The version is one line on standard output."""
    result = run(flag)

    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode() == f"harpia-formats {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["validate", "rule", "--version"]),
        (["validate", "--help-all"], ["--format", "--cross-check", "Exit codes"]),
        (["rule", "--help"], ["--all", "RULES"]),
    ],
)
def test_help_is_printed(arguments: list[str], words: list[str]) -> None:
    """The help pages go to standard output and name commands and options."""
    result = run(*arguments)

    assert (result.returncode, result.stderr) == (0, b"")
    assert all(each in result.stdout.decode() for each in words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["Usage"]),
        (["nope"], ["nope"]),
        (["--nope"], ["--nope"]),
        (["validate"], ["PATHS is missing"]),
        (["validate", "rows.jsonl", "--nope"], ["--nope"]),
        (["validate", "rows.jsonl", "--limit", "0"], ["--limit"]),
        (["validate", "rows.jsonl", "--limit", "many"], ["--limit"]),
        (["validate", "rows.jsonl", "--jobs", "-1"], ["--jobs"]),
        (["validate", "rows.jsonl", "--jobs", "many"], ["neither", "nor auto"]),
        (["validate", "rows.jsonl", "--examples", "-1"], ["--examples"]),
        (["validate", "rows.jsonl", "--max-problems", "-1"], ["--max-problems"]),
        (["validate", "rows.jsonl", "--max-row-bytes", "0"], ["--max-row-bytes"]),
        (["validate", "rows.jsonl", "--output-format", "xml"], ["xml", "concise"]),
        (["rule"], ["--all"]),
    ],
    ids=joined,
)
def test_usage_error_is_explained(
    data: Path, arguments: list[str], words: list[str]
) -> None:
    """A wrong command line ends with 2 and an explanation."""
    result = run(*arguments, cwd=data)
    printed = (result.stderr + result.stdout).decode()

    assert result.returncode == 2
    assert "Traceback" not in printed
    assert all(each in printed for each in words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--schema", "schema.json", "--format", "eee"], ["--schema", "--from"]),
        (["--format", "eee@0.2.0-tga"], ["did you mean eee@0.2.0-tag?"]),
        (["--format", "nonsense"], ["eee@0.2.0", "eee@0.3.0"]),
        (["--select", "dupicate-key"], ["did you mean duplicate-key"]),
        (["--ignore", "J1O5"], ["did you mean", "J105"]),
        (["--select", "J, ,S"], ["no rule"]),
        (["--schema", "nope.json"], ["nope.json", "no such file"]),
        (["--schema", "."], [".: is a folder"]),
    ],
    ids=joined,
)
def test_option_that_cannot_be_met_is_one_line(
    data: Path, arguments: list[str], words: list[str]
) -> None:
    """An option whose value does not exist ends with 2 and one line."""
    result = run("validate", "rows.jsonl", *arguments, cwd=data)

    assert (result.returncode, result.stdout) == (2, b"")
    (line,) = error_lines(result)
    assert all(each in line for each in words)
    assert result.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'{"type":"intger"}', "not a draft-07 schema"),
        (b'{"$ref":"http://127.0.0.1:9/s.json"}', "http://127.0.0.1:9/s.json"),
        (b'{"$ref":"other.json"}', "other.json"),
        (b'{"$ref":"file:///etc/hostname"}', "file:///etc/hostname"),
        (b'{"$ref":', "not JSON"),
        (b"[1]", "schema"),
        (b"", "schema"),
    ],
)
def test_unusable_schema_is_one_line(data: Path, text: bytes, words: str) -> None:
    """A schema that is invalid, or refers to other files, ends with 2 and one line."""
    (data / "bad.json").write_bytes(text)
    result = run("validate", "rows.jsonl", "--schema", "bad.json", cwd=data)

    assert (result.returncode, result.stdout) == (2, b"")
    (line,) = error_lines(result)
    assert line.startswith("error: bad.json: ")
    assert words in line


LOCALES: list[dict[str, str]] = [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "utf-16"},
]


@pytest.mark.parametrize(
    "locale",
    [LOCALES[0], *(pytest.param(each, marks=pytest.mark.long) for each in LOCALES[1:])],
    ids=" ".join,
)
def test_output_is_the_same_in_any_locale(data: Path, locale: dict[str, str]) -> None:
    """Findings in any script, help and rules are written as UTF-8 in any locale."""
    text = '{"a":"maçã 日本 \\ud83d\\ude00"}\n'.encode()
    (data / "words.jsonl").write_bytes(text)
    arguments = ("validate", "words.jsonl", "--schema", "schema.json")
    for form in ("full", "json"):
        wanted = run(*arguments, "--output-format", form, cwd=data)
        result = run(*arguments, "--output-format", form, cwd=data, environment=locale)

        assert "maçã 日本".encode() in wanted.stdout
        assert (result.returncode, result.stdout) == (1, wanted.stdout)
        assert result.stderr == wanted.stderr
    assert run("validate", "--help", environment=locale).returncode == 0
    assert "café".encode() in run("rule", "J103", environment=locale).stdout


def test_hash_seed_changes_nothing() -> None:
    """The output does not depend on the order of Python's sets."""
    inputs = [FIXTURES / each for each in ("harpia", "nemo-output")]
    for form in ("json", "full"):
        options = ("--output-format", form, "--statistics", "--lint")
        any_seed, one_seed = (
            run("validate", *inputs, *options, environment=seed).stdout
            for seed in ({}, {"PYTHONHASHSEED": "1"})
        )

        assert len(any_seed) > 10_000
        assert one_seed == any_seed
