"""A row to judge, the verdict on it, and the majority of several votes on a row."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harpia_formats.evaluation.llm_judge.output_fields import OutputField


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One row to judge: its values by the names of the inputs, or why it has none."""

    values: Mapping[str, Any]
    #: Why the row cannot be judged, "" if it can.
    problem: str = ""
    #: What identifies the row: `row` (from 1), `record`, `record_id`, `model`, `index`,
    #: `vote` (from 1); of a pair `order` (1 or 2) and `models` (in that order).
    identity: Mapping[str, Any] = field(default_factory=dict)
    #: Which of several votes on the row this is, from 0.
    vote: int = 0

    @property
    def place(self) -> str:
        """The identity of the row as text, for messages."""
        parts = (
            f"{key.replace('_', ' ')} "
            f"{' and '.join(value) if isinstance(value, list) else value}"
            for key, value in self.identity.items()
        )
        return ", ".join(parts) or "a row"


def rows_with_votes(rows: Iterable[JudgeRow], votes: int) -> Iterator[JudgeRow]:
    """Yield each row once for each vote on it; with one vote the row as it is."""
    for row in rows:
        for vote in range(votes):
            identity = {**row.identity, "vote": vote + 1}
            yield row if votes == 1 else replace(row, vote=vote, identity=identity)


OK, FAILED, UNASKED = "ok", "failed", "unasked"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one row, or why there is none."""

    row: JudgeRow
    result: dict[str, Any] | None
    #: `OK`, `FAILED`, or `UNASKED` if the budget was spent before.
    status: str = OK
    error: str | None = None
    attempts: int = 0
    #: Whether the reply is from the cache, or from an equal prompt of this run.
    cached: bool = False
    #: The metadata of the reply.
    reply_meta: Mapping[str, Any] = field(default_factory=dict)
    #: With the last of several votes the majority of each output field of the row.
    majority: Mapping[str, Any] | None = None
    #: Whether there is a reply, though it may have no verdict.
    has_reply: bool = True

    @property
    def meta(self) -> dict[str, Any]:
        """The entry of `meta` that is written with the result."""
        return {
            **self.row.identity,
            "status": self.status,
            "attempts": self.attempts,
            "cached": self.cached,
            **self.reply_meta,
            "error": self.error,
            **({} if self.majority is None else {"majority": self.majority}),
        }


#: The fewest votes that can have a majority.
LEAST = 2


@dataclass(slots=True)
class Majorities:
    """Adds the majority of each row to the verdict of its last vote, and counts them.

    Numbers, true and false, and texts of declared choices have a majority.
    """

    outputs: tuple[OutputField, ...] = ()
    votes: int = 1
    #: By the name of the field: the `rows` with enough votes, the `ties` among them,
    #: their `votes`, and those that are `agreeing` with the majority of their row.
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    _row: list[Verdict] = field(default_factory=list)

    def add(self, verdict: Verdict) -> Verdict:
        """Return a verdict, with the majorities of its row if it is the last vote."""
        if self.votes == 1:
            return verdict
        self._row.append(verdict)
        if len(self._row) < self.votes:
            return verdict
        found = {
            name: majority_of(values)
            for name, values in self._labels().items()
            if len(values) >= LEAST
        }
        self._row.clear()
        for name, majority in found.items():
            is_tie = majority["value"] is None
            agreeing = 0 if is_tie else majority["votes"]
            counts = self.counts.setdefault(name, Counter())
            counts.update(rows=1, ties=is_tie, votes=majority["of"], agreeing=agreeing)
        return replace(verdict, majority=found)

    def _labels(self) -> dict[str, list[Any]]:
        """Return the values of the votes on a row by the names of their fields."""
        with_choices = {output.name for output in self.outputs if output.choices}
        found: dict[str, list[Any]] = {}
        for verdict in self._row:
            for name, value in (verdict.result or {}).items():
                is_choice = isinstance(value, str) and name in with_choices
                is_finite = isinstance(value, float) and math.isfinite(value)
                if isinstance(value, int) or is_finite or is_choice:
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
