"""The options of scoring."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike
from typing import Any

from harpia_formats.conversion.mapping.choices import ReferenceFrom
from harpia_formats.evaluation.run_options import RunOptions
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    LEVEL,
    REPLICATES,
    SEED,
)
from harpia_formats.model.problem import OptionError
from harpia_formats.model.spelling import hint_on
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError

#: The name of the system of a file, or the names of its models.
SystemName = str | Mapping[str, str]
#: No float is the quantile of a level nearer to 1.
MOST_LEVEL = 1 - 1e-15
#: Replicates take memory, and more of them do not change the intervals.
MOST_REPLICATES = 100_000
SEEDS = 2**64


class ScoreValueError(ScoreError):
    """Scores that cannot be computed, for a reason that names values of records."""

    def __init__(self, message: str, without_values: str) -> None:
        super().__init__(message)
        self._without_values = without_values

    def without_values(self) -> ScoreError:
        """Return the error without the values."""
        return ScoreOptionsError(self._without_values)


class Missing(StrEnum):
    """How a missing answer counts."""

    #: It is left out of every score, and counted.
    SKIP = "skip"
    #: It scores 0; in a pooled metric, such as BLEU, it is an empty text.
    ZERO = "zero"


#: The values of options that have few.
_CHOICES: dict[str, tuple[str | None, ...]] = {
    "missing": (None, "skip", "zero"),
    "reference_from": ("references", "gt"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions(RunOptions):
    """The options of a scoring run, with the defaults of the command line.

    Raises `OptionError` for values outside of their range.
    """

    #: Names of metrics, or `NAME=METRIC` for a metric with another name in results; if
    #: empty, those of the input, the configuration or the profile.
    metrics: tuple[str, ...] = ()
    #: Whether the scores that answers hold already are shown, and none is computed.
    stored: bool = False
    #: The id of the profile; that of the result format if None.
    profile: str | None = None
    #: A vendor's configuration with metrics and names: a file, or its decoded JSON.
    config: PathLike[str] | str | Mapping[str, Any] | None = None
    #: Parameters of metrics, by `metric.parameter`.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    #: Fields by which answers are grouped.
    by: tuple[str, ...] = ()
    #: Whether metrics that cannot be computed are left out, with a note.
    skip_unknown: bool = False
    #: How a missing answer counts: "skip" or "zero". If None, an answer without a score
    #: by some metric is an error.
    missing: Missing | str | None = None
    #: What the reference of a record is: its "references", or its "gt" if it has one.
    reference_from: ReferenceFrom | str = ReferenceFrom.REFERENCES
    #: The model whose answers are scored; all models if None.
    model: str | None = None
    #: Whether cells of CSV that a spreadsheet would run are written with a mark.
    csv_safe: bool = False
    #: By the path of an input the name of its system, or those of its models.
    systems: Mapping[str, SystemName] = field(default_factory=dict)
    #: Whether all answers without a model are of one system.
    pool: bool = False
    #: Values for fields that records lack, for results that contain records.
    constants: Mapping[str, Any] = field(default_factory=dict)
    #: Names in results: `task`, `tree`, `job`, `run_name`.
    names: Mapping[str, str] = field(default_factory=dict)
    #: The confidence level of intervals, between 0 and 1.
    level: float = LEVEL
    #: The number of bootstrap replicates; 0 for no intervals.
    replicates: int = REPLICATES
    #: The seed of the random draws of intervals.
    seed: int = SEED
    #: Whether an existing output is replaced.
    overwrite: bool = False

    def __post_init__(self) -> None:
        RunOptions.__post_init__(self)
        for name in ("metrics", "by"):
            if isinstance(getattr(self, name), str):
                raise OptionError(f"{name} must be a tuple of names, not a string")
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                hint = hint_on(str(value), filter(None, known), shown=repr)
                raise OptionError(f"{name} cannot be {value!r}{hint}")
        if not 0 < self.level <= MOST_LEVEL:
            raise OptionError(
                f"the level must be above 0 and at most {MOST_LEVEL}, "
                f"not {self.level!r}"
            )
        if not 0 <= self.replicates <= MOST_REPLICATES:
            raise OptionError(
                f"replicates must be from 0 to {MOST_REPLICATES:,}, "
                f"not {self.replicates:,}"
            )
        if not 0 <= self.seed < SEEDS:
            raise OptionError("the seed must be an integer from 0 to 2^64 - 1")
