"""C2: the rules of EvalEval's conditional part."""

from harpia_formats.problem import Severity
from harpia_formats.rules import Rule

_head = (
    b'{"schema_version": "0.2.0", "evaluation_id": "gsm8k/m/1", '
    b'"model_id": "org/m", "evaluation_name": "gsm8k", "sample_id": "1", '
    b'"interaction_type": "multi_turn", "input": {"raw": "2+2?", "reference": "4"}, '
    b'"answer_attribution": [], "evaluation": {"score": 1, "is_correct": true}, '
)
_turns = b'"interactions": [{"turn_idx": 0, "role": "user", "content": "2+2?"}]'

RULES = (
    Rule(
        "C201",
        "conditional-turns",
        Severity.ERROR,
        "output and the list of turns must suit interaction_type.",
        "A single_turn record gives its answer in output, and its list of turns is "
        "null or absent. A multi_turn or agentic record gives its list of turns, and "
        "its output is null or absent. The list is called interactions in eee@0.2.0 "
        "and eee@0.2.0-tag, messages in eee@0.3.0.",
        _head + b'"interactions": null}\n',
        _head + _turns + b"}\n",
        "eee@0.2.0",
    ),
    Rule(
        "C202",
        "conditional-metrics",
        Severity.ERROR,
        "A metrics object in the root of a multi_turn or agentic record must hold "
        "num_turns.",
        "The schema kept this condition from a version in which metrics held the "
        "evaluation. Today num_turns belongs into evaluation, and metrics may go.",
        _head + _turns + b', "metrics": {}}\n',
        _head + _turns + b"}\n",
        "eee@0.2.0",
    ),
)
