"""Count the outcome of each record of a file: valid, invalid or without a verdict."""

import msgspec

from harpia_formats.model.report import FileCount
from harpia_formats.validation.unit.record_numbers import RecordSet


class Outcomes(msgspec.Struct):
    """The outcome of each record of a file; each record is counted once.

    A record may be met several times: in each of its columns, or again because of its
    id. One without a verdict is never counted as valid.
    """

    count: FileCount
    invalid: RecordSet = msgspec.field(default_factory=RecordSet)
    undetermined: RecordSet = msgspec.field(default_factory=RecordSet)

    def add(self, invalid: bytes, undetermined: bytes, before: int) -> None:
        """Count records, given as bits, that are numbered from `before` on."""
        if not (invalid or undetermined):
            return
        was_invalid = self._shifted(self.invalid, before, len(invalid))
        new_invalid = int.from_bytes(invalid, "little") << (before & 7) & ~was_invalid
        self.invalid.put(invalid, before)
        self.count.invalid += new_invalid.bit_count()
        size = max(len(invalid), len(undetermined))
        was_open = self._shifted(self.undetermined, before, size)
        self.count.undetermined -= (new_invalid & was_open).bit_count()
        found = int.from_bytes(undetermined, "little") << (before & 7) & ~was_open
        self.undetermined.put(undetermined, before)
        now_invalid = self._shifted(self.invalid, before, size)
        self.count.undetermined += (found & ~now_invalid).bit_count()

    def are_valid(self, before: int, count: int) -> bool:
        """Return whether the `count` records after the first `before` are valid."""
        size = (count + 7) // 8 + 1
        refused = self._shifted(self.invalid, before + 1, size) | self._shifted(
            self.undetermined, before + 1, size
        )
        return not refused >> (before + 1 & 7) & (1 << count) - 1

    def add_invalid(self, number: int) -> None:
        """Count a record as invalid."""
        if number in self.invalid:
            return
        self.invalid.add(number)
        self.count.invalid += 1
        self.count.undetermined -= number in self.undetermined

    @staticmethod
    def _shifted(records: RecordSet, before: int, size: int) -> int:
        """Return the bits around the numbers `before` to `before` + 8 * `size`."""
        place = before >> 3
        return int.from_bytes(records.bits[place : place + size + 1], "little")
