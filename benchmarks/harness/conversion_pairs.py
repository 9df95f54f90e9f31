"""The conversions that are measured, and scripts that do the same by hand."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data import generate, generate_rows
from data.files import generated_file

from harness.candidates import OURS, script
from harness.measure import Candidate

SERIAL = "ours --jobs 1"
PLAIN, QUICK = "script with json", "script with orjson"
#: Records on which all commands must write the same rows.
PROVEN = 2000
#: The first part of each script: its JSON library.
ENGINES = {
    PLAIN: """\
import json
import sys

loads = json.loads


def dumps(row):
    return json.dumps(row, ensure_ascii=False).encode()
""",
    QUICK: """\
import sys

from orjson import dumps, loads
""",
}
LINES = """

def main(source, target):
    with open(source, "rb") as lines, open(target, "wb") as output:
        for line in lines:
            for row in rows_of(loads(line)):
                output.write(dumps(row) + b"\\n")


main(*sys.argv[1:])
"""
DOCUMENT = """

def main(source, target):
    with open(source, "rb") as lines, open(target, "wb") as output:
        output.write(b'{"instances": [')
        for number, line in enumerate(lines, 1):
            row = row_of(loads(line), number)
            output.write((b",\\n" if number > 1 else b"\\n") + dumps(row))
        output.write(b"\\n]}\\n")


main(*sys.argv[1:])
"""
EEE_TO_NEMO = """

def rows_of(row):
    question, turns = row["input"]["raw"], row.get("interactions")
    if turns:
        answer = next(
            turn["content"]
            for turn in reversed(turns)
            if turn["role"] == "assistant" and turn["content"] is not None
        )
    else:
        answer = row["output"]["raw"]
    yield {
        "input": {
            "prompt": question,
            "ideal_response": row["input"]["reference"],
            "category": "",
            "source": "",
        },
        "response": answer,
        "llm_name": row["model_id"],
    }
"""
TENCENT_TO_NEMO = """

def rows_of(row):
    messages = row["messages"]
    question = [turn["content"] for turn in messages if turn["role"] == "user"][-1]
    for output in row["model_outputs"]:
        for response in output["responses"]:
            yield {
                "input": {
                    "prompt": question,
                    "ideal_response": row["ref_answer"],
                    "category": "",
                    "source": "",
                },
                "response": response["content"],
                "llm_name": output["model_name"],
            }
"""
NEMO_TO_HARPIA = """

def row_of(row, number):
    question = row["input"]
    return {
        "id": str(number),
        "input": question["prompt"],
        "expected-output": [question["ideal_response"]],
        "actual-output": row["response"],
    }
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two formats, and the part of a script that converts a row."""

    source: str
    target: str
    body: str
    #: The extension of the output file.
    suffix: str
    rows: Callable[[int], Iterator[bytes]]

    @property
    def name(self) -> str:
        """The name of the pair in tables."""
        return f"{self.source} to {self.target}"


def rows_of(format_: str) -> Callable[[int], Iterator[bytes]]:
    """Return the generator of the rows of a format."""
    return lambda count: generate_rows.rows(format_, count)


PAIRS = (
    Pair("eee@0.2.0", "nemo-output", EEE_TO_NEMO + LINES, ".jsonl", generate.rows),
    Pair(
        "tencent-outputs",
        "nemo-output",
        TENCENT_TO_NEMO + LINES,
        ".jsonl",
        rows_of("tencent-outputs"),
    ),
    Pair(
        "nemo-output",
        "harpia",
        NEMO_TO_HARPIA + DOCUMENT,
        ".json",
        rows_of("nemo-output"),
    ),
)

#: Returns the command that converts one file into another.
Command = Callable[[Path, Path], tuple[str, ...]]


def generated(pair: Pair, count: int, folder: Path) -> Path:
    """Return a file of `count` rows in the source format of `pair`."""
    path = folder / f"{pair.source}-{count}-rows.jsonl"
    return generated_file(path, pair.rows, count)


def candidates_on(path: Path, pair: Pair, folder: Path) -> list[Candidate]:
    """Return our command with two workers and with one, and the scripts."""
    small = generated(pair, PROVEN, folder)
    return [
        Candidate(
            name,
            command(path, output),
            output=output,
            source=path,
            warm_up=command(small, output),
        )
        for name, output, command in commands_of(pair, folder)
    ]


def commands_of(pair: Pair, folder: Path) -> Iterator[tuple[str, Path, Command]]:
    """Yield the name, the output file and the command of each candidate."""

    def ours(jobs: str) -> Command:
        program = script("harpia-formats")
        options = ("--to", pair.target, "--jobs", jobs, "--overwrite", "--output")
        return lambda source, output: (
            program,
            "convert",
            str(source),
            *options,
            str(output),
        )

    def by_hand(program: Path) -> Command:
        return lambda source, output: (
            sys.executable,
            str(program),
            str(source),
            str(output),
        )

    yield OURS, folder / f"ours{pair.suffix}", ours("2")
    yield SERIAL, folder / f"ours-alone{pair.suffix}", ours("1")
    for number, (name, engine) in enumerate(ENGINES.items()):
        program = folder / f"script-{number}.py"
        program.write_text(engine + pair.body, encoding="utf-8")
        yield name, folder / f"script-{number}{pair.suffix}", by_hand(program)


def rows_in(path: Path) -> list[Any]:
    """Return the decoded rows of an output: of JSON Lines or of a HarpIA document."""
    data = path.read_bytes()
    if path.suffix == ".json":
        instances: list[Any] = json.loads(data)["instances"]
        return instances
    return [json.loads(line) for line in data.splitlines()]
