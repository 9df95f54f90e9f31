"""Put rows aside that are not valid, byte for byte, beside what is wrong with them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

from harpia_formats.conversion.output_files import MODEL, check_output
from harpia_formats.io.open_sink import open_sink
from harpia_formats.io.sink import Sink
from harpia_formats.io.urls import file_name_of, is_same_place, masked, sibling_of
from harpia_formats.mapping.requirements import ConversionError
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import problem_as_dict


@dataclass(slots=True)
class Quarantine:
    """The two files that rows and findings go to, which are there if there are any."""

    _names: tuple[str, str]
    _sinks: dict[str, Sink] = field(default_factory=dict)

    @classmethod
    def beside(
        cls, given: Any, output: Any, *, overwrite: bool = False
    ) -> "Quarantine":
        """Return one at `given`, or beside `output`; nothing is written yet.

        Raises `ConversionError` where there is no place for it, and `SinkError`.
        """
        rows = _beside(output) if given is None else fspath(given)
        stem = file_name_of(rows).removesuffix(".jsonl")
        findings = sibling_of(rows, f"{stem}.findings.jsonl")
        for each in (rows, findings):
            if isinstance(output, (str, PathLike)) and is_same_place(each, output):
                name = masked(each)
                raise ConversionError(f"{name} cannot be output and quarantine at once")
            check_output(each, overwrite=overwrite)
        return cls((rows, findings))

    def check_apart(self, inputs: Iterable[Any]) -> None:
        """Raise `ConversionError` if an input would be written over."""
        paths = [each for each in inputs if isinstance(each, (str, PathLike))]
        for name in self._names:
            if any(is_same_place(name, each) for each in paths):
                shown = masked(name)
                raise ConversionError(f"{shown} cannot be input and quarantine at once")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files, none if nothing was put aside."""
        return tuple(map(masked, self._names)) if self._sinks else ()

    def row(self, text: bytes) -> None:
        """Put a row aside; raises `SinkError`."""
        self._sink(self._names[0]).write(text + b"\n")

    def finding(self, problem: Problem) -> None:
        """Put what is wrong beside it; raises `SinkError`."""
        from harpia_formats.text.json_text import json_text  # noqa: PLC0415 - only where something is wrong

        line = json_text(problem_as_dict(problem)) + "\n"
        self._sink(self._names[1]).write(line.encode())

    def _sink(self, name: str) -> Sink:
        found = self._sinks.get(name)
        if found is None:
            found = self._sinks[name] = open_sink(name)
        return found

    def commit(self) -> None:
        """Let what was put aside be there."""
        for name in self._names if self._sinks else ():
            self._sink(name).commit()

    def discard(self) -> None:
        """Let neither file be there."""
        for each in self._sinks.values():
            each.discard()


def _beside(output: Any) -> str:
    """Return where rows go beside `output`; raises `ConversionError`."""
    if not isinstance(output, (str, PathLike)) or fspath(output) == "-":
        where = "standard output"
    elif MODEL in sibling_of(fspath(output), ""):
        where = "files in several folders"
    else:
        name = file_name_of(fspath(output)).split(".")[0].replace(MODEL, "all")
        return sibling_of(fspath(output), f"{name}.invalid.jsonl")
    reason = f"rows cannot be put beside {where}; name a file with --quarantine"
    raise ConversionError(reason)
