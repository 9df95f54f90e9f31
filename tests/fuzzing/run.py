"""Search inputs that break a property of the code that reads what users give.

    python tests/fuzzing/run.py                       # a minute for each target
    python tests/fuzzing/run.py --seconds 1800 --jobs 4 --keep ~/fuzzing  # long
    python tests/fuzzing/run.py --targets json,csv --jobs 2
    python tests/fuzzing/run.py --targets json --replay FILE
    python tests/fuzzing/run.py --targets json --add FILE

Each target runs in a process of its own, guided by coverage, from its fixtures and
stored inputs. `--keep` continues from what an earlier run found interesting, and
`--store` adds the smallest of that to the repository, as `--add` adds one file. An
input that breaks a property, that takes more than a second of processor time, or with
which the process crashes, hangs or takes too much memory is saved and printed. The exit
code is then 1; it is 2 where atheris is not installed: a search that coverage does not
guide finds next to nothing, and would end with the same 0.
"""

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

from fuzz_target import LONGEST, store_inputs
from fuzz_targets import TARGETS, inputs_of, replay

_INSTALL = (
    "atheris is not installed: pip install -e '.[fuzz]', with Python 3.11 to 3.14 on "
    "Linux (x86-64)"
)
#: Seconds after which one input hangs, whatever the machine does.
_HANG = 20
#: Seconds that a process may take to start and to end, without those of the search.
_AROUND = 600
#: Megabytes that a process may take at most.
_MEMORY = 700
#: Bytes of an input that is stored in the repository, and of all that one run adds.
_SMALL, _MOST_STORED = 600, 12_000
#: What may be wrong with an input.
_KINDS = ("broken", "slow", "crash", "hang", "memory")
#: What libFuzzer saves by itself begins with one of these.
_SAVED = {"crash": "crash", "timeout": "hang", "oom": "memory", "leak": "memory"}
_FINAL = re.compile(r"^stat::(\w+):\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of fuzzing one target."""

    target: str
    executions: int
    per_second: int
    new_inputs: int
    peak_megabytes: int
    #: The files of inputs, by what is wrong with them.
    findings: tuple[tuple[str, Path], ...]
    #: Why the process ended otherwise than a search does, "" if it did not.
    failure: str = ""

    def row(self) -> str:
        """Return the line of the summary."""
        kinds = [kind for kind, _ in self.findings]
        counts = [kinds.count(kind) for kind in _KINDS]
        numbers = (self.executions, self.per_second, self.new_inputs, *counts)
        cells = "".join(f"{number:>12,}" for number in numbers)
        return f"{self.target:<16}{cells}{self.peak_megabytes:>12,}"


_HEAD = f"{'target':<16}" + "".join(
    f"{name:>12}"
    for name in (*"executions per-second new-inputs".split(), *_KINDS, "peak-MB")
)


def _command(target: str, findings: Path, *inputs: Path) -> list[str]:
    """Return the command that fuzzes a target, given folders, up to its options."""
    script, code = Path(__file__).with_name("fuzz_process.py"), TARGETS[target].code
    start = (sys.executable, str(script), target, ",".join(code), str(findings), "--")
    return [*start, *map(str, inputs)]


def fuzz(target: str, folder: Path, seconds: int, seed: int) -> Outcome:
    """Fuzz one target for so many seconds in a process of its own."""
    grown, found = folder / target / "inputs", folder / target / "findings"
    for each in (grown, found):
        each.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(inputs_of(TARGETS[target])):
        (grown / f"seed-{number}").write_bytes(data)
    before = set(found.iterdir())
    command = [
        *_command(target, found, grown),
        *(f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={LONGEST}"),
        *(f"-timeout={_HANG}", f"-rss_limit_mb={_MEMORY}", "-print_final_stats=1"),
        *(f"-artifact_prefix={found}/", "-reload=0"),
    ]
    log = folder / target / "log.txt"
    with log.open("wb") as stream:
        try:
            ended = subprocess.run(
                command,
                stdout=stream,
                stderr=stream,
                check=False,
                timeout=seconds + _AROUND,
            )
        except subprocess.TimeoutExpired:
            end = "no end in time"
        else:
            end = f"exit code {ended.returncode}"
    text = log.read_text("utf-8", "replace")
    stats = {name: int(value) for name, value in _FINAL.findall(text)}
    saved = sorted(set(found.iterdir()) - before)
    findings = tuple(
        (_SAVED.get(kind, kind), path)
        for path in saved
        if path.suffix != ".txt"
        for kind in [path.name.partition("-")[0]]
    )
    failure = "" if stats or findings else f"{end}, see {log}"
    return Outcome(
        target,
        stats.get("number_of_executed_units", 0),
        stats.get("average_exec_per_sec", 0),
        stats.get("new_units_added", 0),
        stats.get("peak_rss_mb", 0),
        findings,
        failure,
    )


def store(target: str, folder: Path) -> int:
    """Add to the repository what a search kept that reaches more than the inputs there.

    The smallest come first. Returns how many were added.
    """
    grown, merged = folder / target / "inputs", folder / target / "merged"
    merged.mkdir(exist_ok=True)
    known = inputs_of(TARGETS[target])
    for number, data in enumerate(known):
        (merged / f"seed-{number}").write_bytes(data)
    findings = folder / target / "findings"
    command = [*_command(target, findings, merged, grown), "-merge=1"]
    with (folder / target / "merge.txt").open("wb") as stream:
        subprocess.run(command, stdout=stream, stderr=stream, check=True)
    new = [path.read_bytes() for path in merged.iterdir()]
    new = sorted({data for data in new if len(data) <= _SMALL} - {*known}, key=len)
    chosen, size = [], 0
    for data in new:
        size += len(data)
        if size > _MOST_STORED:
            break
        chosen.append(data)
    store_inputs(target, chosen)
    return len(chosen)


def replay_file(target: str, path: Path) -> int:
    """Check a target with the input in a file; return the exit code."""
    replay(TARGETS[target], [path.read_bytes()])
    print(f"{target}: {path} breaks nothing")
    return 0


def _report(outcome: Outcome) -> None:
    """Print the line of a target, and the inputs that were found."""
    print(outcome.row(), flush=True)
    for kind, path in outcome.findings:
        print(f"  {kind}: {path}\n  {path.read_bytes()[:2000]!r}")
        text = path.with_suffix(".txt")
        if text.exists():
            print(indent(text.read_text("utf-8"), "    "))
    if outcome.failure:
        print(f"  the fuzzer failed: {outcome.failure}")


def _names(text: str) -> list[str]:
    """Return the names of targets that an option lists."""
    names = text.split(",")
    for name in names:
        if name not in TARGETS:
            known = ", ".join(TARGETS)
            raise argparse.ArgumentTypeError(f"no target is called {name} ({known})")
    return names


def _arguments() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--seconds", type=int, default=60, help="of each target (default: 60)")
    add("--targets", type=_names, default=list(TARGETS), metavar="NAME,...")
    add("--jobs", type=int, default=1, help="targets at a time (default: 1)")
    add("--seed", type=int, default=1, help="of the random numbers (default: 1)")
    add("--keep", type=Path, metavar="FOLDER", help="of inputs, findings and logs")
    add("--store", action="store_true", help="add inputs to the repository afterwards")
    add("--replay", type=Path, metavar="FILE", help="check one input, and fuzz nothing")
    add("--add", type=Path, metavar="FILE", help="add one input to the repository")
    arguments = parser.parse_args()
    if min(arguments.seconds, arguments.jobs) < 1:
        parser.error("--seconds and --jobs take numbers from 1 on")
    return arguments


def main() -> int:
    """Fuzz the chosen targets, print what came of it, and return the exit code."""
    chosen = _arguments()
    if chosen.replay is not None:
        return max(replay_file(name, chosen.replay) for name in chosen.targets)
    if chosen.add is not None:
        for name in chosen.targets:
            store_inputs(name, [chosen.add.read_bytes()])
        return 0
    if importlib.util.find_spec("atheris") is None:
        print(_INSTALL, file=sys.stderr)
        return 2
    folder = chosen.keep or Path(tempfile.mkdtemp(prefix="fuzzing-"))

    def run(name: str) -> Outcome:
        outcome = fuzz(name, folder, chosen.seconds, chosen.seed)
        _report(outcome)
        return outcome

    print(f"inputs, findings and logs are in {folder}\n\n{_HEAD}", flush=True)
    with ThreadPoolExecutor(chosen.jobs) as threads:
        outcomes = list(threads.map(run, chosen.targets))
    for name in chosen.targets if chosen.store else ():
        print(f"{name}: {store(name, folder)} inputs were stored")
    return int(any(one.findings or one.failure for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
