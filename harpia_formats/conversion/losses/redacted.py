"""The report of a conversion without the values of records."""

from dataclasses import replace

from harpia_formats.conversion.loss_counts import FateCount, FateCounts
from harpia_formats.conversion.report import ConversionReport, FileLosses
from harpia_formats.model.field_fates import FieldFate
from harpia_formats.validation.redaction.reports import Redaction


def redacted_conversion(
    report: ConversionReport, redaction: Redaction, output: str
) -> ConversionReport:
    """Return the report of a conversion without values; `output` is that of the user.

    The names of its files are not shown, which may be those of models.
    """
    return replace(
        report,
        report=redaction.report(report.report),
        outputs=(output,),
        losses=tuple(_redacted_file(file, redaction) for file in report.losses),
    )


def _redacted_file(file: FileLosses, redaction: Redaction) -> FileLosses:
    return replace(file, losses=_redacted(file.losses, redaction))


def _redacted(losses: FateCounts, redaction: Redaction) -> FateCounts:
    """Return losses by the names of fields, with `*` for keys that may be values.

    Fields of one name then share their counts, and how a field is changed is not told.
    """
    words = redaction.words
    found = FateCounts()
    names = {losses.names.of(path): path for path in losses.carried}
    names |= {losses.names.of(fate.path): fate.path for fate in losses.counts}
    shown = {name: losses.names.shown(path, words) for name, path in names.items()}
    for path, count in losses.carried.items():
        name = shown[losses.names.of(path)]
        found.carried[name] = found.carried.get(name, 0) + count
    for own, counts in ((found.records, losses.records), (found.kept, losses.kept)):
        for name, count in counts.items():
            own[shown[name]] += count
    for (fate, name), count in losses.fates.items():
        found.fates[fate, shown[name]] += count
    for loss in losses.counts.values():
        path, fate = loss.field_fate.path, loss.field_fate.fate
        key = FieldFate(fate, shown[losses.names.of(path)])
        place = loss.place and redaction.place(loss.place)
        known = found.counts.setdefault(key, FateCount(key, place=place))
        known.count += loss.count
    return found
