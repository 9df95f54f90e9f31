"""Change our modules in small steps, and see whether a test fails for each change.

    python benchmarks/mutants.py [--parts framing sink] [--sample 300] [--seed 1]
                                 [--jobs 2] [--keep FOLDER] [--write] [--check]

A mutant is one small change of one module: another comparison, a number that is one
more, a statement less. The tests run in a copy of the checkout. First each test that is
named for a part runs alone and notes what it reaches of the part's modules; then, for
each mutant that was drawn, the tests that reach it run, those that take least first,
until one fails or takes too long, which kills the mutant. `mutants.toml` lists those
that survive, each with the reason. `--check` ends with 1 if another one survives, or
more than 5 % of a part do.

`--keep` names a folder in which the notes are kept: those of test files that have not
changed are used again. `--only` takes mutants whose line of code has this text;
`--listed` takes those of the list, and with `--write` those that are killed leave it.
"""

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tomli_w
from mutation.blocks import blocks_of
from mutation.mutators import Mutant, mutants_of
from report.tables import table

ROOT = Path(__file__).parents[1]
SURVIVORS = Path(__file__).with_suffix(".toml")
#: The share of the mutants of a part that may survive.
MOST = 0.05
#: The seconds of tests, as they take alone, that a mutant is given at most.
SECONDS = 20.0
#: Slower tests are not run.
SLOWEST = 6.0
#: How many tests of a mutant that changes what is loaded run at most.
LOADED_TESTS = 150

#: Names a mutant when lines have moved: module, function, line, change and turn.
Key = tuple[str, str, str, str, int]


@dataclass(frozen=True, slots=True)
class Part:
    """Modules that are changed together, and the tests that are run for them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


PARTS = {
    "framing": Part(
        ("harpia_formats/files/framing/*.py",),
        ("tests/files/framing", "tests/files/parsing", "tests/validation/parallel"),
    ),
    "parsing": Part(
        ("harpia_formats/files/parsing/*.py",),
        ("tests/files/parsing", "tests/files/framing", "tests/validation/repair"),
    ),
    "sink": Part(
        (
            "harpia_formats/files/io/file_sink.py",
            "harpia_formats/files/io/outputs.py",
            "harpia_formats/files/io/sink.py",
        ),
        (
            "tests/files/io",
            "tests/conversion/subsets/test_remote.py",
            "tests/conversion/test_bounded_memory.py",
            "tests/conversion/test_output_files.py",
        ),
    ),
    "zip": Part(
        ("harpia_formats/files/io/zip_archive.py",),
        ("tests/files/io",),
    ),
    "intervals": Part(
        ("harpia_formats/evaluation/scoring/significance/intervals.py",),
        (
            "tests/evaluation/scoring/test_interval_formulas.py",
            "tests/evaluation/scoring/test_intervals.py",
            "tests/evaluation/scoring/test_bootstrap.py",
            "tests/evaluation/scoring/test_question_scores.py",
            "tests/evaluation/scoring/test_unequal_answers.py",
        ),
    ),
    "scoring": Part(
        (
            "harpia_formats/evaluation/scoring/*.py",
            "harpia_formats/evaluation/scoring/measures/*.py",
            "harpia_formats/evaluation/scoring/results/*.py",
            "harpia_formats/evaluation/scoring/significance/bootstrap.py",
            "harpia_formats/evaluation/scoring/significance/paired_*.py",
        ),
        (
            "tests/evaluation/scoring",
            "tests/cli/commands/test_score.py",
            "tests/cli/commands/test_score_forms.py",
            "tests/cli/commands/test_score_notes.py",
            "tests/cli/commands/test_score_plan.py",
            "tests/cli/output/test_score_table.py",
            "tests/evaluation/metrics/test_lm_eval_exact_match.py",
            "tests/reporters/tables/test_comparison.py",
            "tests/api/python_api/test_results.py",
            "tests/converters/eee/test_results_writer.py",
            "tests/converters/lm_eval/test_results.py",
            "tests/converters/nemo/test_results_writer.py",
        ),
    ),
    "metrics": Part(
        (
            "harpia_formats/evaluation/metrics/*.py",
            "harpia_formats/evaluation/metrics/text/*.py",
        ),
        (
            "tests/evaluation/metrics",
            "tests/evaluation/scoring/test_metric_requests.py",
        ),
    ),
    "rules": Part(
        ("harpia_formats/formats/rules/*.py", "harpia_formats/formats/detection/*.py"),
        (
            "tests/formats/rules",
            "tests/formats/detection",
            "tests/conversion/mapping/test_mapped_format.py",
            "tests/validation/diagnosis/test_expected_findings.py",
            "tests/validation/test_known_columns.py",
            "tests/validation/test_lints.py",
            "tests/validation/test_lints_of_columns.py",
            "tests/validation/test_lints_of_records.py",
            "tests/validation/test_skipped_files.py",
        ),
    ),
    "comparison": Part(
        (
            "harpia_formats/conversion/comparison/*.py",
            "harpia_formats/conversion/losses/*.py",
            "harpia_formats/conversion/mapping/*.py",
        ),
        (
            "tests/conversion/comparison",
            "tests/conversion/losses",
            "tests/conversion/mapping",
            "tests/conversion/test_conversion_laws.py",
            "tests/conversion/test_remedies.py",
            "tests/conversion/test_written_rows.py",
            "tests/converters/test_golden.py",
            "tests/converters/eee",
            "tests/converters/lm_eval/test_choosing.py",
            # What converts records and what scores them share some modules.
            "tests/evaluation/metrics/test_lm_eval_acc.py",
            "tests/evaluation/scoring/test_compare_runs.py",
            "tests/evaluation/scoring/test_profiles_of_tools.py",
            "tests/evaluation/scoring/test_repeated_answers.py",
            "tests/evaluation/scoring/test_run.py",
            "tests/evaluation/scoring/test_stored.py",
        ),
    ),
    "fields": Part(
        ("harpia_formats/conversion/mapping/fields.py",),
        ("tests/conversion/mapping",),
    ),
    "root-causes": Part(
        ("harpia_formats/validation/diagnosis/*.py",),
        (
            # The laws of all formats apart from these take much longer.
            "tests/validation/diagnosis/test_expected_findings.py",
            "tests/validation/diagnosis/test_row_context.py",
            "tests/validation/diagnosis/test_shared_causes.py",
        ),
    ),
    "validation": Part(
        (
            "harpia_formats/validation/unit/*.py",
            "harpia_formats/validation/merge/*.py",
            "harpia_formats/validation/one_file.py",
        ),
        ("tests/validation", "tests/formats/rules"),
    ),
    "conversion": Part(
        (
            "harpia_formats/conversion/run.py",
            "harpia_formats/conversion/row_conversion.py",
            "harpia_formats/conversion/record_groups.py",
            "harpia_formats/conversion/reading/*.py",
        ),
        (
            "tests/conversion",
            # Formats whose rows are read with those of others, or of other files.
            "tests/converters/lm_eval/test_filters.py",
            "tests/converters/lm_eval/test_results.py",
            "tests/converters/openai/test_joined.py",
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Reached:
    """What a test reaches, and the seconds that it takes alone."""

    seconds: float
    blocks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A mutant that was drawn, with the tests that it is given."""

    part: str
    module: str
    mutant: Mutant
    tests: tuple[str, ...]

    @property
    def key(self) -> Key:
        """What names the mutant when lines have moved."""
        return key_of_mutant(self.module, self.mutant)


@contextmanager
def copied(folder: Path | None) -> Iterator[Path]:
    """Yield a folder with a copy of the checkout as it is now."""
    if folder is None:
        with (
            tempfile.TemporaryDirectory() as temporary,
            copied(Path(temporary)) as copy,
        ):
            yield copy
        return
    copy = folder / "checkout"
    shutil.rmtree(copy, ignore_errors=True)
    listed = subprocess.run(
        [  # noqa: S607 - whichever git there is
            "git",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    start = folder / "start"
    start.mkdir(exist_ok=True)
    install = "from mutation.changed_modules import install\n\ninstall()\n"
    (start / "sitecustomize.py").write_text(install, "utf-8")
    yield copy


def environment(copy: Path, **variables: str) -> dict[str, str]:
    """Return the environment in which tests of a copy run."""
    folders = (copy.parent / "start", copy, copy / "converters", copy / "benchmarks")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "HYPOTHESIS_PROFILE": "mutants",
        "HARPIA_CORPORA": str(copy / "none"),
        **variables,
    }


def run(
    copy: Path, task: Mapping[str, Any], words: Sequence[str], **variables: str
) -> list[dict[str, Any]]:
    """Run a module of Python that does a task with tests; return the results."""
    given, results = copy.parent / "task.json", copy.parent / "results.jsonl"
    results.unlink(missing_ok=True)
    given.write_text(json.dumps({**task, "results": str(results)}), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=copy,
        env=environment(copy, HARPIA_FORKED_TESTS=str(given), **variables),
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode or not results.exists():
        sys.exit(f"the tests could not be run:\n{done.stdout.decode()[-4000:]}")
    return [json.loads(line) for line in results.read_text("utf-8").splitlines()]


#: Without the hook of pytest, which loads our modules itself, as those of a plug-in.
_PLAIN = ("--assert=plain", "-p", "no:cacheprovider")


def forked(files: Iterable[str]) -> list[str]:
    """Return the words that run tests of files in forks."""
    return ["pytest", "-q", *_PLAIN, "-p", "mutation.forked_tests", *files]


def test_files(copy: Path, parts: Iterable[str]) -> list[str]:
    """Return the files of the tests that are run for parts."""
    folders = {folder for part in parts for folder in PARTS[part].tests}
    found = {path for each in folders for path in _tests_in(copy / each)}
    return sorted(str(path.relative_to(copy)) for path in found)


def _tests_in(path: Path) -> Iterable[Path]:
    return path.rglob("test_*.py") if path.is_dir() else [path]


def modules_of(part: str) -> list[str]:
    """Return the modules of a part."""
    found = {path for each in PARTS[part].modules for path in ROOT.glob(each)}
    return sorted(str(path.relative_to(ROOT)) for path in found)


def digest_of(copy: Path, file: str, modules: Sequence[str]) -> str:
    """Return what changes when a test file or the modules to be noted do."""
    text = (copy / file).read_bytes() + "\0".join(modules).encode()
    return hashlib.sha256(text).hexdigest()


def reached(copy: Path, parts: Sequence[str], jobs: int) -> dict[str, Reached]:
    """Return what each test reaches, those that failed left out.

    What is reached as modules are loaded or tests collected has the name "".
    """
    modules = sorted({each for part in PARTS for each in modules_of(part)})
    path = copy.parent / "reached.json"
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    files = test_files(copy, parts)
    digests = {file: digest_of(copy, file, modules) for file in files}
    missing = [
        each for each in files if kept.get(each, {}).get("digest") != digests[each]
    ]
    if missing:
        notes = copy.parent / "notes"
        shutil.rmtree(notes, ignore_errors=True)
        notes.mkdir()
        noting = os.pathsep.join(str(copy / each) for each in modules)
        names = {"HARPIA_NOTING": noting, "HARPIA_NOTES": str(notes)}
        results = run(copy, {"jobs": jobs}, forked(missing), **names)
        for file in missing:
            kept[file] = {"digest": digests[file], "tests": {}, "failed": []}
        for each in results:
            blocks = _noted(notes / str(each["number"]), copy)
            file = each["test"].partition("::")[0]
            if each["code"] or each["seconds"] > SLOWEST:
                kept[file]["failed"].append(each["test"])
            else:
                kept[file]["tests"][each["test"]] = [each["seconds"], blocks]
        kept[""] = sorted({*kept.get("", ()), *_noted(notes / "loaded", copy)})
        path.write_text(json.dumps(kept), "utf-8")
    for file in files:
        for test in kept[file]["failed"]:
            print(f"left out: {test}", file=sys.stderr)
    found = {
        test: Reached(seconds, frozenset(blocks))
        for file in files
        for test, (seconds, blocks) in kept[file]["tests"].items()
    }
    return {**found, "": Reached(0.0, frozenset(kept[""]))}


def _noted(path: Path, copy: Path) -> list[str]:
    """Return the blocks that were noted in a file, each as module and name."""
    if not path.exists():
        return []
    lines = path.read_text("utf-8").splitlines()
    return sorted({line.removeprefix(f"{copy}/") for line in lines})


def chosen(
    part: str, tests: Mapping[str, Reached], arguments: argparse.Namespace
) -> list[Chosen]:
    """Return the mutants of a part that are drawn, in the order of their places."""
    found = []
    for module in modules_of(part):
        source = (ROOT / module).read_text("utf-8")
        found += [(module, each) for each in mutants_of(source)]
    if arguments.listed:
        keys = {key_of(each) for each in listed().get("survivors", ())}
        found = [each for each in found if key_of_mutant(*each) in keys]
    if arguments.only:
        found = [each for each in found if arguments.only in each[1].text]
    drawn = sorted(found, key=lambda each: draw_of(arguments.seed, *each))
    kept = {*map(id, drawn[: arguments.sample])}
    found = [each for each in found if id(each) in kept]
    folders = tuple(PARTS[part].tests)
    mine = {test: each for test, each in tests.items() if test.startswith(folders)}
    return [
        Chosen(part, module, mutant, _tests_of(module, mutant, mine, tests[""]))
        for module, mutant in found
    ]


def key_of_mutant(module: str, mutant: Mutant) -> Key:
    """Return what names a mutant when lines have moved."""
    return module, mutant.function, mutant.text, mutant.change, mutant.turn


def draw_of(seed: int, module: str, mutant: Mutant) -> str:
    """Return by what mutants are drawn, which a change of other code leaves alone."""
    names = seed, *key_of_mutant(module, mutant)
    return hashlib.sha256(repr(names).encode()).hexdigest()


def outcomes(
    copy: Path, drawn: Sequence[Chosen], tests: Mapping[str, Reached], jobs: int
) -> dict[Chosen, dict[str, Any]]:
    """Return what came out for each mutant that some test reaches."""
    by_place = {
        (str(copy / each.module), each.mutant.number): each
        for each in drawn
        if each.tests
    }
    alone = [each for each in by_place.values() if is_loaded(each, tests)]
    others = [each for each in by_place.values() if each not in alone]
    found = []
    for mutants, is_alone in ((others, False), (alone, True)):
        if not mutants:
            continue
        most = LOADED_TESTS if is_alone else None
        given: list[dict[str, Any]] = [
            {
                "path": str(copy / each.module),
                "number": each.mutant.number,
                "tests": each.tests[:most],
            }
            for each in mutants
        ]
        if is_alone:
            # Without a mutant they must pass, or their failures say nothing.
            controls = {each["tests"]: None for each in given}
            given += [{"path": "", "number": 0, "tests": each} for each in controls]
        used = {test for each in given for test in each["tests"]}
        seconds = {test: tests[test].seconds for test in sorted(used)}
        task = {"jobs": jobs, "mutants": given, "seconds": seconds}
        files = sorted({test.partition("::")[0] for test in used})
        given_words = [str(copy.parent / "task.json")]
        words = ["mutation.fresh_tests", *given_words] if is_alone else forked(files)
        found += run(copy, task, words)
    failed = [each for each in found if not each["path"] and each["code"]]
    if failed:
        sys.exit(f"tests fail without a mutant: {failed}")
    return {
        by_place[each["path"], each["number"]]: each for each in found if each["path"]
    }


def is_loaded(given: Chosen, tests: Mapping[str, Reached]) -> bool:
    """Tell whether what is loaded depends on a mutant."""
    _, lines = _blocks(given.module)
    block = f"{given.module}\t{lines.get(given.mutant.statement)}"
    return given.mutant.is_loaded or block in tests[""].blocks


@cache
def _blocks(module: str) -> tuple[list[str], dict[int, str]]:
    return blocks_of(ast.parse((ROOT / module).read_text("utf-8")))


def _tests_of(
    module: str, mutant: Mutant, tests: Mapping[str, Reached], loading: Reached
) -> tuple[str, ...]:
    """Return the tests that reach a mutant, of each test the first cases in front.

    Any test of its module does if it runs as that is loaded, since it may make what
    is used later; any test at all if nothing of the module runs later.
    """
    _, lines = _blocks(module)
    block = f"{module}\t{lines.get(mutant.statement)}"
    reaching = [each for each, found in tests.items() if block in found.blocks]
    if mutant.is_loaded or block in loading.blocks:
        reaching = [
            each
            for each, reached in tests.items()
            if any(name.startswith(f"{module}\t") for name in reached.blocks)
        ] or [*tests]
    reaching.sort(key=lambda each: tests[each].seconds)
    turns: Counter[str] = Counter()
    ranks = {}
    for each in reaching:
        name = each.partition("[")[0]
        ranks[each] = tests[each].seconds * (1 + turns[name] // 3)
        turns[name] += 1
    total = 0.0
    kept: list[str] = []
    for each in sorted(reaching, key=ranks.__getitem__):
        total += tests[each].seconds
        if total > SECONDS and kept:
            break
        kept.append(each)
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out for a part."""

    #: How many mutants there are, and how many were drawn.
    all: int
    drawn: int
    #: How many were killed because a test took too long.
    late: int
    survivors: tuple[Chosen, ...]

    @property
    def share(self) -> float:
        """The share of the mutants that survived."""
        return len(self.survivors) / max(1, self.drawn)


def measured(
    part: str, drawn: Sequence[Chosen], found: Mapping[Chosen, Mapping[str, Any]]
) -> Measured:
    """Return what came out for the mutants of a part; one without tests survives."""
    mine = [each for each in drawn if each.part == part]
    count = sum(
        len(mutants_of((ROOT / module).read_text("utf-8")))
        for module in modules_of(part)
    )
    late = sum(found[each]["by"] == "too long" for each in mine if each in found)
    survivors = [each for each in mine if each not in found or not found[each]["code"]]
    return Measured(count, len(mine), late, tuple(survivors))


def listed() -> dict[str, Any]:
    """Return what `mutants.toml` holds, nothing if it does not exist."""
    if not SURVIVORS.exists():
        return {}
    return tomllib.loads(SURVIVORS.read_text("utf-8"))


def key_of(entry: Mapping[str, Any]) -> Key:
    """Return what names the mutant of an entry of the list."""
    names = (entry[name] for name in ("module", "function", "text", "change"))
    module, function, text, change = names
    return module, function, text, change, entry.get("turn", 0)


def share_faults(found: Mapping[str, Measured]) -> list[str]:
    """Return a line for each part of which too many mutants survive."""
    return [
        f"{part}: {each.share:.1%} survive, {MOST:.0%} may"
        for part, each in found.items()
        if each.share > MOST
    ]


def faults(found: Mapping[str, Measured], known: set[Key]) -> list[str]:
    """Return a line for each survivor that is not known."""
    return [
        f"{one.module}:{one.mutant.line}: {one.mutant.change}: {one.mutant.text}"
        for each in found.values()
        for one in each.survivors
        if one.key not in known
    ]


def report(found: Mapping[str, Measured]) -> str:
    """Return a table of what came out for each part."""
    heads = ["part", "mutants", "drawn", "killed", "by time", "survived", "share"]
    rows = [
        [
            part,
            f"{each.all:,}",
            f"{each.drawn:,}",
            f"{each.drawn - len(each.survivors):,}",
            f"{each.late:,}",
            f"{len(each.survivors):,}",
            f"{each.share:.1%}",
        ]
        for part, each in found.items()
    ]
    return table(heads, rows)


def write(found: Mapping[str, Measured], seed: int, *, is_again: bool) -> None:
    """Write what came out into the list, with the reasons that are known.

    Only the mutants of the list were run again if `is_again`.
    """
    before = listed()
    reasons = {key_of(each): each["reason"] for each in before.get("survivors", ())}
    counts = before.get("measured", {})
    for part, each in found.items():
        if not is_again:
            counts[part] = {"mutants": each.all, "drawn": each.drawn, "seed": seed}
        counts[part]["survived"] = len(each.survivors)
    kept = [each for each in before.get("survivors", ()) if each["part"] not in found]
    new = [
        {"part": part, **_entry(one), "reason": reasons.get(one.key, "")}
        for part, each in found.items()
        for one in each.survivors
    ]
    text = tomli_w.dumps({"measured": counts, "survivors": [*kept, *new]})
    SURVIVORS.write_text(f"{_HEAD}\n{text}", "utf-8")


_HEAD = """\
# The mutants that no test kills, each with the reason, and how many were run. Written
# by `python benchmarks/mutants.py --write`, but for the reasons.
"""


def _entry(given: Chosen) -> dict[str, Any]:
    """Return a mutant as the list has it."""
    mutant = given.mutant
    entry = {
        "module": given.module,
        "function": mutant.function,
        "text": mutant.text,
        "change": mutant.change,
    }
    return {**entry, "turn": mutant.turn} if mutant.turn else entry


def parsed() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--listed", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.write and arguments.only:
        parser.error("--write needs all mutants of a part, or all of the list")
    return arguments


def main() -> int:
    """Run the mutants that were asked for; return the exit code."""
    arguments = parsed()
    with copied(arguments.keep) as copy:
        tests = reached(copy, arguments.parts, arguments.jobs)
        drawn = [
            each for part in arguments.parts for each in chosen(part, tests, arguments)
        ]
        results = outcomes(copy, drawn, tests, arguments.jobs)
    found = {part: measured(part, drawn, results) for part in arguments.parts}
    print(report(found))
    if arguments.write:
        write(found, arguments.seed, is_again=arguments.listed)
    known = (
        {key_of(each) for each in listed()["survivors"]}
        if SURVIVORS.exists()
        else set()
    )
    wrong = faults(found, known)
    if not arguments.only and not arguments.listed:
        wrong += share_faults(found)
    print(*wrong, sep="\n")
    return 1 if wrong and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
