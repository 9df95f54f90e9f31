"""Small files of text in several containers, as files that are not damaged."""

import bz2
import csv
import gzip
import io
import json
import lzma
from random import Random
from typing import Any

#: Rows of a file.
ROWS = 60
_words = (
    'the cat sat on a mat while 猫は座った ünter „quotes“, \\ tabs\t and "signs"'.split(
        " "
    )
)


def _rows(random: Random) -> list[dict[str, Any]]:
    """Return rows of questions with their answers."""
    return [
        {
            "prompt": f"{number} {' '.join(random.choices(_words, k=12))}?",
            "references": [random.choice(_words)],
            "outputs": [{"model": "made/model", "text": random.choice(_words)}],
        }
        for number in range(ROWS)
    ]


def json_lines(random: Random) -> bytes:
    """Return records as JSON Lines."""
    return b"".join(
        json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in _rows(random)
    )


def json_array(random: Random) -> bytes:
    """Return records as a JSON array over several lines."""
    return json.dumps(_rows(random), ensure_ascii=False, indent=1).encode()


def csv_table(random: Random) -> bytes:
    """Return questions and references as CSV."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(("prompt", "references"))
    writer.writerows((row["prompt"], row["references"][0]) for row in _rows(random))
    return file.getvalue().encode()


def gzipped_lines(random: Random) -> bytes:
    """Return records as JSON Lines in gzip."""
    return gzip.compress(json_lines(random), mtime=0)


def bzipped_lines(random: Random) -> bytes:
    """Return records as JSON Lines in bzip2."""
    return bz2.compress(json_lines(random))


def xz_lines(random: Random) -> bytes:
    """Return records as JSON Lines in xz."""
    return lzma.compress(json_lines(random))
