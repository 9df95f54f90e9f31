"""The scores of a run, one after the other, as whoever writes results needs them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from harpia_formats.scoring.results.format import Files
from harpia_formats.scoring.scores import ComputedMetric, ScoredAnswer
from harpia_formats.text.sanitize import escaped

#: Metrics that say of one answer that it is right or that it is not.
BINARY = frozenset({"em", "accuracy", "string-check", "number-check"})
#: Metrics of which less is better.
LOWER = frozenset({"ter"})
#: The best score on each scale.
_best = {"0-1": 1.0, "0-100": 100.0}
#: How far rounding may lead beyond the best score.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """One score that each answer may have."""

    #: Its own name, with that of its metric in front where another one has it, too.
    label: str
    #: Its metric by the name in the metric core.
    metric: str
    signature: str
    scale: str

    @property
    def best(self) -> float:
        """The end of its scale."""
        return _best[self.scale]

    @property
    def is_binary(self) -> bool:
        """Whether it says that an answer is right or that it is not."""
        return self.metric in BINARY

    @property
    def lower_is_better(self) -> bool:
        """Whether less is better."""
        return self.metric in LOWER

    def bounded(self, value: float) -> float:
        """Return a score without what rounding put beyond the end of its scale."""
        return self.best if self.best < value < self.best + _ROUNDING else value

    def is_right(self, value: float) -> bool:
        """Tell whether a score is the best there can be."""
        return value == 0 if self.lower_is_better else self.bounded(value) == self.best


def columns_of(measured: Iterable[ComputedMetric]) -> tuple[ScoreColumn, ...]:
    """Return the scores of all metrics, in the order in which answers have them."""
    every = [(each, name) for each in measured for name in each.names]
    times = Counter(name for _, name in every)
    return tuple(
        ScoreColumn(
            label=name if times[name] == 1 else f"{each.request.label}.{name}",
            metric=each.request.metric,
            signature=each.measure.signature,
            scale=each.measure.scale,
        )
        for each, name in every
    )


def values_of(scored: ScoredAnswer) -> tuple[float | None, ...]:
    """Return the scores of an answer in the order of `columns_of`."""
    return tuple(chain.from_iterable(scored.values))


def write_signatures(files: Files, columns: Iterable[ScoreColumn]) -> None:
    """Write the signature of each score beside a file that has no room for it.

    It is a text, a score in each line, since what is called `.json` would be taken for
    data. Where results have no file of their own, nothing is written. Raises
    `SinkError`.
    """
    if files.name is None:
        return
    path = Path(files.name)
    if path.exists() and not path.is_file():
        # A pipe, or /dev/null: no place for files beside it.
        return
    lines = [f"{escaped(each.label)}\t{escaped(each.signature)}\n" for each in columns]
    files.beside(f"{path.name}.signatures.txt")("".join(lines).encode())
