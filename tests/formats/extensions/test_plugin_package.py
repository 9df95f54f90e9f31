"""A third-party package is used through the command line and from Python."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import command_runs
import command_server
from json_lines import jsonl_rows

#: Cases, one a line.
CASES = Path(__file__).with_name("cases")

PROJECT = Path(__file__).parent / "acme_plugin"
CHAT = (
    b'{"question": "2+2?", "expected": "4", "model": "m", "answer": "4"}\n'
    b'{"question": "3+3?", "expected": "six", "model": "m", "answer": ""}\n'
)
BOARD = b'{"question": "2+2?", "answer": "4", "scores": {"em": 1, "f1": 0.5}}\n'
#: A small module with what the entry points of a broken package may lead to.
BROKEN = """
from harpia_formats.plugins import (
    Dialect, Expectation, ExpectationCheck, ExpectationResult, Format, Measure,
    Metric, Reporter, Rule, Severity, mean_measure,
)

def sign(row):
    return ""

def rule(code, name):
    return Rule(code, name, Severity.NOTE, "A.", "B.", b"{", b"{}")

def format_(id_, schema="nemo-output", **more):
    return Format(id_, "F", "v", (Dialect(schema, sign),), **more)

def metric(number):
    def score(answer, references):
        if isinstance(number, Exception):
            raise number
        return number if answer == "b" else 0.5
    return Metric("x", "A.", {}, lambda given: mean_measure("x", "x", score))

WRONG_KEY, NO_FILE = map(metric, (KeyError("k"), FileNotFoundError(2, "No", "w")))
ABOVE, BELOW, NO_NUMBER = map(metric, (7, -1, float("nan")))

def lengths(answer, references):
    return 1.0, float(len(answer))

def share(sums):
    return (sums[1] / sums[0] if sums[0] else None,)

SUMS = Metric("x", "A.", {}, lambda given: Measure(("x",), "x", "any", lengths, share))
WORD = "not a plug-in"
EM = Metric("em", "Another one.", {}, None)
FULL = Reporter("full", "Another one", None)
CSV = format_("csv")
ALIASED = format_("aliased", aliases=("nemo",))
FAMILY = format_("family", family="nemo")
NO_SCHEMA = format_("no-schema", "nowhere:none")
NO_ADAPTER = format_("no-adapter", adapter="broken:NOTHING")
NO_REPAIRS = format_("no-repairs", unsafe_repairs="broken:NOTHING")
WRONG_REPAIRS = format_("wrong-repairs", unsafe_repairs="broken:WORD")
SHORT = (rule("Z101", "z-rule"),)
TAKEN = (rule("ZZ101", "broken-json"),)
TWICE = (rule("ZZ101", "z-one"), rule("ZZ101", "z-two"))
STRANGE = (WORD,)

class Check(ExpectationCheck):
    def __init__(self, value):
        self.value = value
        if value == "prepare":
            raise KeyError(value)
        if value == "value":
            raise ValueError("must be another")

    def take(self, record):
        if self.value == "take":
            raise KeyError(self.value)
        return None if self.value == "none" else ""

    def result(self):
        if self.value == "result":
            raise KeyError(self.value)
        return ExpectationResult({"unknown": None, "met": True}.get(self.value), "-")

EXPECTATION = Expectation("A.", Check)
NO_CHECK = Expectation("A.", str)
"""

#: Gives workers even a few rows, and notes that there is one.
FOR_FEW_ROWS = """
import os
from pathlib import Path
from harpia_formats.validation.parallel import ranges
ranges.WORTH_SECONDS = 0
ranges.TIMED = ranges.BUNDLE = ranges.MIN_RANGE = 20_000
os.register_at_fork(after_in_child=Path("worker").touch)
"""

#: No colours, and no sentence is broken by the frame around it.
ENVIRONMENT = {"NO_COLOR": "1", "COLUMNS": "200"}
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def runner(site: Path, cwd: Path, **more: str) -> Run:
    """Return what runs the command in `cwd` with the packages installed in `site`."""

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        variables = {**ENVIRONMENT, "PYTHONPATH": str(site), **more}
        done = command_runs.run(*arguments, cwd=cwd, environment=variables, timeout=60)
        texts = done.stdout.decode(), done.stderr.decode()
        return subprocess.CompletedProcess(done.args, done.returncode, *texts)

    return run


@pytest.fixture(scope="module")
def site(
    install: Callable[[Path, Path], None], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a folder in which the package is installed."""
    folder = tmp_path_factory.mktemp("site")
    install(PROJECT, folder)
    if command_server.can_prepare():
        command_server.prepare({**os.environ, "PYTHONPATH": str(folder)})
    return folder


@pytest.fixture(scope="module")
def shared_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the module to which broken packages lead.

    A command looks for packages when it runs, so one process starts all commands.
    """
    folder = tmp_path_factory.mktemp("shared")
    (folder / "broken.py").write_text(BROKEN)
    if command_server.can_prepare():
        command_server.prepare({**os.environ, "PYTHONPATH": str(folder)})
    return folder


@pytest.fixture
def own_site(shared_site: Path) -> Iterator[Path]:
    """Yield that folder, and remove what a test has installed in it."""
    yield shared_site
    for each in shared_site.iterdir():
        if each.is_dir():
            shutil.rmtree(each)


@pytest.fixture
def broken(
    own_site: Path, install: Callable[[Path, Path], None], tmp_path: Path
) -> Callable[[str, str], Run]:
    """Return what installs a package with one entry point, and returns what runs."""

    def installed(group: str, entry: str) -> Run:
        project = tmp_path / "project"
        project.mkdir()
        (project / "pyproject.toml").write_text(
            f'[project]\nname = "broken-package"\nversion = "0.9"\n'
            f'[project.entry-points."harpia_formats.{group}"]\n{entry}\n'
        )
        install(project, own_site)
        return runner(own_site, tmp_path)

    return installed


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    """Return what runs the command next to a file of each format of the package."""
    (tmp_path / "chat.jsonl").write_bytes(CHAT)
    (tmp_path / "more.jsonl").write_bytes(CHAT)
    (tmp_path / "board.jsonl").write_bytes(BOARD)
    return runner(site, tmp_path)


def test_metrics_by_models_are_found_once_they_are_installed(
    install: Callable[[Path, Path], None], own_site: Path, tmp_path: Path
) -> None:
    """A profile that names one says how to install it, and then what it needs."""
    neural = Path(__file__).parents[3] / "integrations" / "neural-metrics"
    (tmp_path / "a.jsonl").write_text(
        '{"id": 1, "references": ["b"], "outputs": [{"text": "a"}]}\n'
    )
    command = ("score", "a.jsonl", "--metrics", "sas", "--profile", "haystack")

    without = runner(own_site, tmp_path)(*command)
    install(neural, own_site)
    found = runner(own_site, tmp_path)(*command)

    assert (without.returncode, found.returncode) == (2, 2)
    assert "`pip install ./integrations/neural-metrics`" in without.stderr
    assert "model of the metric sas is None" in found.stderr


def test_its_unpacker_reads_a_file(run: Run, tmp_path: Path) -> None:
    """A file of another kind is read as the text that the unpacker makes of it."""
    box = b"7z\xbc\xaf\x27\x1c" + CHAT.replace(b'"m"', b"5", 1)
    (tmp_path / "chat.box").write_bytes(box)
    found = run("validate", "chat.box", "--format", "acme-chat")

    assert found.returncode == 1, found.stderr
    assert "chat.box!line 1:1:48: S102 wrong-type" in found.stdout
    (tmp_path / "chat.box").write_bytes(b"7z\xbc\xaf\x27\x1c?")
    found = run("validate", "chat.box", "--format", "acme-chat")
    assert (found.returncode, found.stderr) == (2, "error: chat.box: is a broken box\n")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_its_format_and_its_rule_validate(run: Run, jobs: str) -> None:
    """A file is validated by the schema and the rule of the package, with workers."""
    names = ["chat.jsonl", "more.jsonl"]
    done = run("validate", *names, "--format", "acme-chat", "--jobs", jobs)

    assert done.stdout == (
        "chat.jsonl:2:65: warning AC101 acme-empty-answer the answer is empty "
        "[/answer]\n"
        "chat.jsonl: AC101 acme-empty-answer: the same warning in another file of the "
        "folder; the answer is empty\n"
    )
    assert done.returncode == 0


def test_its_schema_refuses_a_row(run: Run, tmp_path: Path) -> None:
    """A row that the schema in the package does not allow is an error."""
    (tmp_path / "bad.jsonl").write_bytes(b'{"question": 1}\n')
    done = run("validate", "bad.jsonl", "--format", "acme-chat")

    assert done.returncode == 1
    assert "S101 missing-key" in done.stdout
    assert "S102 wrong-type" in done.stdout


def test_its_rule_is_selected_by_code_prefix_and_name(run: Run) -> None:
    """`--select` and `--ignore` take the package's rules like any other."""
    options = ("validate", "chat.jsonl", "--format", "acme-chat")
    for chosen in ("AC101", "AC", "acme-empty-answer"):
        assert "AC101" in run(*options, "--select", chosen).stdout
        assert "AC101" not in run(*options, "--ignore", chosen).stdout


def test_its_rule_has_a_page(run: Run) -> None:
    """`rule` explains a rule of the package, and lists it with all others."""
    assert run("rule", "AC101").stdout.startswith("AC101 acme-empty-answer (warning)\n")
    assert "AC101  acme-empty-answer" in run("rule", "--all").stdout


def test_its_formats_are_listed(run: Run) -> None:
    """`formats` lists the formats of the package behind the built-in ones."""
    lines = run("formats").stdout.splitlines()
    listed = json.loads(run("formats", "--output-format", "json").stdout)["formats"]

    assert any(each.startswith("  acme-chat") for each in lines)
    assert any("(read only)" in each for each in lines if "acme-board" in each)
    assert [each["id"] for each in listed][-2:] == ["acme-board", "acme-chat"]
    assert [each.get("read_only") for each in listed][-2:] == [True, None]


def test_its_schema_is_printed(run: Run) -> None:
    """`schema` prints the schema in the package."""
    assert run("schema", "acme-chat").stdout == (
        PROJECT / "acme_harpia" / "acme-chat.schema.json"
    ).read_text("utf-8")


def test_its_format_is_read_and_written(run: Run, tmp_path: Path) -> None:
    """Records go from the package's format into a built-in one, and back."""
    there = run(
        *("convert", "chat.jsonl", "--from", "acme-chat"),
        *("--to", "nemo-output", "--output", "nemo.jsonl"),
    )
    back = run("convert", "nemo.jsonl", "--to", "acme-chat", "--output", "back.jsonl")
    rows = (tmp_path / "back.jsonl").read_bytes()

    assert (there.returncode, back.returncode) == (0, 0)
    assert list(map(json.loads, rows.splitlines())) == jsonl_rows(CHAT)


@pytest.mark.skipif(not command_server.can_prepare(), reason="needs a fork")
def test_several_processes_convert_its_format(site: Path, tmp_path: Path) -> None:
    """Workers know the package's format: output is the same for any `--jobs`."""
    (tmp_path / "many.jsonl").write_bytes(CHAT * 2_000)
    (tmp_path / "workers.py").write_text(FOR_FEW_ROWS)
    before = {command_server.BEFORE: str(tmp_path / "workers.py")}
    run = runner(site, tmp_path, **before)
    options = ("convert", "many.jsonl", "--from", "acme-chat", "--to", "nemo-output")
    for jobs in ("1", "2"):
        assert not (tmp_path / "worker").exists()
        done = run(*options, "--jobs", jobs, "--output", f"{jobs}.jsonl")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "worker").exists()
    one, two = (tmp_path / f"{jobs}.jsonl" for jobs in (1, 2))

    assert one.read_bytes() == two.read_bytes()


def test_a_format_that_is_only_read_is_not_written(run: Run) -> None:
    """Rows with the names of metrics as keys are read; writing them is refused."""
    done = run(
        *("convert", "board.jsonl", "--from", "acme-board"),
        *("--to", "record", "--output", "-"),
    )
    refused = run("convert", "chat.jsonl", "--from", "acme-chat", "--to", "acme-board")
    no_way_back = run(
        *("roundtrip", "board.jsonl", "--from", "acme-board", "--via", "record")
    )
    (output,) = json.loads(done.stdout)["outputs"]

    assert [each["metric"] for each in output["scores"]] == ["em", "f1"]
    assert refused.returncode == no_way_back.returncode == 2
    assert refused.stderr.startswith(
        "error: acme-board can be read but not written (to write: "
    )
    assert "acme-board can be read but not written" in no_way_back.stderr


def test_its_metric_scores(run: Run) -> None:
    """`--metrics` takes the metric of the package next to ours, with its parameter."""
    done = run(
        *("score", "chat.jsonl", "--from", "acme-chat"),
        *("--metrics", "em,acme-length", "--param", "acme-length.most=0.5"),
    )

    assert done.returncode == 0, done.stderr
    assert "acme-length" in done.stdout
    assert "0.25" in done.stdout


@pytest.mark.parametrize("place", ["ABOVE", "BELOW", "NO_NUMBER"])
def test_a_score_beyond_the_scale_of_a_metric_is_left_out(
    tmp_path: Path, broken: Callable[[str, str], Run], place: str
) -> None:
    """A mean of numbers from 0 to 1, as a metric says, has no part of others."""
    (tmp_path / "a.jsonl").write_text(
        '{"references": ["a"], "outputs": [{"text": "a"}, {"text": "b"}]}\n'
    )
    done = broken("metrics", f'x = "broken:{place}"')(
        *("score", "a.jsonl", "--from", "record", "--metrics", "x")
    )

    assert done.returncode == 0, done.stderr
    assert "M103 unscorable-answer x has no score: it is no number from 0 to 1" in (
        done.stderr
    )
    assert "0.5000" in done.stdout


@pytest.mark.parametrize("answers", [("a", "aa"), ("a", None)])
def test_a_metric_of_sums_is_compared(
    tmp_path: Path,
    broken: Callable[[str, str], Run],
    answers: tuple[str | None, str | None],
) -> None:
    """`score compare` asks a metric for scores of sums only, as `score` does.

    It has as many as it says, so that sums without any place need no score; nor do they
    if no question has an answer of both systems.
    """
    for name, text in zip(("a", "b"), answers, strict=True):
        rows = [
            {"id": at, "references": ["r"], "outputs": [{"text": text}]}
            for at in range(5)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = broken("metrics", 'x = "broken:SUMS"')(
        *("score", "compare", "a.jsonl", "b.jsonl", "--from", "record"),
        *("--metrics", "x", "--output-format", "json"),
    )

    assert done.returncode == (0 if all(answers) else 1), done.stderr
    (found,) = json.loads(done.stdout)["compared"]
    values = (1.0, 2.0) if all(answers) else (None, None)
    assert (found["first"], found["second"]) == values


@pytest.mark.parametrize(
    ("place", "code", "begin", "last"),
    [
        (
            *("WRONG_KEY", 3, "Traceback"),
            "this is a bug in broken-package 0.9, please report it",
        ),
        ("NO_FILE", 2, "error", "broken-package 0.9 failed: [Errno 2] No: 'w'"),
    ],
)
def test_an_error_in_a_plug_in_names_its_package(  # noqa: PLR0913, PLR0917 - four of the table, and where it runs
    tmp_path: Path,
    broken: Callable[[str, str], Run],
    place: str,
    code: int,
    begin: str,
    last: str,
) -> None:
    """What the code of a package raises in a run is no bug in ours.

    What the system refused, such as a file that is missing, is no bug at all.
    """
    (tmp_path / "chat.jsonl").write_bytes(CHAT)
    done = broken("metrics", f'x = "broken:{place}"')(
        *("score", "chat.jsonl", "--map", "prompt=question,response=answer"),
        *("--map", "references=expected", "--metrics", "x"),
    )

    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(begin)
    assert done.stderr.splitlines()[-1] == f"error: {last}"


def test_its_reporter_reports(run: Run) -> None:
    """`--output-format` takes the reporter of the package."""
    done = run(
        *("validate", "chat.jsonl", "--format", "acme-chat"),
        *("--output-format", "acme-counts"),
    )

    assert (done.stdout, done.returncode) == ("AC101 1\n", 0)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("validate", "chat.jsonl", "--format", "acme-chap"), "acme-chat"),
        (("convert", "chat.jsonl", "--to", "acme-chap"), "acme-chat"),
        (("score", "chat.jsonl", "--metrics", "acme-lenght"), "acme-length"),
        (("validate", "chat.jsonl", "--output-format", "acme-count"), "acme-counts"),
        (("rule", "AC10l"), "AC101"),
    ],
)
def test_misspelt_names_suggest_those_of_the_package(
    run: Run, arguments: tuple[str, ...], hint: str
) -> None:
    """A name that is almost that of a plug-in is answered with it."""
    done = run(*arguments)

    assert done.returncode == 2
    assert f"did you mean {hint}" in done.stderr


def test_built_in_names_read_no_entry_points(site: Path) -> None:
    """Validation by a built-in format does not look for plug-ins, which takes long."""
    code = (
        "import sys, harpia_formats\n"
        "harpia_formats.validate(b'{}', format='nemo-output', select=['S'])\n"
        "assert 'importlib.metadata' not in sys.modules\n"
        "assert 'acme_harpia' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}

    subprocess.run([sys.executable, "-c", code], check=True, env=environment)  # noqa: S603 - our own code


@pytest.mark.parametrize(
    ("group", "name", "place", "arguments", "reason"),
    jsonl_rows(CASES / "broken_plug_ins.jsonl"),
)
def test_broken_plug_in_is_named_with_its_package(  # noqa: PLR0913, PLR0917 - a case and its folder
    tmp_path: Path,
    broken: Callable[[str, str], Run],
    group: str,
    name: str,
    place: str,
    arguments: tuple[str, ...],
    reason: str,
) -> None:
    """A plug-in that cannot be used is one error line with exit code 2."""
    (tmp_path / "chat.jsonl").write_bytes(CHAT)
    done = broken(group, f'{name} = "{place}"')(*arguments)
    start = (
        f"error: the entry point {name!r} in harpia_formats.{group} of the package "
        "broken-package 0.9 cannot be used: "
    )

    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(start)
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("place", "value", "code", "reason"),
    jsonl_rows(CASES / "expectations.jsonl"),
)
def test_expectations_are_checked_or_named_with_their_package(  # noqa: PLR0913, PLR0917 - a case and its folder
    tmp_path: Path,
    broken: Callable[[str, str], Run],
    place: str,
    value: str,
    code: int,
    reason: str,
) -> None:
    """What a package returns decides, and what it raises is an error."""
    (tmp_path / "a.jsonl").write_text('{"prompt": "1", "outputs": []}\n')
    (tmp_path / "preflight.toml").write_text(
        '[datasets.a]\nfiles = "a.jsonl"\nformat = "record"\n'
        f'own = {{ x = "{value}" }}\n'
    )

    done = broken("expectations", f'x = "broken:{place}"')("preflight")

    assert done.returncode == code, done.stderr
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert code < 2 or value == "value" or "broken-package 0.9" in done.stderr


def test_an_unknown_expectation_is_refused(run: Run, tmp_path: Path) -> None:
    """A name that no package adds is a mistake of the preflight file."""
    (tmp_path / "preflight.toml").write_text(
        '[datasets.a]\nfiles = "chat.jsonl"\nown = { nothing = 1 }\n'
    )
    done = run("preflight")

    assert done.returncode == 2
    assert "preflight.toml:3: datasets.a.own: there is no expectation 'n" in done.stderr


def test_two_packages_with_one_name_are_refused(
    tmp_path: Path, own_site: Path, install: Callable[[Path, Path], None]
) -> None:
    """Where two packages have an entry point of one name, both are named."""
    for package in ("first", "second"):
        project = tmp_path / package
        project.mkdir()
        (project / "pyproject.toml").write_text(
            f'[project]\nname = "{package}"\nversion = "1"\n'
            '[project.entry-points."harpia_formats.metrics"]\nx = "a:b"\n'
        )
        install(project, own_site)
    done = runner(own_site, tmp_path)("score", "c.jsonl", "--metrics", "x")

    assert done.returncode == 2
    assert "of the package first 1 cannot be used" in done.stderr
    assert "second 1" in done.stderr
