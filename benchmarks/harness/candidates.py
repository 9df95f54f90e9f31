"""The commands that the benchmark of validation compares, with their files."""

import importlib.util
import platform
import shutil
import sys
import sysconfig
from functools import partial
from pathlib import Path

from data.datastore import datastore
from data.files import generated_file
from data.generate import WRONG_TYPE, rows

from harness.measure import Candidate, Sample, seconds_of

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "benchmarks" / "peers"
SCHEMA = str(ROOT / "schemas" / "eee" / "eee@0.2.0.schema.json")
#: The rows for plain jsonschema, which would take minutes for all of them.
SAMPLE_ROWS = 2000

OURS = "ours"
OURS_LESS = "ours --ignore duplicate-key"
OURS_ALONE = "ours --ignore duplicate-key --jobs 1"
OURS_WITH = "ours --with the aggregate"
EVERY = "every_eval_ever validate"
SOURCEMETA = "sourcemeta jsonschema --fast"
ENGINE = "orjson + jsonschema-rs"
PARSER = "orjson alone, no checks"
PLAIN = "jsonschema, 2,000 rows, scaled"
EMPTY = "typer program that does nothing"
CLEAN, SOME_BAD = "every row good", "1 % of rows bad"
SHARES = {CLEAN: 0.0, SOME_BAD: 0.01}
CONTINUED = "sourcemeta jsonschema --fast --continue"
#: The exit code of each command for a file with a bad row.
REFUSALS = {
    OURS: 1,
    OURS_LESS: 1,
    OURS_ALONE: 1,
    SOURCEMETA: 2,
    ENGINE: 1,
    PARSER: 0,
    PLAIN: 1,
}


def generated(
    folder: Path, count: int, bad: float = 0.0, fault: str = WRONG_TYPE
) -> Path:
    """Return a file of `count` generated rows, of which a share `bad` has `fault`."""
    kind = f"{bad:.0%} {fault}" if bad else "good"
    name = f"{count}-rows-{kind}.jsonl".replace("%", "-percent").replace(" ", "-")
    return generated_file(folder / name, partial(rows, bad=bad, fault=fault), count)


def commands(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the command of each installed candidate to validate `path`."""
    file = str(path)
    less = ("--ignore", "duplicate-key")
    found = {
        OURS: (*ours(), file),
        OURS_LESS: (*ours(), *less, file),
        OURS_ALONE: (*ours(), *less, "--jobs", "1", file),
        SOURCEMETA: (*sourcemeta(), SCHEMA, file) if has_sourcemeta() else (),
        ENGINE: (*_peer("orjson_jsonschema_rs"), SCHEMA, file),
        PARSER: (*_peer("orjson_loop"), file),
        PLAIN: (*_peer("plain_jsonschema"), SCHEMA, file),
    }
    return {name: command for name, command in found.items() if command}


def ours() -> tuple[str, ...]:
    """Return our command without its arguments."""
    return script("harpia-formats"), "validate"


def script(name: str) -> str:
    """Return the path of a command that is installed for this Python."""
    found = shutil.which(name, path=sysconfig.get_path("scripts"))
    if found is None:
        raise SystemExit(f"{name} is not installed for this Python")
    return found


def _peer(name: str) -> tuple[str, str]:
    return sys.executable, str(PEERS / f"{name}.py")


def has_sourcemeta() -> bool:
    """Tell whether sourcemeta's command is installed for this Python."""
    return importlib.util.find_spec("sourcemeta_jsonschema") is not None


def sourcemeta() -> tuple[str, ...]:
    """Return the binary of sourcemeta, without its Python launcher, and its options.

    Raises `SystemExit` if it is not installed.
    """
    spec = importlib.util.find_spec("sourcemeta_jsonschema")
    if spec is None or spec.origin is None:
        raise SystemExit("install the extra first: pip install '.[benchmark]'")
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(machine, machine)
    suffix = ".exe" if platform.system() == "Windows" else ""
    name = f"jsonschema-{platform.system().lower()}-{machine}{suffix}"
    return str(Path(spec.origin).with_name(name)), "validate", "--fast"


def every_eval_ever(given: str | None) -> str | None:
    """Return the command of EvalEval's own validator, None if it is not installed."""
    return shutil.which(given or "every_eval_ever")


def prove_candidates(folder: Path) -> None:
    """Run all commands on a good and a bad record, to prove that they validate.

    This also loads all programs into the page cache. Raises `UnexpectedExitError`.
    """
    for name, command in commands(generated(folder, 1)).items():
        seconds_of(Candidate(name, command))
    for name, command in commands(generated(folder, 1, 1.0)).items():
        seconds_of(Candidate(name, command, REFUSALS[name]))


def candidates_on(count: int, folder: Path) -> list[Candidate]:
    """Return all commands on a good file of `count` rows."""
    sampled = min(SAMPLE_ROWS, count)
    start_up = commands(generated(folder, 1))[PLAIN]
    given = commands(generated(folder, count))
    given[PLAIN] = commands(generated(folder, sampled))[PLAIN]
    samples = {PLAIN: Sample(start_up, count / sampled)}
    return [
        Candidate(name, command, sample=samples.get(name))
        for name, command in given.items()
    ]


def start_up_candidates(folder: Path) -> list[Candidate]:
    """Return our command on one record, and a program that does nothing."""
    one = generated(folder, 1)
    empty = Candidate(EMPTY, (*_peer("empty_typer"), str(one)))
    return [Candidate(OURS, commands(one)[OURS]), empty]


def some_bad_candidates(count: int, folder: Path) -> list[Candidate]:
    """Return our command on files of `count` rows with none and with 1 % bad rows."""
    return [
        Candidate(
            name,
            commands(generated(folder, count, share))[OURS],
            REFUSALS[OURS] if share else 0,
        )
        for name, share in SHARES.items()
    ]


def all_bad_candidates(count: int, fault: str, folder: Path) -> list[Candidate]:
    """Return our command and sourcemeta on `count` rows with the same fault."""
    path = generated(folder, count, 1.0, fault)
    all_of_it = (*sourcemeta(), "--continue", SCHEMA, str(path))
    return [
        Candidate(OURS, commands(path)[OURS], REFUSALS[OURS]),
        Candidate(CONTINUED, all_of_it, REFUSALS[SOURCEMETA]),
    ]


def every_candidates(command: str, count: int, folder: Path) -> list[Candidate]:
    """Return our command and EvalEval's own validator on `count` rows.

    That validator requires a certain folder structure, and also reads the aggregate
    next to the file; ours reads it if `--with` names it. Raises `UnexpectedExitError`
    unless that validator refuses a record without keys.
    """
    bad, _ = datastore(folder, 1, broken=True)
    seconds_of(Candidate(EVERY, (command, "validate", str(bad)), 1))
    samples, aggregate = datastore(folder, count)
    with_aggregate = (*ours(), str(samples), "--with", str(aggregate))
    return [
        Candidate(OURS, (*ours(), str(samples))),
        Candidate(OURS_WITH, with_aggregate),
        Candidate(EVERY, (command, "validate", str(samples))),
    ]
