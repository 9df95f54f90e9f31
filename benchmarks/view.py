"""Measure `harpia-formats view` on one large file, and how Chromium scrolls through it.

It starts the page on generated rows and asks it as the page's own script does: how long
until the first rows are there, until the index is complete, for a record, for a page of
rows, for a search, and for the records sorted by a score. The file is validated by one
process before, for the ratios. With `--check` it ends with 1 if a limit is not met,
with `--output` the results are written as a page of Markdown.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

from harness.candidates import script
from harness.chromium import Chromium, program
from harness.measure import family_of, memory_of
from report.pages import circumstances, command_given
from report.tables import MEGABYTE, table

SEED = 20_261_127
WORDS = (
    "the model reads a question about rivers and answers with reasons that anyone can "
    'check against the passage ação questão 模型 评估 "quoted" 42 3.14 line\nbreak'
).split()
#: Rows that are generated; a larger file repeats them.
GENERATED = 20_000
#: Bytes that a search looks for, which are in few rows.
RARE = "a needle in the hay"
DOCUMENT = """\
# Benchmark of `harpia-formats view`

Written by `benchmarks/view.py`: a JSON Lines file of {size} with {records:,} rows of
the format `record`. Speeds are those of one run, in which `validate --jobs 1` read the
same file first.

{cells}

Memory is the largest proportional set size of any single process of the command.

{circumstances}
"""


@dataclass(slots=True)
class Line:
    """One figure, with its limit."""

    name: str
    value: float
    limit: float
    unit: str
    #: Whether a larger value is better.
    is_least: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the limit is met."""
        return self.value >= self.limit if self.is_least else self.value <= self.limit

    def cells(self) -> tuple[str, str, str]:
        """Return the cells of the table."""
        sign = "at least" if self.is_least else "at most"
        shown = f"{self.value:,.2f} {self.unit}".rstrip()
        return self.name, shown, f"{sign} {self.limit:g} {self.unit}".rstrip()


@dataclass(slots=True)
class Page:
    """A running page, asked over HTTP."""

    process: subprocess.Popen[str]
    address: str
    #: The largest share of memory of each of its processes.
    memory: dict[int, int] = field(default_factory=dict)
    _opener: urllib.request.OpenerDirector = field(init=False)

    def __post_init__(self) -> None:
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(cookies)
        self._opener.open(self.address).close()

    def ask(self, path: str, **query: Any) -> Any:
        """Return the answer to a question of the page's script."""
        base = self.address.partition("?")[0]
        text = urllib.parse.urlencode({"file": 0, **query})
        with self._opener.open(f"{base}api/{path}?{text}") as answer:
            return json.load(answer)

    def note_memory(self) -> None:
        """Note how much memory each process has."""
        for process in family_of(self.process.pid):
            share = memory_of([process])
            self.memory[process] = max(share, self.memory.get(process, 0))

    def until(self, is_true: Callable[[Any], bool], path: str, **query: Any) -> Any:
        """Return the first answer of which something is true."""
        while not is_true(answer := self.ask(path, **query)):
            self.note_memory()
            time.sleep(0.05)
        self.note_memory()
        return answer


def rows() -> Iterator[bytes]:
    """Yield generated rows."""
    chance = random.Random(SEED)
    for number in range(GENERATED):
        scores = [
            {"metric": "f1", "value": round(chance.random(), 4)},
            {"metric": "acc", "value": 1, "is_correct": chance.random() < 0.7},
        ]
        output = {
            "model": f"model-{number % 2}",
            "text": " ".join(chance.choices(WORDS, k=90)),
            "scores": scores,
        }
        row: dict[str, Any] = {
            "id": f"q{number // 2}",
            "prompt": " ".join(chance.choices(WORDS, k=60)),
            "references": [" ".join(chance.choices(WORDS, k=5))],
            "category": chance.choice(("geography", "history", "law")),
            "outputs": [output],
        }
        if number % 9973 == 1:
            row["metadata"] = {"note": RARE}
        yield json.dumps(row, ensure_ascii=False).encode() + b"\n"


def write_rows(path: Path, size: int) -> int:
    """Write rows until a file has about `size` bytes, and return how many they are."""
    block = b"".join(rows())
    times = max(1, size // len(block))
    if size > shutil.disk_usage(path.parent).free:
        raise SystemExit(f"{path.parent} has no room for {size / 1e9:.1f} GB")
    with path.open("wb") as file:
        for _ in range(times):
            file.write(block)
    return times * GENERATED


def validated_in(path: Path) -> float:
    """Return the seconds that one process takes to validate a file."""
    start = time.perf_counter()
    command = (script("harpia-formats"), "validate", str(path), "--jobs", "1", "-q")
    subprocess.run(command, check=True)
    return time.perf_counter() - start


def measured(path: Path, records: int) -> Iterator[Line]:
    """Yield the figures of the page on a file."""
    seconds = validated_in(path)
    start = time.perf_counter()
    command = (script("harpia-formats"), "view", str(path), "--no-browser")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            page = Page(process, process.stdout.readline().strip())
            yield from _asked(page, start, seconds, records)
            if program() is not None:
                yield from scrolled(page)
        finally:
            # In the background of a shell, Ctrl-C ends nothing.
            process.terminate()
    yield Line(
        "peak memory of any process",
        max(page.memory.values()) / MEGABYTE,
        150,
        "MB",
    )


def _asked(
    page: Page,
    start: float,
    validation: float,
    records: int,
) -> Iterator[Line]:
    """Yield what is measured over HTTP, where `validation` took so many seconds."""
    page.until(lambda files: files["files"][0]["records"] > 0, "files")
    page.until(lambda found: found["rows"], "rows")
    yield Line("first rows after the start", time.perf_counter() - start, 1, "s")
    page.until(lambda files: files["files"][0]["indexed"]["complete"], "files")
    index = time.perf_counter() - start
    yield Line(
        "speed of the index / of validation", validation / index, 1, "", is_least=True
    )
    chance = random.Random(SEED)
    numbers = [chance.randrange(1, records + 1) for _ in range(50)]
    record = [_seconds(lambda n=n: page.ask("record", record=n)) for n in numbers]  # type: ignore[misc]  # the default is the number
    yield Line("any record, median", 1000 * statistics.median(record), 50, "ms")
    parts = [_seconds(lambda n=n: page.ask("rows", start=n)) for n in numbers[:20]]  # type: ignore[misc]  # the default is the number
    yield Line("a page of 100 rows, median", 1000 * statistics.median(parts), 100, "ms")
    began = time.perf_counter()
    page.until(lambda found: found["complete"], "rows", text=RARE, case=1)
    search = time.perf_counter() - began
    yield Line(
        "speed of a search / of validation", validation / search, 0.5, "", is_least=True
    )
    page.until(lambda files: files["files"][0]["scanned"]["complete"], "files")
    scan = time.perf_counter() - start
    yield Line(
        "all records are known, in times of validation",
        scan / validation,
        8,
        "",
    )
    sort = _seconds(lambda: page.ask("rows", sort="score:f1"))
    rate = sort * 10_000_000 / records
    yield Line("sorting by a score, for each 10,000,000 records", rate, 30, "s")
    page.note_memory()


def _seconds(call: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


#: Scrolls from the beginning to the end, and returns the longest time between two
#: frames in ms, and the most elements that the page had.
SCROLL = """
new Promise((resolve) => {
  const rows = document.querySelector('[role=grid]');
  const box = [rows, ...rows.querySelectorAll('*')].find((one) =>
    one.scrollHeight > one.clientHeight + 1000);
  let step = 0, last = performance.now(), worst = 0, most = 0;
  const next = (now) => {
    if (step) worst = Math.max(worst, now - last);
    last = now;
    most = Math.max(most, document.getElementsByTagName('*').length);
    if (step++ === 300) return resolve([worst, most]);
    box.scrollTop += step % 3 ? 300 : box.scrollHeight / 310;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})
"""
COUNT = "document.getElementsByTagName('*').length"


def scrolled(page: Page) -> Iterator[Line]:
    """Yield how Chromium scrolls through all rows."""
    # The token of an address is good for one browser: it has its cookie then.
    with Chromium() as browser:
        browser.show(1400, 900)
        browser.call("Page.navigate", url=f"{page.address}&view=records")
        time.sleep(3)
        before = browser.value(COUNT)
        answer = browser.call(
            "Runtime.evaluate",
            expression=SCROLL,
            awaitPromise=True,
            returnByValue=True,
        )
        worst, most = answer["result"]["value"]
        yield Line("longest frame while scrolling", worst, 50, "ms")
        yield Line("elements while scrolling / before", most / before, 1.5, "")


def main() -> int:
    """Measure, print a line for each figure, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1_000)
    parser.add_argument("--check", action="store_true", help="end with 1 over a limit")
    parser.add_argument("--output", type=Path, help="write a page of Markdown")
    parser.add_argument("--folder", type=Path, help="where the file is written")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        path = Path(name, "rows.jsonl")
        records = write_rows(path, int(options.megabytes * MEGABYTE))
        size = path.stat().st_size
        lines = []
        for line in measured(path, records):
            print(f"{'' if line.is_met else 'NOT MET: '}{': '.join(line.cells()[:2])}")
            lines.append(line)
    if options.output:
        cells = table(("figure", "measured", "limit"), (one.cells() for one in lines))
        text = DOCUMENT.format(
            size=f"{size / 1e9:.1f} GB",
            records=records,
            cells=cells,
            circumstances=circumstances(command_given()),
        )
        options.output.write_text(text, encoding="utf-8")
    return int(options.check and not all(line.is_met for line in lines))


if __name__ == "__main__":
    sys.exit(main())
