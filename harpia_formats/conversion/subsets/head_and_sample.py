"""Copy the first rows of a file, or rows that are chosen at random."""

import hashlib
from collections.abc import Iterable
from os import PathLike, fspath
from typing import Any, cast

from harpia_formats.conversion.output_files import check_output, name_of
from harpia_formats.conversion.subsets.cut_file import CutFile, Row
from harpia_formats.conversion.subsets.open_file import (
    cut_file,
    notes_on,
    one_source,
    reread_input,
)
from harpia_formats.conversion.subsets.subset_options import (
    Subset,
    SubsetError,
    SubsetOptions,
    WrittenPart,
)
from harpia_formats.files.framing.chunk import JSON_SPACE
from harpia_formats.files.io.outputs import FilesRead, OutputGroup
from harpia_formats.files.io.sink import (
    Sink,
    SinkError,
    StreamSink,
    standard_output,
    suffix_of,
)
from harpia_formats.files.io.urls import masked
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.describe import with_noun
from harpia_formats.model.problem import OptionError

_table_suffixes = {".parquet", ".arrow", ".feather"}


class RowOutput:
    """Writes rows to one output, each as it was."""

    def __init__(self, name: str, sink: Sink) -> None:
        """Take the name of the output as shown to the user."""
        self.name = name
        #: Rows that were written.
        self.rows = 0
        self._sink = sink
        self._is_line_open = False

    def row(self, file: CutFile, row: Row) -> None:
        """Write a row of `file`; raises `SinkError`."""
        write = self._sink.write
        if not self.rows:
            write(file.before)
        elif not file.is_terminated:
            write(row.gap or file.separator)
        elif self._is_line_open:
            write(b"\n")
        write(row.text)
        self.rows += 1
        line_ends = (b"\n", b"\r") if file.is_table else (b"\n",)
        self._is_line_open = file.is_terminated and not row.text.endswith(line_ends)

    def end(self, file: CutFile, after: bytes | None = None) -> None:
        """Write what follows the rows of `file`, or `after` instead."""
        after = file.after if after is None else after
        if self.rows:
            self._sink.write(after)
        elif after:
            before = file.before.rstrip(JSON_SPACE)
            self._sink.write(before + after.lstrip(JSON_SPACE))
        else:
            self._sink.write(file.before)

    def finish(self) -> None:
        """Write all bytes to the disk, and free the memory of a compressor."""
        self._sink.finish()


class RowOutputs:
    """The outputs of a run: all of them appear, or none."""

    def __init__(
        self, inputs: Iterable[Any], others: Iterable[Any] = (), *, overwrite: bool
    ) -> None:
        """Take the inputs and other files that are read: none of them is written."""
        self._overwrite = overwrite
        reads = FilesRead(inputs, others, unpackers=all_unpackers())
        self.group = OutputGroup(overwrite=overwrite, reads=reads)

    def claim(self, place: str) -> None:
        """Take a path or URL for an output; raises `SinkError` if it cannot be."""
        if suffix_of(masked(place)) in _table_suffixes:
            reason = "rows are written as text; `convert --to parquet` makes tables"
            raise SinkError(masked(place), reason)
        self.group.claim(place)
        check_output(place, overwrite=self._overwrite)

    def open(self, place: Any) -> RowOutput:
        """Open an output: a place that was claimed, an open file, or None or `-`.

        The last two are standard output. Raises `SinkError`.
        """
        if isinstance(place, (str, PathLike)) and fspath(place) != "-":
            return RowOutput(masked(fspath(place)), self.group.open(fspath(place)))
        is_standard = place is None or isinstance(place, (str, PathLike))
        stream = standard_output() if is_standard else place
        name = "standard output" if is_standard else name_of(place)
        sink = StreamSink(cast("Any", stream), name)
        self.group.add_stream(sink)
        return RowOutput(name, sink)

    def commit(self) -> None:
        """Make all outputs appear; raises `SinkError`."""
        self.group.commit()

    def discard(self) -> None:
        """Remove what was written and has not appeared."""
        self.group.discard()


def _check_count(name: str, count: Any) -> None:
    """Raise `OptionError` unless `count`, an argument called `name`, counts rows."""
    if type(count) is not int or count < 1:
        raise OptionError(f"{name} must be a whole number of 1 or more, not {count!r}")


def copy_head(given: Any, output: Any, most: int, options: SubsetOptions) -> Subset:
    """Copy the first `most` rows of an input to an output.

    Nothing behind them is read, unless a document stands around the rows. Raises
    `OptionError`, `SubsetError`, `SourceError` and `SinkError`.
    """
    _check_count("rows", most)
    outputs = RowOutputs([given], overwrite=options.overwrite)
    if isinstance(output, (str, PathLike)) and fspath(output) != "-":
        outputs.claim(fspath(output))
    try:
        with cut_file(one_source(given), options, is_brief=True) as file:
            target = outputs.open(output)
            is_cut = False
            for row in file.rows():
                is_cut = row.number > most
                if not is_cut:
                    target.row(file, row)
                elif not file.is_wrapped:
                    break
            ends_early = is_cut and not file.is_wrapped
            target.end(file, file.end_of_some() if ends_early else None)
            notes = notes_on(file, is_partial=is_cut)
        outputs.commit()
    except BaseException:  # an interrupt, too, leaves no temporary file
        outputs.discard()
        raise
    part = WrittenPart("", target.name, target.rows)
    # The row by which it is known that there are more is none of those that count.
    rows = target.rows if ends_early else file.count
    return Subset(rows, (part,), notes=(*notes, *outputs.group.notes))


#: Bytes of a random number; a remainder of it is biased by less than 2^-64.
_WIDTH = 16


def seed_key(seed: int | str) -> bytes:
    """Return the key of hashes that a seed stands for."""
    # An argument of bytes that are no UTF-8 has surrogates in their place.
    text = str(seed).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=32).digest()


def keyed_hash(key: bytes, data: bytes) -> int:
    """Return a number from 0 to 2^64 - 1 that is random for who has not got the key."""
    digest = hashlib.blake2b(data, digest_size=8, key=key).digest()
    return int.from_bytes(digest, "big")


def sampled_numbers(rows: int, size: int, seed: int | str) -> frozenset[int]:
    """Return `size` different numbers from 1 to `rows`, each set equally likely.

    They are all numbers if there are not so many.
    """
    if size >= rows:
        return frozenset(range(1, rows + 1))
    key, chosen = seed_key(seed), set[int]()
    # Floyd's algorithm: it needs one random number for each that is chosen.
    for last in range(rows - size + 1, rows + 1):
        drawn = 1 + _random(key, last) % last
        chosen.add(last if drawn in chosen else drawn)
    return frozenset(chosen)


def _random(key: bytes, number: int) -> int:
    data = number.to_bytes(8, "big")
    digest = hashlib.blake2b(data, digest_size=_WIDTH, key=key).digest()
    return int.from_bytes(digest, "big")


def copy_sample(
    given: Any, output: Any, size: int, seed: int | str, options: SubsetOptions
) -> Subset:
    """Copy `size` rows of an input, chosen at random, to an output, in their order.

    All rows are copied if there are not so many; then the result is not `ok`. Raises
    `OptionError`, `SubsetError`, `SourceError` and `SinkError`.
    """
    _check_count("size", size)
    outputs = RowOutputs([given], overwrite=options.overwrite)
    if isinstance(output, (str, PathLike)) and fspath(output) != "-":
        outputs.claim(fspath(output))
    with reread_input(given) as input_:
        try:
            with cut_file(input_.source(), options) as file:
                rows = sum(1 for _ in file.rows())
            chosen = sampled_numbers(rows, size, seed)
            with cut_file(input_.source(), options) as file:
                target = outputs.open(output)
                for row in file.rows():
                    if row.number in chosen:
                        target.row(file, row)
                target.end(file)
                notes = notes_on(file, is_partial=size < rows)
            check_same_rows(file.name, rows, file.count)
            outputs.commit()
        except BaseException:  # an interrupt, too, leaves no temporary file
            outputs.discard()
            raise
    part = WrittenPart("", target.name, target.rows)
    return Subset(rows, (part,), size <= rows, (*notes, *outputs.group.notes))


def check_same_rows(name: str, before: int, now: int) -> None:
    """Raise `SubsetError` if a file has not as many rows as when it was read before."""
    if before != now:
        raise SubsetError(
            f"{name} has changed while it was read: it had {with_noun(before, 'row')} "
            f"and has {now:,}; nothing was written"
        )
