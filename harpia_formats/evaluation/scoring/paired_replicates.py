"""The scores of systems in replicates of the same questions, pair by pair."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.evaluation.scoring.drawn_sums import Blocks, drawn_scores
from harpia_formats.evaluation.scoring.draws import weights_of
from harpia_formats.evaluation.scoring.p_values import PairedTest
from harpia_formats.evaluation.scoring.paired_answers import (
    MetricAnswers,
    PairedAnswers,
)

#: Scores in replicates that are held at once, but at least those of all systems.
_KEPT = 2 * 1024 * 1024


@dataclass(slots=True)
class ReplicatedPair:
    """What the replicates of a pair of systems say, for each score."""

    #: The scores of both systems in the replicates of the interval, as arrays.
    first: Any
    second: Any
    #: How many differences are as far from the one that was found as that is from 0;
    #: a replicate without a difference counts as one of them.
    as_far: list[int]

    def differences(self, at: int) -> list[float]:
        """Return the difference of a score in each replicate that has one."""
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        column = self.first[:, at] - self.second[:, at]
        found: list[float] = column[~np.isnan(column)].tolist()
        return found


def replicated_pairs(
    answers: MetricAnswers,
    pairs: Sequence[tuple[int, int]],
    paired: Sequence[PairedAnswers],
    test: PairedTest,
) -> Iterator[ReplicatedPair]:
    """Yield what the replicates of each pair say, drawn for some pairs at a time."""
    names = len(answers.scores(()))
    most = max(_KEPT // (test.interval_replicates * names), len(answers.systems))
    start = 0
    while start < len(pairs):
        blocks = Blocks(answers)
        places: list[tuple[int, int]] = []
        while start + len(places) < len(pairs) and len(blocks.blocks) <= most:
            at = start + len(places)
            places.append(blocks.add(pairs[at], paired[at]))
        some = paired[start : start + len(places)]
        yield from _pairs_together(blocks, places, some, test)
        start += len(places)


def _pairs_together(
    blocks: Blocks,
    places: Sequence[tuple[int, int]],
    paired: Sequence[PairedAnswers],
    test: PairedTest,
) -> Iterator[ReplicatedPair]:
    """Yield what the replicates of each pair say; `places` has its two blocks."""
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    names = range(len(blocks.answers.scores(())))
    least = test.interval_replicates
    draws = test.replicates if test.uses_bootstrap(blocks.answers) else least
    kept = np.empty((len(blocks.blocks), least, len(names)))
    seen = np.array([[one.difference(at) or 0.0 for at in names] for one in paired])
    as_far = np.zeros(seen.shape, dtype=np.int64)
    for first, sums in blocks.sums(weights_of, test.seed, draws):
        scores = [drawn_scores(blocks.answers, block) for block in sums]
        for mine, found in zip(kept, scores, strict=True):
            mine[first : first + len(found)] = found[: max(least - first, 0)]
        for at, (one, other) in enumerate(places):
            differences = scores[one] - scores[other]
            # No comparison with NaN is true.
            near = np.abs(differences - seen[at]) < np.abs(seen[at])
            as_far[at] += (~near).sum(axis=0)
    for at, (one, other) in enumerate(places):
        yield ReplicatedPair(kept[one], kept[other], as_far[at].tolist())
