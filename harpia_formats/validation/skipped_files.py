"""Pass over files that hold no data, say which, and check that enough is left."""

import re
from collections.abc import Iterator, Sequence

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.files.io.data_names import is_data_name
from harpia_formats.files.io.file_kinds import OtherKindError, counted_kinds
from harpia_formats.files.io.inputs import Input, input_of
from harpia_formats.files.io.reader import SourceError
from harpia_formats.formats.detection.other_shape import DetectionNote
from harpia_formats.formats.registry import all_unpackers, rules_of
from harpia_formats.model.problem import Problem
from harpia_formats.model.report import TOO_FEW_RECORDS, FileCount
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.plan.run_plan import RunPlan
from harpia_formats.validation.unit.collector import Collector

UNKNOWN_FORMAT, SKIPPED_FILES = "S301", "J114"
#: What the JSON files that harpia-formats writes about data are called, by the word in
#: their `schema`, and the bytes of a file among which that is.
_OWN_KINDS = {
    b"agreement": "agreement report",
    b"baseline": "baseline",
    b"config": "list of settings",
    b"detection": "detection report",
    b"report": "report",
    b"score-comparison": "comparison report",
    b"scores": "score report",
    b"statistics": "statistics report",
}
_NAMED_IN = 200
_own_schema = re.compile(rb'\{"schema":"harpia-formats/([a-z-]+)/')
#: How the reports that have no `schema` begin, without white space.
_OWN_OBJECTS = (
    (re.compile(rb'\{"ok":\w+,"target":"[^"]*","outputs":\['), "conversion report"),
    (re.compile(rb'\{"ok":\w+,"records":\d+,"differing":'), "difference report"),
)
#: How each line of a report in JSON Lines begins, one of which may be its first.
_OWN_LINES = (
    b'{"kind":"problem","path":"',
    b'{"kind":"summary","schema":"harpia-formats/',
)


def note_if_skipped(
    count: FileCount,
    run: RunPlan,
    error: SourceError | None,
    notes: Sequence[DetectionNote],
    *,
    is_found: bool,
) -> None:
    """Note in the counts of a file if it is passed over, and what it is.

    A file of another kind, which its `error` says, is passed over if it was found in a
    folder. But where records are read, one that is called like a data file is an error:
    its records would be missing. `notes` are those on its format.
    """
    asked = run.options.skip_unrecognised
    if isinstance(error, OtherKindError):
        is_needed = run.for_reading and is_data_name(count.path, all_unpackers())
        if asked or (is_found and not is_needed):
            count.skipped, count.reason = error.kind.name, error.reason
    elif asked and any(note.code == UNKNOWN_FORMAT for note in notes):
        count.skipped = "a file in no known format"
        count.reason = "is in no known format"


def note_if_own(count: FileCount, beginning: bytes) -> None:
    """Note that a file is passed over if harpia-formats wrote it about data.

    `beginning` are the first bytes of a file that was found in a folder.
    """
    head = b"".join(beginning[:_NAMED_IN].split())
    kind = _own_kind(head)
    if kind:
        count.skipped = f"a harpia-formats {kind}"
        count.reason = f"is {count.skipped}, and no data"


def _own_kind(head: bytes) -> str:
    """Return what a file that harpia-formats wrote is called, "" for any other.

    `head` is how it begins, without white space.
    """
    if found := _own_schema.match(head):
        return _OWN_KINDS.get(found[1], "")
    if head.startswith(_OWN_LINES):
        return _OWN_KINDS[b"report"]
    return next((kind for begins, kind in _OWN_OBJECTS if begins.match(head)), "")


def end_of_run(
    tally: Tally, run: RunPlan, min_records: int, inputs: Sequence[Input]
) -> Iterator[Problem]:
    """Yield the problems of all files together: those passed over, too few records.

    They are placed at the input, such as a folder, and not at one of its files. If all
    files were passed over, the first is one that could not be read, unless the options
    allow that no file is left.
    """
    skipped = [count for count in tally.files if count.skipped]
    is_none_left = len(skipped) == len(tally.files)
    if skipped and is_none_left and not run.options.allow_no_files:
        kinds = counted_kinds(count.skipped for count in skipped)
        skipped[0].skipped = ""
        skipped[0].reason = f"{skipped[0].reason} (no file is left; all are {kinds})"
    elif skipped and SKIPPED_FILES in run.rules:
        help_ = "--exclude PATTERN leaves files out; name a file to have it as an error"
        message = f"passed over: {counted_kinds(file.skipped for file in skipped)}"
        name = input_of(inputs, skipped[0].path)
        yield from _problem(tally, run, skipped[0], name, SKIPPED_FILES, message, help_)
    records = sum(
        count.valid if run.for_reading else count.records for count in tally.files
    )
    if records < min_records and tally.files:
        what = "valid records" if run.for_reading else "records"
        message = f"there are {records:,} {what}, fewer than {min_records:,}"
        help_ = "see what is missing; --min-records asks for so many"
        first = next((one for one in tally.files if not one.skipped), tally.files[0])
        name = input_of(inputs, tally.files[0].path)
        yield from _problem(tally, run, first, name, TOO_FEW_RECORDS, message, help_)


def _problem(  # noqa: PLR0913, PLR0917 - a problem has so many parts
    tally: Tally,
    run: RunPlan,
    count: FileCount,
    name: str,
    code: str,
    message: str,
    help_: str,
) -> Iterator[Problem]:
    """Yield a problem of the input `name`, which is counted with one of its files."""
    rules = run.active_rules()
    collector = Collector(rules if code in rules else rules_of([code]), name, 0)
    collector.add(code, message, help_, collector.place(Cursor()))
    yield from tally.keep(count, collector.take())
