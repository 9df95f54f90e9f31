"""Write the results of the Python functions with reporters."""

from os import PathLike, fspath
from typing import Any

from harpia_formats.files.io.sink import StreamSink
from harpia_formats.model.result import Result
from harpia_formats.reporters import Options, ReportError, reporter_named
from harpia_formats.reporters.report_file import (
    ReportFile,
    check_replaceable,
    encoded,
    reporter_of_file,
    write_files,
    write_whole,
)


def write_result(result: Result, output: Any, reporter_name: str | None) -> None:
    """Write a result to a path, URL or open binary file.

    Without a name, the suffix of the path says which reporter writes it. Raises
    `ReportError`, `PluginError` or `SinkError`, and `TypeError` for another output.
    """
    named = None if reporter_name is None else reporter_named(reporter_name)
    if isinstance(output, (str, PathLike)):
        place = fspath(output)
        file = ReportFile(place, named or reporter_of_file(place))
        check_replaceable(file)
        write_files([file], result, Options())
        return
    if not hasattr(output, "write"):
        kind = type(output).__name__
        raise TypeError(f"a report is written to a path or a binary file, not a {kind}")
    if named is None:
        raise ReportError("an open file has no suffix; name the reporter")
    sink = StreamSink(output, str(getattr(output, "name", "<stream>")))
    write_whole(named, result, lambda text: sink.write(encoded(text)), Options())
    sink.commit()
