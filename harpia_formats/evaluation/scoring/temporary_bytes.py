"""Bytes in a temporary file, which is made when the first of them are written."""

from contextlib import suppress
from typing import IO, Any

from harpia_formats.files.io.reader import SourceError, error_reason


class TemporaryBytes:
    """Bytes that are appended and read again; `close` or the end of it deletes them."""

    def __init__(self) -> None:
        #: The number of bytes.
        self.size = 0
        self._file: IO[bytes] | None = None

    def append(self, data: Any) -> None:
        """Add the bytes of a buffer; raises `SourceError` if they cannot be written."""
        try:
            if self._file is None:
                from tempfile import TemporaryFile  # noqa: PLC0415 - only large runs need it

                self._file = TemporaryFile()  # noqa: SIM115 - `close` closes it
            self._file.seek(self.size)
            self.size += self._file.write(data)
        except OSError as error:
            raise SourceError("temporary file", error_reason(error)) from error

    def read_into(self, buffer: Any, offset: int = 0) -> None:
        """Fill a buffer with the bytes from `offset` on.

        Raises `SourceError` if they cannot be read.
        """
        if self._file is None:
            return
        try:
            self._file.seek(offset)
            self._file.readinto(buffer)  # type: ignore[attr-defined] # of a binary file
        except OSError as error:
            raise SourceError("temporary file", error_reason(error)) from error

    def close(self) -> None:
        """Delete the file, if there is one."""
        if self._file is not None:
            with suppress(OSError):  # from data that could not be written before
                self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()
