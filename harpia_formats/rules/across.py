"""X: rules across the records of a file."""

from harpia_formats.problem import Severity
from harpia_formats.rules import Rule

_row = (
    b'{"schema_version": "0.2.0", "evaluation_id": "e", "model_id": "org/m", '
    b'"evaluation_name": "n", "sample_id": "1", "interaction_type": "single_turn", '
    b'"input": {"raw": "2+2?", "reference": "4"}, "output": {"raw": "4"}, '
    b'"interactions": null, "answer_attribution": [], '
    b'"evaluation": {"score": 1, "is_correct": true}}\n'
)

RULES = (
    Rule(
        "X101",
        "repeated-id",
        Severity.ERROR,
        "No two records of a file may have the same id.",
        "What counts are all keys that tell records apart: of EvalEval the sample_id "
        "together with evaluation_id, evaluation_name, evaluation_result_id and "
        "metadata.epoch. Of up to 100,000 repeated ids every record is told.",
        _row + _row,
        _row + _row.replace(b'"sample_id": "1"', b'"sample_id": "2"'),
        "eee@0.2.0",
    ),
)
