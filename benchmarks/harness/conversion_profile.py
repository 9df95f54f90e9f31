"""Profile the conversion of one pair in one process: where its time goes."""

import cProfile
import pstats
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

from harness.candidates import ROOT
from harness.conversion_commands import PairFiles
from harness.every_pair import FEW

#: Functions of the second table, at most.
SHOWN = 40
#: The roots of our modules.
ROOTS = (ROOT, ROOT / "converters")
#: The place of a function: file, line and name; the file of a C function is "~".
Place = tuple[str, int, str]


def profile_of(files: PairFiles) -> str:
    """Return two tables of a conversion: own time by stage, and cumulative time.

    The conversion runs in this process, by the command line, after one of few records,
    so that imports do not count. A profiler makes calls of Python functions look slower
    than they are, so only the order of the figures counts.
    """
    profiler = cProfile.Profile()
    _convert(replace(files, count=FEW), lambda run: run())
    _convert(files, profiler.runcall)
    profiler.create_stats()
    stats = pstats.Stats(profiler)
    found: dict[Place, tuple[int, int, float, float, object]] = stats.stats  # type: ignore[attr-defined]  # not in its types
    return f"{files.pair}\n\n{_stages(found)}\n\n{_functions(found)}"


def _convert(files: PairFiles, call: Callable[[Callable[[], None]], None]) -> None:
    """Run our command in this process by `call`; raises `SystemExit` if it fails."""
    from harpia_formats.cli import main as run_command_line  # noqa: PLC0415 - only here

    arguments = sys.argv
    sys.argv = [*files.ours_alone(), "--quiet"]
    try:
        call(run_command_line)
    except SystemExit as ending:
        if ending.code:
            raise
    finally:
        sys.argv = arguments


def _stages(found: dict[Place, tuple[int, int, float, float, object]]) -> str:
    """Return the own time of each package; that of C functions counts for callers."""
    own: dict[str, float] = defaultdict(float)
    for place, (_, _, seconds, _, callers) in found.items():
        if place[0] != "~":
            own[stage_of(place[0])] += seconds
            continue
        assert isinstance(callers, dict)  # noqa: S101 - of pstats
        for caller, times in callers.items():
            own[stage_of(caller[0])] += times[2]
    total = sum(own.values())
    lines = [
        f"{seconds:8.3f} s {seconds / total:6.1%}  {name}"
        for name, seconds in sorted(own.items(), key=itemgetter(1), reverse=True)
        if seconds / total >= 0.002
    ]
    return "\n".join([" own time  share  stage", *lines])


def stage_of(path: str) -> str:
    """Return the package of one of our modules, "other" for any other module.

    Code that is compiled from tables has no module; its path is its name in brackets.
    """
    if path.startswith("<") and not path.startswith("<frozen"):
        return f"compiled from tables: {path[1:-1]}"
    for root in reversed(ROOTS):
        if Path(path).is_relative_to(root):
            parts = Path(path).relative_to(root).parts
            return ".".join(parts[: min(len(parts) - 1, 3)])
    return "other"


def _functions(found: dict[Place, tuple[int, int, float, float, object]]) -> str:
    """Return our functions, and those in C, with the most cumulative time."""
    ours = [item for item in found.items() if _is_shown(item[0])]
    ordered = sorted(ours, key=lambda item: item[1][3], reverse=True)
    lines = [
        f"{calls:10,} {own:9.3f} {cumulative:11.3f}  {_name(place)}"
        for place, (_, calls, own, cumulative, _) in ordered[:SHOWN]
    ]
    return "\n".join(["     calls  own time  cumulative  function", *lines])


def _is_shown(place: Place) -> bool:
    return place[0] == "~" or stage_of(place[0]) != "other"


def _name(place: Place) -> str:
    file, line, name = place
    if file == "~":
        return name
    for root in reversed(ROOTS):
        if Path(file).is_relative_to(root):
            return f"{Path(file).relative_to(root)}:{line} {name}"
    return f"{Path(file).name}:{line} {name}"
