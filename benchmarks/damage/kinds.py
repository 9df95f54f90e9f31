"""The kinds of files that are damaged: how one is made, and what is done with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from damage import archives, tables, texts
from damage.damages import ANY, Change

#: The commands that are run by turns; `{path}` is the damaged file, `{output}` a file
#: that does not exist.
COMMANDS = (
    ("validate", "{path}"),
    ("convert", "{path}", "--to", "record", "--output", "{output}"),
    ("stats", "{path}"),
    ("detect", "{path}"),
    ("head", "{path}"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file."""

    #: As the table calls it.
    name: str
    #: The name that its files have.
    file: str
    #: Returns the bytes of a file that is not damaged, and valid.
    make: Callable[[Random], bytes]
    damages: Mapping[str, Change] = field(default_factory=lambda: ANY)
    commands: tuple[tuple[str, ...], ...] = COMMANDS


KINDS = (
    Kind("Arrow file", "rows.arrow", tables.arrow_file),
    Kind("Arrow stream", "rows.arrow", tables.arrow_stream),
    Kind("Feather", "rows.feather", tables.feather_file),
    Kind("Parquet", "rows.parquet", tables.parquet_file),
    Kind(
        "Inspect archive",
        "log.eval",
        archives.eval_archive,
        ANY | archives.OF_ARCHIVES,
    ),
    Kind("JSON Lines", "rows.jsonl", texts.json_lines),
    Kind("JSON array", "rows.json", texts.json_array),
    Kind("CSV", "rows.csv", texts.csv_table),
    Kind("gzip", "rows.jsonl.gz", texts.gzipped_lines),
    Kind("bzip2", "rows.jsonl.bz2", texts.bzipped_lines),
    Kind("xz", "rows.jsonl.xz", texts.xz_lines),
)
