"""Repair files for `validate --fix`; imported only when something is to be repaired."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass

from harpia_formats.cli.progress_and_problems import Progress
from harpia_formats.cli.streams_and_exit_codes import print_error, write_stderr
from harpia_formats.files.io.inputs import Input, rewind_inputs
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.sink import standard_output
from harpia_formats.model.describe import with_noun
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.phrases import position
from harpia_formats.validation.options import Options
from harpia_formats.validation.repair.companions import ChangedFile
from harpia_formats.validation.repair.repaired_file import (
    Change,
    FixOptions,
    RepairedFile,
    inputs_to_repair,
)
from harpia_formats.validation.repair.run import Fixing
from harpia_formats.validation.repair.text_edits import LineTooLong
from harpia_formats.validation.run_plans import FileOptions

#: Code points of what a line says of one change.
_SENTENCE = 500


@dataclass(frozen=True, slots=True)
class Fixed:
    """What came of the repairs of a run."""

    #: What is to be validated now: the inputs as they are, or the output.
    inputs: Sequence[Input]
    #: How many changes there are, made or shown.
    changes: int
    #: Whether a file could not be repaired.
    is_failed: bool


def fix_files(  # noqa: PLR0913 - a run of repairs has so many parts
    paths: list[str],
    options: Options,
    fix: FixOptions,
    progress: Progress,
    *,
    quiet: bool,
    file_options: FileOptions | None = None,
) -> Fixed:
    """Repair files, or show how they would change; list every change.

    `file_options` returns the options of a file if they are not those of the run. The
    diff goes to standard output, the list to standard error. Raises what `Fixing`
    raises.
    """
    counts: Counter[str] = Counter()
    files = 0
    lossy = 0
    is_failed = False
    written: list[str] = []
    inputs = inputs_to_repair(paths, fix)
    fixing = Fixing(inputs, options, fix, file_options)
    # Otherwise the validation of the inputs follows, and says what cannot be read.
    is_all = fix.diff or bool(fixing.output)
    with progress, closing(iter(fixing)) as files_of_run:
        for file in files_of_run:
            progress.hide()
            if file.reason:
                if not file.is_unread or is_all:
                    is_failed = True
                    print_error(f"{file.path}: {file.reason}")
                continue
            is_failed |= not _shown(file, fix)
            lossy += _count_changes(file.changes(), counts, quiet=quiet)
            files += bool(file.count)
            written += [file.written] if file.written else []
    if counts and not quiet:
        write_stderr(_summary(counts, files, lossy, fix))
        write_stderr(_unfollowed(fixing.unfollowed(), fix))
    left: Sequence[Input] = written if fixing.output else inputs
    rewind_inputs(left)
    return Fixed(left, counts.total(), is_failed)


def _shown(file: RepairedFile, fix: FixOptions) -> bool:
    """Write the diff of a file if it is wanted; return whether it could be."""
    if not fix.diff:
        return True
    try:
        _write_diff(file.diff())
    except (LineTooLong, SourceError) as error:
        print_error(str(error))
        return False
    return True


def _write_diff(parts: Iterable[bytes]) -> None:
    """Write a diff to standard output: its bytes, or safe text to a terminal."""
    stream = standard_output()
    for part in parts:
        stream.write(part)
    stream.flush()


def _count_changes(
    changes: Iterable[Change], counts: Counter[str], *, quiet: bool
) -> int:
    """Count changes by their rules, and print a line for each unless `quiet`.

    Return how many of them lose text.
    """
    lossy = 0
    for change in changes:
        counts[change.code] += 1
        lossy += change.loses_text
        if quiet:
            continue
        place = position(change.path, change.line, change.column)
        rule = f"{change.code} {change.name}".rstrip()
        where = f" [{safe(change.pointer, _SENTENCE)}]" if change.pointer else ""
        what = safe(change.what, _SENTENCE)
        write_stderr(f"{place}: {safe(rule)} {what}{where}\n")
    return lossy


def _summary(counts: Counter[str], files: int, lossy: int, fix: FixOptions) -> str:
    """Return the line that counts the changes by their rules."""
    verb = "would make" if fix.diff else "made"
    rules = ", ".join(f"{number:,} of {safe(code)}" for code, number in counts.items())
    changes = with_noun(counts.total(), "change")
    text = f"; {lossy:,} of them lost text" if lossy else ""
    if fix.diff:
        text = text.replace(" lost ", " would lose ")
    return f"{verb} {changes} in {with_noun(files, 'file')}: {rules}{text}\n"


def _unfollowed(files: Sequence[ChangedFile], fix: FixOptions) -> str:
    """Return the line on files whose checksum in an aggregate is not updated, or ""."""
    if not files:
        return ""
    first = files[0]
    path, kind = safe(first.path), first.companion.format
    if fix.output is not None:
        return f"{path}: a checksum in its {kind} is still that of the input\n"
    others = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
    will_be = "would be" if fix.diff else "is"
    return (
        f"{path}{others}: no {kind} among the files follows the repair, and a checksum "
        f"in one {will_be} out of date\n"
    )
