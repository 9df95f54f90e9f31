"""Put rows aside that are not valid, byte for byte, beside what is wrong with them."""

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from harpia_formats.needs import ConversionError
from harpia_formats.problem import Problem
from harpia_formats.report import problem_as_dict
from harpia_formats.sink import FileSink, SinkError


@dataclass(slots=True)
class Quarantine:
    """The two files that rows and findings go to."""

    names: tuple[str, str]
    _rows: FileSink
    _findings: FileSink

    @classmethod
    def beside(
        cls, given: Any, output: Any, *, overwrite: bool = False
    ) -> "Quarantine":
        """Return one at `given`, or beside `output`.

        Raises `ConversionError` where there is no place for it, and `SinkError`.
        """
        if given is None:
            if not isinstance(output, (str, PathLike)) or fspath(output) == "-":
                raise ConversionError(
                    "rows cannot be put beside standard output; name a file with "
                    "--quarantine"
                )
            path = Path(output)
            given = path.with_name(f"{path.name.split('.')[0]}.invalid.jsonl")
        rows = Path(given)
        findings = rows.with_name(f"{rows.name.removesuffix('.jsonl')}.findings.jsonl")
        for each in (rows, findings):
            if each.exists() and not overwrite:
                raise SinkError(str(each), "is there already; --overwrite replaces it")
        return cls((str(rows), str(findings)), FileSink(rows), FileSink(findings))

    def row(self, text: bytes) -> None:
        """Put a row aside."""
        self._rows.write(text + b"\n")

    def finding(self, problem: Problem) -> None:
        """Put what is wrong beside it."""
        from harpia_formats.reporters.json_text import json_text  # noqa: PLC0415 - only where something is wrong

        self._findings.write((json_text(problem_as_dict(problem)) + "\n").encode())

    def commit(self) -> None:
        """Let both files be there."""
        self._rows.commit()
        self._findings.commit()

    def discard(self) -> None:
        """Let neither be there."""
        self._rows.discard()
        self._findings.discard()
