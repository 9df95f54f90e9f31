"""All pairs of systems that are compared together, with their questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harpia_formats.evaluation.scoring.compared import ComparedPair, ComparedScore
from harpia_formats.evaluation.scoring.match_questions import MatchedQuestions
from harpia_formats.evaluation.scoring.p_values import PairedTest
from harpia_formats.evaluation.scoring.paired import compare_pairs
from harpia_formats.evaluation.scoring.paired_answers import MetricAnswers


@dataclass(frozen=True, slots=True)
class PairFamily:
    """The pairs of systems that are compared, and how they are tested."""

    #: The places of the systems of each pair.
    pairs: Sequence[tuple[int, int]]
    #: The names of all systems.
    names: Sequence[str]
    matched: MatchedQuestions
    test: PairedTest

    def compared_scores(self, answers: MetricAnswers) -> list[list[ComparedScore]]:
        """Return the scores by a metric for each pair, without the names of scores."""
        found = []
        compared = compare_pairs(answers, self.pairs, self.test)
        for (one, other), comparisons in zip(self.pairs, compared, strict=True):
            paired = answers.pair(one, other)
            unscored = paired.unscored()
            found.append(
                [
                    ComparedScore(
                        "",
                        "",
                        (self.names[one], self.names[other]),
                        first,
                        second,
                        comparison,
                        "",
                        paired.questions,
                        unscored,
                        by_question=paired.by_question(at),
                        widest=answers.widest,
                    )
                    for at, (first, second, comparison) in enumerate(
                        zip(*paired.values(), comparisons, strict=True)
                    )
                ]
            )
        return found

    def compared_pairs(
        self, numbers: Sequence[Sequence[int]]
    ) -> Iterator[ComparedPair]:
        """Yield each pair with how many questions both have, and only one of them.

        `numbers` has the questions of each system, by their numbers in the table.
        """
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        places = np.asarray(self.matched.places)
        has = np.zeros((len(numbers), len(self.matched.keys)), dtype=bool)
        for mine, of_system in zip(has, numbers, strict=True):
            mine[places[np.asarray(of_system, dtype=np.int64)]] = True
        for one, other in self.pairs:
            yield ComparedPair(
                self.names[one],
                self.names[other],
                int((has[one] & has[other]).sum()),
                int((has[one] & ~has[other]).sum()),
                int((has[other] & ~has[one]).sum()),
            )
