"""Name the options that take from the source what a conversion lacks or drops."""

from collections.abc import Iterable

from msgspec import UNSET

from harpia_formats.conversion.mapping.choices import Prompt, ReferenceFrom
from harpia_formats.conversion.mapping.fit import NO_VERDICT
from harpia_formats.conversion.mapping.fit_scores import LEFT_OUT
from harpia_formats.conversion.mapping.preparation import OTHER_FILTERS, UNANSWERABLE
from harpia_formats.conversion.options import ConvertOptions, OnInvalid
from harpia_formats.conversion.report import ConversionTotals
from harpia_formats.formats.detection.likely_map import likely_map_of
from harpia_formats.formats.registry import adapter_of
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.column_map import field_name
from harpia_formats.model.field_fates import Fate, FieldFate, Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.record import Record

_FROM_GT = "--reference-from gt"
_FORMATTED = "--prompt formatted"
_CORRECT = "--correct-from NUMBER"
_SCORE = "--score em"
_SKIP = "--on-invalid skip"


def with_remedies(
    error: Unconvertible, record: Record, source: Format, options: ConvertOptions
) -> Unconvertible:
    """Return the error of a record that lacks a field, with where it may have it."""
    is_verdict = _CORRECT in error.help or _SCORE in error.help
    if "=VALUE" not in error.help and not is_verdict:
        return error
    others = []
    is_left_out = error.path == "outputs.text" or is_verdict
    if is_left_out and options.on_invalid is OnInvalid.FAIL:
        others.append(f"leave such records out with {_SKIP}")
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
        if any(fate.how == NO_VERDICT for fate in counts):
            what = f"scores of {file.path} that do not say what is correct are left out"
            notes[f"{what}; {_CORRECT} keeps those with a number"] = None
        left_out = sum(
            one.count for one in counts.values() if one.field_fate.how == LEFT_OUT
        )
        if left_out:
            have = "record has" if left_out == 1 else "records have"
            what = f"{left_out:,} {have} no score of the chosen metric in {file.path}"
            notes[f"{what}, and {'is' if left_out == 1 else 'are'} left out"] = None
        columns = f"extra.{adapter_of(variant.format).vendor}."
        is_general = variant.format.general and not options.columns
        if is_general and any(path.startswith(columns) for path in dropped):
            what = f"columns of {file.path} that are no fields are dropped"
            notes[f"{what}; --map FIELD=COLUMN reads them as fields"] = None
        notes |= _filter_note(counts, file.path, options)
        if any(fate.how == UNANSWERABLE for fate in counts):
            what = f"options of multiple choice in {file.path} are dropped"
            carried = adapter_of(variant.format).carried_paths
            has_prompt = "outputs.formatted_prompt" in carried
            takes = options.prompt is Prompt.QUESTION and has_prompt
            how = f"; {_FORMATTED} writes what the model got" if takes else ""
            notes[f"{what}, and {UNANSWERABLE}{how}"] = None
        has_reference = "references" in file.losses.carried
        if "gt" in dropped and not has_reference and target.carries("references"):
            what = f"the last answers of the chats of {file.path} are dropped"
            notes[f"{what}; {_FROM_GT} makes them the references"] = None
    return tuple(notes)


def _filter_note(
    fates: Iterable[FieldFate], path: str, options: ConvertOptions
) -> dict[str, None]:
    """Return which filter's scores are written, if nobody chose it."""
    found = [fate.how for fate in fates if fate.how.startswith(OTHER_FILTERS)]
    if not found or options.filter is not None:
        return {}
    name = "" if options.redact else f" ({found[0].removeprefix(OTHER_FILTERS)})"
    what = f"{path} has scores of several filters: those of the first{name} are written"
    return {f"{what}; --filter NAME|all chooses others": None}
