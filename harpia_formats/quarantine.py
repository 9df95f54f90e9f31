"""Put rows aside that are not valid, byte for byte, beside what is wrong with them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from harpia_formats.needs import ConversionError
from harpia_formats.outputs import MODEL
from harpia_formats.problem import Problem
from harpia_formats.report import problem_as_dict
from harpia_formats.sink import FileSink, SinkError


@dataclass(slots=True)
class Quarantine:
    """The two files that rows and findings go to, which are there if there are any."""

    _names: tuple[str, str]
    _sinks: dict[str, FileSink] = field(default_factory=dict)

    @classmethod
    def beside(
        cls, given: Any, output: Any, *, overwrite: bool = False
    ) -> "Quarantine":
        """Return one at `given`, or beside `output`; nothing is written yet.

        Raises `ConversionError` where there is no place for it, and `SinkError`.
        """
        rows = _beside(output) if given is None else Path(given)
        findings = rows.with_name(f"{rows.name.removesuffix('.jsonl')}.findings.jsonl")
        for each in (rows, findings):
            if isinstance(output, (str, PathLike)) and each == Path(output):
                raise ConversionError(f"{each} cannot be output and quarantine at once")
            if each.exists() and not overwrite:
                raise SinkError(str(each), "is there already; --overwrite replaces it")
        return cls((str(rows), str(findings)))

    def check_apart(self, inputs: Iterable[Any]) -> None:
        """Raise `ConversionError` if an input would be written over."""
        paths = [each for each in inputs if isinstance(each, (str, PathLike))]
        for name in self._names:
            if any(Path(name).resolve() == Path(each).resolve() for each in paths):
                raise ConversionError(f"{name} cannot be input and quarantine at once")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files, none if nothing was put aside."""
        return self._names if self._sinks else ()

    def row(self, text: bytes) -> None:
        """Put a row aside; raises `SinkError`."""
        self._sink(self._names[0]).write(text + b"\n")

    def finding(self, problem: Problem) -> None:
        """Put what is wrong beside it; raises `SinkError`."""
        from harpia_formats.reporters.json_text import json_text  # noqa: PLC0415 - only where something is wrong

        line = json_text(problem_as_dict(problem)) + "\n"
        self._sink(self._names[1]).write(line.encode())

    def _sink(self, name: str) -> FileSink:
        found = self._sinks.get(name)
        if found is None:
            found = self._sinks[name] = FileSink(Path(name))
        return found

    def commit(self) -> None:
        """Let what was put aside be there."""
        for name in self.names:
            self._sink(name).commit()

    def discard(self) -> None:
        """Let neither file be there."""
        for each in self._sinks.values():
            each.discard()


def _beside(output: Any) -> Path:
    """Return where rows go beside `output`; raises `ConversionError`."""
    if not isinstance(output, (str, PathLike)) or fspath(output) == "-":
        where = "standard output"
    elif MODEL in str(Path(output).parent):
        where = "files in several folders"
    else:
        path = Path(output)
        name = path.name.split(".")[0].replace(MODEL, "all")
        return path.with_name(f"{name}.invalid.jsonl")
    reason = f"rows cannot be put beside {where}; name a file with --quarantine"
    raise ConversionError(reason)
