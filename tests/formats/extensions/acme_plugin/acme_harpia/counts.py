"""acme-counts: one line for each rule, with how often it is broken."""

from collections import Counter
from collections.abc import Callable, Iterable

from harpia_formats.plugins import Problem, Report, Reporter, ReporterOptions, safe


def write(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    _options: ReporterOptions,
) -> None:
    """Write the counts once all problems have come."""
    for _ in problems:
        pass
    counts: Counter[str] = Counter()
    for group in finish().groups:
        counts[group.code] += group.count
    for code, count in sorted(counts.items()):
        write_text(f"{safe(code)} {count}\n")


REPORTER = Reporter(name="acme-counts", summary="a count for each rule", write=write)
