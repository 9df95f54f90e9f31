"""The rules B1 of MT-Bench's questions and judgements."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_question = (
    b'{"question_id": 201, "category": "math", "turns": ["2+2?", "Plus 3?"], '
    b'"reference": [%s]}\n'
)
_judgement = (
    b'{"question_id": 201, "model": "finch-7b", "judge": ["owl-1", "single-v1"], '
    b'"user_prompt": "Rate 4.", "judgment": "%s", "score": %s, "turn": 1}\n'
)
_answer = (
    b'{"question_id": %d, "model_id": "finch-7b", '
    b'"choices": [{"index": 0, "turns": ["4", "7"]}]}\n'
)

RULES = (
    Rule(
        "B101",
        "reference-by-turn",
        Severity.WARNING,
        "A question has one reference for each of its turns, or none.",
        "References of MT-Bench are no alternatives: each is the answer to the turn at "
        "its place. Where their number is another one, no reference is taken for that "
        "of a turn, and they are kept in extra.",
        _question % b'"4"',
        _question % b'"4", "7"',
        "mt-bench-questions",
    ),
    Rule(
        "B102",
        "unscored-judgement",
        Severity.NOTE,
        "A judgement has a score.",
        "FastChat writes the score -1 where the judge's reply has no score in double "
        "brackets. It is read as null, so that it is no part of a mean.",
        _judgement % (b"Good.", b"-1"),
        _judgement % (b"Good. [[9]]", b"9"),
        "mt-bench-judgements",
    ),
    Rule(
        "B103",
        "row-without-question",
        Severity.WARNING,
        "The question_id of answers and judgements must be that of a question.",
        "Such a row is about another set of questions, or the file of questions was "
        "cut. It is checked where that file is given with --with; the row is then read "
        "without its question.",
        _answer % 202,
        _answer % 201,
        "mt-bench-answers",
        companion=_question % b'"4", "7"',
    ),
)
