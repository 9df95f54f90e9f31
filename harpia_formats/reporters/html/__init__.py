"""HTML pages without external files, for browsers, phones and print."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module

from harpia_formats.model.problem import Problem
from harpia_formats.model.report import Report
from harpia_formats.model.result import Result
from harpia_formats.reporters.reporter import Options, Reporter

#: Problems that a page may show: in all, and of one rule and cause in one file.
_MOST, _MOST_ALIKE = 3_000, 50


def write(
    problems: Iterable[Problem],
    finish: Callable[[], Report],
    write_text: Callable[[str], None],
    options: Options,
) -> None:
    """Write the page of a validation after all problems were found.

    Raises `HarpiaFormatsError` without jinja2, before the first problem.
    """
    check()
    kept = tuple(filter(needs(), problems))
    write_result(replace(finish(), problems=kept), write_text, options)


def write_result(
    result: Result, write_text: Callable[[str], None], options: Options
) -> None:
    """Write the page of a result; raises `HarpiaFormatsError` without jinja2."""
    from harpia_formats.reporters.html.page import page_of  # noqa: PLC0415 - only where a page is written

    write_text(page_of(result, options))


def needs() -> Callable[[Problem], bool]:
    """Return a function that tells whether a page may have room for a problem.

    That is so for the first ones of each rule and cause in a file, and of all.
    """
    alike: Counter[tuple[str, str, str]] = Counter()
    left = _MOST

    def is_needed(problem: Problem) -> bool:
        nonlocal left
        key = (problem.place.path, problem.code, problem.cause)
        if not left or alike[key] == _MOST_ALIKE:
            return False
        alike[key] += 1
        left -= 1
        return True

    return is_needed


def check() -> None:
    """Raise `HarpiaFormatsError` if jinja2 is not installed."""
    import_module("harpia_formats.reporters.html.page")


REPORTER = Reporter(
    name="html",
    summary="a page for browsers with counts, bars and examples",
    write=write,
    suffixes=(".html", ".htm"),
    begins=rb'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta',
    write_result=write_result,
    shows_lengths=True,
    needs=needs,
    check=check,
)
