"""The formats mt-bench-questions, -answers and -judgements, and their rules (B1)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Companion, Dialect, Format, Remark
from harpia_formats.model.problem import Severity

VENDOR = "MT-Bench"
#: The key of its own data in a record's `extra`.
KEY = "mt-bench"
#: The key that every row has.
QUESTION = "question_id"


def question_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a question, or ""."""
    return _sign(row, "turns") if isinstance(row.get("turns"), list) else ""


def answer_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` has the answers of a model, or ""."""
    is_answer = isinstance(row.get("choices"), list) and "model_id" in row
    return _sign(row, "choices") if is_answer else ""


def judgement_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a judgement of one answer, or "".

    Judgements of the answers of two models have no score, and are not known.
    """
    is_single = isinstance(row.get("judge"), list) and "model_1" not in row
    return _sign(row, "judge") if is_single else ""


def _sign(row: Mapping[str, Any], key: str) -> str:
    return f"`{QUESTION}` and `{key}`" if QUESTION in row else ""


UNKNOWN_QUESTION = "B103"


def unknown_question() -> Remark:
    """Return the remark on a row whose question is not in the other file (B103)."""
    return Remark(
        UNKNOWN_QUESTION,
        (QUESTION,),
        f"the file of questions has none with this {QUESTION}",
        "give the file of questions that was answered",
    )


QUESTIONS = Companion(
    format="mt-bench-questions",
    refers_by=QUESTION,
    no_such_record=unknown_question,
    by_id=True,
    without="what was asked is not known",
)


REFERENCE_BY_TURN = "B101"


def question_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark if a question has not one reference for each turn (B101)."""
    turns, references = row["turns"], row.get("reference")
    if references and len(turns) != len(references):
        yield Remark(
            REFERENCE_BY_TURN,
            ("reference",),
            f"there are {len(turns):,} in turns and {len(references):,} in reference",
            "give the reference of each turn, in their order",
        )


QUESTIONS_FORMAT = Format(
    id="mt-bench-questions",
    title="Questions of several turns (question.jsonl)",
    vendor=VENDOR,
    adapter="harpia_converters.mt_bench.mapping:QUESTIONS",
    dialects=(
        Dialect(
            "mt-bench-questions",
            question_sign,
            remarks=question_remarks,
            one_of=frozenset({QUESTION}),
        ),
    ),
    id_key=QUESTION,
    read_only=True,
)


ANSWERS_FORMAT = Format(
    id="mt-bench-answers",
    title="Answers of a model to each turn of questions (model_answer)",
    vendor=VENDOR,
    adapter="harpia_converters.mt_bench.mapping:ANSWERS",
    dialects=(Dialect("mt-bench-answers", answer_sign, one_of=frozenset({QUESTION})),),
    id_key=QUESTION,
    id_with=(("model_id",),),
    read_only=True,
    companion=QUESTIONS,
)


UNSCORED = "B102"
#: The score of a judgement in which no score was found.
NO_SCORE = -1


def judgement_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark if a judgement has no score (B102)."""
    if row["score"] == NO_SCORE:
        yield Remark(
            UNSCORED,
            ("score",),
            f"the score {NO_SCORE} says that the judge's reply had none",
            "nothing to do: it is read as no score, and is not part of any mean",
        )


JUDGEMENTS_FORMAT = Format(
    id="mt-bench-judgements",
    title="Judgements of an LLM on single answers (model_judgment)",
    vendor=VENDOR,
    adapter="harpia_converters.mt_bench.mapping:JUDGEMENTS",
    dialects=(
        Dialect(
            "mt-bench-judgements",
            judgement_sign,
            remarks=judgement_remarks,
            one_of=frozenset({QUESTION}),
        ),
    ),
    id_key=QUESTION,
    ids_repeat=True,
    read_only=True,
    companion=QUESTIONS,
)


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
