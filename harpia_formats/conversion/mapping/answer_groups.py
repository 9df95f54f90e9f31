"""Groups of answers by the values of fields."""

from dataclasses import dataclass

from msgspec import UNSET

from harpia_formats.model.exact_json import encode
from harpia_formats.model.metric_profile import ScoreError, ScoreOptionsError
from harpia_formats.model.record import Output, Record, Score
from harpia_formats.model.text.spelling import hint_on

#: Fields that answers can be grouped by, beside `METADATA` and a name.
MODEL = "model"
EVALUATION = "evaluation_name"
GROUPED = ("category", "source", MODEL, EVALUATION)
#: The most groups of one run; each of them takes memory.
MOST = 1_000
#: The value of a field that an answer does not have.
NONE = "(none)"
METADATA = "metadata."


@dataclass(frozen=True, slots=True)
class AnswerGrouping:
    """Assigns answers to groups; raises `ScoreError` for fields that are unknown."""

    by: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.by:
            is_member = name.startswith(METADATA) and name != METADATA
            if name not in GROUPED and not is_member:
                hint = hint_on(name, (*GROUPED, f"{METADATA}NAME"))
                raise ScoreError(f"scores cannot be grouped by {name!r}{hint}")

    @property
    def within_system(self) -> tuple[str, ...]:
        """The fields but the model, by which the answers of one system are grouped."""
        return tuple(name for name in self.by if name != MODEL)

    def key_of(self, record: Record, output: Output) -> tuple[str, ...]:
        """Return the value of each field but the model as text."""
        return tuple(value_of(name, record, output) for name in self.within_system)

    def names_of(self, key: tuple[str, ...], *, is_split: bool) -> dict[str, str]:
        """Return the fields of a group: those of a key that begins with the system.

        The system is left out if the scores are not split by it.
        """
        system, *values = key
        found = dict(zip(self.within_system, values, strict=False))
        if not is_split:
            return found
        order = self.by if MODEL in self.by else (MODEL, *self.by)
        found[MODEL] = system
        return {name: found[name] for name in order if name in found}

    def check(self, groups: int) -> None:
        """Raise `ScoreError` if the number of groups is above `MOST`."""
        if groups > MOST:
            raise ScoreOptionsError(
                f"there are more than {MOST:,} groups by {', '.join(self.by)}"
            )


def value_of(name: str, record: Record, output: Output) -> str:
    """Return a field of an answer as text, `NONE` if it has none."""
    value = _found(name, record, output)
    if value is UNSET or value is None:
        return NONE
    return value if isinstance(value, str) else encode(value).decode()


def score_in(record: Record, output: Output) -> Score:
    """Return the first score that the input has for an answer.

    A row with several answers may store their score with the first answer, so the
    other answers of the record are searched, too. Without a score an empty one is
    returned.
    """
    with_scores = (
        answer.scores for answer in (output, *record.outputs) if answer.scores
    )
    return next(with_scores, [Score()])[0]


def _found(name: str, record: Record, output: Output) -> object:
    if name == MODEL:
        return output.model
    if name == EVALUATION:
        return score_in(record, output).evaluation_name
    if name.startswith(METADATA):
        metadata = record.metadata or {}
        return metadata.get(name.removeprefix(METADATA), UNSET)
    found: object = getattr(record, name)
    return found
