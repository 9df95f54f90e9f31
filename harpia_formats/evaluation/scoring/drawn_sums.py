"""Sums over questions with random weights, for many systems and draws at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from harpia_formats.evaluation.scoring.bootstrap import QUANTUM
from harpia_formats.evaluation.scoring.draws import TOGETHER
from harpia_formats.evaluation.scoring.paired_answers import (
    MetricAnswers,
    PairedAnswers,
)
from harpia_formats.evaluation.scoring.question_rows import parts_of

#: Sums that are held at once, and random numbers or statistics of questions.
_SUMS = 1024 * 1024
_NUMBERS = 1024 * 1024
#: The most draws at once, and those that are scored together.
_DRAWS = 16 * 1024
_ROWS = 256
#: Returns the columns of the questions in a slice.
Columns = Callable[[slice], Any]


class Draw(Protocol):
    """Returns random numbers of questions."""

    def __call__(
        self, keys: Sequence[bytes], seed: int, draws: int, first: int = 0, /
    ) -> Any:
        """Return an integer for each of some questions in draws from `first` on."""


def drawn_sums(  # noqa: PLR0913 - what is drawn, and of what
    draw: Draw,
    keys: Sequence[bytes],
    seed: int,
    draws: int,
    columns: Columns,
    *,
    width: int,
) -> Iterator[tuple[int, Any]]:
    """Yield the sums of `width` columns in some draws, and the number of the first.

    Each question counts as often as `draw` says. The numbers in the columns must be
    multiples of one power of 2, so that the sums are exact and do not depend on the
    order of questions.
    """
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    most = max(min(_SUMS // max(width, 1), _DRAWS) // TOGETHER, 1) * TOGETHER
    for first in range(0, draws, most):
        count = min(most, draws - first)
        sums = np.zeros((count, width))
        size = max(_NUMBERS // max(count, width), 1)
        for part in parts_of(len(keys), size):
            numbers = draw(keys[part], seed, count, first).astype(np.float64)
            sums += numbers.T @ columns(part)
        yield first, sums


@dataclass(slots=True)
class Blocks:
    """The statistics of the systems of some pairs, over the questions of the pairs.

    Pairs with the same questions share the block of a system.
    """

    answers: MetricAnswers
    #: The system of each block, and for each question 1 if it counts, else 0.
    blocks: list[tuple[int, Any]] = field(default_factory=list)
    _known: dict[tuple[int, bytes], int] = field(default_factory=dict)

    def add(self, systems: tuple[int, int], paired: PairedAnswers) -> tuple[int, int]:
        """Add a pair of systems; return the places of the blocks of both."""
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        counted = paired.counted
        key = np.packbits(counted).tobytes()
        for system in systems:
            if (system, key) not in self._known:
                self._known[system, key] = len(self.blocks)
                self.blocks.append((system, counted))
        return self._known[systems[0], key], self._known[systems[1], key]

    @property
    def width(self) -> int:
        """The number of statistics of a system."""
        return self.answers.systems[0].rows.width

    def sums(
        self, draw: Draw, seed: int, draws: int
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield the sums of each block in some draws, and the number of the first."""
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        width = self.width
        systems = {system for system, _ in self.blocks}

        def columns(part: slice) -> Any:
            rows = {
                system: self.answers.systems[system].rows.part(part)
                for system in systems
            }
            found = [
                rows[system] * counted[part, None] for system, counted in self.blocks
            ]
            return np.rint(np.hstack(found, dtype=np.float64) / QUANTUM) * QUANTUM

        every = len(self.blocks) * width
        found = drawn_sums(draw, self.answers.keys, seed, draws, columns, width=every)
        for first, sums in found:
            yield first, np.hsplit(sums, len(self.blocks))


def drawn_scores(answers: MetricAnswers, sums: Any) -> Any:
    """Return the scores of a system in each draw, NaN for each that it lacks.

    `sums` has its summed statistics in each draw.
    """
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    found = np.empty((len(sums), len(answers.scores(()))))
    # Some at a time, since numbers of Python take four times the memory.
    for part in parts_of(len(sums), _ROWS):
        found[part] = [answers.scores(row) for row in sums[part].tolist()]
    return found
