"""What a run shows while it waits for the workers of a cluster, and how long it may."""

from dataclasses import dataclass

#: Seconds that a run waits by default for a cluster without workers.
CLUSTER_TIMEOUT = 600.0


@dataclass(frozen=True, slots=True)
class WorkersAwaited:
    """How long a run has waited for workers, as a progress of reading is told."""

    name: str
    #: The seconds that it has waited, and that it waits at most.
    consumed: int
    total: int
    #: For how many workers it waits, and until when: a line to show at once.
    notice: str
    unit: str = "seconds"


def check_cluster_timeout(seconds: float) -> None:
    """Raise `ValueError` unless a run can wait for so many seconds."""
    if not 0 < seconds < float("inf"):
        raise ValueError(f"cluster_timeout must be above 0, not {seconds}")
