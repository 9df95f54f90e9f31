"""Problems: everything that is reported about data; and the base of all exceptions."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class HarpiaFormatsError(Exception):
    """Something that the user can mend; its text is the whole message."""

    #: Whether its text certainly holds no value of a record: it is about options, files
    #: and what is installed.
    hides_values = False

    def without_values(self) -> "HarpiaFormatsError | None":
        """Return the error with a text without values of records, None if unknown."""
        return self if self.hides_values else None


#: How the reason begins why a file that is not there cannot be read.
MISSING = "does not exist"


class OptionError(HarpiaFormatsError, TypeError, ValueError):
    """An option of a Python function that does not exist, or has a wrong value."""

    hides_values = True


class ConversionError(HarpiaFormatsError):
    """A conversion that is not possible; the message says why. Nothing is written."""


class ConversionOptionsError(ConversionError):
    """A conversion that is not possible between such formats, or with such options.

    Its message names files, formats, fields and options, and no value of a record.
    """

    hides_values = True


class TomlError(HarpiaFormatsError):
    """A TOML file that cannot be used: its path, the place in it, and the reason."""

    hides_values = True

    def __init__(self, path: str, place: str, reason: str) -> None:
        super().__init__(path, place, reason)
        self.path = path
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.path, self.place, self.reason)))


class TomlLineError(TomlError):
    """A TOML file that cannot be used, with the line of the place, 0 for none."""

    def __init__(self, path: str, line: int, place: str, reason: str) -> None:
        super().__init__(path, place, reason)
        self.args = (path, line, place, reason)
        self.line = line

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return ": ".join(filter(None, (where, self.place, self.reason)))


class EngineError(HarpiaFormatsError):
    """An engine cannot be used: its name, and the reason."""

    hides_values = True

    def __init__(self, engine: str, reason: str) -> None:
        super().__init__(engine, reason)
        self.engine = engine
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.engine}: {self.reason}"


#: A path inside a record: member names and array indices.
Path = tuple[str | int, ...]


class Severity(StrEnum):
    """How bad a problem is; only an error makes a record invalid."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a problem is, in the original (decompressed) bytes."""

    path: str
    #: Physical line, from 1.
    line: int
    #: Code points from the start of the line, from 1.
    column: int
    #: First column behind the marked text, on the same line.
    end_column: int
    #: Bytes from the start of the file, from 0.
    byte_offset: int
    #: Number of the record in its file, from 1; none for the file as a whole.
    record: int | None = None
    #: The id of the record.
    record_id: str | int | None = None
    #: JSON pointer inside the record.
    pointer: str = ""
    #: The key that holds the record's id.
    record_id_key: str = ""
    #: The member of the archive or folder at `path` that it is in; "" if `path` is the
    #: file itself. Line, column and offset are those in the member.
    member: str = ""

    @classmethod
    def at_start(cls, path: str) -> "Place":
        """Return the place of the first character of a file."""
        return cls(path, 1, 1, 2, 0)

    @property
    def full_path(self) -> str:
        """The path with the member, such as `log.eval!samples/3_epoch_1.json`."""
        return f"{self.path}!{self.member}" if self.member else self.path


@dataclass(frozen=True, slots=True)
class Because:
    """A value at another place, mostly of the record, that made a rule apply."""

    pointer: str
    #: The value as short JSON text.
    value: str
    line: int
    column: int
    #: The file that it is in, "" if it is the file of the problem.
    path: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """A mechanical repair: what to do with the value at a pointer."""

    #: "rename-key", "remove" or "replace".
    kind: str
    pointer: str
    #: The new key or value.
    value: Any = None


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of one line around a problem, for a code frame."""

    text: str
    #: Index in `text` of the first marked character.
    start: int
    #: Index in `text` behind the last marked character.
    end: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding: what is wrong, where, because of what, and how to mend it."""

    code: str
    name: str
    severity: Severity
    place: Place
    message: str
    because: tuple[Because, ...] = ()
    help: str = ""
    #: JSON pointer into the schema, empty if the problem is not from a schema.
    schema_pointer: str = ""
    fix: Fix | None = None
    excerpt: Excerpt | None = None
    #: The key that is missing at the place, if a key is missing.
    key: str = ""
    #: What the problems of one group share apart from code and pointer: the keywords of
    #: the schema that failed with the missing keys, or the mistake in a text.
    cause: str = ""
    #: Whether its texts and its pointer certainly hold no value of a record.
    hides_values: bool = False


def pointer_of(path: Path, *, wildcard: bool = False) -> str:
    """Return the JSON pointer of `path`, array indices as `*` if `wildcard`.

    Source: RFC 6901.
    """
    pointer = ""
    for part in path:
        if isinstance(part, int):
            pointer += "/*" if wildcard else f"/{part}"
        elif "~" in part or "/" in part:
            pointer += "/" + part.replace("~", "~0").replace("/", "~1")
        else:
            pointer += f"/{part}"
    return pointer


class PlanError(TomlLineError):
    """A plan that cannot be used: its line, the key there, and the reason."""
