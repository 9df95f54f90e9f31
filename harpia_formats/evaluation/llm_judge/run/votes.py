"""Several votes of a judge on each row, and the majority of the votes on a row."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from harpia_formats.evaluation.llm_judge.definition.output_fields import OutputField
from harpia_formats.evaluation.llm_judge.run.verdicts import JudgeRow, Verdict

#: The fewest votes that can have a majority.
LEAST = 2


def rows_with_votes(rows: Iterable[JudgeRow], votes: int) -> Iterator[JudgeRow]:
    """Yield each row once for each vote on it; with one vote the row as it is."""
    for row in rows:
        if votes == 1:
            yield row
            continue
        for vote in range(votes):
            yield replace(row, vote=vote, identity={**row.identity, "vote": vote + 1})


@dataclass(slots=True)
class MajorityCounts:
    """How often the votes on a row have a majority, for one output field."""

    rows: int = 0
    #: The rows without a majority, since two values have the most votes.
    ties: int = 0
    votes: int = 0
    #: The votes that are equal to the majority of their row.
    agreeing: int = 0

    @property
    def text(self) -> str:
        """The counts in words."""
        majorities = self.rows - self.ties
        rows = "row" if self.rows == 1 else "rows"
        ties = "tie" if self.ties == 1 else "ties"
        return (
            f"a majority in {majorities:,} of {self.rows:,} {rows}, {self.ties:,} "
            f"{ties}; {self.agreeing:,} of {self.votes:,} votes are that of a majority"
        )


@dataclass(slots=True)
class Majorities:
    """Adds the majority of each row to the verdict of its last vote, and counts them.

    Numbers, true and false, and texts of declared choices have a majority.
    """

    outputs: tuple[OutputField, ...] = ()
    votes: int = 1
    #: The counts by the name of the field.
    counts: dict[str, MajorityCounts] = field(default_factory=dict)
    _row: list[Verdict] = field(default_factory=list)

    def add(self, verdict: Verdict) -> Verdict:
        """Return a verdict, with the majorities of its row if it is the last vote."""
        if self.votes == 1:
            return verdict
        self._row.append(verdict)
        if len(self._row) < self.votes:
            return verdict
        labels = self._labels()
        self._row.clear()
        found = {
            name: majority_of(values)
            for name, values in labels.items()
            if len(values) >= LEAST
        }
        for name, majority in found.items():
            counts = self.counts.setdefault(name, MajorityCounts())
            is_tie = majority["value"] is None
            counts.rows += 1
            counts.ties += is_tie
            counts.votes += majority["of"]
            counts.agreeing += 0 if is_tie else majority["votes"]
        return replace(verdict, majority=found)

    def _labels(self) -> dict[str, list[Any]]:
        """Return the values of the votes on a row by the names of their fields."""
        with_choices = {output.name for output in self.outputs if output.choices}
        found: dict[str, list[Any]] = {}
        for verdict in self._row:
            for name, value in (verdict.result or {}).items():
                if _is_number(value) or (
                    isinstance(value, str) and name in with_choices
                ):
                    found.setdefault(name, []).append(value)
        return found


def majority_of(values: Iterable[Any]) -> dict[str, Any]:
    """Return the `value` that most of some values have, its `votes`, and `of` how many.

    There must be a value. If two have the most votes, it is a tie, and `value` is None.
    """
    counts = Counter(values)
    (first, most), *others = counts.most_common(2)
    is_tie = any(count == most for _, count in others)
    return {"value": None if is_tie else first, "votes": most, "of": counts.total()}


def _is_number(value: Any) -> bool:
    """Tell whether a value is true, false or a finite number."""
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
