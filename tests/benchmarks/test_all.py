"""The benchmark of all limits of speed: the worst cell counts."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Modules = Callable[[str], ModuleType]
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_the_worst_cell_of_a_line_is_held_to_its_limit(
    modules: Modules, tmp_path: Path
) -> None:
    """Each line is measured once, its worst cell named, and memory is a line too."""
    lines, calls = modules("harness.speed_lines"), []
    figures = [lines.Figure("a", 0.5, 20.0), lines.Figure("b", 0.9, 10.0)]

    def measure(run: object) -> object:
        calls.append(run)
        return iter(figures)

    run = lines.Run("English", 1.0, 1, tmp_path)
    measured = [
        lines.Line("worst", 0.8, measure),
        lines.Line("least", 0.6, measure, min),
    ]
    bars = list(modules("all").bars_of(measured, run))

    assert [(bar.what, bar.figure, bar.met) for bar in bars] == [
        ("worst (b)", 0.9, False),
        ("least (a)", 0.5, True),
        ("peak memory, MB (a)", 20.0, True),
    ]
    assert calls == [run]


@pytest.mark.long
@pytest.mark.parametrize("text", ["English", "Chinese", "escapes", "40 repeats"])
def test_every_line_is_measured_on_every_text(modules: Modules, text: str) -> None:
    """With few rows, the command prints a figure for each line and ends with 0."""
    command = [sys.executable, str(BENCHMARKS / "all.py"), "--share", "0.0001"]
    done = subprocess.run(  # noqa: S603 - the command is ours
        [*command, "--text", text, "--seed", "1"],
        capture_output=True,
        text=True,
        check=True,
    )
    names = [each.name for each in modules("harness.speed_lines").SPEED_LINES]

    assert [name for name in names if f"| {name} (" not in done.stdout] == []


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv"])
@pytest.mark.parametrize("changed", [0, 1])
def test_the_script_that_compares_counts_rows(
    modules: Modules,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    changed: int,
    suffix: str,
) -> None:
    """It ends with 1 if a row differs, in files of each kind that is measured."""
    rows = [{"id": str(number), "text": "a"} for number in range(3)]
    paths = [str(tmp_path / f"{name}.{suffix}") for name in "ab"]
    for path, text in zip(paths, ("a", "ab"[changed]), strict=True):
        rows[2]["text"] = text
        cells = [["id", "text"], *(list(row.values()) for row in rows)]
        texts = {
            "json": json.dumps(rows, indent=1),
            "jsonl": "\n".join(map(json.dumps, rows)),
            "csv": "\n".join(map(",".join, cells)),
        }
        Path(path).write_text(texts[suffix], encoding="utf-8")
    code = modules("peers.plain_diff").main(*paths)

    assert code == changed
    assert capsys.readouterr().out.startswith(f"{changed} rows differ, 0 ")
