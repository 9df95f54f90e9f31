"""No data makes a command do more than read it and write the outputs that are named.

All commands run under an audit hook, over the fixtures and over mutants of these. What
is not in `allowed.toml` never happens: no connection, no process, no code of the
working folder, no evaluated or unpickled data, no change of a file that is no output.
"""

import json
import os
import pickle
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

import pytest

import command_server
from judge_server import JudgeServer
from known_formats import WRITABLE
from model_answers import model_answers
from watched_runs import (
    Event,
    Watched,
    done_by,
    environment_of,
    events_in,
    is_output,
    watched,
)

pytestmark = pytest.mark.skipif(
    not command_server.can_prepare(), reason="paths of open folders are those of Linux"
)
ROOT = Path(__file__).parents[2]
#: All commands and their options.
COMMAND_LINE = ROOT / "tests" / "cli" / "command_line.json"
FIXTURES = sorted(path for path in (ROOT / "fixtures").glob("*/*/*") if path.is_file())
#: A name that code made by us can only have from data.
CANARY = "zqcanary"
#: Events that change files.
CHANGES = {"open"} | {
    f"os.{name}"
    for name in "rename link symlink remove rmdir mkdir chmod chown truncate utime "
    "setxattr removexattr".split()
}


@dataclass(frozen=True)
class Allowed:
    """What may happen beyond the outputs, where in the code, and why."""

    events: str
    #: A pattern of our code, a space, the nearest code, a space, and the values.
    where: str
    reason: str

    def covers(self, event: Event, folder: Path) -> bool:
        """Tell whether it allows an event of a run whose folders are in `folder`."""
        text = f"{event.ours} {event.at} {' '.join(event.values)}"
        text = text.replace(f"{folder / 'tmp'}", "TMPDIR")
        return event.name in self.events.split() and bool(re.match(self.where, text))


#: All that commands do besides reading and writing the named outputs.
EXCEPTIONS = {
    name: Allowed(**allowed)
    for name, allowed in tomllib.loads(
        Path(__file__).with_name("allowed.toml").read_text("utf-8")
    ).items()
}
#: What runs over any data may need. The others need an option or an address.
USUAL = (
    "mapping members columns templates workers messages killable groups prctl spill "
    "companions"
).split()


def forbidden(
    events: Iterable[Event],
    work: Path,
    outputs: Iterable[str] = (),
    exceptions: Iterable[str] = USUAL,
) -> list[Event]:
    """Return the events that neither the outputs nor the exceptions allow."""
    allowed = [EXCEPTIONS[name] for name in exceptions]
    found = []
    for event in events:
        if event.name in CHANGES and all(
            is_output(path, work, outputs) or path == os.devnull
            for path in event.values
        ):
            continue
        has_data = event.name == "exec" and CANARY in event.values[-1]
        if has_data or not any(each.covers(event, work.parent) for each in allowed):
            found.append(event)
    return found


def wrong(run: Watched, work: Path, outputs: Iterable[str]) -> str:
    """Return what a run did that it must not, "" for nothing."""
    faults = [str(each) for each in forbidden(run.events, work, outputs)]
    files = [str(work / name) for name in run.left.get("work", ())]
    faults += [name for name in files if not is_output(name, work, outputs)]
    faults += run.left.get("TMPDIR", ())
    faults += run.left.get("HOME", ())
    # 3 is a bug in us, and a negative one a signal.
    if run.code not in (0, 1, 2):
        faults.append(f"exit code {run.code}")
    return f"{' '.join(run.arguments)}: {faults}" if faults else ""


@dataclass(frozen=True)
class Command:
    """A command with what is done to a file: its words, and patterns of its outputs."""

    name: str
    #: Words behind the name; `FILE`, `OTHER` and `FORMAT` stand for such.
    words: str
    outputs: tuple[str, ...] = ()

    def line(self, path: Path, other: Path, target: str) -> list[str]:
        """Return its arguments for a file, another one and a format to write."""
        known = {"FILE": str(path), "OTHER": str(other), "FORMAT": target}
        words = [
            re.sub("FILE|OTHER|FORMAT", lambda found: known[found[0]], word)
            for word in self.words.split()
        ]
        return [*self.name.split(), *words]


#: Everything that takes data, each with the options that write most.
COMMANDS = (
    Command("validate", "FILE --lint --report r.html", ("r.html",)),
    Command("validate", "FILE --fix -o fixed --report sarif=r.sarif", ("fixed", "r.*")),
    Command("convert", "FILE --to FORMAT -o out.jsonl --keep-extra", ("out.jsonl",)),
    Command("convert", "FILE --to parquet -o out.parquet", ("out.parquet",)),
    Command(
        "convert",
        "FILE --to FORMAT -o out.csv.gz --on-invalid skip --report r.md",
        ("out.csv.gz", "r.md"),
    ),
    Command("convert", "FILE --to harpia -o out --group prompt", ("out",)),
    Command("roundtrip", "FILE --via FORMAT --report r.json", ("r.json",)),
    Command("diff", "FILE OTHER --report r.html", ("r.html",)),
    Command("score", "FILE -m em,f1,bleu --report r.html", ("r.html",)),
    Command("score", "FILE -m em --to nemo-results -o out", ("out", "out.*")),
    Command("score compare", "a=FILE b=OTHER -m em"),
    Command("score agreement", "FILE OTHER --field references"),
    Command("stats", "FILE --report r.html", ("r.html",)),
    Command("judge", "FILE -d faithfulness --dry-run"),
    Command("preflight", "--init FILE -o p.toml", ("p.toml",)),
    Command("preflight", "FILE --output-format json"),
    Command("head", "FILE -o out", ("out",)),
    Command("sample", "FILE 2 --seed 1 -o out", ("out",)),
    Command("split", "FILE --valid v --invalid i", ("v", "i")),
    Command("split", "FILE --by category -o {value}.part", ("*.part",)),
    Command("merge", "FILE OTHER -o out", ("out",)),
    Command("detect", "FILE --output-format json"),
    Command("schema check", "FILE --report r.xml", ("r.xml",)),
    Command("schema infer", "FILE -o out.json", ("out.json",)),
    Command("schema", "FILE"),
    Command("config", "FILE --config FILE"),
)
#: Commands that take no data, and one that serves until it is ended.
WITHOUT_DATA = {"formats", "rule", "completion", "view"}
#: What data may hold in the hope that somebody runs, opens or fetches it.
HOSTILE: tuple[bytes, ...] = (
    b"\"__import__('os').system('touch evil')\"",
    b'"../../evil.jsonl"',
    b'"/etc/passwd"',
    b"\"{{ 7*7 }}{% include '/etc/passwd' %}\"",
    b'{"$ref": "http://127.0.0.1:9/schema.json"}',
    b'{"$schema": "file:///etc/passwd"}',
    b'"!!python/object/apply:os.system [touch evil]"',
    b"\"=cmd|'/c calc'!A1\"",
    b'{"zqcanary": 1, "zqcanary): pass": 2}',
    b'zqcanary,"a""b",__class__\n1,2,3\n',
    b'"\\u0000\\u202e\\ud800"',
    b'"http://127.0.0.1:9/x"',
    b"[" * 150,
    b'"$(touch evil)`touch evil`"',
)


class _Opens:
    """Pickled, it would write a file when it is loaded."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        return open, ("evil", "w")


def mutants(folder: Path, count: int) -> list[Path]:
    """Write mutants of fixtures, the same ones each time; return their paths."""
    chance = Random(35)  # noqa: S311 - the same ones each time
    found = [folder / "pickle.pkl", folder / "pickled.jsonl"]
    for each in found:
        each.write_bytes(pickle.dumps(_Opens()))
    for number in range(count - len(found)):
        source = chance.choice(FIXTURES)
        path = folder / f"{number}-{source.name}"
        path.write_bytes(_mutated(source.read_bytes(), chance))
        found.append(path)
    return found


def _mutated(data: bytes, chance: Random) -> bytes:
    """Return data with one to four changes."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((1, 1, 4, 30, 400)))
        kind = chance.randrange(6)
        if kind < 3:
            # In the place of a value, so that the rest can be read.
            values = list(re.finditer(rb'"[^"\n]*"|\d+', data))
            if values:
                place = chance.choice(values)
                start, end = place.span()
            new = chance.choice(HOSTILE)
        elif kind == 3:
            new = b""
        elif kind == 4:
            new = data[start:end] * 2
        else:
            new = bytes(chance.randrange(256) for _ in range(end - start))
        data = data[:start] + new + data[end:]
    return data


def command_lines(
    command: Command, paths: Sequence[Path], start: int = 0
) -> Iterable[list[str]]:
    """Yield the arguments of a command for each file, each with a format in turn."""
    targets = list(WRITABLE)
    for number, path in enumerate(paths, start):
        other = paths[(number - start) // 2]
        yield command.line(path, other, targets[number % len(targets)])


def test_all_commands_that_take_data_are_tried() -> None:
    """Each command is in the table, or takes no data."""
    tried = {command.name for command in COMMANDS}

    known = json.loads(COMMAND_LINE.read_bytes()).keys() - {"harpia-formats"}

    assert known - WITHOUT_DATA == tried


def test_a_share_of_fixtures_and_mutants(tmp_path: Path) -> None:
    """Each command does nothing else with some files of all formats."""
    (tmp_path / "mutants").mkdir()
    # Each command has files of other formats than the next one.
    paths = [*FIXTURES[::6], *mutants(tmp_path / "mutants", 26)]
    commands = [COMMANDS[place % len(COMMANDS)] for place in range(len(paths))]
    lines = [
        next(iter(command_lines(command, [path], place)))
        for place, (command, path) in enumerate(zip(commands, paths, strict=True))
    ]

    runs = watched(lines, tmp_path)

    assert len(runs) == len(lines)
    found = [
        wrong(run, tmp_path / "work", command.outputs)
        for run, command in zip(runs, commands, strict=True)
    ]
    assert [each for each in found if each] == []
    assert {run.code for run in runs} == {0, 1, 2}


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.name)
def test_all_fixtures_and_mutants(command: Command, tmp_path: Path) -> None:
    """A command does nothing else with any fixture and 500 mutants."""
    (tmp_path / "mutants").mkdir()
    before = {path: path.stat().st_mtime_ns for path in FIXTURES}
    paths = [*FIXTURES, *mutants(tmp_path / "mutants", 500)]

    runs = watched(command_lines(command, paths), tmp_path)

    assert len(runs) == len(paths)
    found = [wrong(run, tmp_path / "work", command.outputs) for run in runs]
    assert [each for each in found if each] == []
    assert {path: path.stat().st_mtime_ns for path in FIXTURES} == before


#: Python programs that each do one thing which must not happen; `{work}` is the folder
#: of the run, `{outside}` another one.
VIOLATIONS = {
    "socket.connect": "import socket; socket.socket().connect_ex(('127.0.0.1', 9))",
    "socket.bind": "import socket; socket.socket().bind(('127.0.0.1', 0))",
    "socket.getaddrinfo": "import socket; socket.getaddrinfo('127.0.0.1', 9)",
    "socket.sendto": (
        "import socket\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.sendto(b'', ('127.0.0.1', 9))"
    ),
    "subprocess.Popen": "import subprocess; subprocess.run(['true'])",
    "os.system": "import os; os.system('true')",
    "os.exec": "import os; os.execv('/bin/true', ['true'])",
    "os.posix_spawn": "import os; os.posix_spawn('/bin/true', ['true'], {{}})",
    "os.fork": "import os; os.fork() or os._exit(0)",
    "exec": "eval('1 + 1')",
    "pickle.find_class": ("import pickle; pickle.loads(b'cos\\nsystem\\n.')"),
    "marshal.loads": "import marshal; marshal.loads(marshal.dumps(1))",
    "ctypes.dlopen": "import ctypes; ctypes.CDLL(None)",
    "sqlite3.connect": "import sqlite3; sqlite3.connect('x.db')",
    "open": "open('{outside}/evil', 'w')",
    "os.rename": "import os; os.rename('{outside}/a', '{outside}/b')",
    "os.remove": "import os; os.remove('{outside}/a')",
    "os.mkdir": "import os; os.mkdir('{outside}/new')",
    "os.chmod": "import os; os.chmod('{outside}/a', 0o777)",
    "os.symlink": "import os; os.symlink('{outside}/a', 'out')",
    "os.truncate": "import os; os.truncate('{outside}/a', 0)",
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_each_kind_is_caught(name: str, tmp_path: Path) -> None:
    """The hook sees each thing that must not happen, and no exception allows it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").touch()
    text = VIOLATIONS[name].format(outside=outside)

    events = done_by(["-I", "-c", _watched_program(text)], tmp_path, {})

    found = forbidden(events, tmp_path / "work", ["out"])
    assert name in {each.name for each in found}


def _watched_program(text: str) -> str:
    """Return a program that is watched in isolated mode, which reads no PYTHONPATH.

    Of what it runs, only the watched part counts: `-c` itself is code of no file.
    """
    folder = str(Path(__file__).with_name("watch"))
    # Some systems have a module of this name, which is imported already.
    start = f"sys.modules.pop('sitecustomize', None); sys.path.insert(0, {folder!r})"
    return f"import sys; {start}; import sitecustomize as w\n{text}"


def test_an_import_of_the_working_folder_is_caught(tmp_path: Path) -> None:
    """A module that lies next to the data is code of a file that is not installed."""
    module = tmp_path / "work" / "beside.py"
    module.parent.mkdir()
    module.write_text("")
    text = f"sys.path.append({str(module.parent)!r}); import beside"

    events = done_by(["-I", "-c", _watched_program(text)], tmp_path, {})

    found = forbidden(events, tmp_path / "work")
    assert str(module) in {each.values[0] for each in found if each.name == "exec"}


def test_data_in_made_code_is_caught(tmp_path: Path) -> None:
    """Code that we make is allowed as long as no name in it is from data."""
    ours = "harpia_formats.conversion.mapping.compiled_fields:function"
    good = Event("exec", ours, ours, ("<read(row)>", "c1 row"))
    bad = Event("exec", ours, ours, ("<read(row)>", f"c1 row {CANARY}"))

    assert forbidden([good, bad], tmp_path) == [bad]


def test_a_file_in_no_output_is_caught(tmp_path: Path) -> None:
    """A file that a run leaves without an event of Python is found."""
    run = Watched(("detect",), 0, (), {"work": ["left"], "TMPDIR": [], "HOME": []})

    assert "left" in wrong(run, tmp_path, ())


#: An answer of MT-Bench, and the question that another file has.
ANSWER = {
    "question_id": 1,
    "answer_id": "a",
    "model_id": "m",
    "choices": [{"index": 0, "turns": ["yes"]}],
    "tstamp": 1.5,
}
QUESTION = {"question_id": 1, "category": "math", "turns": ["Is it?"]}
#: A judge that gives each answer a number.
DEFINITION = {
    "instructions": "Is the answer short?",
    "inputs": ["responses"],
    "outputs": [{"name": "score", "type": "number", "minimum": 0, "maximum": 1}],
    "examples": [{"inputs": {"responses": "a"}, "outputs": {"score": 1}}],
}


def test_each_exception_is_needed(tmp_path: Path) -> None:
    """Every exception allows something that a command does, and is the only one."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text(model_answers(["m"], range(40_000), lambda *_: True))
    few = tmp_path / "few.jsonl"
    few.write_text(model_answers(["m"], [0, 0, 1, 2], lambda *_: True))
    schema = tmp_path / "schema.json"
    schema.write_text('{"properties": {"id": {"pattern": "^(?=[0-9])([0-9]+)+$"}}}')
    definition = tmp_path / "judge.json"
    definition.write_text(json.dumps(DEFINITION))
    columns = ROOT / "fixtures" / "haystack" / "valid" / "documents.json"
    answers, questions = tmp_path / "answers.jsonl", tmp_path / "questions.jsonl"
    answers.write_text(f"{json.dumps(ANSWER)}\n")
    questions.write_text(f"{json.dumps(QUESTION)}\n")
    helm = ROOT / "fixtures" / "helm" / "valid" / "joint.json"
    with JudgeServer() as judge, _served(tmp_path) as address:
        asked = ["-d", definition, "--endpoint", judge.url, "--judge-model", "m"]
        runs = watched(
            [
                ["validate", rows, "--report", "r.html", "--jobs", "2"],
                ["validate", few, "--schema", schema],
                ["convert", rows, "--to", "csv", "-o", "o.csv", "--jobs", "2"],
                ["convert", columns, "--to", "record", "-o", "o.jsonl"],
                ["convert", helm, "--to", "record", "-o", "o.jsonl"],
                ["convert", answers, "--with", questions, "--to", "csv", "-o", "o"],
                ["convert", few, "--group", "id", "--to", "harpia", "-o", "o"],
                ["validate", f"{address}/few.jsonl"],
                ["judge", few, *asked, "--cache", "c.db", "-o", "o.json"],
            ],
            tmp_path,
            {"OPENAI_API_KEY": "none"},
        )
    events = [event for run in runs for event in run.events]
    events += _events_of_view(tmp_path / "view", few)

    assert [run.code for run in runs] == [0] * len(runs)
    for name, exception in EXCEPTIONS.items():
        others = [each for each in EXCEPTIONS if each != name]
        left = forbidden(events, tmp_path / "work", ["*"], others)
        assert any(exception.covers(each, tmp_path) for each in left), name


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Serve the files of a folder for `with`; the address is given."""
    handler = partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,)).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def _events_of_view(folder: Path, rows: Path) -> list[Event]:
    """Return what `view` does until it is ended, once it serves its page."""
    for name in ("work", "tmp", "home"):
        (folder / name).mkdir(parents=True)
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "harpia_formats", "view", rows, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder / "work",
        env=environment_of(folder),
    ) as process:
        assert process.stdout is not None
        try:
            assert any(b"http://" in line for line in process.stdout)
        finally:
            process.terminate()
        process.stdout.read()
    lines = events_in(folder)
    return [Event(*line[:3], tuple(line[3])) for line in lines]
