"""The options of a preflight."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harpia_formats.files.io.source import ReadProgress
from harpia_formats.files.workers.awaited import CLUSTER_TIMEOUT

if TYPE_CHECKING:  # most runs have none
    from concurrent.futures import Executor


@dataclass(frozen=True, slots=True)
class PreflightOptions:
    """The options of a preflight; the defaults are those of the command line."""

    #: The values of variables, which are written as `${NAME}` in the file.
    variables: Mapping[str, str] = field(default_factory=dict)
    #: Examples kept of each group, and in all; 0 is no cap.
    examples: int = 5
    max_problems: int = 1000
    #: Show no value of a record.
    redact: bool = False
    #: Worker processes; 0 for as many as there are processors.
    jobs: int = 0
    #: Runs the work of large runs instead of our own worker processes.
    executor: "Executor | None" = None
    #: The address of a cluster that runs it: `dask://host:port`.
    engine: str | None = None
    #: Seconds that the run waits for a cluster that has no workers.
    cluster_timeout: float = CLUSTER_TIMEOUT
    #: Called after each part of a file with how far it was read.
    progress: Callable[[ReadProgress], None] | None = None
