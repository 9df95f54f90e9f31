"""Report records that cannot be converted, and name the options that help."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import UNSET

from harpia_formats.conversion.losses.conversion_report import ConversionTotals
from harpia_formats.conversion.mapping.choices import Prompt, ReferenceFrom
from harpia_formats.conversion.mapping.compiled_fields import VERDICTS, lacking
from harpia_formats.conversion.mapping.fit import LEFT_OUT, NO_VERDICT
from harpia_formats.conversion.mapping.preparation import OTHER_FILTERS, UNANSWERABLE
from harpia_formats.conversion.mapping.requirements import find_field_path
from harpia_formats.conversion.mapping.to_rows import ID_IS_NUMBER
from harpia_formats.conversion.options import ConvertOptions, Ids, OnInvalid
from harpia_formats.formats.detection.unexpected_format import likely_map_of
from harpia_formats.formats.registry import adapter_of, all_rules
from harpia_formats.formats.rules.loss_rules import (
    COLLISION,
    OTHER_QUESTION,
    UNCONVERTIBLE,
)
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.column_map import field_name
from harpia_formats.model.field_outcomes import FieldOutcome, Outcome, Unconvertible
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Place, Problem
from harpia_formats.model.record import Record
from harpia_formats.validation.merge.tally import Tally

if TYPE_CHECKING:  # loaded only for the option --group
    from harpia_formats.conversion.record_groups import GroupConflict


#: The help for records without an answer of the wanted model.
SKIP_HELP = "`--on-invalid skip` leaves out records without an answer of it"
#: The help for repeated ids, depending on where they are from.
NUMBER_HELP = "`--ids number` gives each record its number as id"
GROUP_HELP = (
    "`--group id` makes one record of the rows that have one id and ask the same"
)
HASH_HELP = "`--group id` makes one record of the rows that ask the same"
PREFIX_HELP = "`--prefix-ids` puts the name of its file in front of each id"
NUMBERED_HELP = (
    "the number that a record got for an id is the id of another: number all of them "
    "with `--ids number`, or put the name of the file in front of the ids that there "
    "are with `--prefix-ids`"
)
SPLIT_HELP = (
    "a row of several gets its id with # and a number: an id must not end so itself; "
    + NUMBER_HELP
)
#: The help for rows that cannot be combined.
OTHER_QUESTION_HELP = (
    "only rows that ask the same become one record; `--ids hash` gives these one id, "
    "and other rows other ids"
)


class ConversionProblems:
    """Reports the problems of a conversion that the validation does not find."""

    def __init__(self, totals: ConversionTotals, tally: Tally) -> None:
        self._totals = totals
        self._tally = tally
        self._rules = all_rules()
        self._pending: list[Problem] = []

    def take(self) -> list[Problem]:
        """Return the problems since the last call."""
        pending, self._pending = self._pending, []
        return pending

    def add_unconvertible(
        self, error: Unconvertible, place: Place, file: int, missing_model: str
    ) -> None:
        """Count a record of the file with index `file` that cannot be converted.

        `missing_model` is the message that it has no answer of the wanted model, "" if
        that is not the reason.
        """
        rule = self._rules[UNCONVERTIBLE]
        count = self._totals.counts[file]
        count.invalid += 1
        self._totals.skipped += 1
        problem = Problem(
            rule.code,
            rule.name,
            rule.severity,
            place,
            missing_model or error.reason,
            help=SKIP_HELP if missing_model else error.help,
        )
        path = tuple(error.path.split("."))
        kept = self._tally.add(count, rule, lambda: problem, path)
        if kept is not None:
            self._pending.append(kept)

    def are_grouped(self, conflicts: "Iterable[GroupConflict]") -> bool:
        """Count the rows that cannot be combined; tell whether there are none."""
        found = False
        for conflict in conflicts:
            found = True
            self._add_conflict(conflict)
        return not found

    def _add_conflict(self, conflict: "GroupConflict") -> None:
        rule = self._rules[OTHER_QUESTION]
        problem = Problem(
            rule.code,
            rule.name,
            rule.severity,
            conflict.place,
            conflict.message,
            help=OTHER_QUESTION_HELP,
        )
        count = self._totals.counts[conflict.file]
        kept = self._tally.add(count, rule, lambda: problem)
        if kept is not None:
            self._pending.append(kept)

    def repeated_ids(self, repeated: int, options: ConvertOptions) -> Iterator[Problem]:
        """Yield the problem that `repeated` ids are those of several rows.

        The help depends on the options that were given.
        """
        rule = self._rules[COLLISION]
        count = self._totals.counts[-1]
        ids = "1 id is that" if repeated == 1 else f"{repeated:,} ids are those"
        message = f"{ids} of several rows of the output"
        place = Place.at_start(count.path)
        help_ = self._help_for_ids(options)
        problem = Problem(
            rule.code, rule.name, rule.severity, place, message, help=help_
        )
        if self._tally.add(count, rule, lambda: problem) is not None:
            yield problem

    def _help_for_ids(self, options: ConvertOptions) -> str:
        if options.ids is Ids.HASH and options.group is None:
            return f"{HASH_HELP}; {NUMBER_HELP}"
        if len(self._totals.files) == 1:
            if self._has_numbered_ids():
                return NUMBERED_HELP
            if options.group is not None:
                return SPLIT_HELP if options.group == "id" else NUMBER_HELP
            return f"{NUMBER_HELP}; {GROUP_HELP}"
        if options.prefix_ids:
            return f"files of the same name need other names, or {NUMBER_HELP}"
        return f"{PREFIX_HELP}; {NUMBER_HELP}"

    def _has_numbered_ids(self) -> bool:
        """Tell whether some records got their number for an id."""
        return any(
            field_outcome.path == "id" and field_outcome.how == ID_IS_NUMBER
            for file in self._totals.files
            for field_outcome in file.losses.counts
        )


_FROM_GT = "`--reference-from gt`"
_FORMATTED = "`--prompt formatted`"
_CORRECT = "`--correct-from NUMBER`"
_SCORE = "--score em"
_SKIP = "`--on-invalid skip`"
#: The fields without which a record may be left out.
_OF_ANSWER = {"outputs.text", *VERDICTS}


def with_remedies(
    error: Unconvertible, record: Record, source: Format, options: ConvertOptions
) -> Unconvertible:
    """Return the error of a record that lacks a field, with where it may have it."""
    is_verdict = _CORRECT in error.help or _SCORE in error.help
    is_left_out = is_verdict or error.path in _OF_ANSWER
    if _SCORE in error.help and error.fields and not _has_texts(record):
        # No metric scores an answer without a text, so none is advised.
        error = lacking(error.fields, error.path, scored=True)
    if "=VALUE" not in error.help and not is_left_out:
        return error
    others = []
    is_said = _SKIP in error.help
    if is_left_out and options.on_invalid is OnInvalid.FAIL and not is_said:
        others.append(f"leave such records out with {_SKIP}")
    takes_gt = options.reference_from is ReferenceFrom.GT
    if error.path == "references" and record.gt is not UNSET and not takes_gt:
        others.append(f"take the last answer of the chat with {_FROM_GT}")
    name = field_name(error.path)
    if source.general and name and name not in (options.columns or ()):
        proposed = "" if options.columns else likely_map_of(record)
        how = f"take it from a column with `--map {name}=COLUMN`"
        others.append(f"read columns with {proposed}" if proposed else how)
    remedies = filter(None, [error.help, *others])
    return Unconvertible(error.path, error.reason, ", or ".join(remedies))


def _has_texts(record: Record) -> bool:
    """Return whether each answer of a record has a text that a metric can score."""
    from harpia_formats.conversion.fill_scores import answer_text  # noqa: PLC0415 - only for records without a score

    return all(answer_text(output) is not None for output in record.outputs)


def remedies_for_losses(
    totals: ConversionTotals, target: FormatAdapter, options: ConvertOptions
) -> tuple[str, ...]:
    """Return which options keep what the files of a conversion lose, for the user."""
    notes: dict[str, None] = {}
    for file, variant in zip(totals.files, totals.variants, strict=True):
        counts = file.losses.counts
        dropped = {
            outcome.path for outcome in counts if outcome.outcome is Outcome.DROPPED
        }
        if any(outcome.how == NO_VERDICT for outcome in counts):
            what = f"scores of {file.path} that do not say what is correct are left out"
            notes[f"{what}; {_CORRECT} keeps those with a number"] = None
        left_out = sum(
            one.count for one in counts.values() if one.field_outcome.how == LEFT_OUT
        )
        if left_out:
            have = "record has" if left_out == 1 else "records have"
            what = f"{left_out:,} {have} no score of the chosen metric in {file.path}"
            notes[f"{what}, and {'is' if left_out == 1 else 'are'} left out"] = None
        columns = f"extra.{adapter_of(variant.format).vendor}."
        is_general = variant.format.general and not options.columns
        if is_general and any(path.startswith(columns) for path in dropped):
            what = f"columns of {file.path} that are no fields are dropped"
            notes[f"{what}; `--map FIELD=COLUMN` reads them as fields"] = None
        notes |= _filter_note(counts, file.path, options)
        if any(outcome.how == UNANSWERABLE for outcome in counts):
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


def note_on_constants(
    target: Format, options: ConvertOptions, *, names_models: bool
) -> tuple[str, ...]:
    """Return which constants are not written, since rows have no place for them.

    `names_models` tells that the names of files say which model answered.
    """
    adapter = adapter_of(target)
    unused = [
        f"--set {name}=VALUE"
        for name in options.constants
        for path in (find_field_path(name, adapter),)
        if path is not None and not adapter.carries(path)
        if not (names_models and path == "outputs.model")
    ]
    if not unused:
        return ()
    them = "it" if len(unused) == 1 else "them"
    given = " ".join(unused)
    return (f"`{given}` does nothing: {target.id} has no place for {them}",)


def _filter_note(
    outcomes: Iterable[FieldOutcome], path: str, options: ConvertOptions
) -> dict[str, None]:
    """Return which filter's scores are written, if nobody chose it."""
    found = [
        outcome.how for outcome in outcomes if outcome.how.startswith(OTHER_FILTERS)
    ]
    if not found or options.filter is not None:
        return {}
    name = "" if options.redact else f" ({found[0].removeprefix(OTHER_FILTERS)})"
    what = f"{path} has scores of several filters: those of the first{name} are written"
    return {f"{what}; `--filter NAME` or `--filter all` chooses others": None}
