"""Write and draw the results of the Python functions."""

from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from harpia_formats.model.problem import OptionError

if TYPE_CHECKING:  # for one kind of results only
    from harpia_formats.model.result import Result


def write_result(result: "Result", output: Any, reporter_name: str | None) -> None:
    """Write a result to a path, URL or open binary file.

    Without a name, the suffix of the path says which reporter writes it. Raises
    `ReportError`, `PluginError` or `SinkError`, and `OptionError` for another output.
    """
    from harpia_formats.files.io.sink import StreamSink  # noqa: PLC0415 - for one kind of results only
    from harpia_formats.reporters import Options, ReportError, reporter_named  # noqa: PLC0415 - for one kind of results only
    from harpia_formats.reporters.report_file import (  # noqa: PLC0415 - for one kind of results only
        ReportFile,
        check_replaceable,
        encoded,
        reporter_of_file,
        write_files,
        write_whole,
    )

    named = None if reporter_name is None else reporter_named(reporter_name)
    if isinstance(output, (str, PathLike)):
        place = fspath(output)
        file = ReportFile(place, named or reporter_of_file(place, 'reporter="{name}"'))
        check_replaceable(file)
        write_files([file], result, Options())
        return
    if not hasattr(output, "write"):
        kind = type(output).__name__
        raise OptionError(
            f"a report is written to a path or a binary file, not a {kind}"
        )
    if named is None:
        raise ReportError("an open file has no suffix; name the reporter")
    sink = StreamSink(output, str(getattr(output, "name", "<stream>")))
    write_whole(named, result, lambda text: sink.write(encoded(text)), Options())
    sink.commit()


def draw_result(result: Any, place: Any, kind: str | None) -> list[str]:
    """Draw scores, or a comparison of scores, into a path or URL.

    Return what is not drawn, in sentences. Raises `FigureError`, `SinkError`, and
    `OptionError` for another result or place.
    """
    from harpia_formats.evaluation.figures.picture_files import (  # noqa: PLC0415 - for one kind of results only
        PictureFiles,
        named_picture,
    )
    from harpia_formats.evaluation.scoring.results.scores import Scores  # noqa: PLC0415 - for one kind of results only
    from harpia_formats.files.io.outputs import FilesRead  # noqa: PLC0415 - for one kind of results only

    if not isinstance(place, (str, PathLike)):
        name = type(place).__name__
        raise OptionError(f"a picture is written to a path, and not to a {name}")
    if isinstance(result, Scores):
        command = "score"
    elif hasattr(result, "compared"):
        command = "score compare"
    elif hasattr(result, "benchmarks"):
        command = "score plan"
    else:
        raise OptionError(
            f"scores and comparisons of scores are drawn, and not a "
            f"{type(result).__name__}"
        )
    file = named_picture(kind, fspath(place), command)
    return PictureFiles([file], FilesRead()).write(result)
