"""The options of a repair, where a repaired file goes, and what was done with it."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from msgspec.structs import replace

from harpia_formats.files.io.encodings import LONGEST_MAGIC, codec_of
from harpia_formats.files.io.file_kinds import TextPart, Unpacker
from harpia_formats.files.io.file_sink import NO_FOLDER
from harpia_formats.files.io.inputs import Input, checked_inputs, rereadable_input
from harpia_formats.files.io.reader import SourceError, error_reason
from harpia_formats.files.io.sink import SinkError, check_folder
from harpia_formats.files.io.source import STANDARD_INPUT, Source
from harpia_formats.files.io.urls import is_url, local_path
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import OptionError
from harpia_formats.validation.options import Options
from harpia_formats.validation.repair.found_repairs import RepairStore
from harpia_formats.validation.repair.text_edits import unified_diff


@dataclass(frozen=True, slots=True)
class FixOptions:
    """The options of a repair; the defaults are those of the command line."""

    #: Make also repairs that can hide what was wrong.
    unsafe: bool = False
    #: Show the changes as a unified diff, and write nothing.
    diff: bool = False
    #: The file that is written in the place of the input, which is one file then.
    output: PathLike[str] | str | None = None
    #: Replace an existing output.
    overwrite: bool = False


def check_combination(options: Options, fix: FixOptions) -> None:
    """Raise `OptionError` for options that a repair cannot be combined with."""
    for name, value in (("limit", options.limit), ("fail-fast", options.fail_fast)):
        if value:
            raise OptionError(
                f"`--{name}` and `--fix` cannot be combined: a file is repaired whole"
            )
    if options.cross_check:
        raise OptionError(
            "`--cross-check` and `--fix` cannot be combined: repair first, and then "
            "validate with `--cross-check`"
        )
    if fix.diff and options.redact:
        raise OptionError(
            "`--redact` and `--diff` cannot be combined: a diff shows lines "
            "of the files"
        )
    if fix.diff and fix.output is not None:
        raise OptionError("`--diff` writes nothing; leave out `--output` or `--diff`")


_hint = "; name another file with `--output`"


class UnpackedError(SourceError):
    """A file that can be read, and not be rewritten since it is unpacked."""


def why_not_in_place(source: Source) -> str:
    """Return why a file cannot be rewritten where it is, "" if it can."""
    origin = source.origin
    if not isinstance(origin, Path):
        is_input = source.name == STANDARD_INPUT
        what = "standard input" if is_input else "what is no file of this machine"
        return f"{what} cannot be rewritten in place{_hint}"
    try:
        return _why_no_file(source.name, origin)
    except OSError as error:
        return error_reason(error)
    except SourceError as error:
        return error.reason


def why_not_twice(source: Source) -> str:
    """Return why a file cannot be read for its repairs and then validated, or ""."""
    origin = source.origin
    if source.folder_unpacker is not None:  # refused when it is read
        return ""
    try:
        if isinstance(origin, Path) and not stat.S_ISREG(origin.stat().st_mode):
            return f"what is no regular file cannot be rewritten in place{_hint}"
    except OSError:  # reported when it is read
        return ""
    return ""


def refused_unpackers() -> tuple[Unpacker, ...]:
    """Return unpackers that refuse the files which they recognize.

    The places of repairs are those in the text, and not in such a file.
    """
    refuse = "harpia_formats.validation.repair.repaired_file:refuse_unpacked"
    return tuple(replace(unpacker, open=refuse) for unpacker in all_unpackers())


def refuse_unpacked(file: object, name: str) -> Iterator[TextPart]:  # noqa: ARG001 - as other unpackers take it
    """Raise `SourceError`, since an unpacked file cannot be rewritten."""
    reason = "is unpacked to be read and cannot be rewritten; convert it instead"
    raise UnpackedError(name, reason)
    yield TextPart(b"")


def inputs_to_repair(inputs: Iterable[Input], fix: FixOptions) -> list[Input]:
    """Return the inputs of a run, of streams copies if they are to be validated then.

    Raises `SinkError` if there is no room for a copy, and `SourceError` if a stream
    cannot be read to its end.
    """
    if fix.diff or fix.output is not None:
        return list(inputs)
    return [_kept(one) for one in checked_inputs(inputs)]


def _kept(given: Input) -> Input:
    """Return an input, or a copy of a stream."""
    try:
        return rereadable_input(given)
    except SourceError as error:
        if isinstance(error.__cause__, OSError):
            raise  # some of it may have been read, which cannot be read again
        return given  # reading it reports the error
    except OSError as error:
        reason = f"an input cannot be kept there: {error_reason(error)}"
        raise SinkError("the folder of temporary files", reason) from error


def _why_no_file(name: str, path: Path) -> str:
    """Return why the file at a path cannot be rewritten, "" if it can.

    Raises `OSError` and `SourceError` if it cannot be read.
    """
    state = path.stat()
    with path.open("rb") as file:
        head = file.read(LONGEST_MAGIC)
    if codec_of(name, head) is not None:
        return f"a compressed file is not rewritten in place{_hint}"
    if state.st_nlink > 1:
        return (
            f"it has {state.st_nlink} names (hard links), and the others would keep "
            f"the old content{_hint}"
        )
    return "" if os.access(path, os.W_OK) else f"it is write-protected{_hint}"


def checked_output(output: PathLike[str] | str, *, overwrite: bool) -> str:
    """Return the place of the output; raises `SinkError` if it cannot be written."""
    place = fspath(output)
    if place == "-":
        reason = "the findings go there; name a file with `--output`"
        raise SinkError("standard output", reason)
    if is_url(place):
        from harpia_formats.files.io.remote_sink import check_remote_output  # noqa: PLC0415 - for remote files only

        check_remote_output(place, overwrite=overwrite)
        return place
    path = Path(place)
    try:
        _check_place(path, overwrite=overwrite)
    except (OSError, ValueError) as error:
        raise SinkError(place, error_reason(error)) from error
    return place


def _check_place(path: Path, *, overwrite: bool) -> None:
    """Raise `SinkError` if no file can be put at a path, and `OSError`."""
    place = fspath(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        folder = Path(os.path.realpath(path)).parent
        if not folder.is_dir():
            raise SinkError(place, NO_FOLDER) from None
        check_folder(path)
        return
    if stat.S_ISDIR(mode):
        raise SinkError(place, "is a folder")
    if not stat.S_ISREG(mode):
        raise SinkError(place, "is no regular file")
    if not overwrite:
        raise SinkError(place, "already exists; `--overwrite` replaces it")
    check_folder(path)


def is_same_file(given: Input, place: PathLike[str] | str) -> bool:
    """Return whether an input is the file at a place, which may be a file:// URL."""
    path = local_path(place)
    if not isinstance(given, (str, PathLike)) or is_url(path):
        return False
    try:
        return os.path.samefile(local_path(given), path)  # noqa: PTH121 - raises nothing for a name that is no path
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a file, at its place before the repair."""

    path: str
    #: Line and column, from 1.
    line: int
    column: int
    #: The number of the record, None for the file as a whole.
    record: int | None
    #: JSON pointer inside the record.
    pointer: str
    #: The code and the name of the rule that was broken.
    code: str
    name: str
    #: What was done, in the past tense.
    what: str
    #: Whether text is lost that stands nowhere else in the record; `what` says which.
    loses_text: bool = False


class RepairedFile:
    """What was done with one file; to be asked before the next file is repaired."""

    def __init__(
        self,
        path: str,
        store: RepairStore | None = None,
        rules: Mapping[str, Rule] | None = None,
        blocks: Callable[[], Iterable[bytes]] = tuple,
    ) -> None:
        """Take its repairs, all rules by code, and what returns its bytes once more."""
        #: The file as shown to the user.
        self.path = path
        self._store = store
        self._rules = rules or {}
        self._blocks = blocks
        #: How many changes there are.
        self.count = 0 if store is None else store.changes
        #: Where the repaired file was written; "" if nothing was.
        self.written = ""
        #: Why the file was not repaired, "" if it was or nothing had to be.
        self.reason = ""
        #: Whether the reason is that it cannot be read.
        self.is_unread = False
        #: Takes what is a value of a record out of a change; None to show it.
        self.redact: Callable[[Change], Change] | None = None

    def changes(self) -> Iterator[Change]:
        """Yield the changes; none if the file was not repaired."""
        if self._store is None or self.reason:
            return
        for one in self._store.placed_changes():
            rule = self._rules.get(one.code)
            name = "" if rule is None else rule.name
            record = one.record or None
            place = (self.path, one.line, one.column, record, one.pointer)
            change = Change(*place, one.code, name, one.what, one.loses_text)
            yield change if self.redact is None else self.redact(change)

    def diff(self) -> Iterator[bytes]:
        """Yield the changes as a unified diff.

        Raises `LineTooLong`, and `SourceError` if the file has changed meanwhile.
        """
        if self._store is not None and self.count and not self.reason:
            yield from unified_diff(self.path, self._blocks(), self._store.edits())


def not_repaired(path: str, reason: str, *, is_unread: bool = False) -> RepairedFile:
    """Return that a file was not repaired, and why."""
    found = RepairedFile(path)
    found.reason, found.is_unread = reason, is_unread
    return found
