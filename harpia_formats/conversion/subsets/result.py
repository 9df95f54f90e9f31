"""What a run that copied rows wrote."""

from dataclasses import dataclass
from typing import Any, ClassVar

from harpia_formats.model.result import Result


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """One output of a run."""

    #: The name of the part: a value, `valid` or `train`; empty if there is one output.
    value: str
    path: str
    rows: int


@dataclass(frozen=True, slots=True, repr=False)
class Subset(Result):
    """Which rows of the inputs were copied to which outputs."""

    columns: ClassVar = ("value", "path", "rows", "share")

    #: Rows of the inputs, as far as they were read.
    rows: int
    parts: tuple[WrittenPart, ...]
    #: Whether there were as many rows as were asked for.
    ok: bool = True
    #: What the user should know of the outputs.
    notes: tuple[str, ...] = ()

    @property
    def written(self) -> int:
        """How many rows were written."""
        return sum(part.rows for part in self.parts)

    def headline(self) -> str:
        """Return the counts in one line."""
        files = "1 file" if len(self.parts) == 1 else f"{len(self.parts):,} files"
        return f"{self.written:,} of {self.rows:,} rows in {files}"

    def table(self) -> list[dict[str, Any]]:
        """Return a row for each output, with its share of the rows that were read."""
        return [
            {
                "value": part.value,
                "path": part.path,
                "rows": part.rows,
                "share": part.rows / self.rows if self.rows else 0.0,
            }
            for part in self.parts
        ]
