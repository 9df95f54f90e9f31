"""Measure the peak memory of reading logs that are zip archives.

    python benchmarks/unpack.py [--megabytes N] [--jobs N] [--check]

A log of Inspect of so many megabytes of text is made by repetition, once deflated and
once compressed by zstd, with a member for each sample. It is validated and converted;
memory is the peak of the sum over all processes.
"""

import argparse
import json
import random
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.candidates import script
from harness.measure import Candidate, compare
from report.tables import MEGABYTE, table

#: The most bytes of memory.
FLOOR = 200 * MEGABYTE
#: Samples that are not repetitions of others.
SAMPLES = 100
ZSTD = 93
HEADER: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {
        "eval_id": "e1",
        "run_id": "r1",
        "created": "2026-01-01T00:00:00+00:00",
        "task": "sums",
        "task_id": "t1",
        "dataset": {"name": "sums"},
        "model": "made/model",
        "config": {},
    },
    "plan": {"name": "plan", "steps": [], "config": {}},
    "results": {"total_samples": 0, "completed_samples": 0, "scores": []},
}


def sample(number: int, words: random.Random) -> dict[str, Any]:
    """Return a sample with some thousand letters of text."""
    text = " ".join(f"{words.getrandbits(20):x}" for _ in range(600))
    answer = " ".join(f"{words.getrandbits(20):x}" for _ in range(300))
    asked = {"id": f"u{number}", "content": text, "source": "input", "role": "user"}
    reply = {"id": f"a{number}", "content": answer, "role": "assistant"}
    choice = {"message": reply, "stop_reason": "stop"}
    usage = {"input_tokens": 600, "output_tokens": 300, "total_tokens": 900}
    return {
        "id": number,
        "epoch": 1,
        "input": text,
        "target": "C",
        "messages": [asked, reply],
        "output": {"model": "model", "choices": [choice], "completion": answer},
        "scores": {"match": {"value": "CI"[number % 2], "answer": answer[:9]}},
        "metadata": {},
        "store": {},
        "events": [],
        "model_usage": {"made/model": usage},
        "attachments": {},
    }


def packers() -> dict[str, tuple[int, Callable[[bytes], bytes]]]:
    """Return the number and the function of each compression by its name."""
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 - other Pythons lack it
    else:
        from backports import zstd  # noqa: PLC0415 - an extra

    def deflated(data: bytes) -> bytes:
        deflate = zlib.compressobj(1, wbits=-15)
        return deflate.compress(data) + deflate.flush()

    return {"deflate": (zipfile.ZIP_DEFLATED, deflated), "zstd": (ZSTD, zstd.compress)}


def write_log(
    path: Path, size: int, method: int, packed: Callable[[bytes], bytes]
) -> int:
    """Write a log of some bytes of text at `path`; return its samples."""
    words = random.Random(1)
    texts = [sample(number, words) for number in range(SAMPLES)]
    written = number = 0
    with zipfile.ZipFile(path, "w") as archive:

        def add(name: str, value: Any) -> int:
            data = json.dumps(value, indent=2).encode()
            archive.writestr(name, packed(data))
            # The directory is written at the end, and is all that readers go by.
            entry = archive.filelist[-1]
            entry.compress_type, entry.file_size = method, len(data)
            entry.CRC = zlib.crc32(data)
            return len(data)

        add("_journal/start.json", {key: HEADER[key] for key in ("eval", "plan")})
        while written < size:
            text = {**texts[number % SAMPLES], "id": number}
            written += add(f"samples/{number}_epoch_1.json", text)
            number += 1
        counts = {"total_samples": number, "completed_samples": number}
        add("header.json", {**HEADER, "results": HEADER["results"] | counts})
    return number


def candidates(folder: Path, size: int, jobs: int) -> list[Candidate]:
    """Return the commands on a log of each compression."""
    found = []
    for name, (method, packed) in packers().items():
        path = folder / f"{name}.eval"
        count = write_log(path, size, method, packed)
        megabytes = path.stat().st_size / MEGABYTE
        print(f"{name}: {count:,} samples, {megabytes:,.0f} MB", file=sys.stderr)
        ours = (script("harpia-formats"),)
        counts = ("--jobs", str(jobs), "--quiet")
        output = folder / "out.jsonl"
        write = (*counts, "--to", "record", "--output", str(output))
        found += [
            Candidate(f"validate, {name}", (*ours, "validate", str(path), *counts)),
            Candidate(
                f"convert, {name}", (*ours, "convert", str(path), *write), output=output
            ),
        ]
    return found


def main() -> None:
    """Measure, print a table, and fail with `--check` beyond the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="fail beyond the limit")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = candidates(Path(folder), int(given.megabytes * MEGABYTE), given.jobs)
        found = compare(commands, 1)
    rows = [
        (name, f"{one.median:.1f} s", f"{(one.peak or 0) / MEGABYTE:.0f} MB")
        for name, one in found.items()
    ]
    print(table(("command", "time", "peak memory"), rows))
    if given.check and any((one.peak or 0) > FLOOR for one in found.values()):
        sys.exit(f"more than {FLOOR / MEGABYTE:.0f} MB")


if __name__ == "__main__":
    main()
