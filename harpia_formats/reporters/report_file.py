"""Write whole results into files, each by the reporter that its name asks for."""

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harpia_formats.extensions import entry_points
from harpia_formats.io.compression import CODECS
from harpia_formats.io.output_group import OutputGroup
from harpia_formats.io.sink import Sink, SinkError
from harpia_formats.io.urls import file_name_of, is_url, masked
from harpia_formats.model.report import Report
from harpia_formats.model.result import Result
from harpia_formats.reporters import REPORTERS, ReportError, reporter_named
from harpia_formats.reporters.existing_file import holds_data
from harpia_formats.reporters.reporter import Options, Reporter

#: What may be the name of a reporter in `NAME=FILE`: no part of a path or a URL.
_name = re.compile(r"[A-Za-z][\w-]*")


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file for a report, and the reporter that writes it."""

    #: A path or URL.
    place: str
    reporter: Reporter


def report_file(text: str) -> ReportFile:
    """Return the file and reporter of `[NAME=]FILE`; the suffix stands for a name.

    Raises `UnknownReporter`, `ReportError`, and `PluginError` for a plug-in that cannot
    be used.
    """
    name, equals, place = text.partition("=")
    if not equals or not _name.fullmatch(name):
        return ReportFile(text, reporter_of_file(text))
    if not place:
        raise ReportError(f"{text!r} names no file; write it as {name}=FILE")
    return ReportFile(place, reporter_named(name))


def reporter_of_file(place: str) -> Reporter:
    """Return the reporter of the suffix of a path or URL; those built in come first.

    A suffix of compressed files is passed over. Raises `ReportError` if no reporter has
    the suffix, or several plug-ins have it, and `PluginError`.
    """
    name = file_name_of(place).lower()
    for codec in CODECS:
        name = name.removesuffix(codec.suffix)
    found = _with_suffix(name, REPORTERS.values()) or _with_suffix(name, _plugins())
    if len(found) == 1:
        return found[0]
    shown = masked(place)
    if found:
        names = ", ".join(f"{one.name}={shown}" for one in found)
        raise ReportError(f"{shown}: several reporters have its suffix: {names}")
    known = [suffix for one in REPORTERS.values() for suffix in one.suffixes]
    raise ReportError(
        f"{shown}: its suffix is that of no reporter ({', '.join(known)}); name one as "
        f"NAME={shown}: {', '.join(REPORTERS)}"
    )


def _with_suffix(name: str, reporters: Iterable[Reporter]) -> list[Reporter]:
    """Return the reporters with a suffix of the name, those with the longest one."""
    found: list[Reporter] = []
    longest = 0
    for reporter in reporters:
        length = max(map(len, filter(name.endswith, reporter.suffixes)), default=0)
        if length > longest:
            longest, found = length, []
        if length and length == longest:
            found.append(reporter)
    return found


def _plugins() -> Iterator[Reporter]:
    for name in entry_points.plugin_names(entry_points.REPORTERS):
        yield reporter_named(name)


def report_files(
    given: Iterable[str], kind: type[Result], others: Iterable[str]
) -> list[ReportFile]:
    """Return the files that texts such as `[NAME=]FILE` name, for results of a type.

    `others` are the paths and URLs that the run reads or writes. Raises
    `UnknownReporter`, `ReportError`, `PluginError` or `SinkError` for a report that
    cannot be written.
    """
    files = [report_file(text) for text in given]
    group = OutputGroup(overwrite=True)
    taken = {_identity(place) for place in others}
    for file in files:
        check_writes(file.reporter, kind)
        if file.reporter.check is not None:
            file.reporter.check()
        _check_place(file.place, taken)
        if file.reporter in REPORTERS.values() and holds_data(file.place):
            reason = "holds data and no report; name another file, or delete it"
            raise SinkError(file.place, reason)
        group.claim(file.place)
    return files


def local_paths(files: Iterable[ReportFile]) -> frozenset[Path]:
    """Return the absolute paths of the files that are not remote."""
    return frozenset(
        Path(file.place).absolute() for file in files if not is_url(file.place)
    )


def write_files(files: Iterable[ReportFile], result: Result, options: Options) -> None:
    """Write a result into files, which appear together and replace those there are.

    Raises `SinkError`, and `ReportError` for a result of a type that a reporter cannot
    write.
    """
    group = OutputGroup(overwrite=True)
    try:
        for file in files:
            write = partial(_write_text, group.open(file.place))
            write_whole(file.reporter, result, write, options)
        group.commit()
    except BaseException:  # an interrupt, too, leaves no temporary file
        group.discard()
        raise


def _write_text(sink: Sink, text: str) -> None:
    sink.write(encoded(text))


def encoded(text: str) -> bytes:
    """Return a text as UTF-8, with a backslash and digits for each lone surrogate."""
    return text.encode("utf-8", "backslashreplace")


def _identity(place: str) -> str:
    """Return a text that is equal for two names of one file."""
    return place if is_url(place) else os.path.realpath(place)


def _check_place(place: str, taken: Container[str]) -> None:
    """Raise `ReportError` or `SinkError` if no report can be written to a place."""
    if place == "-":
        raise ReportError("a report is written to a file, and - is none")
    if _identity(place) in taken:
        raise SinkError(masked(place), "is an input or an output of this run")
    if is_url(place):
        from harpia_formats.io.remote.sink import check_remote_output  # noqa: PLC0415 - for remote files only

        check_remote_output(place, overwrite=True)
        return
    folder = Path(place).absolute().parent
    if Path(place).is_dir():
        raise SinkError(place, "is a folder")
    if not folder.is_dir():
        raise SinkError(place, "its folder does not exist")
    if not Path(place).exists() and not os.access(folder, os.W_OK):
        raise SinkError(place, "permission denied")


def check_writes(reporter: Reporter, kind: type[Result]) -> None:
    """Raise `ReportError` if the reporter cannot write results of a type."""
    if issubclass(kind, Report) or reporter.write_result is not None:
        return
    names = [one.name for one in REPORTERS.values() if one.write_result is not None]
    raise ReportError(
        f"the reporter {reporter.name} writes the findings of a validation, and not "
        f"other results; these are written by {', '.join(names)}"
    )


def write_whole(
    reporter: Reporter,
    result: Result,
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write a result that is complete; raises `ReportError` if it is of a wrong type.

    Its findings are those that it kept as examples.
    """
    check_writes(reporter, type(result))
    if isinstance(result, Report):
        reporter.write(iter(result.problems), lambda: result, write_text, options)
    elif reporter.write_result is not None:
        reporter.write_result(result, write_text, options)
