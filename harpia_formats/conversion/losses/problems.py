"""Say which records cannot be converted, and that ids of the output meet."""

from collections.abc import Iterator

from harpia_formats.conversion.account import ConversionTotals
from harpia_formats.mapping.to_rows import ID_IS_NUMBER
from harpia_formats.model.field_fates import Unconvertible
from harpia_formats.model.problem import Place, Problem
from harpia_formats.registry import all_rules
from harpia_formats.rules.loss import COLLISION, UNCONVERTIBLE
from harpia_formats.validation.file.tally import Tally

#: What is to be done about records without an answer of the model asked for.
LEFT_OUT = "--on-invalid skip leaves out records without an answer of it"
#: What keeps ids of one file from meeting.
NUMBERED = (
    "the number that a record got for an id is the id of another: give an id to each, "
    "or put the name of the file in front of those that there are with --prefix-ids"
)
SPLIT = "a row of several gets its id with # and a number: an id must not end so itself"
GROUPED = "--group id makes one record of the rows with one id"


class ConversionProblems:
    """The problems of a conversion that those of its inputs do not show."""

    def __init__(self, account: ConversionTotals, tally: Tally) -> None:
        self._account = account
        self._tally = tally
        self._rules = all_rules()
        self._pending: list[Problem] = []

    def taken(self) -> list[Problem]:
        """Return the problems that were not yet told of, once."""
        pending, self._pending = self._pending, []
        return pending

    def cannot(
        self, error: Unconvertible, place: Place, file: int, lacking: str
    ) -> None:
        """Count a record of a file that cannot be converted.

        `lacking` says why in better words than `error`, "" where there are none.
        """
        rule = self._rules[UNCONVERTIBLE]
        count = self._account.counts[file]
        count.invalid += 1
        self._account.skipped += 1
        self._tally.resume(count)
        path = tuple(error.path.split("."))
        if self._tally.wants(rule, path):
            problem = Problem(
                rule.code,
                rule.name,
                rule.severity,
                place,
                lacking or error.reason,
                help=LEFT_OUT if lacking else error.help,
            )
            if self._tally.add(problem, path):
                self._pending.append(problem)
        self._tally.resume(self._account.counts[-1])

    def ids_meet(
        self, repeated: int, *, prefixed: bool, grouped: bool
    ) -> Iterator[Problem]:
        """Yield that so many ids are those of several rows, and what cures it.

        `prefixed` tells whether ids have the name of their file in front, `grouped`
        whether records were put together.
        """
        rule = self._rules[COLLISION]
        count = self._account.counts[-1]
        self._tally.resume(count)
        ids = "1 id is that" if repeated == 1 else f"{repeated:,} ids are those"
        message = f"{ids} of several rows of the output"
        place = Place(count.path, 1, 1, 2, 0)
        if self._tally.wants(rule, ()):
            problem = Problem(
                rule.code,
                rule.name,
                rule.severity,
                place,
                message,
                help=self._cure(prefixed=prefixed, grouped=grouped),
            )
            if self._tally.add(problem, ()):
                yield problem

    def _cure(self, *, prefixed: bool, grouped: bool) -> str:
        """Return what keeps ids from meeting."""
        if len(self._account.files) == 1:
            if self._has_made_ids():
                return NUMBERED
            return SPLIT if grouped else GROUPED
        if prefixed:
            return "files of the same name need other names"
        return "--prefix-ids puts the name of its file in front of each id"

    def _has_made_ids(self) -> bool:
        """Tell whether some records have their number for an id."""
        fates = (note for each in self._account.files for note in each.losses.losses)
        return any(each.path == "id" and each.how == ID_IS_NUMBER for each in fates)
