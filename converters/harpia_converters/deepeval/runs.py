"""The files of a test run of DeepEval: test cases and conversations, with metrics."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from harpia_formats.model.format import Container, Dialect, Remark

UNREAD_CONVERSATIONS = "D203"
CASES, CONVERSATIONS = "testCases", "conversationalTestCases"
#: The key around a run in `.latest_test_run.json`.
LATEST = "testRunData"
#: The names of dialects of test cases, and of conversations.
OF_CASES = ("run", "latest-run")
OF_CONVERSATIONS = ("conversations", "latest-conversations")
#: Keys of a test case that has an answer.
_of_case = frozenset({"name", "input", "actualOutput"})
#: Keys of a run that stand before its test cases or behind them.
_own = frozenset({CONVERSATIONS, "metricsScores", "testPassed", "runDuration"})


def run_in(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the run that a document is, or has around it."""
    inner = document.get(LATEST)
    return inner if isinstance(inner, Mapping) else document


def _sign(document: Mapping[str, Any], *, rows_at: str, is_latest: bool) -> str:
    """Return by which keys `document` is a run with its rows at a key, or "".

    A run of conversations has no test cases.
    """
    run = run_in(document)
    if is_latest is (run is document) or CASES not in run:
        return ""
    cases = run[CASES]
    if not isinstance(cases, list) or not (run.keys() & _own or _are_cases(cases)):
        return ""
    is_chat = cases == [] and bool(run.get(CONVERSATIONS, True))
    if is_chat is not (rows_at == CONVERSATIONS):
        return ""
    others = [LATEST] if is_latest else sorted(run.keys() & _own - {rows_at})
    names = (rows_at, *others)
    return " and ".join(f"`{name}`" for name in names[:2])


def _are_cases(values: list[Any]) -> bool:
    """Tell whether the first value is a test case: a large file is read in part."""
    first = values[0] if values else None
    return isinstance(first, Mapping) and first.keys() >= _of_case


def header_remarks(document: Any) -> Iterator[Remark]:
    """Yield a remark on conversations of a run that has test cases, too (D203)."""
    found = run_in(document).get(CONVERSATIONS)
    if isinstance(found, list) and found:
        owner = () if run_in(document) is document else (LATEST,)
        yield Remark(
            UNREAD_CONVERSATIONS,
            (*owner, CONVERSATIONS),
            f"the run has test cases, and {len(found):,} conversations that are not "
            "read",
            "write the conversations into a file of their own, with an empty list of "
            "test cases",
        )


def dialects(remarks: Callable[[Any], Iterator[Remark]]) -> tuple[Dialect, ...]:
    """Return the dialects of runs, whose test cases have these remarks."""
    return tuple(
        Dialect(
            "deepeval-latest-run" if is_latest else "deepeval-run",
            partial(_sign, rows_at=rows_at, is_latest=is_latest),
            name=name,
            container=Container.WRAPPED,
            rows_at=rows_at,
            rows_in=(LATEST,) if is_latest else (),
            remarks=remarks,
            header_remarks=header_remarks if rows_at == CASES else None,
            one_of=frozenset({LATEST if is_latest else CASES}),
        )
        for name, rows_at, is_latest in (
            (OF_CASES[0], CASES, False),
            (OF_CONVERSATIONS[0], CONVERSATIONS, False),
            (OF_CASES[1], CASES, True),
            (OF_CONVERSATIONS[1], CONVERSATIONS, True),
        )
    )
