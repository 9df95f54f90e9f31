"""The kinds of pictures: what each shows, and of what it is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # it is imported with the command line, and matplotlib is not
    from harpia_formats.evaluation.figures.drawing import Drawing


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of picture."""

    name: str
    #: What it shows, for help texts.
    summary: str
    #: The command whose result it is drawn of: `score` or `score compare`.
    command: str
    #: Returns the drawing of a result of that command, and of the counts of its answers
    #: if it needs these.
    draw: "Callable[..., Drawing]"
    #: Whether it needs the scores of single answers.
    needs_answers: bool = False
    #: Whether it needs a metric of labels.
    needs_labels: bool = False


def _scores(found: Any) -> "Drawing":
    from harpia_formats.evaluation.figures.score_rows import draw_scores  # noqa: PLC0415 - only pictures need it

    return draw_scores(found)


def _distributions(found: Any, counts: Any) -> "Drawing":
    from harpia_formats.evaluation.figures.distributions import draw_distributions  # noqa: PLC0415 - only pictures need it

    return draw_distributions(found, counts)


def _lengths(found: Any, counts: Any) -> "Drawing":
    from harpia_formats.evaluation.figures.distributions import draw_lengths  # noqa: PLC0415 - only pictures need it

    return draw_lengths(found, counts)


def _confusions(found: Any) -> "Drawing":
    from harpia_formats.evaluation.figures.confusions import draw_confusions  # noqa: PLC0415 - only pictures need it

    return draw_confusions(found)


def _differences(found: Any) -> "Drawing":
    from harpia_formats.evaluation.figures.differences import draw_differences  # noqa: PLC0415 - only pictures need it

    return draw_differences(found)


def _questions(found: Any) -> "Drawing":
    from harpia_formats.evaluation.figures.differences import draw_questions  # noqa: PLC0415 - only pictures need it

    return draw_questions(found)


#: The kinds by their names. The first one of a command is drawn if none is named.
KINDS = {
    kind.name: kind
    for kind in (
        Kind("scores", "scores with intervals by model and group", "score", _scores),
        Kind(
            "distributions",
            "scores of single answers by model",
            "score",
            _distributions,
            needs_answers=True,
        ),
        Kind(
            "confusion",
            "confusion matrix of labels",
            "score",
            _confusions,
            needs_labels=True,
        ),
        Kind(
            "lengths",
            "mean scores by the length of the answer",
            "score",
            _lengths,
            needs_answers=True,
        ),
        Kind(
            "differences",
            "differences with intervals by pair of systems",
            "score compare",
            _differences,
        ),
        Kind(
            "questions",
            "differences question by question",
            "score compare",
            _questions,
        ),
    )
}


def kinds_of(command: str) -> dict[str, Kind]:
    """Return the kinds that are drawn of the result of a command."""
    return {name: kind for name, kind in KINDS.items() if kind.command == command}
