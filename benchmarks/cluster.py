"""Validate and convert on a local Dask cluster, and with worker processes.

    python benchmarks/cluster.py rows.jsonl --rounds 5

Each run is a process, and the runs of both are interleaved. Only the work is timed: not
the start of the cluster, of the connection or of Python.
The tables that are printed belong in docs/how-to/cluster.md. Needs the extra
`distributed`.
"""

import argparse
import importlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

#: The least speed of Dask divided by that of worker processes.
BAR = 0.8
#: Bytes of a range on a cluster.
RANGE = 32 * 1024 * 1024


def main() -> None:
    """Print the table; exit with 1 if Dask is slower than the limit."""
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
        rate = _rate(engine)
    size = given.rows.stat().st_size / 1e6
    print(
        f"{size:,.0f} MB, {given.workers} workers, medians of {given.rounds} rounds\n"
    )
    print("| work | processes | Dask | speed of Dask by that of processes |")
    print("|---|---|---|---|")
    ratios = [_row(name, both, size) for name, both in times.items()]
    print(f"\nThe cluster itself took {started:.1f} s to start.")
    print(f"The bar is {BAR}: {'reached' if min(ratios) >= BAR else 'not reached'}.\n")
    _print_plan(
        {
            work: size / statistics.median(both["dask"]) / given.workers
            for work, both in times.items()
        },
        rate,
    )
    sys.exit(0 if min(ratios) >= BAR else 1)


def _row(name: str, both: dict[str, list[float]], size: float) -> float:
    """Print the row of one kind of work, and return the ratio of speeds."""
    pool, dask = (statistics.median(both[backend]) for backend in ("pool", "dask"))
    print(
        f"| {name} | {pool:.2f} s, {size / pool:.0f} MB/s "
        f"| {dask:.2f} s, {size / dask:.0f} MB/s | {pool / dask:.2f} |"
    )
    return pool / dask


def _print_plan(speeds: dict[str, float], rate: float) -> None:
    """Print the time for 10 TB on 100 workers at these speeds (MB/s of a worker)."""
    total, workers = 10e6, 100
    print("| 10 TB on 100 workers | | from |")
    print("|---|---|---|")
    for work, speed in speeds.items():
        print(f"| {work}, one worker | {speed:.0f} MB/s | measured |")
    print(f"| pieces of work handed out | {rate:,.0f} a second | measured |")
    for work, speed in speeds.items():
        seconds = total / workers / speed
        print(
            f"| {work} 10 TB | {seconds:,.0f} s, {seconds / 60:.0f} minutes "
            f"| 10,000,000 MB / ({workers} x {speed:.0f} MB/s) |"
        )
    speed = speeds["validate"]
    print(
        f"| to be read from the store | {speed * workers / 1e3:.1f} GB/s in all, "
        f"{speed * 8 / 1e3:.1f} Gbit/s for each | {workers} x {speed:.0f} MB/s |"
    )
    ranges = total / (RANGE / 1e6)
    print(
        f"| one file of 10 TB in ranges of 32 MiB | {ranges:,.0f} ranges, handed out "
        f"in {ranges / rate:,.0f} s | 10,000,000 MB / 33.6 MB, by the rate above |"
    )


def _rate(engine: str) -> float:
    """Return the number of empty tasks that the cluster runs in a second."""
    from harpia_formats.files.workers.pool import (  # noqa: PLC0415 - only in the main process
        WorkerPool,
        answers_in_order,
    )

    count = 2_000
    with WorkerPool(0, name=engine) as pool:
        begin = time.perf_counter()
        for _ in answers_in_order(pool, ((n, (max, (0, n))) for n in range(count))):
            continue
        return count / (time.perf_counter() - begin)


@contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """Start a cluster whose workers have imported the package; yield its address."""
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
    """Import the modules of the work, which is not timed."""
    from harpia_formats.conversion.parallel import range_converter  # noqa: F401, PLC0415 - where workers run
    from harpia_formats.validation.parallel import validate_ranges  # noqa: F401, PLC0415 - where workers run


def _works(
    rows: Path, folder: Path, workers: int, engine: str
) -> dict[str, dict[str, Callable[[], float]]]:
    """Return the runs to time, by kind of work and by engine."""
    return {
        work: {
            who: _command(rows, work, folder / who, str(workers), engine * is_far)
            for who, is_far in (("pool", False), ("dask", True))
        }
        for work in ("validate", "convert")
    }


def _command(*given: Any) -> Callable[[], float]:
    """Return a function that runs work in a new process and returns its seconds."""
    command = [sys.executable, __file__, "--once", *map(str, given)]

    def run() -> float:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return float(done.stdout)

    return run


def _once(rows: str, work: str, output: str, workers: str, address: str) -> None:
    """Run work in this process, and print its seconds."""
    from harpia_formats import convert, validate  # noqa: PLC0415 - not timed

    for module in ("conversion.run", "validation.run"):
        importlib.import_module(f"harpia_formats.{module}")
    with ExitStack() as stack:
        given: dict[str, Any] = {"jobs": int(workers)}
        if address:
            from harpia_formats.files.workers.dask import dask_engine  # noqa: PLC0415 - an extra

            # Connecting counts as part of the start of the cluster.
            engine = stack.enter_context(dask_engine(address))
            given = {"executor": engine.executor}
        begin = time.perf_counter()
        if work == "validate":
            validate(rows, **given).raise_for_errors()
        else:
            done = convert(rows, to="nemo", output=output, overwrite=True, **given)
            done.raise_for_errors()
        print(time.perf_counter() - begin)


def _times(
    works: dict[str, dict[str, Callable[[], float]]], given: argparse.Namespace
) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of each run; the engine that runs first alternates."""
    times: dict[str, dict[str, list[float]]] = {
        work: {name: [] for name in both} for work, both in works.items()
    }
    for number in range(given.rounds):
        for work, both in works.items():
            names = list(both) if number % 2 else list(reversed(both))
            for name in names:
                times[work][name].append(both[name]())
    return times


if __name__ == "__main__":
    if sys.argv[1:2] == ["--once"]:
        _once(*sys.argv[2:])
    else:
        main()
