"""Verdicts on pairs of answers: which model wins, and whether the order matters."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from harpia_formats.evaluation.llm_judge.definition.definition import Definition
from harpia_formats.evaluation.llm_judge.errors import DefinitionError
from harpia_formats.evaluation.llm_judge.run.verdicts import Verdict
from harpia_formats.evaluation.scoring.pair_keys import (
    CONSISTENT,
    FIRST_POSITION,
    WIN,
    WINNER,
)

#: The inputs with the two answers, which are the choices of the verdict as well.
FIRST, SECOND = "first", "second"
TIE = "tie"
_own = frozenset({WINNER, WIN, CONSISTENT, FIRST_POSITION})
#: Points for the first place by the verdict.
_points = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}
#: What the signature of verdicts on pairs has besides. The mean of `first_position` is
#: near the middle, so its interval is that of the bootstrap: it declares no scale.
SIGNATURE = f"|pairwise:both-orders|ties:half|scale:{WIN}=0-1"


def verdict_field(definition: Definition) -> str:
    """Return the name of the output that says which of two answers is better.

    Raises `DefinitionError` if a definition is not one for pairs.
    """
    required = definition.template().required_names
    missing = [name for name in (FIRST, SECOND) if name not in required]
    if missing:
        raise DefinitionError(
            f"--pairwise needs the inputs {FIRST} and {SECOND}, which are the two "
            f"answers; the definition has no input {missing[0]}"
        )
    found = [
        output.name
        for output in definition.outputs
        if {FIRST, SECOND} <= set(output.choices) <= {*_points}
    ]
    if len(found) != 1:
        raise DefinitionError(
            f"--pairwise needs one output with the choices {FIRST}, {SECOND} and "
            f"{TIE}, or without {TIE}; the definition has "
            f"{'several' if found else 'none'}"
        )
    taken = [output.name for output in definition.outputs if output.name in _own]
    if taken:
        raise DefinitionError(
            f"--pairwise adds {taken[0]} to each result, so no output can be called so"
        )
    return found[0]


@dataclass(slots=True)
class Pairing:
    """How pairs are judged; adds to verdicts which model wins, and if orders agree."""

    #: The output that says which answer is better.
    field: str
    #: How many verdicts there are on each row.
    votes: int = 1
    #: The two models whose answers are pairs, none if the input has only two.
    models: tuple[str, ...] = ()
    #: The answers of both models that were not in a pair, as known after the reading.
    unpaired: int = 0

    def mapped(self, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
        """Yield verdicts with what they say of the models.

        Those on the rows of a pair must follow each other. A vote in one order is
        paired with the vote of the same number in the other.
        """
        rest = iter(verdicts)
        while found := list(islice(rest, 2 * self.votes)):
            orders = zip(found[: self.votes], found[self.votes :], strict=True)
            pairs = [self._of_pair(*both) for both in orders]
            yield from (one for one, _ in pairs)
            yield from (other for _, other in pairs)

    def _of_pair(self, one: Verdict, other: Verdict) -> tuple[Verdict, Verdict]:
        winners = [self._winner(one), self._winner(other)]
        of_pair: dict[str, Any] = {}
        if None not in winners:
            points = [_points[self._choice(verdict)] for verdict in (one, other)]
            of_pair = {
                CONSISTENT: winners[0] == winners[1],
                FIRST_POSITION: sum(points) / 2,
            }
        return (
            _with(one, winners[0], of_pair),
            _with(other, winners[1], of_pair),
        )

    def _choice(self, verdict: Verdict) -> Any:
        return None if verdict.result is None else verdict.result[self.field]

    def _winner(self, verdict: Verdict) -> str | None:
        """Return the model that wins by a verdict, or `TIE`; None without a verdict."""
        choice = self._choice(verdict)
        if choice is None or choice == TIE:
            return None if choice is None else TIE
        models = verdict.row.identity["models"]
        return str(models[0] if choice == FIRST else models[1])


def _with(verdict: Verdict, winner: str | None, of_pair: Mapping[str, Any]) -> Verdict:
    """Return a verdict with its winner, and what both orders say if they are known."""
    if verdict.result is None:
        return verdict
    # Unless data is guarded a reply may have other keys, which cannot be ours.
    given = {key: value for key, value in verdict.result.items() if key not in _own}
    result = {**given, WINNER: winner}
    if of_pair:
        is_decided = of_pair[CONSISTENT] and winner != TIE
        is_mine = winner == verdict.row.identity["model"]
        result |= {WIN: float(is_mine) if is_decided else 0.5, **of_pair}
    return replace(verdict, result=result)
