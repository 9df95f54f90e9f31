"""The questions that a score leaves out, since they have too few answers."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LeftOutQuestions:
    """The questions with too few answers for a score."""

    questions: int = 0
    #: The fewest and the most answers that one of them has.
    fewest: int = 0
    most: int = 0
    #: How many answers the score needs.
    least: int = 0

    def with_more(self, answers: Sequence[int], least: int) -> "LeftOutQuestions":
        """Return them with more questions, which have so many answers."""
        if not answers:
            return self
        ends = (self.fewest, self.most) if self.questions else ()
        every = (*answers, *ends)
        count = self.questions + len(answers)
        return LeftOutQuestions(count, min(every), max(every), least)

    def note(self, name: str, scored: int) -> str:
        """Return which questions a score leaves out, for people.

        `scored` is the number of questions that have it.
        """
        have = f"{self.fewest:,}"
        if self.fewest < self.most:
            have += f" to {self.most:,}"
        if not scored:
            return (
                f"{name} has no score: {self.least:,} answers to a question are "
                f"needed, and questions have {have}"
            )
        return (
            f"{name} leaves out {self.questions:,} of {self.questions + scored:,} "
            f"questions: {self.least:,} answers are needed, and they have {have}"
        )


#: No question is left out.
NONE_LEFT_OUT = LeftOutQuestions()
