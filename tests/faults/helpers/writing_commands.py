"""Commands that write files, each with small inputs, and what may be left of a run."""

import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from command_runs import Result, run
from json_lines import jsonl

#: Runs a command: the arguments of `command_runs.run`.
Run = Callable[..., Result]
#: What a killed run may leave, which a later one removes.
_LEFT = re.compile(
    r"data/\.[^/]+\.harpia-[0-9a-f]{12}\.(part|complete)"
    r"|tmp/.+|data/[^/]+\.judge-cache.*"
)
#: The replies that a judge was sent, which are there to go on with.
_CACHE = re.compile(r"data/[^/]+\.judge-cache")


def answers(count: int, models: Collection[str] = ("m",)) -> bytes:
    """Return rows of NeMo, of some models in turn."""
    names = list(models)
    return jsonl(
        *[
            {
                "input": {"prompt": f"q{each}", "ideal_response": "r"},
                "response": "r" if each % 3 else f"answer {each}",
                "llm_name": names[each % len(names)],
            }
            for each in range(count)
        ]
    )


_CACHED = re.compile(rb'"cached": ?(true|false)')
#: A row that is not valid; its bytes are those of no writer.
WRONG = b'{"input": 7,  "response": 8}\n'
_SCHEMA = {"type": "object", "properties": {"title": {}}, "additionalProperties": False}
_JUDGE = """\
instructions: Is this answer problematic for children?
inputs: [responses]
outputs:
- {name: score, type: number, minimum: 0, maximum: 1}
examples:
- inputs: {responses: "Damn!"}
  outputs: {score: 1}
"""


def _reports(*suffixes: str) -> tuple[str, ...]:
    """Return the options that write reports of these kinds."""
    return tuple(f"--report=report.{each}" for each in suffixes)


@dataclass(frozen=True)
class WritingCommand:
    """A command that writes files: its inputs by their names, and its words."""

    name: str
    inputs: Mapping[str, bytes]
    words: tuple[str, ...]
    #: The exit code of a run in which nothing goes wrong.
    code: int = 0
    #: Whether it asks a model, whose address is added to the words.
    asks: bool = False


#: The inputs that most commands read.
_ROWS = {"rows.jsonl": answers(12)}
_OVERWRITE = "--overwrite"
_TYPO = b'{"titel":"c"}\n' * 12


def _convert(name: str, out: str, *more: str, **options: Any) -> WritingCommand:
    words = ("convert", "rows.jsonl", "-o", out, _OVERWRITE, *more)
    return WritingCommand(name, options.pop("inputs", _ROWS), words, **options)


COMMANDS = [
    _convert("convert", "out.json", "--to", "tencent"),
    _convert(
        "a file for each model",
        "{model}.json",
        *("--to", "nemo"),
        inputs={"rows.jsonl": answers(12, ["a", "b"])},
    ),
    _convert(
        "quarantine",
        "out.csv",
        *("--to", "tencent-csv", "--on-invalid", "quarantine"),
        *("--loss-report", "losses.json"),
        inputs={"rows.jsonl": answers(6) + WRONG + answers(6)},
    ),
    _convert("gzip", "out.jsonl.gz", "--to", "record"),
    _convert("Parquet", "out.parquet", "--to", "parquet"),
    WritingCommand(
        "fix",
        {"rows.jsonl": _TYPO, "schema.json": json.dumps(_SCHEMA).encode()},
        ("validate", "rows.jsonl", "--schema", "schema.json", "--fix"),
    ),
    WritingCommand(
        "split",
        {"rows.jsonl": answers(12, ["a", "b"])},
        ("split", "rows.jsonl", "--by", "model", "-o", "{value}.jsonl", _OVERWRITE),
    ),
    WritingCommand(
        "merge",
        {"1.jsonl": answers(6), "2.jsonl": answers(6)},
        ("merge", "1.jsonl", "2.jsonl", "-o", "all.jsonl", _OVERWRITE),
    ),
    WritingCommand(
        "score",
        _ROWS,
        (
            *("score", "rows.jsonl", "-m", "em", "--to", "nemo-results"),
            *("-o", "results.json", _OVERWRITE, "--replicates", "10"),
            *("--report", "report.html"),
        ),
    ),
    WritingCommand(
        "reports of a validation",
        {"rows.jsonl": answers(6) + WRONG},
        ("validate", "rows.jsonl", *_reports("html", "sarif", "xml", "md", "json")),
        code=1,
    ),
    WritingCommand(
        "reports of a comparison",
        {"1.jsonl": answers(6), "2.jsonl": answers(7)},
        ("diff", "1.jsonl", "2.jsonl", *_reports("html", "md", "json")),
        code=1,
    ),
    WritingCommand(
        "judge",
        {"rows.jsonl": answers(2), "judge.yaml": _JUDGE.encode()},
        (
            *("judge", "rows.jsonl", "-d", "judge.yaml", "-o", "out.json", _OVERWRITE),
            *("--concurrency", "1", "--api-key-env", "HOME"),
        ),
        asks=True,
    ),
]


def some(values: Iterable[Any], step: int, first: int = 0) -> list[Any]:
    """Return parameters of a test: some for each run, the others for long ones."""
    return [
        pytest.param(
            each,
            id=each.name if hasattr(each, "name") else str(each),
            marks=() if number % step == first else pytest.mark.long,
        )
        for number, each in enumerate(values)
    ]


@dataclass
class Place:
    """Folders in which a command is run again and again: `data` and `tmp`."""

    folder: Path
    command: WritingCommand
    #: What is added to the words.
    more: tuple[str, ...] = ()
    #: The files that a run of the command makes or changes, when nothing goes wrong.
    complete: dict[str, bytes] = field(default_factory=dict)
    #: The files before a run.
    before: dict[str, bytes] = field(default_factory=dict)
    #: How long the last run took.
    seconds: float = 0.0

    @property
    def data(self) -> Path:
        """The working folder of the command."""
        return self.folder / "data"

    @property
    def temporary(self) -> Path:
        """The folder of its temporary files."""
        return self.folder / "tmp"

    def learn(self) -> None:
        """Run the command as it should be, and remember what it writes."""
        self.prepare(is_new=True)
        result = self.run()
        assert result.returncode == self.command.code, result
        self.complete = {
            name: data
            for name, data in self.files().items()
            if self.before.get(name) != data and not _LEFT.fullmatch(name)
        }
        assert self.complete

    def prepare(self, *, is_new: bool) -> None:
        """Make the files before a run: outputs are there unless they shall be new."""
        for each in (self.data, self.temporary):
            each.mkdir(exist_ok=True)
        for name in self.files():
            (self.folder / name).unlink()
        inputs = {f"data/{name}": data for name, data in self.command.inputs.items()}
        # A report replaces only what looks as one.
        old = {name: b"%b\n" % data for name, data in self.complete.items()}
        old = {} if is_new else old
        self.before = old | inputs
        for name, data in self.before.items():
            (self.folder / name).write_bytes(data)

    def files(self) -> dict[str, bytes]:
        """Return all files of the two folders, by their names.

        Whether a reply of a judge was in its cache depends on what ran before.
        """
        return {
            str(each.relative_to(self.folder)): _CACHED.sub(b"", each.read_bytes())
            for each in sorted(self.folder.rglob("*"))
            if each.is_file()
        }

    def run(self, runner: Run = run, **options: Any) -> Result:
        """Run the command."""
        environment = {
            "TMPDIR": str(self.temporary),
            "SOURCE_DATE_EPOCH": "0",
            **options.pop("environment", {}),
        }
        words = (*self.command.words, *self.more)
        begin = time.monotonic()
        result = runner(*words, cwd=self.data, environment=environment, **options)
        self.seconds = time.monotonic() - begin
        return result

    def torn(self) -> list[str]:
        """Return the names of files that are neither as before nor complete.

        Files that a later run removes are passed over.
        """
        now = self.files()
        lost = [name for name in self.before if name not in now]
        return lost + [
            name
            for name, data in now.items()
            if not _LEFT.fullmatch(name)
            and data not in (self.before.get(name), self.complete.get(name))
        ]

    def is_complete(self) -> bool:
        """Tell whether all outputs are as a run makes them."""
        now = self.files()
        return all(now.get(name) == data for name, data in self.complete.items())

    def is_as_before(self) -> bool:
        """Tell whether all outputs are as they were before."""
        now = self.files()
        return all(now.get(name) == self.before.get(name) for name in self.complete)

    def left(self) -> list[str]:
        """Return the files that are no input and no output."""
        known = self.before.keys() | self.complete.keys()
        return [each for each in self.files() if each not in known]

    def parts(self) -> list[str]:
        """Return the part files and temporary files that are left."""
        return [each for each in self.left() if not _CACHE.match(each)]

    def changed(self) -> list[str]:
        """Return the names of outputs that are not as they were before."""
        now = self.files()
        names = [
            each for each in self.complete if now.get(each) != self.before.get(each)
        ]
        return [name.removeprefix("data/") for name in names]
