"""The kinds of pictures: what each shows, and of what it is drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # it is imported with the command line, and matplotlib is not
    from harpia_formats.figures.drawing import Drawing


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of picture."""

    name: str
    #: What it shows, for help texts.
    summary: str
    #: The command whose result it is drawn of: `score` or `score compare`.
    command: str
    #: Returns the drawing of a result of that command.
    draw: "Callable[[Any], Drawing]"


def _scores(found: Any) -> "Drawing":
    from harpia_formats.figures.score_rows import draw_scores  # noqa: PLC0415 - only pictures need it

    return draw_scores(found)


#: The kinds by their names. The first one of a command is drawn if none is named.
KINDS = {
    kind.name: kind
    for kind in (
        Kind("scores", "scores with intervals by model and group", "score", _scores),
    )
}


def kinds_of(command: str) -> dict[str, Kind]:
    """Return the kinds that are drawn of the result of a command."""
    return {name: kind for name, kind in KINDS.items() if kind.command == command}
