"""Take the expected answer of a conversation as the reference of a record."""

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Record


def with_gt_as_reference(record: Record, fates: FieldFates) -> Record:
    """Return `record` with its `gt` as its only reference, if it has one.

    `gt` stays what it is; references that it replaces are added to the fates.
    """
    if record.gt is UNSET or record.references == [record.gt]:
        return record
    if record.references is UNSET:
        fates.defaulted("references", "of gt, by --reference-from")
    else:
        fates.changed("references", "gt instead, by --reference-from")
    return replace(record, references=[record.gt])
