"""`validate` and `config` with settings files and baselines."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command_runs import COMMAND, codes, environment_with, report_of, run
from fixture_files import schema_file

SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with a schema and files of wrong rows in two folders."""
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    for name in ("new", "legacy"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.jsonl").write_text('{"a": 1}\n\n{}\n{"a": "x"}\n')
    return tmp_path


def put(folder: Path, text: str) -> None:
    """Write settings into a folder."""
    (folder / "harpia-formats.toml").write_text(text)


def found(project: Path, *arguments: str, cwd: str = "") -> list[tuple[str, str, str]]:
    """Return folder, code and severity of each problem in the files of the project."""
    paths = [str(project / name / "1.jsonl") for name in ("legacy", "new")]
    report = report_of(
        *paths, "--schema", project / "schema.json", *arguments, cwd=project / cwd
    )
    return [
        (Path(one["path"]).parent.name, one["code"], one["severity"])
        for one in report["problems"]
    ]


OLD = [("legacy", "S101"), ("legacy", "S102"), ("legacy", "J202")]
NEW = [("new", "S101"), ("new", "S102"), ("new", "J202")]


def pairs(found: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Return the folders and codes."""
    return [one[:2] for one in found]


def test_settings_are_found_from_a_subfolder(project: Path) -> None:
    """In whatever folder the command is run, the settings of the files hold."""
    put(project, 'ignore = ["J"]\n[per-file-ignores]\n"legacy/*" = ["missing-key"]\n')

    expected = [OLD[1], *NEW[:2]]
    assert pairs(found(project)) == expected
    assert pairs(found(project, cwd="new")) == expected
    assert pairs(found(project, cwd="..")) == expected


def test_each_file_has_the_closest_settings(project: Path) -> None:
    """Settings of two folders are not merged."""
    put(project, 'ignore = ["J"]')
    put(project / "legacy", 'severity.S = "note"\nbaseline = "x"')

    result = run("validate", ".", "--schema", "schema.json", cwd=project)

    legacy, new = (
        [one for one in found(project) if one[0] == name] for name in ("legacy", "new")
    )
    assert legacy == [
        ("legacy", "S101", "note"),
        ("legacy", "S102", "note"),
        ("legacy", "J202", "note"),
    ]
    assert pairs(new) == NEW[:2]
    note = b"note: legacy/harpia-formats.toml: not used: baseline, which the settings"
    assert note in result.stderr


def test_limits_are_those_of_the_working_folder(project: Path) -> None:
    """Settings next to the data raise no limit of memory or time, with a note."""
    put(project / "legacy", 'max-row-bytes = 5\nrow-timeout = 9\nignore = ["J2"]')
    command = ("validate", "legacy", "--schema", "schema.json")

    with_settings = run(*command, cwd=project)
    put(project, "max-row-bytes = 5")
    above = run(*command, cwd=project)

    assert b"J110" not in with_settings.stdout
    assert b"not used: max-row-bytes, row-timeout, which" in with_settings.stderr
    assert b"J110" in above.stdout
    assert b"J202" not in above.stdout


def test_options_win_over_settings(project: Path) -> None:
    """`--select` replaces what settings select and ignore; `--ignore` adds to it."""
    put(
        project,
        'select = ["S102", "J202"]\nignore = ["J"]\nlint = true\nexamples = 3\n'
        'output-format = "jsonl"\nper-file-ignores.legacy = ["J"]\n',
    )

    assert pairs(found(project)) == [OLD[1], NEW[1]]
    assert pairs(found(project, "--ignore", "S101")) == [OLD[1], NEW[1]]
    assert pairs(found(project, "--select", "J202,S101")) == [OLD[0], *NEW[::2]]
    assert pairs(found(project, "--isolated")) == [*OLD, *NEW]
    lines = run("validate", "new", "--schema", "schema.json", cwd=project).stdout
    assert json.loads(lines.splitlines()[-1])["kind"] == "summary"


def test_an_option_with_its_default_value_wins(project: Path) -> None:
    """An option that is given counts, also if it repeats the default."""
    put(project, "examples = 1")
    (project / "new" / "1.jsonl").write_text("{}\n" * 9)
    arguments = ("new", "--schema", "schema.json")

    few = report_of(*arguments, cwd=project)
    many = report_of(*arguments, "--examples", "5", cwd=project)

    assert [len(one["problems"]) for one in (few, many)] == [1, 5]


def test_the_exit_code_follows_severities(project: Path) -> None:
    """Errors that are notes pass; warnings fail with error-on-warning."""
    arguments = ("validate", "new", "--schema", "schema.json")
    put(project, 'severity.S = "note"')
    assert run(*arguments, cwd=project).returncode == 0
    put(project, 'error-on-warning = true\nseverity.S = "warning"')
    assert run(*arguments, cwd=project).returncode == 1
    put(project, 'severity.S = "warning"')
    assert run(*arguments, cwd=project).returncode == 0
    assert run(*arguments, "--error-on-warning", cwd=project).returncode == 1


def test_files_are_left_out(project: Path) -> None:
    """`exclude` holds from the folder of the settings, also for named files."""
    put(project, 'exclude = ["legacy/*.jsonl", "*.json"]')

    assert pairs(found(project)) == NEW
    result = run("validate", "legacy", "--schema", "schema.json", cwd=project)
    assert result.returncode == 2
    assert b"all files are left out by the setting exclude" in result.stderr
    assert pairs(found(project, "--exclude", "nothing")) == [*OLD, *NEW]


def test_formats_by_pattern(project: Path) -> None:
    """The last pattern that matches a file names its format; --format wins."""
    put(project, '[formats]\n"*" = "eee@0.2.0"\n"new/*" = "nemo-input"\n')
    paths = ("legacy/1.jsonl", "new/1.jsonl")

    def formats(*arguments: str) -> list[Any]:
        report = report_of(*paths, *arguments, cwd=project)
        return [one["format"] for one in report["files"]]

    assert formats() == ["eee@0.2.0", "nemo-input"]
    assert formats("--format", "record") == ["record"] * 2
    assert formats("--schema", "schema.json") == ["schema.json"] * 2


def test_standard_input_has_the_settings_of_the_working_folder(project: Path) -> None:
    """What is no local file has the settings of the working folder."""
    put(project, 'ignore = ["S"]')
    arguments = ("-", "--schema", project / "schema.json")

    report = report_of(*arguments, stdin=b"{}\n\n{}\n", cwd=project / "new")

    assert [one["code"] for one in report["problems"]] == ["J202"]


def test_one_file_for_all(project: Path) -> None:
    """`--config` names the settings of all files, and paths start where it is run."""
    put(project, 'ignore = ["S101"]')
    (project / "ci").mkdir()
    (project / "ci" / "all.toml").write_text('per-file-ignores."legacy/*" = ["S"]')

    assert pairs(found(project, "--config", "ci/all.toml")) == [OLD[2], *NEW]
    both = run("validate", "new", "--config", "x", "--isolated", cwd=project)
    assert both.returncode == 2
    assert b"cannot be combined" in both.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('ignore = ["S1O1"]', b"ignore: no rule is called 'S1O1'"),
        ("ingore = []", b"did you mean ignore?"),
        ("ignore = ", b"is not TOML"),
        ('baseline = "none.json"', b"none.json: does not exist"),
    ],
)
def test_bad_settings_end_the_run(text: str, message: bytes, project: Path) -> None:
    """Settings that cannot be used are one line and exit code 2."""
    put(project, text)

    result = run("validate", "new", "--schema", "schema.json", cwd=project)

    assert (result.returncode, result.stdout) == (2, b"")
    assert message in result.stderr
    assert result.stderr.startswith(b"error: ")
    assert result.stderr.count(b"\n") == 1


def test_workers_follow_the_settings_of_each_file(project: Path) -> None:
    """Small files in two folders with settings of their own: any --jobs is equal."""
    put(project, 'ignore = ["J"]')
    put(project / "legacy", 'severity.S101 = "note"')
    row = json.dumps({"a": 1, "b": "x" * 1000}) + "\n"
    for name in ("new", "legacy"):
        for number in range(30):
            path = project / name / f"{number}.jsonl"
            path.write_text(row * 400 + "\n{}\n")
    arguments = ("new", "legacy", "--schema", "schema.json")

    one, two = (report_of(*arguments, "--jobs", n, cwd=project) for n in (1, 2))

    assert one == two
    assert one["summary"]["errors"] == 30
    assert one["summary"]["notes"] == 60


def test_a_baseline_is_held_and_broken(project: Path) -> None:
    """Settings name the baseline; new findings show, and old ones are taken out."""
    arguments = ("validate", "new", "legacy", "--schema", "schema.json")
    written = run(*arguments, "--write-baseline", "b.json", cwd=project)
    assert written.returncode == 0
    assert b"note: b.json holds 6 findings" in written.stderr
    put(project, 'baseline = "b.json"')

    held = run(*arguments, cwd=project)
    assert (held.returncode, held.stdout) == (0, b"")
    below = run(
        "validate", "1.jsonl", "--schema", "../schema.json", cwd=project / "new"
    )
    assert (below.returncode, below.stdout) == (0, b"")

    (project / "new" / "1.jsonl").write_text('{"a": 1}\n{}\n{}\n')
    broken = run(*arguments, cwd=project)
    assert broken.returncode == 1
    assert codes(broken)[0] == "S101"
    assert b"2 found, 1 in the baseline, 1 shown" in broken.stdout
    assert b"b.json holds 2 findings that are no longer there" in broken.stderr

    tighten = ("--baseline", "b.json", "--write-baseline", "b.json")
    tightened = run(*arguments, *tighten, cwd=project)
    assert tightened.returncode == 1
    assert b"b.json holds 4 findings" in tightened.stderr
    again = run(*arguments, cwd=project)
    assert again.returncode == 1
    assert b"no longer there" not in again.stderr

    fast = run(*arguments, "--fail-fast", cwd=project)
    assert fast.returncode == 2
    assert b"harpia-formats.toml: baseline: cannot be combined" in fast.stderr


def test_a_baseline_that_cannot_hold_all_is_no_success(project: Path) -> None:
    """Writing a baseline fails if the run with it would, and says for which file."""
    (project / "new" / "odd.jsonl").write_text('{"what": 1}\n')

    arguments = ("validate", "new/odd.jsonl")
    written = run(*arguments, "--write-baseline", "b.json", cwd=project)
    used = run(*arguments, "--baseline", "b.json", cwd=project)

    assert (written.returncode, used.returncode) == (1, 1)
    assert b"error: new/odd.jsonl: not in the baseline" in written.stderr
    assert b"S301" in used.stdout


def test_a_baseline_that_cannot_be_used_ends_the_run(project: Path) -> None:
    """Another version is refused with the reason."""
    (project / "b.json").write_text('{"schema": "harpia-formats/baseline/9"}')

    result = run("validate", "new", "--baseline", "b.json", cwd=project)

    assert (result.returncode, result.stdout) == (2, b"")
    assert b"baseline b.json: has version 9" in result.stderr


def test_config_shows_each_value_and_its_file(project: Path) -> None:
    """`config` lists every setting with where it is from."""
    put(project, 'ignore = ["J202"]\njobs = 2\n[formats]\n"new/*" = "nemo-input"\n')
    put(project / "legacy", 'exclude = ["1.*"]\njobs = 3\n')

    def shown(*arguments: str, cwd: str = "") -> dict[str, Any]:
        out = run("config", *arguments, "--output-format", "json", cwd=project / cwd)
        assert out.returncode == 0
        found = json.loads(out.stdout)
        jsonschema.validate(found, schema_file("config-1"))
        names = {one["name"]: (one["value"], one["from"]) for one in found["settings"]}
        return {**names, "file": found.get("file")}

    here = shown("new/1.jsonl")
    assert here["ignore"] == (["J202"], "harpia-formats.toml")
    assert here["jobs"] == (2, "harpia-formats.toml")
    assert here["select"] == ([], None)
    assert here["file"] == {"excluded": False, "format": "nemo-input", "ignored": []}
    below = shown(cwd="new")
    assert below["ignore"] == (["J202"], "../harpia-formats.toml")
    assert below["file"] is None
    other = shown("legacy/1.jsonl")
    assert other["ignore"] == ([], None)
    assert other["jobs"] == (2, "harpia-formats.toml")
    assert other["file"]["excluded"]
    assert shown("new/1.jsonl", "--isolated")["ignore"] == ([], None)
    text = run("config", "new/1.jsonl", cwd=project).stdout.decode()
    assert re.search(r'ignore +\["J202"\] +harpia-formats\.toml', text)
    assert "format nemo-input" in text
    assert run("config", "missing", cwd=project).returncode == 2


def test_repairs_follow_the_settings_of_each_file(project: Path) -> None:
    """A file that settings leave out, and a rule that they ignore, is not repaired."""
    put(project, 'exclude = ["legacy"]\nper-file-ignores."new/2.*" = ["J203", "J"]')
    with_mark = b'\xef\xbb\xbf{"a": 1}\n'
    paths = [
        project / name for name in ("new/1.jsonl", "new/2.jsonl", "legacy/1.jsonl")
    ]
    for path in paths:
        path.write_bytes(with_mark)

    run("validate", "new", "legacy", "--schema", "schema.json", "--fix", cwd=project)

    assert [path.read_bytes() for path in paths] == [b'{"a": 1}\n', *[with_mark] * 2]


@pytest.mark.skipif(os.name != "posix", reason="the folder of a process stays")
def test_a_working_folder_that_is_gone_has_no_settings(project: Path) -> None:
    """A file that is named by its whole path is validated all the same."""
    gone = project / "gone"
    gone.mkdir()
    command = f'rmdir "{gone}"; exec "$@"'
    path, schema = project / "new" / "1.jsonl", project / "schema.json"
    arguments = ["validate", path, "--schema", schema]
    done = subprocess.run(  # noqa: S603 - ours
        ["/bin/sh", "-c", command, "sh", *COMMAND, *map(str, arguments)],
        cwd=gone,
        capture_output=True,
        check=False,
        env=environment_with({"PYTHONPATH": os.pathsep.join(sys.path)}),
    )

    assert done.returncode == 1
    assert done.stdout.count(b"\n") == 3


@pytest.mark.skipif(os.name != "posix", reason="names are bytes")
def test_settings_in_a_folder_of_any_name(project: Path) -> None:
    """The name of a folder need not be UTF-8, nor safe on a terminal."""
    folder = os.fsencode(project) + b"/\xff\x1b[31m"
    Path(os.fsdecode(folder)).mkdir()
    put(Path(os.fsdecode(folder)), "lnt = 1")

    result = run("config", cwd=Path(os.fsdecode(folder)))

    assert result.returncode == 2
    assert b"lnt: there is no such setting" in result.stderr
    assert b"\x1b" not in run("validate", ".", "-q", cwd=project).stderr


def test_one_setting_on_the_command_line(project: Path) -> None:
    """`--config KEY=VALUE` sets one setting in the place of that of a file."""
    put(project, 'output-format = "json"\nselect = ["J"]\n')
    path = project / "new" / "1.jsonl"
    words = ["--config", "output-format=concise", "--config", 'select = ["S"]']
    done = run("validate", path, *words, cwd=project)
    shown = run("config", *words, "--output-format", "json", cwd=project)
    wrong = run("validate", path, "--config", "slect=S", cwd=project)
    settings = {one["name"]: one for one in json.loads(shown.stdout)["settings"]}

    assert b"S301" in done.stdout
    assert not done.stdout.startswith(b"{")
    assert settings["select"] == {"name": "select", "value": ["S"], "from": "--config"}
    assert wrong.returncode == 2
    assert b"--config: slect: there is no such setting; did you mean" in wrong.stderr


def test_keys_of_one_table_are_set_one_by_one(project: Path) -> None:
    """Each `--config` of a table counts; of the same key the last one does."""
    put(project, 'severity.V = "error"\n')
    lines = ('severity.S104="note"', 'severity.J2="note"', 'severity.S104="warning"')
    words = [word for line in lines for word in ("--config", line)]
    shown = run("config", *words, "--output-format", "json", cwd=project)
    settings = {one["name"]: one for one in json.loads(shown.stdout)["settings"]}

    assert settings["severity"]["value"] == {"S104": "warning", "J2": "note"}


def test_patterns_on_the_command_line_start_where_it_is_run(project: Path) -> None:
    """They do so next to those of a file, which start from the folder of the file."""
    put(project, 'per-file-ignores."sub/data/2.jsonl" = ["S"]')
    data = project / "sub" / "data"
    data.mkdir(parents=True)
    for name in ("1.jsonl", "2.jsonl"):
        (data / name).write_text("\n{}\n")

    report = report_of(
        *("data", "--schema", "../schema.json"),
        *("--config", 'exclude=["data/1.jsonl"]'),
        cwd=project / "sub",
    )

    assert [one["path"] for one in report["files"]] == ["data/2.jsonl"]
    assert [one["code"] for one in report["problems"]] == ["J202"]


@pytest.mark.parametrize("line", ["report=\udcff.html", 'format\udcff="x"'])
def test_a_setting_that_is_not_utf_8_is_refused(line: str) -> None:
    """An argument with other bytes is exit code 2 with one line."""
    done = run("config", "--config", line)

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"error: --config: line 1: is not UTF-8\n"


def test_a_baseline_never_holds_that_records_are_missing(project: Path) -> None:
    """`--min-records` fails with the baseline of a run that had too few, too."""
    arguments = ("validate", "new", "--schema", "schema.json", "--min-records", "9")
    written = run(*arguments, "--write-baseline", "b.json", cwd=project)
    used = run(*arguments, "--baseline", "b.json", cwd=project)

    assert (written.returncode, used.returncode) == (1, 1)
    assert b"not in the baseline, which holds neither too few records" in written.stderr
    assert codes(used) == ["J115"]
