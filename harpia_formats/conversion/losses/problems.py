"""Report records that cannot be converted, and ids that several output rows have."""

from collections.abc import Iterator

from harpia_formats.conversion.report import ConversionTotals
from harpia_formats.mapping.to_rows import ID_IS_NUMBER
from harpia_formats.model.field_fates import Unconvertible
from harpia_formats.model.problem import Place, Problem
from harpia_formats.registry import all_rules
from harpia_formats.rules.loss import COLLISION, UNCONVERTIBLE
from harpia_formats.validation.merge.tally import Tally

#: The help for records without an answer of the wanted model.
SKIP_HELP = "--on-invalid skip leaves out records without an answer of it"
#: The help for repeated ids in the rows of one file.
NUMBERED_HELP = (
    "the number that a record got for an id is the id of another: give an id to each, "
    "or put the name of the file in front of those that there are with --prefix-ids"
)
SPLIT_HELP = (
    "a row of several gets its id with # and a number: an id must not end so itself"
)
GROUP_HELP = "--group id makes one record of the rows with one id"


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
        if self._tally.add(count, rule, lambda: problem, path) is not None:
            self._pending.append(problem)

    def repeated_ids(
        self, repeated: int, *, prefixed: bool, grouped: bool
    ) -> Iterator[Problem]:
        """Yield the problem that `repeated` ids are those of several rows.

        `prefixed` tells whether ids have the name of their file in front, `grouped`
        whether records were merged; both decide on the help.
        """
        rule = self._rules[COLLISION]
        count = self._totals.counts[-1]
        ids = "1 id is that" if repeated == 1 else f"{repeated:,} ids are those"
        message = f"{ids} of several rows of the output"
        place = Place(count.path, 1, 1, 2, 0)
        help_ = self._help_for_ids(prefixed=prefixed, grouped=grouped)
        problem = Problem(
            rule.code, rule.name, rule.severity, place, message, help=help_
        )
        if self._tally.add(count, rule, lambda: problem) is not None:
            yield problem

    def _help_for_ids(self, *, prefixed: bool, grouped: bool) -> str:
        if len(self._totals.files) == 1:
            if self._has_numbered_ids():
                return NUMBERED_HELP
            return SPLIT_HELP if grouped else GROUP_HELP
        if prefixed:
            return "files of the same name need other names"
        return "--prefix-ids puts the name of its file in front of each id"

    def _has_numbered_ids(self) -> bool:
        """Tell whether some records got their number for an id."""
        return any(
            field_fate.path == "id" and field_fate.how == ID_IS_NUMBER
            for file in self._totals.files
            for field_fate in file.losses.counts
        )
