"""How to score."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

from harpia_formats.framing.limits import ROW_LIMIT
from harpia_formats.io.source import ReadProgress
from harpia_formats.mapping.columns import check_field_names
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.scoring.bootstrap import LEVEL, REPLICATES, SEED

if TYPE_CHECKING:  # most runs have none
    from concurrent.futures import Executor

#: Replicates take memory, and more of them tell nothing more.
MOST_REPLICATES = 100_000
SEEDS = 2**64


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """How to score; the defaults are those of the command line.

    Raises `ScoreError` for what no scoring could mean.
    """

    #: The format of the inputs, recognised if None.
    from_: str | None = None
    #: Names of metrics; those that the input, the configuration or the profile names
    #: if empty.
    metrics: tuple[str, ...] = ()
    #: Whose definitions are meant; those of what is written if None.
    profile: str | None = None
    #: A vendor's configuration that chooses metrics and names: a file, or decoded.
    config: PathLike[str] | str | Mapping[str, Any] | None = None
    #: Parameters of metrics, by `metric.parameter`.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    #: Fields whose values make groups.
    by: tuple[str, ...] = ()
    #: Whether metrics that cannot be computed are left out, and said so.
    skip_unknown: bool = False
    #: Whether rows that are not valid are left out, and said so.
    skip_invalid: bool = False
    #: The model whose answers are taken; all if None.
    model: str | None = None
    #: The column of each field, where a table is read.
    columns: Mapping[str, str] | None = None
    #: What records get that lack it, where records are written.
    constants: Mapping[str, Any] = field(default_factory=dict)
    #: Names for what is written: `task`, `tree`, `job`, `run_name`.
    names: Mapping[str, str] = field(default_factory=dict)
    #: The share of replicates that an interval holds, and how many there are; none
    #: means no intervals.
    level: float = LEVEL
    replicates: int = REPLICATES
    seed: int = SEED
    overwrite: bool = False
    max_row_bytes: int = ROW_LIMIT
    #: Worker processes; 0 for as many as there are processors.
    jobs: int = 0
    #: Does the work of large runs instead, `jobs` pieces at once if that is given.
    executor: "Executor | None" = None
    #: The address of a cluster that does it: `dask://host:port`.
    engine: str | None = None
    #: Called now and then with the file that is read, as far as it is.
    progress: Callable[[ReadProgress], None] | None = None

    def __post_init__(self) -> None:
        for name in ("metrics", "by"):
            if isinstance(getattr(self, name), str):
                raise TypeError(f"{name} is a tuple of names, not a text")
        if self.columns is not None:
            check_field_names(self.columns)
        if not 0 < self.level < 1:
            raise ScoreError(f"a level lies between 0 and 1, not at {self.level!r}")
        if not 0 <= self.replicates <= MOST_REPLICATES:
            raise ScoreError(
                f"there are 0 to {MOST_REPLICATES:,} replicates, "
                f"not {self.replicates:,}"
            )
        if not 0 <= self.seed < SEEDS:
            raise ScoreError("a seed is a whole number from 0 to 2^64 - 1")
        if self.jobs < 0 or self.max_row_bytes < 1:
            raise ScoreError("jobs must not be negative, nor max_row_bytes below 1")
        if self.engine is not None or self.executor is not None:
            from harpia_formats.workers.engine import check_engine  # noqa: PLC0415 - most runs have none

            check_engine(self.engine, self.executor)
