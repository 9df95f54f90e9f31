"""Report records that cannot be converted, and ids that several output rows have."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from harpia_formats.conversion.mapping.to_rows import ID_IS_NUMBER
from harpia_formats.conversion.options import ConvertOptions, Ids
from harpia_formats.conversion.report import ConversionTotals
from harpia_formats.formats.registry import all_rules
from harpia_formats.formats.rules.loss import COLLISION, OTHER_QUESTION, UNCONVERTIBLE
from harpia_formats.model.field_fates import Unconvertible
from harpia_formats.model.problem import Place, Problem
from harpia_formats.validation.merge.tally import Tally

if TYPE_CHECKING:  # loaded only for the option --group
    from harpia_formats.conversion.grouping.record_groups import GroupConflict

#: The help for records without an answer of the wanted model.
SKIP_HELP = "--on-invalid skip leaves out records without an answer of it"
#: The help for repeated ids, depending on where they are from.
NUMBER_HELP = "--ids number gives each record its number as id"
GROUP_HELP = "--group id makes one record of the rows that have one id and ask the same"
HASH_HELP = "--group id makes one record of the rows that ask the same"
PREFIX_HELP = "--prefix-ids puts the name of its file in front of each id"
NUMBERED_HELP = (
    "the number that a record got for an id is the id of another: number all of them "
    "with --ids number, or put the name of the file in front of the ids that there are "
    "with --prefix-ids"
)
SPLIT_HELP = (
    "a row of several gets its id with # and a number: an id must not end so itself; "
    + NUMBER_HELP
)
#: The help for rows that cannot be combined.
OTHER_QUESTION_HELP = (
    "only rows that ask the same become one record; --ids hash gives these one id, and "
    "other rows other ids"
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
        place = Place(count.path, 1, 1, 2, 0)
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
            field_fate.path == "id" and field_fate.how == ID_IS_NUMBER
            for file in self._totals.files
            for field_fate in file.losses.counts
        )
