"""The format deepeval: goldens, test cases and test runs, and its rules (D2)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Container, Dialect, Format, Remark
from harpia_formats.model.problem import Severity

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
_own_run_keys = frozenset({CONVERSATIONS, "metricsScores", "testPassed", "runDuration"})


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
    if not isinstance(cases, list) or not (
        run.keys() & _own_run_keys or _are_cases(cases)
    ):
        return ""
    is_chat = cases == [] and bool(run.get(CONVERSATIONS, True))
    if is_chat is not (rows_at == CONVERSATIONS):
        return ""
    others = [LATEST] if is_latest else sorted(run.keys() & _own_run_keys - {rows_at})
    names = (rows_at, *others)
    return " and ".join(f"`{name}`" for name in names[:2])


def _are_cases(values: list[Any]) -> bool:
    """Tell whether the first value is a test case: a large file is read in part."""
    first = values[0] if values else None
    return isinstance(first, Mapping) and first.keys() >= _of_case


def header_remarks(document: Any) -> Iterator[Remark]:
    """Yield a remark on conversations of a run that has test cases, too (D203)."""
    found = run_in(document).get(CONVERSATIONS)
    if found:
        owner = () if run_in(document) is document else (LATEST,)
        yield Remark(
            UNREAD_CONVERSATIONS,
            (*owner, CONVERSATIONS),
            f"the run has test cases, and {len(found):,} conversations that are not "
            "read",
            "write the conversations into a file of their own, with an empty list of "
            "test cases",
        )


JOINED_PASSAGES, NO_SCORE = "D201", "D202"


def of_service(key: str) -> str:
    """Return the spelling of a key in DeepEval's service, such as `sourceFile`."""
    first, *others = key.split("_")
    return first + "".join(map(str.title, others))


#: Keys of answers that other tools have as well.
_answers = ("actual_output", "expected_output", "actualOutput", "expectedOutput")
#: Keys of DeepEval's own, of which a saved golden or test case has some.
OWN_KEYS = (
    "retrieval_context tools_called expected_tools source_file additional_metadata "
    "custom_column_key_values metrics_data".split()
)
_own_case_keys = [key for name in OWN_KEYS for key in (name, of_service(name))]
#: Keys of lists of passages.
CONTEXTS = ("retrieval_context", "retrievalContext", "context")
METRICS = ("metrics_data", "metricsData")


def sniff(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a golden or a test case of DeepEval, or ""."""
    answer = next((key for key in _answers if key in row), "")
    own = next((key for key in _own_case_keys if key in row), "")
    if not (answer and own and isinstance(row.get("input"), str)):
        return ""
    return f"`{answer}` and `{own}`"


def remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the passages and on the metrics of `row` (D201, D202)."""
    for key in CONTEXTS:
        if isinstance(row.get(key), str) and row[key]:
            yield Remark(
                JOINED_PASSAGES,
                (key,),
                "the passages are one text, which is cut at each |",
                "give a list of texts if a passage has a | in it",
            )
    for key in METRICS:
        found = row.get(key)
        for number, metric in enumerate(found if isinstance(found, list) else ()):
            if not isinstance(metric, Mapping):
                continue
            if metric.get("score") is None and metric.get("error") is None:
                yield Remark(
                    NO_SCORE,
                    (key, number),
                    "the metric has neither a score nor an error",
                    "give its score, or remove it",
                )


FORMAT = Format(
    id="deepeval",
    title="Goldens, test cases and test runs of DeepEval, with metrics",
    vendor="DeepEval",
    adapter="harpia_converters.deepeval.mapping:DEEPEVAL",
    read_only=True,
    dialects=(
        Dialect("deepeval", sniff, remarks=remarks, one_of=frozenset(_answers)),
        *(
            Dialect(
                "deepeval-latest-run" if is_latest else "deepeval-run",
                partial(_sign, rows_at=rows_at, is_latest=is_latest),
                name=names[is_latest],
                container=Container.WRAPPED,
                rows_at=rows_at,
                rows_in=(LATEST,) if is_latest else (),
                remarks=remarks,
                header_remarks=header_remarks if rows_at == CASES else None,
                one_of=frozenset({LATEST if is_latest else CASES}),
            )
            for is_latest in (False, True)
            for names, rows_at in ((OF_CASES, CASES), (OF_CONVERSATIONS, CONVERSATIONS))
        ),
    ),
)


def _case(more: str) -> bytes:
    """Return a test case with what is `more`, as a line."""
    start = '{"input": "Que rio passa por Lisboa?", "actual_output": "O Tejo.", '
    return f"{start}{more}}}\n".encode()


def _metric(more: str) -> bytes:
    """Return a test case with a metric."""
    name = '"name": "Answer Relevancy", "threshold": 0.5'
    return _case(f'"metricsData": [{{{name}, {more}}}]')


def _run(conversations: str) -> bytes:
    """Return a test run with one test case, and conversations."""
    case = '{"name": "a", "input": "2+2?", "actualOutput": "4", "metricsData": []}'
    both = f'"testCases": [{case}], "conversationalTestCases": {conversations}'
    return f'{{{both}, "metricsScores": []}}\n'.encode()


RULES = (
    Rule(
        "D201",
        "joined-passages",
        Severity.NOTE,
        "Passages should be a list of texts.",
        "DeepEval writes the passages of a golden as one text into JSON Lines and "
        "CSV, with | between them. It is cut at each |, also at one in a passage.",
        _case('"retrieval_context": "O Tejo passa por Lisboa.|O Douro, não."'),
        _case('"retrieval_context": ["O Tejo passa por Lisboa.", "O Douro, não."]'),
        "deepeval",
    ),
    Rule(
        "D202",
        "metric-without-score",
        Severity.WARNING,
        "A metric should have a score, or an error.",
        "Without a score it is not known what the metric says, and without an error "
        "it is not known why. It is read as a score without a value.",
        _metric('"score": null, "success": false'),
        _metric('"score": 0.8, "success": true'),
        "deepeval",
    ),
    Rule(
        "D203",
        "unread-conversations",
        Severity.WARNING,
        "A run should have test cases or conversations, not both.",
        "The records of a file are at one place. Of a run with both the test cases are "
        "read, and the conversations are what stands around them.",
        _run('[{"name": "b", "success": true, "metricsData": [], "turns": []}]'),
        _run("[]"),
        "deepeval",
    ),
)
