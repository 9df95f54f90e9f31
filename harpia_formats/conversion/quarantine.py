"""Put invalid rows aside, byte for byte, with a second file of their findings."""

from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

from harpia_formats.conversion.output_files import (
    MODEL,
    check_names_file,
    check_output,
)
from harpia_formats.files.io.outputs import OutputGroup
from harpia_formats.files.io.sink import Sink
from harpia_formats.files.io.urls import file_name_of, is_same_place, masked, sibling_of
from harpia_formats.model.problem import ConversionError, Problem
from harpia_formats.model.report import problem_as_dict


@dataclass(slots=True)
class Quarantine:
    """The files of rows and of findings; neither exists unless a row was put aside."""

    _names: tuple[str, str]
    _group: OutputGroup
    _sinks: dict[str, Sink] = field(default_factory=dict)
    #: Rows that are longer than allowed, so that there are no bytes to write.
    _too_long: int = 0

    @classmethod
    def next_to(
        cls, given: Any, output: Any, group: OutputGroup, *, overwrite: bool = False
    ) -> "Quarantine":
        """Return a quarantine at the path `given`, or next to `output` if it is None.

        Its files are of `group`. Nothing is written yet. Raises `ConversionError` where
        `output` has no folder, and `SinkError` where a file already exists or is read.
        """
        rows = _path_next_to(output) if given is None else fspath(given)
        check_names_file(rows)
        stem = file_name_of(rows).removesuffix(".jsonl")
        findings = sibling_of(rows, f"{stem}.findings.jsonl")
        for path in (rows, findings):
            if isinstance(output, (str, PathLike)) and is_same_place(path, output):
                name = masked(path)
                raise ConversionError(f"{name} cannot be output and quarantine at once")
            check_output(path, overwrite=overwrite)
            group.claim(path)
        return cls((rows, findings), group)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of both files, none if no row was put aside."""
        return tuple(map(masked, self._names)) if self._sinks else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on rows that were too long to be put aside, if there were some."""
        if not self._too_long:
            return ()
        rows, were = f"{self._too_long:,} rows are", "were"
        if self._too_long == 1:
            rows, were = "1 row is", "was"
        return (
            f"{rows} longer than `--max-row-bytes` allows, and {were} not put aside",
        )

    def row(self, text: bytes | None) -> None:
        """Put a row aside, or count it if it is None: longer than allowed.

        Raises `SinkError`.
        """
        if text is None:
            self._too_long += 1
        else:
            self._sink(self._names[0]).write(text + b"\n")

    def finding(self, problem: Problem) -> None:
        """Write a problem of a row; raises `SinkError`."""
        self._sink(self._names[1]).write(finding_line(problem))

    def _sink(self, name: str) -> Sink:
        """Return the file called `name`, which is opened by its first use."""
        sink = self._sinks.get(name)
        if sink is None:
            sink = self._sinks[name] = self._group.open(name)
        return sink

    def complete(self) -> None:
        """Open both files if a row was put aside, so that none is missing."""
        for name in self._names if self._sinks else ():
            self._sink(name)

    def discard(self) -> None:
        """Remove both files."""
        for name in self._sinks:
            self._group.remove(name)
        self._sinks.clear()
        self._too_long = 0


def finding_line(problem: Problem) -> bytes:
    """Return a problem as a line of JSON."""
    from harpia_formats.model.safe_text import json_text  # noqa: PLC0415 - only data with problems needs it

    return (json_text(problem_as_dict(problem)) + "\n").encode()


def _path_next_to(output: Any) -> str:
    """Return the path for rows next to `output`; raises `ConversionError`."""
    if not isinstance(output, (str, PathLike)) or fspath(output) == "-":
        where = "standard output"
    elif MODEL in sibling_of(fspath(output), ""):
        where = "files in several folders"
    else:
        name = file_name_of(fspath(output)).split(".")[0].replace(MODEL, "all")
        return sibling_of(fspath(output), f"{name}.invalid.jsonl")
    reason = f"rows cannot be put next to {where}; name a file with `--quarantine`"
    raise ConversionError(reason)
