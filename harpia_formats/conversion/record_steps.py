"""The changes that options make to records before they are mapped to rows."""

from dataclasses import dataclass

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.ids import with_hash_as_id, with_number_as_id
from harpia_formats.conversion.mapping.choices import ReferenceFrom
from harpia_formats.conversion.mapping.gt_reference import with_gt_as_reference
from harpia_formats.conversion.mapping.requirements import (
    NO_REQUIREMENTS,
    RowRequirements,
)
from harpia_formats.conversion.options import ConvertOptions, Ids
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Record


@dataclass(frozen=True, slots=True)
class RecordSteps:
    """What the records of one file go through, in the order of the methods."""

    takes_gt: bool = False
    #: Whether ids become hashes or numbers.
    hashes_ids: bool = False
    numbers_ids: bool = False
    #: What is put in front of each id.
    prefix: str = ""
    #: What the target requires and only some records have.
    requirements: RowRequirements = NO_REQUIREMENTS

    def before_grouping(self, record: Record, fates: FieldFates) -> Record:
        """Return `record` with its reference and its id; changes are added to `fates`.

        Raises `Unconvertible` for an id that cannot be made.
        """
        if self.takes_gt:
            record = with_gt_as_reference(record, fates)
        if self.hashes_ids:
            record = with_hash_as_id(record, fates)
        if self.prefix and record.id is not UNSET:
            record = replace(record, id=f"{self.prefix}{record.id}")
            fates.changed("id", "with the name of its file in front")
        return record

    def after_grouping(self, record: Record, number: int, fates: FieldFates) -> Record:
        """Return `record` with its number as id; changes are added to `fates`.

        Raises `Unconvertible` for a record that lacks what the target requires.
        """
        if self.numbers_ids:
            record = with_number_as_id(record, number, fates)
        self.requirements.check(record)
        return record


def steps_of(
    options: ConvertOptions,
    target: FormatAdapter,
    requirements: RowRequirements,
    prefix: str,
) -> RecordSteps:
    """Return the steps for the records of a file.

    `prefix` is what its ids get in front of them if the options ask for that.
    """
    writes_id = target.carries("id")
    return RecordSteps(
        takes_gt=options.reference_from is ReferenceFrom.GT,
        hashes_ids=options.ids is Ids.HASH and (writes_id or options.group == "id"),
        numbers_ids=options.ids is Ids.NUMBER and writes_id,
        prefix=prefix if options.prefix_ids else "",
        requirements=requirements,
    )
