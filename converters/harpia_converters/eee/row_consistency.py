"""Check that the rows of one file fit one aggregate, and that their ids differ."""

from dataclasses import dataclass, field

from harpia_formats.conversion.mapping.answer_groups import MOST
from harpia_formats.model.adapter import Row
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.validation.dedup.digests import Digests
from harpia_formats.validation.dedup.identity import IdentityReader

#: The key of rows by which an aggregate groups its results.
EVALUATION = "evaluation_name"
#: Keys that an aggregate has one value of, and what to do if rows have several.
_shared_keys = {
    "evaluation_id": "--set evaluation_id=NAME gives all scores one",
    "model_id": "--model NAME selects the answers of one",
}
#: Ids that are digested together.
_batch_size = 512


@dataclass(slots=True)
class RowConsistency:
    """Collects the shared values and the ids of the rows written so far."""

    identity: IdentityReader
    #: Whether each evaluation has scores of its own.
    has_groups: bool
    run_values: dict[str, str] = field(default_factory=dict)
    #: Names of evaluations, in the order of their first answer.
    evaluation_names: dict[str, None] = field(default_factory=dict)
    _ids: Digests = field(default_factory=Digests)
    _keys: list[str] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Add the row of another answer; raises `ScoreError` if no aggregate fits."""
        for key, fix in _shared_keys.items():
            before = self.run_values.setdefault(key, row[key])
            if before != row[key]:
                raise ScoreError(
                    f"an aggregate has one {key}, and answers have {before!r} and "
                    f"{row[key]!r}: {fix}"
                )
        self.evaluation_names[row[EVALUATION]] = None
        limit = MOST if self.has_groups else 1
        if len(self.evaluation_names) > limit:
            raise ScoreError(
                f"the answers are of more than {limit:,} "
                f"evaluation{'s' * (limit > 1)}: --by {EVALUATION} gives each its "
                f"own scores, and --set {EVALUATION}=NAME makes them one"
            )
        self._keys += self.identity.keys_of_value(row)
        if len(self._keys) >= _batch_size:
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
                "sample_id of another answer, and rows need different ids; run "
                "`harpia-formats convert --to record --ids number` first, which gives "
                "each record its number as id, and score that"
            )
        self._ids.close()

    def drop(self) -> None:
        """Remove the temporary files of the ids."""
        self._ids.close()
