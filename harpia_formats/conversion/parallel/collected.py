"""Collect what a worker made of some records, to be sent to another process."""

from array import array
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from harpia_formats.conversion.containers.csv_lines import TableEncoder
from harpia_formats.conversion.containers.row_writer import EncodedRows, RowEncoder
from harpia_formats.conversion.parallel.job import PartFates
from harpia_formats.model.field_fates import FieldFate
from harpia_formats.model.problem import Place
from harpia_formats.validation.dedup.digests import digests_of


class FateLog:
    """Paths and fates of records, in the order of the first record with each pair.

    It is filled as `FateCounts` is.
    """

    def __init__(self) -> None:
        self._found: dict[
            tuple[tuple[str, ...], tuple[FieldFate, ...]], tuple[Place | None, int]
        ] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(
        self,
        paths: tuple[str, ...],
        fates: tuple[FieldFate, ...],
        place: Callable[[], Place | None],
        times: int = 1,
    ) -> None:
        """Note `times` records that had fields at `paths`, and their `fates`.

        `place` returns where the first of them is; it is called only if needed.
        """
        key = paths, fates
        known = self._found.get(key)
        if known is None:
            # Only the places of fates are shown.
            self._found[key] = (place() if fates else None), times
        else:
            self._found[key] = known[0], known[1] + times

    @property
    def counts(self) -> list[FieldFate]:
        """All fates that were noted."""
        return [fate for _, fates in self._found for fate in fates]

    def entries(self) -> list[PartFates]:
        """Return each pair of paths and fates, with the first place and the number."""
        return [(*key, *value) for key, value in self._found.items()]

    def merge(self, other: "FateLog") -> None:
        """Add what became of the fields of later records."""
        for paths, fates, place, times in other.entries():
            self.add(paths, fates, lambda found=place: found, times)  # type: ignore[misc]  # called at once


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
