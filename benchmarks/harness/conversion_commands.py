"""The commands that convert one file: ours, and the script by hand."""

import sys
from dataclasses import dataclass
from pathlib import Path

from data.source_files import source_file, suffix_of

from harness.candidates import script
from harness.pair_scripts import script_of, set_fields


@dataclass(frozen=True, slots=True)
class PairFiles:
    """A file of a source format, and what it is converted into in `folder`."""

    source: str
    target: str
    text: str
    count: int
    folder: Path

    @property
    def pair(self) -> str:
        """The names of both formats."""
        return f"{self.source} to {self.target}"

    @property
    def input(self) -> Path:
        """The file that is read, which is generated if it is not there."""
        return source_file(self.source, self.text, self.count, self.folder)

    @property
    def ours_output(self) -> Path:
        """The file that our command writes."""
        return self.folder / f"ours{suffix_of(self.target)}"

    @property
    def other_output(self) -> Path:
        """The file that our command writes in one process."""
        return self.folder / f"ours-alone{suffix_of(self.target)}"

    @property
    def script_output(self) -> Path:
        """The file that the script writes."""
        return self.folder / f"by-hand{suffix_of(self.target)}"

    def ours(self) -> tuple[str, ...]:
        """Return our command with the default number of processes."""
        return self._ours(self.ours_output)

    def ours_alone(self) -> tuple[str, ...]:
        """Return our command in one process."""
        return self._ours(self.other_output, "--jobs", "1")

    def _ours(self, output: Path, *options: str) -> tuple[str, ...]:
        return (
            *(script("harpia-formats"), "convert", str(self.input)),
            *("--to", self.target, "--overwrite", "--output", str(output)),
            *self.settings,
            *options,
        )

    def delete_outputs(self) -> None:
        """Delete what all commands wrote."""
        for path in (self.ours_output, self.other_output, self.script_output):
            path.unlink(missing_ok=True)

    @property
    def settings(self) -> tuple[str, ...]:
        """The options for fields that the target needs and the source lacks."""
        fields = set_fields(self.source, self.target)
        return tuple(
            word
            for name, value in fields.items()
            for word in ("--set", f"{name}={value}")
        )

    def by_hand(self) -> tuple[str, ...]:
        """Return the command of the script, which is written first."""
        program = self.folder / f"{self.source}-to-{self.target}.py"
        program.write_text(script_of(self.source, self.target), encoding="utf-8")
        return sys.executable, str(program), str(self.input), str(self.script_output)
