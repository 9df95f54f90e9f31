"""Name the options that take from the source what a conversion lacks or drops."""

from msgspec import UNSET

from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.conversion.report import ConversionTotals
from harpia_formats.detection.likely_map import likely_map_of
from harpia_formats.mapping.choices import ReferenceFrom
from harpia_formats.mapping.columns import field_name
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.field_fates import Fate, Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.record import Record
from harpia_formats.registry import adapter_of

_FROM_GT = "--reference-from gt"
_SKIP = "--on-invalid skip"


def with_remedies(
    error: Unconvertible, record: Record, source: Format, options: ConvertOptions
) -> Unconvertible:
    """Return the error of a record that lacks a field, with where it may have it."""
    if "=VALUE" not in error.help:
        return error
    others = []
    if error.path == "outputs.text" and options.on_invalid is OnInvalid.FAIL:
        others.append(f"leave such records out with {_SKIP}")
    if "score=VALUE" in error.help and options.score is None:
        others.append("compute the score with --score em or --score f1")
    takes_gt = options.reference_from is ReferenceFrom.GT
    if error.path == "references" and record.gt is not UNSET and not takes_gt:
        others.append(f"take the last answer of the chat with {_FROM_GT}")
    name = field_name(error.path)
    if source.general and name and name not in (options.columns or ()):
        proposed = "" if options.columns else likely_map_of(record)
        how = f"take it from a column with --map {name}=COLUMN"
        others.append(f"read columns with --map {proposed}" if proposed else how)
    return Unconvertible(error.path, error.reason, ", or ".join([error.help, *others]))


def remedies_for_losses(
    totals: ConversionTotals, target: FormatAdapter, options: ConvertOptions
) -> tuple[str, ...]:
    """Return which options keep what the files of a conversion lose, for the user."""
    notes: dict[str, None] = {}
    for file, variant in zip(totals.files, totals.variants, strict=True):
        counts = file.losses.counts
        dropped = {fate.path for fate in counts if fate.fate is Fate.DROPPED}
        columns = f"extra.{adapter_of(variant.format).vendor}."
        is_general = variant.format.general and not options.columns
        if is_general and any(path.startswith(columns) for path in dropped):
            what = f"columns of {file.path} that are no fields are dropped"
            notes[f"{what}; --map FIELD=COLUMN reads them as fields"] = None
        has_reference = "references" in file.losses.carried
        if "gt" in dropped and not has_reference and target.carries("references"):
            what = f"the last answers of the chats of {file.path} are dropped"
            notes[f"{what}; {_FROM_GT} makes them the references"] = None
    return tuple(notes)
