"""Values of the fields that formats require, for records that lack some of them."""

from typing import Any

REQUIRED: dict[str, Any] = {
    "id": "1",
    "prompt": "question",
    "references": ["reference"],
    "outputs.model": "org/model",
    "outputs.text": "answer",
    "outputs.scores.value": 0.5,
    "outputs.scores.is_correct": True,
    "outputs.scores.evaluation_id": "run",
    "outputs.scores.evaluation_name": "task",
    "params.model": "model",
}
