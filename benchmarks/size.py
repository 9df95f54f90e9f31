"""Count code: lines, modules and importers by package, and what one row runs through.

    python benchmarks/size.py [--checkout FOLDER]

A code line holds something else than a comment or a part of a docstring. A module has
one importer if one other module names it. A front door is what a room, a vendor's
package, or the support for tests of plug-ins exports: a test module imports from below
one if it names a module further inside. The second table runs commands on one record
with `--jobs 1` in a child process that counts its calls: the modules and functions of
the checkout that run, without those that only run as a module is loaded, and the
deepest stack of them. Only plain Python is needed for the first table.
"""

import argparse
import ast
import io
import statistics
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.candidates import ROOT
from report.tables import table

#: The folders that hold modules.
SOURCES = ("harpia_formats", "converters", "tests", "benchmarks")
#: A package inside another one that is a front door, too.
TEST_SUPPORT = "harpia_formats.api.testing"
#: What is no code of a line.
_EMPTY = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
#: Lines of code below which a module is small.
SMALL = 50
#: A file whose first record the commands are given.
FIXTURE = "fixtures/nemo-output/valid/answers.jsonl"
COMMANDS = {
    "validate": ["validate", "{row}", "--jobs", "1"],
    "convert": ["convert", "{row}", "--to", "record", "--jobs", "1"],
    "score": ["score", "{row}", "-m", "em", "--jobs", "1"],
}
#: Runs the command line and prints the counts behind all that it prints itself.
CHILD = """
import sys
root, words = sys.argv[1], sys.argv[2:]
files, functions, deepest = set(), set(), 0
def count(frame, event, argument):
    global deepest
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(root):
        return
    if code.co_name == "<module>":
        return
    files.add(code.co_filename)
    functions.add(code)
    depth = 0
    while frame is not None:
        depth += frame.f_code.co_filename.startswith(root)
        frame = frame.f_back
    deepest = max(deepest, depth)
sys.argv = ["harpia-formats", *words]
from harpia_formats.cli import main
sys.setprofile(count)
try:
    main()
except SystemExit as end:
    code = end.code
sys.setprofile(None)
print("counted", code or 0, len(files), len(functions), deepest)
"""


@dataclass(frozen=True, slots=True)
class Module:
    """One module: its package, its dotted name, and its code lines."""

    package: str
    name: str
    lines: int
    functions: int
    documented: int
    imports: frozenset[str]


@dataclass(frozen=True, slots=True)
class RowPath:
    """What one record runs through in a command."""

    command: str
    exit_code: int
    modules: int
    functions: int
    depth: int


def code_lines(text: str) -> int:
    """Return the lines of Python code without blanks, comments and docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _EMPTY:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                end = first.end_lineno or first.lineno
                if isinstance(first.value.value, str):
                    lines -= set(range(first.lineno, end + 1))
    return len(lines)


def modules_in(root: Path) -> Iterator[Module]:
    """Yield the modules of a checkout."""
    for source in SOURCES:
        base = root / source
        for path in sorted(base.rglob("*.py")):
            parts = path.relative_to(base).with_suffix("").parts
            name = ".".join(part for part in parts if part != "__init__")
            top = source if source in {"tests", "benchmarks"} else _package(parts)
            text = path.read_text(encoding="utf-8")
            tree = ast.parse(text)
            found = [
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            prefix = "harpia_formats." if source == "harpia_formats" else ""
            yield Module(
                top,
                (prefix + name).rstrip("."),
                code_lines(text),
                len(found),
                sum(ast.get_docstring(node) is not None for node in found),
                frozenset(_imports(tree)),
            )


def _package(parts: tuple[str, ...]) -> str:
    """Return the package of a module: the first folder, `converters` for adapters."""
    if parts[0] == "harpia_converters":
        return "converters"
    return parts[0] if len(parts) > 1 else "(top)"


def _imports(tree: ast.Module) -> Iterator[str]:
    """Yield the names of the modules that a module imports, and of their names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def importers(modules: list[Module]) -> Counter[str]:
    """Return how many other modules outside of the tests import each module."""
    counts: Counter[str] = Counter()
    for module in modules:
        if module.package not in {"tests", "benchmarks"}:
            counts.update(module.imports - {module.name})
    return counts


def below_front_doors(root: Path) -> tuple[int, int]:
    """Return how many test modules there are, and import from below a front door."""
    inner = {
        ".".join(part for part in path.with_suffix("").parts if part != "__init__")
        for base in (root, root / "converters")
        for path in (each.relative_to(base) for each in base.rglob("harpia_*/**/*.py"))
    }
    inner = {name for name in inner if name.count(".") > 1} - {TEST_SUPPORT}
    tests = [*(root / "tests").rglob("test_*.py")]
    imported = (_imports(ast.parse(path.read_text(encoding="utf-8"))) for path in tests)
    return len(tests), sum(not inner.isdisjoint(names) for names in imported)


def sizes(modules: list[Module]) -> str:
    """Return the table of the packages, and of all of them."""
    counts = importers(modules)
    groups: dict[str, list[Module]] = {}
    for module in modules:
        groups.setdefault(module.package, []).append(module)
    product = [one for one in modules if one.package not in {"tests", "benchmarks"}]
    rows = [
        _row(name, groups[name], counts)
        for name in sorted(groups, key=lambda name: -sum(m.lines for m in groups[name]))
    ]
    rows.append(_row("harpia_formats and converters", product, counts))
    heads = (
        *("package", "modules", "code lines", "median"),
        *(f"under {SMALL}", "one importer", "documented functions"),
    )
    return table(heads, rows)


def _row(name: str, modules: list[Module], counts: Counter[str]) -> list[str]:
    """Return the cells of one package."""
    lines = [module.lines for module in modules]
    functions = sum(module.functions for module in modules)
    documented = sum(module.documented for module in modules)
    return [
        name,
        f"{len(modules):,}",
        f"{sum(lines):,}",
        f"{statistics.median(lines):g}",
        f"{sum(number < SMALL for number in lines):,}",
        f"{sum(counts[module.name] == 1 for module in modules):,}",
        f"{documented / max(functions, 1):.0%}",
    ]


def paths_of_one_row(root: Path) -> list[RowPath]:
    """Return what one record runs through, for each command."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        row = Path(folder) / "row.jsonl"
        with (root / FIXTURE).open("rb") as lines:
            row.write_bytes(next(lines))
        for name, words in COMMANDS.items():
            given = [word.replace("{row}", str(row)) for word in words]
            done = subprocess.run(
                [sys.executable, "-c", CHILD, str(root), *given],
                cwd=root,
                env={"PYTHONPATH": f"{root}:{root / 'converters'}"},
                capture_output=True,
                text=True,
                check=True,
            )
            numbers = done.stdout.rsplit("counted ", 1)[1].split()
            found.append(RowPath(name, *map(int, numbers)))
    return found


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--checkout", type=Path, default=ROOT)
    root = parser.parse_args().checkout.resolve()
    print(sizes(list(modules_in(root))))
    print(
        "\n{} test modules, {} import from below a front door".format(
            *below_front_doors(root)
        )
    )
    print()
    rows = [
        [one.command, *map(str, (one.exit_code, one.modules, one.functions, one.depth))]
        for one in paths_of_one_row(root)
    ]
    print(table(("command", "exit code", "modules", "functions", "frames"), rows))


if __name__ == "__main__":
    main()
