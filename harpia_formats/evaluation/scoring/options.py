"""The options of scoring."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike
from typing import TYPE_CHECKING, Any

from harpia_formats.conversion.mapping.choices import ReferenceFrom
from harpia_formats.conversion.options import OnInvalid
from harpia_formats.evaluation.scoring.significance.bootstrap import (
    LEVEL,
    REPLICATES,
    SEED,
)
from harpia_formats.files.io.discovery import check_patterns
from harpia_formats.files.io.reader import ROW_LIMIT
from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.workers.engine import (
    CLUSTER_TIMEOUT,
    check_cluster_timeout,
    check_engine,
)
from harpia_formats.model.column_map import check_field_names
from harpia_formats.model.problem import OptionError
from harpia_formats.model.report import Report
from harpia_formats.model.spelling import hint_on
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError

if TYPE_CHECKING:  # most runs have none
    from concurrent.futures import Executor

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
    "on_invalid": ("fail", "skip"),
    "missing": (None, "skip", "zero"),
    "reference_from": ("references", "gt"),
}


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """The options of a scoring run, with the defaults of the command line.

    Raises `OptionError` for values outside of their range.
    """

    #: The id of the format of the inputs, detected if None.
    from_: str | None = None
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
    #: What to do with an invalid row: "fail", or "skip" to leave it out with a note.
    on_invalid: OnInvalid | str = OnInvalid.FAIL
    #: How a missing answer counts: "skip" or "zero". If None, an answer without a score
    #: by some metric is an error.
    missing: Missing | str | None = None
    #: What the reference of a record is: its "references", or its "gt" if it has one.
    reference_from: ReferenceFrom | str = ReferenceFrom.REFERENCES
    #: The model whose answers are scored; all models if None.
    model: str | None = None
    #: The column of each field, for CSV and other tables.
    columns: Mapping[str, str] | None = None
    #: The character between the fields of tables that are read, or its name; None for
    #: the tab in files called .tsv and the comma in others.
    delimiter: str | None = None
    #: Whether tables were written with `csv_safe`: its marks are taken back.
    from_csv_safe: bool = False
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
    #: Show no value of a record in problems, names of groups and messages.
    redact: bool = False
    #: Patterns of paths below the given folders; files that match are left out.
    exclude: tuple[str, ...] = ()
    #: Pass over files in no known format, and say how many.
    skip_unrecognised: bool = False
    #: Fewer valid records in all files are an error.
    min_records: int = 0
    #: The document with which the rows are read, such as the results for the samples
    #: of a harness; None for one that is found by the names of the files.
    companion: PathLike[str] | str | None = None
    #: The bytes that a row may have; a longer one is an error.
    max_row_bytes: int = ROW_LIMIT
    #: The number of worker processes; 0 for one for each processor.
    jobs: int = 0
    #: Runs the work instead of worker processes, `jobs` tasks at once if that is set.
    executor: "Executor | None" = None
    #: The address of a cluster that runs the work: `dask://host:port`.
    engine: str | None = None
    #: Seconds that the run waits for a cluster that has no workers.
    cluster_timeout: float = CLUSTER_TIMEOUT
    #: Called regularly with the file that is being read and its position.
    progress: Callable[[ReadProgress], None] | None = None

    @property
    def skips_invalid(self) -> bool:
        """Whether invalid rows are left out."""
        return self.on_invalid == OnInvalid.SKIP

    def can_score(self, report: Report) -> bool:
        """Tell whether inputs with this report were read as the options ask."""
        is_read = report.ok or self.skips_invalid
        return is_read and not (report.failures or report.lacks_records)

    def __post_init__(self) -> None:
        for name in ("metrics", "by"):
            if isinstance(getattr(self, name), str):
                raise OptionError(f"{name} must be a tuple of names, not a string")
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                hint = hint_on(str(value), filter(None, known), shown=repr)
                raise OptionError(f"{name} cannot be {value!r}{hint}")
        if self.columns is not None:
            check_field_names(self.columns)
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
        check_patterns(self.exclude)
        if min(self.jobs, self.min_records) < 0 or self.max_row_bytes < 1:
            raise OptionError(
                "jobs and min_records must not be negative, nor max_row_bytes below 1"
            )
        check_cluster_timeout(self.cluster_timeout)
        check_engine(self.engine, self.executor)
