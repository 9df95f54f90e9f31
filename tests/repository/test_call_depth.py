"""How far it is from a command to the loop over the rows of a file.

Whoever reads the code goes the same way as a row. A function that only forwards, or a
module that only one other uses, makes that way longer.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import harpia_converters
import harpia_formats

#: Two rows: a single one that is valid is no matter of a loop.
ROWS = 2 * (
    b'{"input": {"prompt": "q", "ideal_response": "a", "category": "c", "source": "s"},'
    b' "response": "a", "llm_name": "m"}\n'
)
#: The functions that loop over the rows of a batch.
LOOPS = ("RowValidator._validate_some", "RecordStream._read_rows")
#: Prints the most frames above a loop, the function with the loop included, and how
#: many modules ran before it for the first time, but for what runs while one is loaded.
COUNTING = """
import sys
roots, loops = tuple(sys.argv[1].split()), sys.argv[2].split()
words = sys.argv[3:]
most, modules = 0, set()

def frames_of(frame):
    while frame is not None:
        if frame.f_code.co_filename.startswith(roots):
            yield frame.f_code
        frame = frame.f_back

def count(frame, event, argument):
    global most
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(roots):
        return
    above = list(frames_of(frame))
    if any(each.co_name == "<module>" for each in above):
        return
    if not most:
        modules.add(code.co_filename)
    if code.co_qualname in loops:
        # Rows that are written are checked as a batch of their own.
        if sum(each.co_qualname in loops for each in above) == 1:
            most = max(most, len(above))

sys.argv = ["harpia-formats", *words]
from harpia_formats.cli import main
sys.setprofile(count)
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
print(most, len(modules), file=sys.stderr)
"""


@dataclass(frozen=True)
class Limit:
    """How many frames and how many modules there may be down to the loop."""

    command: tuple[str, ...]
    frames: int
    modules: int


LIMITS = [
    Limit(("validate",), frames=12, modules=60),
    Limit(("convert", "--to", "record", "--output", "out.jsonl"), 14, 75),
    Limit(("score", "--metrics", "em"), frames=16, modules=90),
]


def counted(folder: Path, loops: Sequence[str], *words: str) -> tuple[int, int]:
    """Return the frames above the `loops` of a command, and the modules before them."""
    (folder / "row.jsonl").write_bytes(ROWS)
    roots = [
        str(Path(str(package.__file__)).parent) + os.sep
        for package in (harpia_formats, harpia_converters)
    ]
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", COUNTING, " ".join(roots), " ".join(loops), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    frames, modules = map(int, done.stderr.split()[-2:])
    return frames, modules


@pytest.mark.parametrize(
    "limit",
    [
        LIMITS[0],
        *(pytest.param(limit, marks=pytest.mark.long) for limit in LIMITS[1:]),
    ],
    ids=lambda limit: limit.command[0],
)
def test_a_row_has_a_short_way(limit: Limit, tmp_path: Path) -> None:
    """From a command to the loop over rows there are so many frames and modules."""
    command, *options = limit.command
    words = (command, "row.jsonl", "--jobs", "1", *options)
    frames, modules = counted(tmp_path, LOOPS, *words)

    assert 0 < frames <= limit.frames
    assert 0 < modules <= limit.modules


@pytest.mark.long
def test_a_judge_runs_at_the_fifth_frame(tmp_path: Path) -> None:
    """The command line calls what judges rows without more functions in between."""
    words = ("judge", "row.jsonl", "--definition", "faithfulness", "--dry-run")
    frames, _ = counted(tmp_path, ["run_judge"], *words)

    assert 0 < frames <= 5
