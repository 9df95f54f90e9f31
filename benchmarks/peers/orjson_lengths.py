"""Count the lengths of the texts in each line of a file with orjson, without checks.

Usage: orjson_lengths.py nemo-output|eee@0.2.0 FILE

It prints the sums of the characters, words and bytes of each text as JSON. Words are
what `str.split` yields.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

Lengths = tuple["Counter[int]", "Counter[int]", "Counter[int]"]


def of_nemo(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the texts of a row of NeMo with their names."""
    asked = row["input"]
    yield "prompt", asked["prompt"]
    yield "references", asked["ideal_response"]
    yield "answers", row["response"]


def of_eee(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the texts of a row of EvalEval with their names."""
    asked, output = row["input"], row["output"]
    yield "prompt", asked["raw"]
    yield "references", asked["reference"]
    for text in asked["choices"]:
        yield "choices", text
    if output:
        yield "answers", output["raw"]
        yield "reasoning", output["reasoning_trace"]
    for turn in row["interactions"] or ():
        yield "turns", turn["content"]


TEXTS = {"nemo-output": of_nemo, "eee@0.2.0": of_eee}


def main(format_: str, path: str) -> None:
    """Count the lengths of the texts in the lines of `path`."""
    texts_of = TEXTS[format_]
    found: dict[str, Lengths] = {}
    with Path(path).open("rb") as lines:
        for line in lines:
            for name, text in texts_of(orjson.loads(line)):
                if text is None:
                    continue
                if name not in found:
                    found[name] = (Counter(), Counter(), Counter())
                characters, words, size = found[name]
                characters[len(text)] += 1
                words[len(text.split())] += 1
                size[len(text.encode())] += 1
    sums = {
        name: [sum(length * n for length, n in counts.items()) for counts in lengths]
        for name, lengths in found.items()
    }
    print(orjson.dumps(sums).decode())


if __name__ == "__main__":
    main(*sys.argv[1:])
