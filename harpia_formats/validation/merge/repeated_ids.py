"""Find the records of a file whose id an earlier record has."""

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from harpia_formats.formats.rules.across import REPEATED_ID
from harpia_formats.validation.merge.file_merge import FileMerge
from harpia_formats.validation.unit.collector import Collector

if TYPE_CHECKING:  # imported only if repeated ids are looked for: start-up time
    from harpia_formats.validation.dedup.duplicate_ids import (
        DuplicateId,
        DuplicateIdFinder,
    )
    from harpia_formats.validation.diagnosis.finding import Finding


class RepeatedIds(msgspec.Struct, frozen=True):
    """The digests of the ids of a file's records, and which ids are repeated."""

    ids: "DuplicateIdFinder"

    def add_digests(self, digests: "array[int]") -> None:
        """Add digests of ids. Raises `SourceError` if they cannot be stored."""
        if digests:
            self.ids.add_digests(digests)

    def close(self) -> None:
        """Delete what was stored."""
        self.ids.close()

    def report(
        self, merge: FileMerge, collector: Collector, id_key: str
    ) -> Iterator[None]:
        """Report the records with repeated ids to `collector`; yield after each one."""
        outcomes = merge.outcomes
        is_error = collector.is_error(REPEATED_ID)
        for repeat in self.ids.repeats(merge.records, outcomes.are_valid):
            if is_error:
                outcomes.add_invalid(repeat.record.number)
            if not collector.count_only(REPEATED_ID, (id_key,)):
                _collect(repeat, collector, id_key)
            yield


def _collect(repeat: "DuplicateId", collector: Collector, id_key: str) -> None:
    """Add the finding on a record with a repeated id to the collector."""
    from harpia_formats.validation.dedup.duplicate_ids import duplicate_id_remark  # noqa: PLC0415 - only for repeated ids
    from harpia_formats.validation.diagnosis.finding import Finding  # noqa: PLC0415 - only for repeated ids
    from harpia_formats.validation.diagnosis.row_context import RowContext  # noqa: PLC0415 - only for repeated ids

    record = repeat.record

    def row_of(finding: "Finding") -> RowContext:
        return RowContext(
            path=collector.name,
            text=record.chunk.rows[record.row],
            start=record.chunk.start_of(record.row),
            number=record.number,
            value=finding.value,
            id_key=id_key,
        )

    remark = duplicate_id_remark(repeat, id_key, collector.record_text)
    finding = Finding(REPEATED_ID, record.row, remark, repeat.value)
    collector.add_findings([finding], row_of, schema=True)
