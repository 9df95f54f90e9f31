"""Which systems of some inputs are compared, in what pairs, and their names."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import PurePath
from typing import TypeVar

from harpia_formats.evaluation.scoring.options import ScoreValueError
from harpia_formats.files.io.inputs import Input
from harpia_formats.files.io.source import Source
from harpia_formats.model.spelling import hint_on, nearest
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError

#: Systems that an error names.
_LISTED = 5


@dataclass(frozen=True, slots=True)
class FoundSystem:
    """A system in an input: the place of the input, and the model of its answers."""

    place: int
    source: str
    model: str | None


def source_name(given: Input, place: int) -> str:
    """Return what an input is called: its path, else its number."""
    name: object = given
    if isinstance(given, Source):
        name = given.origin if isinstance(given.origin, PurePath) else given.name
    if isinstance(name, (str, PurePath)) and str(name) not in {"", "-", "<data>"}:
        return str(name)
    return f"input {place + 1}"


AnySystem = TypeVar("AnySystem", bound=FoundSystem)


def chosen_systems(
    found: Sequence[AnySystem], wanted: Sequence[str]
) -> list[AnySystem]:
    """Return the systems that are compared: all, or those that `wanted` names.

    A name is `MODEL`, or `INPUT=MODEL` with the name of an input or its number from 1.
    An input that no name is about is compared whole. Raises `ScoreError` for a name of
    no system, and if fewer than two remain.
    """
    chosen: dict[AnySystem, None] = {}
    named: set[int] = set()
    for text in wanted:
        of_input, _, model = text.partition("=")
        mine = [
            one
            for one in found
            if one.model == model and of_input in {one.source, f"{one.place + 1}"}
        ] or [one for one in found if one.model == text]
        if not mine:
            raise _no_model(text, found)
        chosen |= dict.fromkeys(mine)
        named |= {one.place for one in mine}
    if wanted:
        found = [one for one in found if one in chosen or one.place not in named]
    if len(found) < 2:  # noqa: PLR2004 - a pair is of two
        models = [one.model for one in found if one.model]
        there = f"answers of {models[0]}" if models else "answers of one system"
        need = (
            "and a comparison needs two systems: name another input, or one with "
            "answers of several models"
        )
        raise ScoreValueError(
            f"there are only {there}, {need}",
            f"there are only answers of one system, {need}",
        )
    return list(found)


def _no_model(wanted: str, found: Sequence[FoundSystem]) -> ScoreError:
    """Return the error that no answer is of a model, with the models that there are."""
    models = list(dict.fromkeys(one.model for one in found if one.model))
    start = f"no answer is of the model {wanted!r}"
    if not models:
        return ScoreOptionsError(f"{start}; none names its model")
    hint = hint_on(wanted, models, word="there are", most=_LISTED, shown=repr)
    return ScoreValueError(
        f"{start}{hint}",
        f"{start}; the models of the answers are shown only without `--redact`",
    )


def distinct_names(systems: Iterable[tuple[str | None, str]]) -> list[str]:
    """Return a name for each system, given its model and the name of its input.

    It is the model, else the last part of the name of the input; where several would
    have one name, the name with the input, and a number where that is the same, too.
    """
    given = list(systems)
    names = [model or PurePath(source).name or source for model, source in given]
    for by_input in (lambda source: PurePath(source).name, str):
        counts = Counter(names)
        names = [
            name
            if counts[name] == 1
            else f"{model} ({by_input(source)})"
            if model
            else by_input(source)
            for name, (model, source) in zip(names, given, strict=True)
        ]
    seen: Counter[str] = Counter()
    taken = set(names)
    found = []
    for name in names:
        seen[name] += 1
        own = name
        while seen[name] > 1 and own in taken:
            own = f"{name} #{seen[name]}"
            seen[name] += own in taken
        taken.add(own)
        found.append(own)
    return found


def named_baseline(
    systems: Sequence[FoundSystem], names: Sequence[str], baseline: str | None
) -> str | None:
    """Return the name of the system that `baseline` names, None if it is None.

    It is the name of a system, or the path of its input where no other system is of
    that, with its model before it in `MODEL (INPUT)`. Raises `ScoreValueError` if no
    system is called so.
    """
    if baseline is None or baseline in names:
        return baseline
    sources = Counter(one.source for one in systems)
    for one, name in zip(systems, names, strict=True):
        is_alone = sources[one.source] == 1
        if baseline == f"{one.model} ({one.source})" or (
            is_alone and baseline == one.source
        ):
            return name
    near = nearest(baseline, names)
    hint = f"did you mean {near!r}? " if near else ""
    start = f"no system is called {baseline!r}"
    raise ScoreValueError(
        f"{start}: {hint}the systems are {', '.join(names)}",
        f"{start}; the names of the systems are shown only without `--redact`",
    )


def compared_places(
    names: Sequence[str], baseline: str | None
) -> list[tuple[int, int]]:
    """Return the pairs of systems that are compared, by their places.

    They are all pairs, or each system with the one called `baseline`, which is the
    second.
    """
    if baseline is None:
        return list(combinations(range(len(names)), 2))
    base = list(names).index(baseline)
    return [(place, base) for place in range(len(names)) if place != base]


#: The model that wins, 1, 0.5 or 0 for the model that is shown first, whether both
#: orders agree, and 1, 0.5 or 0 for the first place.
WINNER, WIN = "winner", "win"
CONSISTENT, FIRST_POSITION = "consistent", "first_position"
