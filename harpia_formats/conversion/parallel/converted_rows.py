"""Collect the rows that a worker has converted, and pass them on in files."""

import os
import shutil
from array import array
from collections.abc import Callable, Collection, Container, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, NamedTuple, Self

from harpia_formats.conversion.containers.csv_writers import TableEncoder
from harpia_formats.conversion.containers.row_writer import EncodedRows, RowEncoder
from harpia_formats.model.field_outcomes import FieldOutcome
from harpia_formats.model.problem import Place
from harpia_formats.model.record import Header
from harpia_formats.validation.dedup.digests import digests_of

#: The folder of files in memory on Linux.
MEMORY_FOLDER = "/dev/shm"  # noqa: S108 - a folder with a name of its own is made in it
#: How many times as long as a unit its rows may be, and how long in any case (bytes).
#: The main process converts a unit itself whose rows are longer, since it need not keep
#: them.
MAX_GROWTH, ALLOWED = 4, 32 * 1024 * 1024
#: Bytes of lines that are joined.
MAX_JOINED = 1024 * 1024


def memory_folder(needed: int) -> str | None:
    """Return a folder in memory with so many bytes, None if there is none."""
    try:
        free = shutil.disk_usage(MEMORY_FOLDER).free
    except OSError:
        return None
    has_access = os.access(MEMORY_FOLDER, os.W_OK)
    return MEMORY_FOLDER if free > needed and has_access else None


def rows_limit(size: int) -> int:
    """Return how many bytes the rows of a unit of `size` bytes may have."""
    return max(MAX_GROWTH * size, ALLOWED)


def unit_file(folder: str, slot: int) -> Path | None:
    """Return the file for the rows of a unit, None if there is no folder."""
    return Path(folder, f"rows-{slot}") if folder else None


def claim_file(folder: str) -> Path | None:
    """Return a file for one worker alone, None if there is no folder.

    On a cluster two workers may convert the same unit, and one may still do so when
    the result is no longer needed. So a worker takes a file that was released, and
    gives it a new random name.
    """
    if not folder:
        return None
    own = Path(folder, f"rows-{os.urandom(8).hex()}")
    for path in Path(folder).glob("free-*"):
        try:
            return path.rename(own)
        except OSError:  # another worker was faster
            continue
    return own


def release_file(file: Path) -> None:
    """Let another worker use a file that `claim_file` returned."""
    file.rename(file.with_name(f"free-{file.name}"))


@dataclass(frozen=True, slots=True)
class StoredRows:
    """Encoded rows whose texts are in a file, one behind the other."""

    count: int
    #: The size of each text in bytes.
    sizes: tuple[int, ...]
    columns: tuple[str, ...]
    component: str | None
    #: The model whose file they go to, "" if there is one file.
    model: str

    def joined(self, other: "StoredRows") -> "StoredRows | None":
        """Return these rows and the `other` ones behind them, None if that cannot be.

        The main process reads and writes joined rows at once. They are lines of JSON or
        of a table, with no more than `MAX_JOINED` bytes.
        """
        size = sum(self.sizes) + sum(other.sizes)
        # Rows written as columns have a text for each of these.
        is_line = len(self.sizes) == 1 != len(self.columns)
        given = replace(other, count=self.count, sizes=self.sizes)
        if not is_line or size > MAX_JOINED or given != self:
            return None
        return replace(self, count=self.count + other.count, sizes=(size,))

    def read(self, file: IO[bytes]) -> EncodedRows:
        """Return the rows with their texts, which are next in `file`.

        Raises `OSError` if the file cannot be read.
        """
        texts = tuple(map(file.read, self.sizes))
        return EncodedRows(self.count, texts, self.columns, self.component)


@dataclass(slots=True)
class RowFile:
    """The file for the rows of one unit, for `with`; without a path they are held.

    A file is used again and again: memory that it has already costs nothing.
    """

    path: Path | None
    #: The bytes that rows may have.
    limit: int
    size: int = 0
    #: The texts of the rows, if there is no file.
    held: list[bytes] = field(default_factory=list)
    _file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, rows: EncodedRows, model: str) -> StoredRows | None:
        """Write some rows for the file of a model.

        Returns None if there are too many to be kept.
        """
        for text in rows.texts:
            if self.path is None:
                self.held.append(text)
            elif text:
                self._write(text, self.path)
            self.size += len(text)
        if self.size > self.limit:
            return None
        sizes = tuple(map(len, rows.texts))
        return StoredRows(rows.count, sizes, rows.columns, rows.component, model)

    def take_held(self) -> bytes:
        """Return the texts that are held, and hold them no longer."""
        rows = b"".join(self.held)
        self.held.clear()
        return rows

    def _write(self, text: bytes, path: Path) -> None:
        if self._file is None:
            flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)
            self._file = os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0)
        left = memoryview(text)
        while left:
            left = left[self._file.write(left) :]


#: The paths and outcomes of records that have the same ones, the place of the first
#: such record, and their number. Its line counts from the beginning of the unit where
#: that is not known, and its record from the beginning of the part.
PartOutcomes = tuple[tuple[str, ...], tuple[FieldOutcome, ...], Place | None, int]


class UnitPlace(NamedTuple):
    """Where the rows of a unit belong."""

    #: Records before it, if that is needed.
    before: int
    #: The number of the file for its rows.
    slot: int
    #: Records in the units before it that were handed out.
    handed: int = 0
    #: Whether its bytes are decoded rows from `encoded_rows`.
    is_decoded: bool = False


@dataclass(slots=True)
class ConvertedRows:
    """The rows that a part of a unit became, and what became of the fields."""

    #: Records before the part, as far as the worker could know.
    before: int
    #: Records and lines that were read.
    records: int = 0
    lines: int = 0
    outcomes: list[PartOutcomes] = field(default_factory=list)
    #: The digests of the ids of the rows.
    digests: "array[int]" = field(default_factory=lambda: array("Q"))
    #: The headers that were in rows.
    headers: list[Header] = field(default_factory=list)
    #: The models of the answers, if one of them is wanted, and whether that is there.
    models: list[str] = field(default_factory=list)
    has_model: bool = False
    #: The metrics of the scores, as the models.
    metrics: list[str] = field(default_factory=list)
    has_metric: bool = False
    #: The rows that were written, as they follow each other in their file.
    blocks: list[StoredRows] = field(default_factory=list)
    #: Where they begin in it.
    at: int = 0
    #: What would be in the file, if there is none.
    data: bytes = b""
    #: The file of the rows, if it is not the usual one of the unit.
    file: str = ""


@dataclass(slots=True)
class Part:
    """Rows of a unit that follow each other: the first byte, and that behind them."""

    begin: int
    end: int
    #: None if the main process has to convert them itself, since something was found.
    converted: ConvertedRows | None


class OutcomeLog:
    """Paths and outcomes of records, in the order of the first record with each pair.

    It is filled as `OutcomeCounts` is.
    """

    def __init__(self, earlier: "OutcomeLog | None" = None) -> None:
        """Take what earlier records had, of which no place is asked for again."""
        self._found: dict[
            tuple[tuple[str, ...], tuple[FieldOutcome, ...]], tuple[Place | None, int]
        ] = {}
        # To find the first place in each block again takes a large part of the time of
        # tables (`benchmarks/convert.py --pairs csv:*`).
        self._earlier: Container[object] = () if earlier is None else earlier

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, key: object) -> bool:
        return key in self._found

    def add(
        self,
        paths: tuple[str, ...],
        outcomes: tuple[FieldOutcome, ...],
        place: Callable[[], Place | None],
        times: int = 1,
    ) -> None:
        """Note `times` records that had fields at `paths`, and their `outcomes`.

        `place` returns where the first of them is; it is called only if needed.
        """
        key = paths, outcomes
        known = self._found.get(key)
        if known is None:
            # Only the first places of outcomes are shown.
            is_shown = outcomes and key not in self._earlier
            self._found[key] = (place() if is_shown else None), times
        else:
            self._found[key] = known[0], known[1] + times

    @property
    def counts(self) -> list[FieldOutcome]:
        """All outcomes that were noted."""
        return [outcome for _, outcomes in self._found for outcome in outcomes]

    def entries(self) -> list[PartOutcomes]:
        """Return each pair of paths and outcomes, with its first place and number."""
        return [(*key, *value) for key, value in self._found.items()]

    def merge(self, other: "OutcomeLog") -> None:
        """Add what became of the fields of later records."""
        for paths, outcomes, place, times in other.entries():
            self.add(paths, outcomes, lambda found=place: found, times)  # type: ignore[misc]  # called at once


@dataclass(slots=True)
class RowBlocks:
    """Takes encoded rows, and the keys of their ids, until they are asked for."""

    #: Encodes the rows.
    encode: RowEncoder
    #: Whether each model has a file of its own.
    is_split: bool = False
    blocks: list[EncodedRows] = field(default_factory=list)
    #: The key of the file of each block.
    models: list[str] = field(default_factory=list)
    digests: "array[int]" = field(default_factory=lambda: array("Q"))

    def encoder(self, model: str = "") -> RowEncoder:  # noqa: ARG002 - all files are encoded alike
        """Return what encodes rows."""
        return self.encode

    def write(self, blocks: Iterable[EncodedRows], model: str = "") -> None:
        """Take encoded rows of the file of a model."""
        self.blocks += blocks
        self.models += [model] * (len(self.blocks) - len(self.models))

    def keep_columns(self) -> None:
        """Give later rows of a table the columns of those that are held.

        The process that writes the table need not add them then. Only columns with a
        place of their own: others have the order of the rows of the whole table.
        """
        encoder = self.encode
        if isinstance(encoder, TableEncoder):
            columns = {column for block in self.blocks for column in block.columns}
            self.encode = encoder.with_known(columns & {*encoder.order})

    def add_keys(self, keys: Collection[str]) -> None:
        """Take the ids of rows."""
        self.digests.extend(digests_of(keys))

    def clear(self) -> None:
        """Forget everything."""
        self.blocks.clear()
        self.models.clear()
        del self.digests[:]
