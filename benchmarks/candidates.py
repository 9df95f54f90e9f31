"""Name the candidates of the comparison: their commands and their files."""

import importlib.util
import platform
import shutil
import sys
import sysconfig
from itertools import islice
from pathlib import Path

from generate import rows, write_rows
from measure import Candidate, Sample, seconds_of

ROOT = Path(__file__).parents[1]
PEERS = ROOT / "benchmarks" / "peers"
SCHEMA = str(ROOT / "schemas" / "eee@0.2.0.schema.json")
#: Rows that plain jsonschema is given; all of them would take minutes.
SAMPLE_ROWS = 2000
#: Rows compared to see that a file is still what the generator writes.
FIRST_ROWS = 9

OURS = "ours"
OURS_LESS = "ours --ignore duplicate-key"
SOURCEMETA = "sourcemeta jsonschema --fast"
ENGINE = "orjson + jsonschema-rs"
PARSER = "orjson alone, no checks"
PLAIN = "jsonschema, 2,000 rows, scaled"
EMPTY = "typer program that does nothing"
CLEAN, SOME_BAD, ALL_BAD = "every row good", "1 % of rows bad", "every row bad"
SHARES = {CLEAN: 0.0, SOME_BAD: 0.01, ALL_BAD: 1.0}
#: The exit code by which each command refuses a bad row.
REFUSALS = {OURS: 1, OURS_LESS: 1, SOURCEMETA: 2, ENGINE: 1, PARSER: 0, PLAIN: 1}


def generated(folder: Path, count: int, bad: float = 0.0) -> Path:
    """Return a file of `count` rows in `folder`, read or written a moment ago.

    Either way it is in the page cache if it fits, so that no disk is measured.
    """
    path = folder / f"{count}-rows-{bad:.0%}-bad.jsonl".replace("%", "-percent")
    if not (path.exists() and _is_current(path, count, bad)):
        folder.mkdir(parents=True, exist_ok=True)
        write_rows(path, count, bad=bad)
    return path


def _is_current(path: Path, count: int, bad: float) -> bool:
    """Tell whether a file has as many rows as asked for, and begins with ours."""
    with path.open("rb") as lines:
        first = list(islice(rows(count, bad=bad), FIRST_ROWS))
        begins = list(islice(lines, FIRST_ROWS)) == first
        return begins and len(first) + sum(1 for _ in lines) == count


def commands(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the command with which each candidate checks `path`."""
    ours = (script("harpia-formats"), "validate")
    file = str(path)
    return {
        OURS: (*ours, file),
        OURS_LESS: (*ours, "--ignore", "duplicate-key", file),
        SOURCEMETA: (_sourcemeta(), "validate", "--fast", SCHEMA, file),
        ENGINE: (*_peer("orjson_jsonschema_rs"), SCHEMA, file),
        PARSER: (*_peer("orjson_loop"), file),
        PLAIN: (*_peer("plain_jsonschema"), SCHEMA, file),
    }


def script(name: str) -> str:
    """Return a command that is installed beside this Python."""
    found = shutil.which(name, path=sysconfig.get_path("scripts"))
    if found is None:
        raise SystemExit(f"{name} is not installed for this Python")
    return found


def _peer(name: str) -> tuple[str, str]:
    return sys.executable, str(PEERS / f"{name}.py")


def _sourcemeta() -> str:
    """Return sourcemeta's program itself, without the time of its Python launcher."""
    spec = importlib.util.find_spec("sourcemeta_jsonschema")
    if spec is None or spec.origin is None:
        raise SystemExit("install the extra first: pip install '.[benchmark]'")
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "aarch64": "arm64"}.get(machine, machine)
    suffix = ".exe" if platform.system() == "Windows" else ""
    name = f"jsonschema-{platform.system().lower()}-{machine}{suffix}"
    return str(Path(spec.origin).with_name(name))


def prove_candidates(folder: Path) -> None:
    """Run all on one good and one bad record, to see that they accept and refuse.

    This also leaves all programs in the page cache. Raises `UnexpectedExit`.
    """
    for name, command in commands(generated(folder, 1)).items():
        seconds_of(Candidate(name, command))
    for name, command in commands(generated(folder, 1, 1.0)).items():
        seconds_of(Candidate(name, command, REFUSALS[name]))


def candidates_on(count: int, folder: Path) -> list[Candidate]:
    """Return all candidates, to check a good file of `count` rows."""
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
    """Return ours on one record, and a program that does nothing with it."""
    one = generated(folder, 1)
    empty = Candidate(EMPTY, (*_peer("empty_typer"), str(one)))
    return [Candidate(OURS, commands(one)[OURS]), empty]


def bad_candidates(count: int, folder: Path) -> list[Candidate]:
    """Return ours on files of `count` rows with no, some and only bad ones."""
    return [
        Candidate(
            name,
            commands(generated(folder, count, share))[OURS],
            REFUSALS[OURS] if share else 0,
        )
        for name, share in SHARES.items()
    ]
