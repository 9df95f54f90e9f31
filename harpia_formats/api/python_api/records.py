"""The records of a run as an iterator that becomes a data frame, too."""

from collections.abc import Generator, Iterator
from typing import Any

from harpia_formats.model.record import Record


class Records(Iterator[Record]):
    """Records that are read when they are asked for, each of them once."""

    def __init__(self, records: Iterator[Record]) -> None:
        """Take what yields the records."""
        self._records = records

    def __iter__(self) -> Iterator[Record]:  # noqa: PYI034 - for the reason below
        # A loop over the generator itself costs no call for each record.
        return self._records

    def __next__(self) -> Record:
        return next(self._records)

    def __repr__(self) -> str:
        return "<Records: read when they are asked for>"

    def close(self) -> None:
        """Read no further, and close the file that is open."""
        if isinstance(self._records, Generator):
            self._records.close()

    def to_pandas(self) -> Any:
        """Return the records that are left as a data frame of pandas.

        Raises `ImportError` without pandas.
        """
        from harpia_formats.api.python_api.tables import frame_of_records  # noqa: PLC0415 - few runs make tables

        return frame_of_records(self)

    def to_polars(self) -> Any:
        """Return the records that are left as a data frame of polars.

        Raises `ImportError` without polars, and `HarpiaFormatsError` without pyarrow.
        """
        from harpia_formats.api.python_api.tables import polars_of_records  # noqa: PLC0415 - few runs make tables

        return polars_of_records(self)
