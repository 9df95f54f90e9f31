"""The result of detecting the format of a file."""

from dataclasses import dataclass
from typing import Any

SCHEMA = "harpia-formats/detection/1"


@dataclass(frozen=True, slots=True)
class Detected:
    """The format of a file, as far as its beginning tells, and how sure that is."""

    path: str
    #: The id of the format, None if no known one was recognized.
    format: str | None = None
    #: Its dialect, empty for the one that is documented first.
    dialect: str = ""
    #: How the values of the file are put together, in words.
    container: str = ""
    #: Records that match the format, as a share of those compared, from 0 to 1; 0.6 of
    #: it if they may be in another format just as well.
    confidence: float = 0.0
    #: What the format was recognized by, or why none was.
    why: str = ""
    #: Records that were compared; a document is one.
    records: int = 0
    #: Names of other formats that records match which do not match this one, with the
    #: number of those records.
    others: tuple[tuple[str, int], ...] = ()
    #: Another format that all of the records match as well; empty if there is none.
    rival: str = ""
    #: Of an unknown format: the keys that the file lacks for the nearest formats.
    nearest: str = ""
    #: Why the file, or its beginning, could not be read.
    reason: str | None = None
    #: Records that match the format.
    matching: int = 0
    #: Of an unknown format: the id of one that the file may be in if it is named.
    possible: str = ""
    #: Why it is not known what its answers are, for preflight files; "" if it is known.
    contested: str = ""
    #: What it is, such as "a Parquet file", if it was passed over in a folder.
    skipped: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `detect --output-format json` writes it."""
        return detected_as_dict(self)

    @property
    def name(self) -> str:
        """The format with its dialect, such as `nemo-output (flat)`."""
        name = self.format or "unknown"
        return f"{name} ({self.dialect})" if self.dialect else name

    @property
    def strangers(self) -> int:
        """Records that match no known format, in a file whose format is known."""
        known = self.matching + sum(count for _, count in self.others)
        return self.records - known if self.format else 0


def _reason(detected: Detected) -> str | None:
    """Return why a file was not read, with a word for one that was passed over."""
    reason = detected.reason
    return f"skipped: it {reason}" if detected.skipped else reason


def detected_as_dict(detected: Detected) -> dict[str, Any]:
    """Return the result with the keys of the schema `detection-1`."""
    return {
        "path": detected.path,
        "format": detected.format,
        "dialect": detected.dialect,
        "container": detected.container,
        "confidence": detected.confidence,
        "why": detected.why,
        "records": detected.records,
        "others": [{"name": name, "records": count} for name, count in detected.others],
        "rival": detected.rival,
        "nearest": detected.nearest,
        "reason": _reason(detected),
    }
