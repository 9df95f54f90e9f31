"""M: rules on answers that cannot be scored."""

import json

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

#: The codes of the rules: no answer, no reference, no score, no verdict; of stored
#: scores: no number, and another one than was computed; and no other field.
NO_ANSWER, NO_REFERENCE, UNSCORABLE, NO_VERDICT = "M101", "M102", "M103", "M110"
NO_STORED_NUMBER, OTHER_THAN_STORED, NO_FIELD = "M104", "M105", "M106"


def _record(**fields: object) -> bytes:
    """Return a record as a line."""
    return json.dumps(fields).encode() + b"\n"


def _answered(text: str | None, *references: str) -> bytes:
    return _record(prompt="2+2?", references=list(references), outputs=[{"text": text}])


def _verdict(number: int, result: object, error: str | None = None) -> bytes:
    """Return a verdict of our judge as a line."""
    return _record(
        row=number,
        record=number,
        status="failed" if error else "ok",
        attempts=1,
        cached=False,
        error=error,
        result=result,
    )


def _scored(text: str, value: object) -> bytes:
    """Return a record whose answer has a score of another tool, as a line."""
    signature = "exact_match|impl:lm-eval-0.4.13|filter:none"
    score = {"metric": "exact_match", "value": value, "signature": signature}
    output = {"text": text, "scores": [score]}
    return _record(prompt="2+2?", references=["4"], outputs=[output])


def _retrieved(*contents: str | None) -> bytes:
    """Return a record with retrieved documents, without any if one is None, a line."""
    found = {} if None in contents else {"retrieved_documents": list(contents)}
    return _record(
        prompt="Capital?",
        metadata={"ground_truth_documents": ["Maputo"], **found},
        outputs=[],
    )


SCORING_RULES = (
    Rule(
        NO_ANSWER,
        "answer-to-score",
        Severity.WARNING,
        "A record has no answer to score.",
        "It is left out of every score: a missing answer is not a wrong answer. The "
        "table of scores lists how many were left out. To count it as wrong, give it "
        "an empty text, or score with --missing zero.",
        _answered(None, "4") + _answered("4", "4"),
        _answered("", "4") + _answered("4", "4"),
        "record",
        command="score",
    ),
    Rule(
        NO_REFERENCE,
        "reference-to-score",
        Severity.WARNING,
        "A record has no reference to compare its answers with.",
        "It is left out of every score. The table of scores lists how many were left "
        "out.",
        _answered("4") + _answered("4", "4"),
        _answered("4", "4") + _answered("4", "4"),
        "record",
        command="score",
    ),
    Rule(
        UNSCORABLE,
        "unscorable-answer",
        Severity.WARNING,
        "A metric cannot compute a number for an answer.",
        "The answer is left out of that metric only. The table of scores lists how "
        "many were left out.",
        _answered("four", "4") + _answered("4", "4"),
        _answered("4", "4") + _answered("4", "4"),
        "record",
        command="score",
        arguments=("--metrics", "number-check"),
    ),
    Rule(
        NO_VERDICT,
        "verdict-to-score",
        Severity.WARNING,
        "A judge gave no verdict, or one that lacks a number.",
        "It is left out of the scores that it lacks. The table of scores lists how "
        "many were left out. A pair that is judged in both orders needs both verdicts.",
        _verdict(1, None, "no reply") + _verdict(2, {"score": 1}),
        _verdict(1, {"score": 0}) + _verdict(2, {"score": 1}),
        "judge-verdicts",
        command="score",
    ),
    Rule(
        NO_FIELD,
        "field-to-score",
        Severity.WARNING,
        "A record lacks what a metric needs besides an answer and a reference.",
        "It is left out of that metric only, and never counts as 0. The table of "
        "scores lists how many were left out. A retrieval that found nothing has an "
        "empty list of documents, which scores 0.",
        _retrieved(None) + _retrieved("Maputo"),
        _retrieved() + _retrieved("Maputo"),
        "record",
        command="score",
        arguments=("--metrics", "document-recall"),
    ),
    Rule(
        NO_STORED_NUMBER,
        "stored-number",
        Severity.WARNING,
        "A score that is stored with an answer is no number.",
        "It is left out of the mean of the stored scores, and never counts as 0. The "
        "table of scores lists how many were left out.",
        _scored("four", None) + _scored("4", 1),
        _scored("four", 0) + _scored("4", 1),
        "record",
        command="score",
        arguments=("--stored",),
    ),
    Rule(
        OTHER_THAN_STORED,
        "other-than-stored",
        Severity.NOTE,
        "A computed score should be the one that a tool stored under the same name.",
        "The tool may have scored what it extracted from the answer, or may define the "
        "metric in another way: compare the signatures. `score --stored` shows its "
        "scores.",
        _scored("four", 1) + _scored("4", 1),
        _scored("four", 0) + _scored("4", 1),
        "record",
        command="score",
    ),
)
