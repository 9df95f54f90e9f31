"""Validate and convert on a Dask cluster of this machine, and by its own processes.

    python benchmarks/cluster.py rows.jsonl --rounds 5

Each run is a command of its own, as a user gives it; the runs of both take turns. What
the cluster takes to start is told apart. The table that is printed is for
docs/cluster.md. Needs the extra `distributed`.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: What Dask must reach of the speed of processes on this machine.
BAR = 0.8


def main() -> None:
    """Print the table; exit with 1 if Dask is slower than it may be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="a large file of JSON lines")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    begin = time.perf_counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        _cluster(given.workers) as engine,
    ):
        started = time.perf_counter() - begin
        times = _times(_works(given.rows, Path(folder), given.workers, engine), given)
    size = given.rows.stat().st_size / 1e6
    print(
        f"{size:,.0f} MB, {given.workers} workers, medians of {given.rounds} rounds\n"
    )
    print("| work | processes | Dask | speed of Dask by that of processes |")
    print("|---|---|---|---|")
    ratios = [_row(name, both, size) for name, both in times.items()]
    print(f"\nThe cluster itself took {started:.1f} s to start.")
    print(f"The bar is {BAR}: {'reached' if min(ratios) >= BAR else 'not reached'}.")
    sys.exit(0 if min(ratios) >= BAR else 1)


def _row(name: str, both: dict[str, list[float]], size: float) -> float:
    """Print what one kind of work took, and return the ratio."""
    pool, dask = (statistics.median(both[each]) for each in ("pool", "dask"))
    print(
        f"| {name} | {pool:.2f} s, {size / pool:.0f} MB/s "
        f"| {dask:.2f} s, {size / dask:.0f} MB/s | {pool / dask:.2f} |"
    )
    return pool / dask


@contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """Start a cluster whose workers have imported what they need; yield its address."""
    import distributed  # noqa: PLC0415 - an extra

    untyped: Any = distributed
    with (
        untyped.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=":0",
        ) as cluster,
        untyped.Client(cluster, set_as_default=False) as client,
    ):
        client.run(_get_ready)
        yield cluster.scheduler_address.replace("tcp://", "dask://")


def _get_ready() -> None:
    """Import what work needs."""
    from harpia_formats import shards, working  # noqa: F401, PLC0415 - where workers run


def _works(
    rows: Path, folder: Path, workers: int, engine: str
) -> dict[str, dict[str, Callable[[], None]]]:
    """Return what is timed, by the work and by who does it."""
    who = {"pool": ["--jobs", str(workers)], "dask": ["--engine", engine]}
    works: dict[str, dict[str, Callable[[], None]]] = {"validate": {}, "convert": {}}
    for name, options in who.items():
        target = ["--to", "nemo", "--overwrite", "-o", str(folder / name)]
        works["validate"][name] = _command("validate", rows, *options)
        works["convert"][name] = _command("convert", rows, *options, *target)
    return works


def _command(name: str, rows: Path, *options: str) -> Callable[[], None]:
    command = [sys.executable, "-m", "harpia_formats", name, str(rows), "--quiet"]

    def run() -> None:
        subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)

    return run


def _times(
    works: dict[str, dict[str, Callable[[], None]]], given: argparse.Namespace
) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of each run; both sides take turns in who begins."""
    times: dict[str, dict[str, list[float]]] = {
        work: {name: [] for name in both} for work, both in works.items()
    }
    for number in range(given.rounds):
        for work, both in works.items():
            names = list(both) if number % 2 else list(reversed(both))
            for name in names:
                start = time.perf_counter()
                both[name]()
                times[work][name].append(time.perf_counter() - start)
    return times


if __name__ == "__main__":
    main()
