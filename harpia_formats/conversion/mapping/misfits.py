"""Texts of a source where its field holds numbers, such as `abc` in a score column."""

from dataclasses import dataclass, field

from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.field_fates import FieldFates, Unconvertible
from harpia_formats.model.record import FIELD_TYPES, Record, field_paths
from harpia_formats.model.text.describe import short_json

_extra = "extra"
_numbers = frozenset({int, float})


@dataclass(frozen=True, slots=True)
class Misfits:
    """The fields of a source whose text is kept in the extra if it is no number."""

    vendor: str = ""
    #: The path in the record of each field that holds numbers, by that in the extra.
    _fields: dict[str, str] = field(default_factory=dict)

    def note(
        self, paths: tuple[str, ...], target: FormatAdapter, fates: FieldFates
    ) -> None:
        """Note what becomes of such texts in a record with `paths`.

        A target of the same vendor writes them back to their places.
        """
        if not self._fields or self.vendor == target.vendor:
            return
        for path in self._fields.keys() & paths:
            if target.carries(path):
                fates.changed(path, "is not a number, kept as text in extra")
            else:
                fates.dropped(path, "is not a number")

    def refuse(self, error: Unconvertible, record: Record) -> None:
        """Raise `Unconvertible` if `error` is that a field is such a text."""
        paths = field_paths(record)
        for path, record_path in self._fields.items():
            if record_path == error.path and path in paths and record.extra:
                name = path.removeprefix(f"{_extra}.{self.vendor}.")
                value = record.extra[self.vendor][name]
                reason = f"{short_json(value)} in `{name}` is not a number"
                help_ = (
                    "mend it in the input, or leave such records out with "
                    "--on-invalid skip"
                )
                raise Unconvertible(error.path, reason, help_) from error


NO_MISFITS = Misfits()


def misfits_of(source: FormatAdapter) -> Misfits:
    """Return the fields of a table that hold numbers, whose cells may be other text."""
    if not source.columns:
        return NO_MISFITS
    fields = {
        f"{_extra}.{source.vendor}.{known.name}": known.record_path
        for known in source.fields
        if _numbers & {*FIELD_TYPES.get(known.record_path, ())}
    }
    return Misfits(source.vendor, fields)
