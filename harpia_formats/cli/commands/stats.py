"""`harpia-formats stats`."""

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from msgspec.structs import replace

from harpia_formats.cli.command_options import Given
from harpia_formats.cli.progress_and_problems import print_problems, print_unread
from harpia_formats.cli.report import ReportFiles
from harpia_formats.cli.streams_and_exit_codes import (
    ExitCode,
    exit_code_of,
    print_notes,
    shown_data,
    text_writer,
    write_stderr,
)
from harpia_formats.evaluation.statistics.statistics_result import UNITS, Statistics
from harpia_formats.evaluation.statistics.statistics_run import (
    StatisticsRun,
    StatsOptions,
)
from harpia_formats.formats.detection.mapped_format import has_free_names
from harpia_formats.model.safe_text import json_text, safe
from harpia_formats.model.text_columns import columns, natural_widths
from harpia_formats.reporters.reporter import Options as ReportOptions
from harpia_formats.reporters.tables.statistics_tables import (
    lengths_table,
    sizes_table,
    stored_table,
    times_table,
    tokens_table,
)
from harpia_formats.reporters.tables.table import Cell, Heading, Table
from harpia_formats.reporters.tables.terminal import WIDTH, close_lines


def wrapped(text: str) -> list[str]:
    """Return a sentence in lines, the later ones with an indent."""
    start = " " * (len(text) - len(text.lstrip()) + 2)
    return wrap(
        text,
        WIDTH,
        subsequent_indent=start,
        break_long_words=False,
        break_on_hyphens=False,
    )


def number_table(
    rows: Sequence[Sequence[Cell]], left: Collection[int] = (0,)
) -> Iterator[str]:
    """Yield rows as lines; columns that are not in `left` are aligned on the right."""
    places = range(len(rows[0]))
    headings = (Heading("", is_number=at not in left) for at in places)
    return close_lines(Table("", tuple(headings), rows))


#: Columns of the longest bar of a histogram, and of a value.
BAR, VALUE = 40, 50
#: The texts whose histograms are shown; those of all are in the JSON.
_CHARTS = ("prompt", "messages", "answers")
_SHORT = {"characters": "chars"}
#: The columns of summaries that have room, with short names.
_PERCENTILES = {"p25": "25%", "p50": "50%", "p75": "75%", "p95": "95%"}
_SUMMARY = {"count": "count", "min": "min"} | _PERCENTILES
_SUMMARY |= {"max": "max", "mean": "mean"}
#: The fields of which one holds the question.
_QUESTIONS = {"prompt", "messages"}
#: The fewest columns of the place of a record.
_LEAST_PLACE = 20
_LACKS = ("missing", "null", "empty")
#: Words for what is repeated, and for several of it.
_REPEATED = {
    "prompts": "prompts",
    "answers": "prompts with their answers",
    "ids": "ids",
}


def statistics_lines(found: Statistics) -> Iterator[str]:
    """Yield the lines of all tables."""
    yield from _counts(found)
    for part in (
        _lengths(found),
        _sizes(found),
        _charts(found.lengths),
        _scripts(found.lengths),
        _fields(found),
        _values(found.values),
        _duplicates(found.duplicates),
        _tokens(found.tokens),
        _times(found),
        _scores(found),
    ):
        lines = list(part)
        if lines:
            yield ""
            yield from lines


def _counts(found: Statistics) -> Iterator[str]:
    files = [file for file in found.report.files if not file.skipped]
    formats = list(dict.fromkeys(file.format for file in files if file.format))
    shown = ", ".join(formats[:3]) + (", ..." if len(formats) > 3 else "")  # noqa: PLR2004 - as many as fit into a line
    rows = [
        ("files", len(files), shown),
        ("records", found.records, ""),
        ("questions", found.questions, "different prompts"),
        ("answers", found.answers, ""),
    ]
    if found.skipped:
        rows.append(("left out", found.skipped, "records that are not valid"))
    yield from number_table(rows, left=(0, 2))


def _lengths(found: Statistics) -> Iterator[str]:
    if not found.lengths:
        return
    table = lengths_table(found).named({"text": "length", "length": ""} | _SUMMARY)
    rows = []
    for at, (text, unit, count, *numbers) in enumerate(table.rows):
        # What all units of a text have in common is stored once.
        once = ("", "") if at % len(UNITS) else (text, count)
        rows.append([once[0], _SHORT.get(str(unit), unit), once[1], *numbers])
    yield from close_lines(replace(table, rows=rows))
    units = (lengths[unit] for lengths in found.lengths.values() for unit in UNITS)
    if not all(unit["exact"] for unit in units):
        yield "percentiles of more than 4,096 different lengths are within 0.2 %"


def _sizes(found: Statistics) -> Iterator[str]:
    if found.sizes:
        table = sizes_table(found).named({"number of": "number of"} | _SUMMARY)
        yield from close_lines(table)


def _charts(lengths: Mapping[str, Any]) -> Iterator[str]:
    """Yield a histogram of the characters of prompts and answers."""
    is_later = False
    for name in _CHARTS:
        if name not in lengths:
            continue
        if is_later:
            yield ""
        is_later = True
        yield f"{name}, characters"
        ranges = _doublings(lengths[name]["characters"]["histogram"])
        most = max(ranges.values())
        yield from number_table(
            [
                (
                    f"{1 << (bits - 1) if bits else 0:,}",
                    "to",
                    f"{(1 << bits) - 1:,}",
                    f"{ranges[bits]:,}",
                    "#" * -(-ranges[bits] * BAR // most),
                )
                for bits in range(min(ranges), max(ranges) + 1)
            ],
            left=(4,),
        )


def _doublings(ranges: Sequence[Mapping[str, int]]) -> Counter[int]:
    """Return how many lengths there are by the number of their bits."""
    found: Counter[int] = Counter()
    for each in ranges:
        found[each["from"].bit_length()] += each["count"]
    return found


def _scripts(lengths: Mapping[str, Any]) -> Iterator[str]:
    if not lengths:
        return
    yield "scripts"
    for name, found in lengths.items():
        number = found["characters"]["count"]
        shares = [
            f"{script} {count:,} ({100 * count / number:.1f} %)"
            for script, count in found["scripts"].items()
        ]
        yield from wrapped(f"  {name}: {', '.join(shares)}")


def _fields(found: Statistics) -> Iterator[str]:
    lacking = [
        field for field in found.fields if any(field[how]["count"] for how in _LACKS)
    ]
    if lacking:
        rows: list[tuple[str, ...]] = [("field", "of", *_LACKS)]
        for field in lacking:
            counts = (field["count"], *(field[how]["count"] for how in _LACKS))
            rows.append((safe(field["field"]), *(f"{count:,}" for count in counts)))
        room = WIDTH - sum(natural_widths(rows)) - 2 * len(rows[0])
        files = [file.path for file in found.report.files]
        places = ["first", *(_first(field, files, room) for field in lacking)]
        with_places = [(*row, place) for row, place in zip(rows, places, strict=True)]
        yield from number_table(with_places, left=(0, len(rows[0])))
    whole = [field["field"] for field in found.fields if field not in lacking]
    if whole:
        yield from wrapped(f"always there: {', '.join(whole)}")
    if found.absent:
        yield from wrapped(f"never there: {', '.join(found.absent)}")
    formats = [file.format for file in found.report.files if file.format]
    if set(found.absent) >= _QUESTIONS and all(map(has_free_names, formats)):
        yield (
            "read a column or key as a field with `--map`, such as "
            "`--map prompt=COLUMN`"
        )


def _first(field: Mapping[str, Any], files: Sequence[str], room: int) -> str:
    """Return the place of the first record of `files` that lacks a field.

    It has `room` columns.

    Where they are too few, the record is shown by its line, and the end of the path.
    """
    places = [field[how]["first"] for how in _LACKS if field[how]["count"]]
    place = min(places, key=lambda one: (files.index(one["path"]), one["record"]))
    line = f":{place['line']}" if place["line"] else ""
    record = f", record {place['record']:,}"
    whole = path = safe(place["path"])
    if columns(path + line + record) <= room:
        return path + line + record
    end = line or record
    while columns(path + end) + (path != whole) > max(room, _LEAST_PLACE) and path:
        path = path[1:]
    return f"{'' if path == whole else '…'}{path}{end}"


def _values(values: Mapping[str, Any]) -> Iterator[str]:
    is_later = False
    for name, found in values.items():
        if is_later:
            yield ""
        is_later = True
        if found["distinct"] is None:
            yield f"{name}: more than 10,000 different values"
            continue
        noun = "value" if found["distinct"] == 1 else "different values"
        yield f"{name}: {found['distinct']:,} {noun}"
        rows = [
            (
                f"  {safe(each['value'], VALUE) or '(empty)'}",
                *_share(each["count"], found["count"]),
            )
            for each in found["top"]
        ]
        if found["others"]:
            left = found["distinct"] - len(found["top"])
            rows.append(
                (f"  and {left:,} others", *_share(found["others"], found["count"]))
            )
        yield from number_table(rows)


def _share(count: int, of: int) -> tuple[str, str]:
    return f"{count:,}", f"{100 * count / of:.1f} %"


def _duplicates(duplicates: Mapping[str, Any]) -> Iterator[str]:
    for kind, found in duplicates.items():
        if not found["count"]:
            continue
        what = _REPEATED[kind]
        if not found["surplus"]:
            yield f"repeated {what}: none among {found['count']:,}"
            continue
        yield (
            f"repeated {what}: {found['surplus']:,} of {found['count']:,} repeat an "
            f"earlier one"
        )
        for each in found["first"]:
            yield from wrapped(f"  {each['count']:,} times: {_places(each)}")


def _places(repeated: Mapping[str, Any]) -> str:
    """Return the places of the first records with one value."""
    by_path: dict[str, list[str]] = {}
    for place in repeated["places"]:
        by_path.setdefault(place["path"], []).append(f"{place['record']:,}")
    shown = [
        f"{safe(path)} record {', '.join(records)}" for path, records in by_path.items()
    ]
    more = repeated["count"] > len(repeated["places"])
    return "; ".join(shown) + (", ..." if more else "")


def _tokens(tokens: Mapping[str, Any]) -> Iterator[str]:
    if tokens["all"] is not None and not tokens["all"]:
        return
    if tokens["all"] is None:
        yield "tokens: too many kinds of counts to tell them"
        return
    models = list(tokens["models"] or ())
    if tokens["models"] is None or len(models) > 1:
        models.append({"model": "(all)", "counts": tokens["all"]})
    found = tokens_table(models).named(
        {"model": "tokens", "tokens": "count of", "answers": "answers", "sum": "sum"}
    )
    rows, before = list[list[Cell]](), None
    for model, kind, *counts in found.rows:
        name = safe(str(model), VALUE) or "(no model)"
        rows.append([name if model != before else "", safe(str(kind), VALUE), *counts])
        before = model
    yield from close_lines(replace(found, rows=rows))


def _times(found: Statistics) -> Iterator[str]:
    if found.times is None:
        yield "milliseconds: too many kinds of times to tell them"
    if not found.times:
        return
    table = times_table(found).named({"milliseconds": "milliseconds"} | _SUMMARY)
    # What is no number in any record has a count of 0 and nothing else.
    rows = [
        [safe(str(kind), VALUE), *("" if one is None else f"{one:,.0f}" for one in row)]
        for kind, *row in table.rows
    ]
    yield from close_lines(replace(table, rows=rows))


def _scores(found: Statistics) -> Iterator[str]:
    if found.scores is None:
        count = f"stored scores: {found.score_count:,}"
        yield f"{count}, of too many metrics to tell them apart"
    if not found.scores:
        return
    table = stored_table(found)
    rows = [
        [*(safe(str(name), VALUE) or "(no name)" for name in row[:2]), *row[2:]]
        for row in table.rows
    ]
    names = {name: name for name in table.names} | {"evaluation": "stored scores"}
    yield from close_lines(replace(table, rows=rows).named(names))


def stats(given: Given) -> ExitCode:
    """Count what a data set holds: lengths, missing fields, models, duplicates.

    All files together give one table. A word is a run of characters between
    white space; in scripts without spaces, such as Chinese, each character is
    a word.

    Exit codes:
    - 0: counted
    - 1: a row is not valid and not skipped
    - 2: something could not be read
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats stats answers.jsonl
    - harpia-formats stats data --top 20
    - harpia-formats stats rows.csv --output-format json
    """
    progress = given.progress(given.paths)
    options = given.options(
        StatsOptions,
        progress=progress.update,
    )
    reports = ReportFiles(given.report, Statistics, [*given.paths, given.companion])
    run = StatisticsRun(given.paths or ["-"], options)
    print_problems(reports.keeping(run), progress)
    found = run.statistics()
    code = _print_statistics(found, given.output_format)
    reports.write(found, ReportOptions())
    return code


def _print_statistics(found: Statistics, output_format: str) -> ExitCode:
    """Print the statistics, or why there are none; return the exit code."""
    print_unread(found.report)
    if not found.is_broken:
        write = text_writer(sys.stdout)
        if output_format == "json":
            write(shown_data(json_text(found.to_dict(), indent=True)) + "\n")
        else:
            write("".join(f"{line}\n" for line in statistics_lines(found)))
        print_notes(found.notes)
    elif found.report.lacks_records:
        write_stderr("no statistics: there are too few records\n")
    elif any(file.invalid for file in found.report.files):
        write_stderr(
            "no statistics: some rows are not valid; `--on-invalid skip` "
            "leaves them out\n"
        )
    elif not found.report.failures:
        write_stderr("no statistics: see above\n")
    return exit_code_of(found.report, ok=found.ok)
