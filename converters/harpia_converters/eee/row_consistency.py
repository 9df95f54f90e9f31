"""What all rows of one file must have alike, and what must tell them apart."""

from dataclasses import dataclass, field

from harpia_formats.dedup.digests import Digests
from harpia_formats.dedup.identity import IdentityReader
from harpia_formats.model.adapter import Row
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.scoring.groups import MOST

#: What an aggregate has results of.
EVALUATION = "evaluation_name"
#: What an aggregate has one of, and how to choose where rows have several.
_same = {
    "evaluation_id": "--set evaluation_id=NAME gives the scores one of their own",
    "model_id": "--model NAME takes the answers of one",
}
#: Ids that are looked at together.
_together = 512


@dataclass(slots=True)
class Alike:
    """What is known of the rows so far."""

    identity: IdentityReader
    #: Whether each evaluation has scores of its own.
    has_groups: bool
    same: dict[str, str] = field(default_factory=dict)
    #: Names of evaluations, in the order of their first answer.
    names: dict[str, None] = field(default_factory=dict)
    _ids: Digests = field(default_factory=Digests)
    _keys: list[str] = field(default_factory=list)

    def note(self, row: Row) -> None:
        """Take the row of another answer; raises `ScoreError` if it has no place."""
        for key, cure in _same.items():
            before = self.same.setdefault(key, row[key])
            if before != row[key]:
                raise ScoreError(
                    f"an aggregate has one {key}, and answers have {before!r} and "
                    f"{row[key]!r}: {cure}"
                )
        self.names[row[EVALUATION]] = None
        most = MOST if self.has_groups else 1
        if len(self.names) > most:
            raise ScoreError(
                f"the answers are of more than {most:,} evaluation{'s' * (most > 1)}: "
                f"--by {EVALUATION} gives each its own scores, --set "
                f"{EVALUATION}=NAME makes them one"
            )
        self._keys += self.identity.keys_of_value(row)
        if len(self._keys) >= _together:
            self._flush()

    def _flush(self) -> None:
        if self._keys:
            self._ids.add(self._keys)
            self._keys = []

    def check(self) -> None:
        """Raise `ScoreError` if two answers have one id."""
        self._flush()
        repeated = self._ids.repeated().surplus
        if repeated:
            raise ScoreError(
                f"{repeated:,} answer{'s have' if repeated > 1 else ' has'} the "
                "sample_id of another one, so that their rows could not be told apart; "
                "`harpia-formats convert --to record --group id` makes one record of "
                "them, which can be scored"
            )
        self._ids.close()

    def drop(self) -> None:
        """Let go of the ids."""
        self._ids.close()
