"""The options of a run that infers a schema."""

from collections.abc import Callable
from dataclasses import dataclass

from harpia_formats.files.framing.limits import ROW_LIMIT
from harpia_formats.files.io.exclude import check_patterns
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.parsing.csv_delimiter import check_delimiter
from harpia_formats.validation.inference.seen import TEXT_LIMIT

#: Texts of an `enum` at most, if not given.
ENUM_LIMIT = 10
#: Different keys that an object may have before it is taken as a map, if not given.
MAP_KEYS = 100


@dataclass(frozen=True, slots=True)
class InferOptions:
    """What a schema is inferred from, and what is written into it."""

    #: Different texts that are listed as an `enum`, at most; 0 lists none.
    enum_limit: int = ENUM_LIMIT
    #: Different keys from which on objects that share few of them are taken as maps.
    map_keys: int = MAP_KEYS
    #: Forbid keys that were not seen.
    closed: bool = False
    #: The character between the fields of a table, or its name, such as `tab`.
    delimiter: str | None = None
    #: Rows of each file that are read; all if None.
    limit: int | None = None
    #: Show no value of a record: in problems, and no texts are listed in the schema.
    redact: bool = False
    #: Patterns of paths below the given folders; files that match are left out.
    exclude: tuple[str, ...] = ()
    #: Bytes that a row may have.
    max_row_bytes: int = ROW_LIMIT
    #: Called after each part of a file with how far it was read.
    progress: Callable[[ReadProgress], None] | None = None

    def __post_init__(self) -> None:
        check_delimiter(self.delimiter)
        check_patterns(self.exclude)
        if self.redact:
            object.__setattr__(self, "enum_limit", 0)
        if not 0 <= self.enum_limit <= TEXT_LIMIT:
            raise ValueError(f"enum_limit must be from 0 to {TEXT_LIMIT}")
        for name, least in (("map_keys", 1), ("limit", 1), ("max_row_bytes", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} must be at least {least}, not {value}")
