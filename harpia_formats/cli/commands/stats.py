"""`harpia-formats stats`."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

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
from harpia_formats.model.text_columns import aligned_rows, columns, natural_widths
from harpia_formats.reporters.reporter import Options as ReportOptions

#: Columns of a line, where no word is wider.
WIDTH = 80
#: Columns of the first cells of a table that are more than a name on their own.
_LEAST = 8


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
    rows: Sequence[Sequence[str]], left: Iterable[int] = (0,)
) -> Iterator[str]:
    """Yield rows as lines of aligned columns; those not in `left` end at one place.

    In a table that is wider than `WIDTH` columns stand nearer, and a first cell that is
    too wide has a line of its own.
    """
    lefts = frozenset(left)
    widths = natural_widths(rows)
    gap = 2 if sum(widths) + 2 * len(widths) - 2 <= WIDTH else 1
    room = WIDTH - sum(widths[1:]) - gap * (len(widths) - 1)
    if widths[0] > room >= _LEAST:
        widths[0] = room
        rows = [part for row in rows for part in _apart(row, room)]
    is_right = [index not in lefts for index in range(len(widths))]
    yield from aligned_rows(rows, widths, is_right, gap)


def _apart(row: Sequence[str], room: int) -> list[Sequence[str]]:
    """Return a row, or two if its first cell is wider than `room`."""
    first, *others = row
    if columns(first) <= room:
        return [row]
    return [[first, *("" for _ in others)], ["", *others]]


#: Columns of the longest bar of a histogram, and of a value.
BAR, VALUE = 40, 50
#: The texts whose histograms are shown; those of all are in the JSON.
_CHARTS = ("prompt", "messages", "answers")
_SHORT = {"characters": "chars"}
_PERCENTILES = {"p25": "25%", "p50": "50%", "p75": "75%", "p95": "95%"}
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
        _lengths(found.lengths),
        _sizes(found.sizes),
        _charts(found.lengths),
        _scripts(found.lengths),
        _fields(found),
        _values(found.values),
        _duplicates(found.duplicates),
        _tokens(found.tokens),
        _times(found.times),
        _scores(found.scores, found.score_count),
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
        ("files", f"{len(files):,}", shown),
        ("records", f"{found.records:,}", ""),
        ("questions", f"{found.questions:,}", "different prompts"),
        ("answers", f"{found.answers:,}", ""),
    ]
    if found.skipped:
        rows.append(("left out", f"{found.skipped:,}", "records that are not valid"))
    yield from number_table(rows, left=(0, 2))


def _lengths(lengths: Mapping[str, Any]) -> Iterator[str]:
    if not lengths:
        return
    heads = ("length", "", "count", "min", *_PERCENTILES.values(), "max", "mean")
    rows = [heads]
    for name, found in lengths.items():
        for unit in UNITS:
            is_first = unit == UNITS[0]
            summary = found[unit]
            count = f"{summary['count']:,}" if is_first else ""
            label = name if is_first else ""
            rows.append((label, _SHORT.get(unit, unit), count, *_summary(summary)))
    yield from number_table(rows, left=(0, 1))
    if not all(found[unit]["exact"] for found in lengths.values() for unit in UNITS):
        yield "percentiles of more than 4,096 different lengths are within 0.2 %"


def _summary(summary: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the least, percentiles, largest and mean of some numbers."""
    names = ("min", *_PERCENTILES, "max")
    return *(f"{summary[name]:,}" for name in names), f"{summary['mean']:,.1f}"


def _sizes(sizes: Mapping[str, Any]) -> Iterator[str]:
    if not sizes:
        return
    rows = [("number of", "count", "min", *_PERCENTILES.values(), "max", "mean")]
    rows += [
        (name, f"{found['count']:,}", *_summary(found)) for name, found in sizes.items()
    ]
    yield from number_table(rows)


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
        rows += [
            (
                safe(field["field"]),
                f"{field['count']:,}",
                *(f"{field[how]['count']:,}" for how in _LACKS),
            )
            for field in lacking
        ]
        room = WIDTH - sum(
            max(map(columns, one)) + 2 for one in zip(*rows, strict=True)
        )
        places = ["first", *(_first(field, room) for field in lacking)]
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


def _first(field: Mapping[str, Any], room: int) -> str:
    """Return the place of the first record that lacks a field, in `room` columns.

    Where they are too few, the record is told by its line, and the end of the path.
    """
    places = [field[how]["first"] for how in _LACKS if field[how]["count"]]
    place = places[0]
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
    rows: list[tuple[str, ...]] = [("tokens", "count of", "answers", "sum")]
    models = tokens["models"]
    for model in models or ():
        rows += _token_rows(
            safe(model["model"], VALUE) or "(no model)", model["counts"]
        )
    if models is None or len(models) > 1:
        rows += _token_rows("(all)", tokens["all"])
    yield from number_table(rows, left=(0, 1))


def _token_rows(model: str, counts: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            "" if index else model,
            safe(kind, VALUE),
            f"{found['answers']:,}",
            f"{found['sum']:,}",
        )
        for index, (kind, found) in enumerate(counts.items())
    ]


def _times(times: Mapping[str, Any] | None) -> Iterator[str]:
    if times is None:
        yield "milliseconds: too many kinds of times to tell them"
        return
    if not times:
        return
    rows = [("milliseconds", "count", "min", *_PERCENTILES.values(), "max", "mean")]
    for kind, found in times.items():
        names = ("min", *_PERCENTILES, "max", "mean")
        # What is no number in any record has a count of 0 and nothing else.
        numbers = (f"{found[name]:,.0f}" if name in found else "" for name in names)
        rows.append((safe(kind, VALUE), f"{found['count']:,}", *numbers))
    yield from number_table(rows)


def _scores(scores: Sequence[Mapping[str, Any]] | None, count: int) -> Iterator[str]:
    if scores is None:
        yield f"stored scores: {count:,}, of too many metrics to tell them apart"
        return
    if not scores:
        return
    names = ("scores", "numbers", "correct", "incorrect")
    rows: list[tuple[str, ...]] = [("stored scores", "metric", *names)]
    rows += [
        (
            safe(found["evaluation"], VALUE) or "(no name)",
            safe(found["metric"], VALUE) or "(no name)",
            *(f"{found[name]:,}" for name in names),
        )
        for found in scores
    ]
    yield from number_table(rows, left=(0, 1))


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
