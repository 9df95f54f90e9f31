"""Estimate how long the conversion of the rest of a file takes one process."""

from time import thread_time

#: Bytes of rows whose conversion is timed together.
TIMED = 256 * 1024


class Clock:
    """Times the conversion of the first rows of a file."""

    def __init__(self, timed: int = TIMED) -> None:
        """Time the conversion of `timed` bytes or rows together."""
        self._timed = timed
        self._begin = thread_time()
        #: Bytes or rows, and seconds, when they were noted last.
        self._done, self._seconds = 0, self._begin
        self._is_warm = False
        #: The least seconds that one of them took.
        self._rate = 0.0

    def note(self, done: int) -> None:
        """Note that so many bytes, or rows, were converted so far."""
        size, now = done - self._done, thread_time()
        if size < self._timed:
            return
        rate = (now - self._seconds) / size
        self._done, self._seconds = done, now
        # The first rows take longer: modules are loaded, and functions are made.
        if self._is_warm:
            self._rate = min(self._rate or rate, rate)
        self._is_warm = True

    def estimate(self, left: int | None) -> float:
        """Return the seconds for what is left; if that is None, those spent so far."""
        if left is None:
            return thread_time() - self._begin
        return self._rate * left
