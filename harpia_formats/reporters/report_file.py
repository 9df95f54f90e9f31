"""Write whole results into files, each by the reporter that its name asks for."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harpia_formats.files.io.discovery import OTHER_SUFFIXES, find_sources, is_data_name
from harpia_formats.files.io.encodings import CODECS
from harpia_formats.files.io.outputs import OutputGroup, check_extra_output
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.sink import Sink, SinkError
from harpia_formats.files.io.source import open_source
from harpia_formats.files.io.urls import file_name_of, is_url, masked
from harpia_formats.formats import extensions
from harpia_formats.model.report import Report
from harpia_formats.model.result import Result
from harpia_formats.reporters import REPORTERS, ReportError, reporter_named
from harpia_formats.reporters.reporter import Options, Reporter

#: What may be the name of a reporter in `NAME=FILE`: no part of a path or a URL.
_name = re.compile(r"[A-Za-z][\w-]*")
#: Bytes of a file by which a report is known.
_BEGINNING = 4096


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file for a report, and the reporter that writes it.

    Raises `ReportError` for standard output.
    """

    #: A path or URL.
    place: str
    reporter: Reporter

    def __post_init__(self) -> None:
        if self.place == "-":
            raise ReportError("a report is written to a file, and - is none")


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


def named_report(text: str) -> tuple[str, str]:
    """Return the name of the reporter and the file of `[NAME=]FILE`.

    The errors are those of `report_file`.
    """
    file = report_file(text)
    return file.reporter.name, file.place


def reporter_of_file(place: str, how: str = "{name}={place}") -> Reporter:
    """Return the reporter of the suffix of a path or URL; those built in come first.

    A suffix of compressed files is passed over. Raises `ReportError` if no reporter has
    the suffix, or several plug-ins have it, and `PluginError`. `how` is how a reporter
    is named for the file, which the error tells.
    """
    name = file_name_of(place).lower()
    for codec in CODECS:
        name = name.removesuffix(codec.suffix)
    found = _with_suffix(name, REPORTERS.values()) or _with_suffix(name, _plugins())
    if len(found) == 1:
        return found[0]
    shown = masked(place)
    if found:
        names = ", ".join(how.format(name=one.name, place=shown) for one in found)
        raise ReportError(f"{shown}: several reporters have its suffix: {names}")
    known = [suffix for one in REPORTERS.values() for suffix in one.suffixes]
    raise ReportError(
        f"{shown}: its suffix is that of no reporter ({', '.join(known)}); name one as "
        f"{how.format(name='NAME', place=shown)}: {', '.join(REPORTERS)}"
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
    for name in extensions.plugin_names(extensions.REPORTERS):
        yield reporter_named(name)


def report_files(
    given: Iterable[str], kind: type[Result], others: Iterable[Any]
) -> list[ReportFile]:
    """Return the files that texts such as `[NAME=]FILE` name, for results of a type.

    `others` are the paths and URLs that the run reads or writes; what is none, such as
    None, is passed over. Raises `UnknownReporter`, `ReportError`, `PluginError` or
    `SinkError` for a report that cannot be written.
    """
    files = [report_file(text) for text in given]
    group = OutputGroup(overwrite=True)
    taken = list(others)
    for file in files:
        check_writes(file.reporter, kind)
        if file.reporter.check is not None:
            file.reporter.check()
        check_extra_output(file.place, taken)
        check_replaceable(file)
        group.claim(file.place)
    return files


def local_paths(files: Iterable[ReportFile]) -> frozenset[Path]:
    """Return the absolute paths of the files that are not remote."""
    return frozenset(
        Path(file.place).absolute() for file in files if not is_url(file.place)
    )


def write_files(files: Iterable[ReportFile], result: Result, options: Options) -> None:
    """Write a result into files, which appear together and replace existing ones.

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


def check_replaceable(file: ReportFile) -> None:
    """Raise `SinkError` if a file exists that cannot be an earlier report.

    An empty file is replaced.
    """
    data = _beginning(file.place)
    begins = file.reporter.begins
    if begins:
        is_report = re.match(begins, data, re.DOTALL) is not None
    else:
        name = file_name_of(file.place).lower()
        is_data = is_data_name(name) or name.endswith(OTHER_SUFFIXES)
        is_report = not (is_data or data.lstrip()[:1] in {b"{", b"["})
    if data and not is_report:
        reason = (
            f"already exists and is no {file.reporter.name} report of "
            "harpia-formats, and is not replaced by one; remove it, or name another "
            "file"
        )
        raise SinkError(masked(file.place), reason)


def _beginning(place: str) -> bytes:
    """Return the first bytes of a file, decompressed; b"" if there is none.

    It is b"" for a remote file that cannot be read: not all that may write may read.
    Raises `SinkError` for another one.
    """
    if not is_url(place) and not os.path.isfile(place):  # noqa: PTH113 - raises nothing for a name that is no path
        return b""
    try:
        (source,) = find_sources([place])
        with open_source(source) as reader:
            return reader.beginning(_BEGINNING)
    except (SourceError, ValueError) as error:
        if is_url(place):
            return b""
        raise SinkError(place, f"cannot be read to see what it is: {error}") from error


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
