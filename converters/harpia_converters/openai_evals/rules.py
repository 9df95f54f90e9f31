"""The rules O5 of the logs of OpenAI's evals."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_spec = (
    b'{"spec": {"completion_fns": ["owl-1"], "eval_name": "sums.dev.v0", '
    b'"run_id": "r1"}}\n'
)
_event = (
    b'{"run_id": "r1", "event_id": %d, "sample_id": "sums.dev.0", "type": "%s", '
    b'"data": %s}\n'
)
_sampling = _event % (0, b"sampling", b'{"prompt": "2+2=", "sampled": ["4"]}')
_match = _event % (1, b"match", b'{"correct": true, "expected": "4", "picked": "4"}')
_metrics = _event % (2, b"metrics", b'{"seconds": 1.5}')
_report = b'{"final_report": {"accuracy": %s}, "run_id": "r1"}\n'
_good = _spec + _sampling + _match + _report % b"1.0"

RULES = (
    Rule(
        "O501",
        "no-final-report",
        Severity.WARNING,
        "A log ends with a final report.",
        "Where it has none, the run may have broken off, and samples may be missing.",
        _spec + _sampling + _match,
        _good,
        "openai-evals-log",
        in_reading=True,
    ),
    Rule(
        "O502",
        "no-sampling-event",
        Severity.WARNING,
        "Each sample has an event of the type sampling.",
        "It holds the prompt and the answers. A sample without one was not asked, or "
        "the eval records it otherwise; it becomes a record without prompt and answer.",
        _spec + _match + _report % b"1.0",
        _good,
        "openai-evals-log",
    ),
    Rule(
        "O503",
        "other-events",
        Severity.NOTE,
        "Events are read as fields if their type is sampling or match.",
        "Events of other types, such as metrics, are kept in extra as they are: what "
        "their values mean depends on the eval.",
        _spec + _sampling + _match + _metrics + _report % b"1.0",
        _good,
        "openai-evals-log",
    ),
    Rule(
        "O504",
        "report-of-another-count",
        Severity.WARNING,
        "The final report is that of the samples in the log.",
        "An accuracy is the share of matches that are correct, and counts/... add up "
        "to the samples. Where no number of the samples gives the accuracy, some "
        "are missing, or have several matches.",
        _spec + _sampling + _match + _report % b"0.5",
        _good,
        "openai-evals-log",
    ),
)
