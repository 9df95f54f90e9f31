"""What a file was found to be, and how sure that is."""

from dataclasses import dataclass
from typing import Any

SCHEMA = "harpia-formats/detection/1"


@dataclass(frozen=True, slots=True)
class Detected:
    """What the beginning of a file says of its format."""

    path: str
    #: The id of the format; none if no known one was recognised.
    format: str | None = None
    #: The dialect of it, empty for the one that is documented first.
    dialect: str = ""
    #: How the file is put together, in words.
    container: str = ""
    #: Records that look like the format, of all that were looked at, from 0 to 1.
    confidence: float = 0.0
    #: What the format was told by, or why none was.
    why: str = ""
    #: Records that were looked at; a document is one.
    records: int = 0
    #: What the records look like that do not look like the format, and how many.
    others: tuple[tuple[str, int], ...] = ()
    #: Another format that all of the records look like as well, empty if there is none.
    rival: str = ""
    #: Of an unknown format: what the file lacks for the nearest ones.
    nearest: str = ""
    #: Why the file, or the beginning of it, could not be read.
    reason: str | None = None

    @property
    def name(self) -> str:
        """The format with its dialect, such as `nemo-output (flat)`."""
        name = self.format or "unknown"
        return f"{name} ({self.dialect})" if self.dialect else name

    @property
    def strangers(self) -> int:
        """Records that look like no known format, though the file is in one."""
        alike = round(self.confidence * self.records)
        known = alike + sum(count for _, count in self.others)
        return self.records - known if self.format else 0


def detected_as_dict(detected: Detected) -> dict[str, Any]:
    """Return what was found by the contract of detection."""
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
        "reason": detected.reason,
    }
