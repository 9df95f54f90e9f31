"""Write what was measured of every pair of formats as Markdown, the worst first."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from data.samples import TEXTS
from harness.every_pair import MANY
from harness.pair_results import ONE, SCRIPT, TWO, Compared, Result

from report.tables import MEGABYTE, megabytes, ratio_text, table

#: Megabytes of all processes together.
MEMORY_LIMIT = 150
#: The times of a script that a conversion may take: of few rows or of any text; of many
#: rows in English; their median; and in one process.
PAIR_LIMIT, MANY_LIMIT, MEDIAN_LIMIT, ALONE_LIMIT = 1.0, 0.8, 0.45, 1.3
#: The times of the conversions that `diff` and `roundtrip` may take.
COMPARISON_LIMIT = 3.0


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on a figure of each result."""

    what: str
    limit: float
    #: Returns the figure; None if it was not measured.
    figure: Callable[[Result], float | None]


def _memory(result: Result) -> float | None:
    return None if result.peak is None else result.peak / MEGABYTE


def _many_in_english(result: Result) -> float | None:
    is_one = result.rows >= MANY and result.text == next(iter(TEXTS))
    return result.ratio(TWO) if is_one else None


TIME_LIMITS = (
    Limit("every pair, default jobs / script", PAIR_LIMIT, lambda of: of.ratio(TWO)),
    Limit("the same, many rows in English", MANY_LIMIT, _many_in_english),
    Limit("every pair, one process / script", ALONE_LIMIT, lambda of: of.ratio(ONE)),
)
LIMITS = (
    *TIME_LIMITS,
    Limit("every pair, peak memory of default jobs, MB", MEMORY_LIMIT, _memory),
)


def median_ratio(results: Iterable[Result]) -> float:
    """Return the median of the times of default jobs divided by the script's."""
    return statistics.median(result.ratio(TWO) for result in results)


def missed(results: Iterable[Result]) -> list[tuple[Limit, Result]]:
    """Return the limits on single pairs that are not met, with the results."""
    return [
        (limit, result)
        for result in results
        for limit in LIMITS
        if (figure := limit.figure(result)) is not None and figure > limit.limit
    ]


def all_met(results: Sequence[Result]) -> bool:
    """Tell whether all limits are met, that of the median included."""
    return not missed(results) and median_ratio(results) <= MEDIAN_LIMIT


def limits_table(results: Sequence[Result]) -> str:
    """Return a table of the limits: the worst figure, and how many miss the limit."""
    rows = []
    failed = missed(results)
    for limit in LIMITS:
        figures = [found for of in results if (found := limit.figure(of)) is not None]
        count = sum(of is limit for of, _ in failed)
        worst = ratio_text(max(figures)) if figures else "not measured"
        cells = [f"{limit.limit:g}", worst, f"{count} of {len(figures)}"]
        rows.append([limit.what, *cells])
    median = median_ratio(results)
    over = "no" if median <= MEDIAN_LIMIT else "yes"
    name = "median of all pairs, default jobs / script"
    rows.append([name, f"{MEDIAN_LIMIT:g}", ratio_text(median), over])
    return table(["limit", "at most", "worst", "missed"], rows)


def badness(result: Result) -> float:
    """Return by how much a result uses up its limits of time; 1 is just within."""
    return max(
        figure / limit.limit
        for limit in TIME_LIMITS
        if (figure := limit.figure(result)) is not None
    )


def pairs_table(results: Iterable[Result], texts: Sequence[str]) -> str:
    """Return a table of results on so many rows: a line for each pair, the worst first.

    It has three ratios for each kind of text, and for the first kind the seconds of the
    script and our peak memory.
    """
    by_pair: dict[str, dict[str, Result]] = {}
    for result in results:
        by_pair.setdefault(result.pair, {})[result.text] = result
    heads = ["pair"]
    for text in texts:
        heads += [f"{text}: default jobs", "one process", "its processor time"]
    heads += ["script, s", "peak memory, MB"]
    ordered = sorted(by_pair.values(), key=_worst, reverse=True)
    return table(heads, [_line(found, texts) for found in ordered])


def _worst(found: Mapping[str, Result]) -> float:
    return max(map(badness, found.values()))


def _line(found: Mapping[str, Result], texts: Sequence[str]) -> list[str]:
    cells = [next(iter(found.values())).pair]
    for text in texts:
        if (of := found.get(text)) is None:
            cells += ["", "", ""]
            continue
        ratios = (of.ratio(TWO), of.ratio(ONE), of.processor_ratio(ONE))
        cells += [ratio_text(each) for each in ratios]
    first = found.get(texts[0])
    if first is None:
        return [*cells, "", ""]
    return [*cells, f"{first.times[SCRIPT].net:.2f}", megabytes(first.peak)]


def medians_table(results: Sequence[Result]) -> str:
    """Return a table of the medians over all pairs, by rows and kind of text."""
    rows = []
    for (count, text), group in groupby(results, lambda of: (of.rows, of.text)):
        found = list(group)
        both = [
            ratio_text(statistics.median(of.ratio(name) for of in found))
            for name in (TWO, ONE)
        ]
        rows.append([f"{text}, {count:,} rows", str(len(found)), *both])
    heads = ["medians over all pairs", "pairs", "default jobs", "one process"]
    return table(heads, rows)


def sizes_of(results: Iterable[Result]) -> str:
    """Return the smallest and the largest mean size of a record, with the formats."""
    sizes = sorted((of.size / of.rows / 1000, of.source) for of in results)
    (least, small), (most, large) = sizes[0], sizes[-1]
    return f"from {least:.1f} kB ({small}) to {most:.1f} kB ({large})"


def comparisons_table(compared: Iterable[Compared]) -> str:
    """Return a table of `diff` and `roundtrip`, the worst first."""
    ordered = sorted(compared, key=lambda of: of.ratio, reverse=True)
    heads = ["command", "s", "conversions, s", "ratio", "peak memory, MB"]
    return table(
        heads,
        [
            [
                of.name,
                f"{of.seconds:.2f}",
                f"{of.conversions:.2f}",
                ratio_text(of.ratio),
                megabytes(of.peak),
            ]
            for of in ordered
        ],
    )


def comparisons_missed(compared: Iterable[Compared]) -> list[Compared]:
    """Return the comparisons that take longer, or more memory, than they may."""
    return [
        of
        for of in compared
        if of.ratio > COMPARISON_LIMIT or (of.peak or 0) > MEMORY_LIMIT * MEGABYTE
    ]


def pages_of(results: Sequence[Result]) -> str:
    """Return all tables of results in the order of their cells."""
    parts = [
        f"## Limits\n\n{limits_table(results)}",
        f"## Medians\n\n{medians_table(results)}",
    ]
    for count, group in groupby(results, lambda of: of.rows):
        found = list(group)
        texts = list(dict.fromkeys(of.text for of in found))
        parts.append(f"## {count:,} rows\n\n{pairs_table(found, texts)}")
    return "\n\n".join(parts)
