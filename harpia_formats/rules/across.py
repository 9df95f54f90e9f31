"""X: rules across the records of a file."""

from harpia_formats.model.problem import Severity
from harpia_formats.rules import Rule

#: The code of the rule against repeated ids.
REPEATED_ID = "X101"
_row = (
    b'{"schema_version": "0.2.0", "evaluation_id": "e", "model_id": "org/m", '
    b'"evaluation_name": "n", "sample_id": "1", "interaction_type": "single_turn", '
    b'"input": {"raw": "2+2?", "reference": "4"}, "output": {"raw": "4"}, '
    b'"interactions": null, "answer_attribution": [], '
    b'"evaluation": {"score": 1, "is_correct": true}}\n'
)

RULES = (
    Rule(
        REPEATED_ID,
        "repeated-id",
        Severity.ERROR,
        "No two records of a file may have the same id.",
        "The id consists of all keys that identify a record in the format, such as the "
        "id of a sample together with that of its evaluation. Each record that repeats "
        "the id of an earlier record is an error.",
        _row + _row,
        _row + _row.replace(b'"sample_id": "1"', b'"sample_id": "2"'),
        "eee@0.2.0",
    ),
)
