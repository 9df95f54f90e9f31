"""Draw the results of the Python functions."""

from os import PathLike, fspath
from typing import Any

from harpia_formats.evaluation.figures.files import PictureFiles, named_picture
from harpia_formats.evaluation.figures.library import FigureError
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.files.io.files_read import FilesRead


def draw_result(result: Any, place: Any, kind: str | None) -> list[str]:
    """Draw scores, or a comparison of scores, into a path or URL.

    Return what is not drawn, in sentences. Raises `FigureError`, `SinkError`, and
    `TypeError` for another result or place.
    """
    if not isinstance(place, (str, PathLike)):
        name = type(place).__name__
        raise TypeError(f"a picture is written to a path, and not to a {name}")
    if not isinstance(result, Scores) and not hasattr(result, "compared"):
        raise TypeError(
            f"scores and comparisons of scores are drawn, and not a "
            f"{type(result).__name__}"
        )
    command = "score" if isinstance(result, Scores) else "score compare"
    file = named_picture(kind, fspath(place), command)
    files = PictureFiles([file], FilesRead())
    if files.counts is not None:
        raise FigureError(
            f"the picture {kind} needs the scores of single answers, which the result "
            "does not have: draw it with harpia-formats score --plot"
        )
    return files.write(result)
