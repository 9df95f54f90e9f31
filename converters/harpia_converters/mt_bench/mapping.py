"""The adapters of MT-Bench: questions, answers and judgements to records.

The references of a question are one for each turn, and not alternatives: that of the
last turn is the record's reference, those before it are kept in `extra`.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from harpia_converters.mt_bench.detection import KEY, QUESTION
from harpia_converters.mt_bench.judgements import NO_SCORE
from harpia_formats.mapping.tool_signature import tool_signature
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.record import Output, Record, Score

_turns, _reference = "turns", "reference"
_question_keys = frozenset({QUESTION, "category", _turns, _reference})
_answer_keys = frozenset({QUESTION, "model_id", "choices"})
_choice_keys = frozenset({"index", _turns})
#: Keys of a judgement that belong to the judged answer.
_of_judgement = ("judge", "turn", "judgment", "user_prompt", "tstamp")
_judgement_keys = frozenset({QUESTION, "model", "score", *_of_judgement})


def _without(row: Row, known: frozenset[str]) -> Row:
    return {key: value for key, value in row.items() if key not in known}


def _read_question(row: Row) -> Record:
    """Return the record of a question: a prompt, or messages for several turns."""
    turns = row[_turns]
    fields, kept = _fields_of(row, len(turns))
    if len(turns) == 1:
        fields["prompt"] = turns[0]
    else:
        fields["messages"] = [_message("user", turn) for turn in turns]
    return Record(**fields, extra=_extra(kept | _without(row, _question_keys)))


def _fields_of(question: Row, turn: int) -> tuple[Row, Row]:
    """Return the fields of a question asked up to the `turn`, from 1.

    The second object has the references of the turns before it, which are kept.
    """
    fields = {"id": question[QUESTION]}
    if "category" in question:
        fields["category"] = question["category"]
    references = question.get(_reference, [])
    if len(references) == len(question[_turns]) >= turn:
        fields["references"] = references[turn - 1 : turn]
        references = [*references[: turn - 1], *references[turn:]]
    return fields, {_reference: references} if references else {}


def _read_answer(row: Row) -> Record:
    """Return the record of the answers of a model, without their question."""
    return answer_record(row, None)


def answer_record(row: Row, question: Row | None) -> Record:
    """Return the record of the answers in `row` to `question`, None if not known.

    The conversation of user and assistant is the turns of each output, its last turn
    the text.
    """
    asked: Sequence[str] = ()
    fields: Row = {"id": row[QUESTION]}
    kept: Row = {}
    if question is not None:
        asked = question[_turns]
        fields, kept = _fields_of(question, len(asked))
        fields["prompt"] = asked[-1]
        kept |= _without(question, _question_keys)
    outputs = [_output_of(choice, row["model_id"], asked) for choice in row["choices"]]
    kept |= _without(row, _answer_keys)
    return Record(**fields, outputs=outputs, extra=_extra(kept))


def _output_of(choice: Row, model: str, asked: Sequence[str]) -> Output:
    """Return the output of one choice: what the model said in each turn."""
    said = choice[_turns]
    is_chat = len(said) > 1 or len(asked) > 1
    return Output(
        model=model,
        index=choice["index"],
        text=said[-1],
        turns=_conversation(asked, said) if is_chat else UNSET,
        interaction_type="multi_turn" if is_chat else "single_turn",
        extra=_extra(_without(choice, _choice_keys)),
    )


def _conversation(asked: Sequence[str], said: Sequence[str]) -> list[Row]:
    """Return the turns of user and assistant, those of the user as far as known."""
    turns = []
    for number, answer in enumerate(said):
        if number < len(asked):
            turns.append(_message("user", asked[number]))
        turns.append(_message("assistant", answer))
    return turns


def _read_judgement(row: Row) -> Record:
    """Return the record of a judgement, without its question."""
    return judgement_record(row, None)


def judgement_record(row: Row, question: Row | None) -> Record:
    """Return the record of the judged turn of `question`, None if not known.

    The answer that was judged is not in the file: its output has a score and no text.
    """
    fields: Row = {"id": row[QUESTION]}
    kept: Row = {}
    turn = row["turn"]
    if question is not None:
        fields, kept = _fields_of(question, turn)
        asked = question[_turns][:turn]
        fields["prompt"] = asked[-1]
        kept |= _without(question, _question_keys)
    judged = {key: row[key] for key in _of_judgement if key in row}
    output = Output(model=row["model"], scores=[_score_of(row)], extra={KEY: judged})
    kept |= _without(row, _judgement_keys)
    return Record(**fields, outputs=[output], extra=_extra(kept))


def _score_of(row: Row) -> Score:
    """Return the score of a judgement, whose value is None if the judge gave none."""
    value: Any = row["score"]
    name, template = row["judge"]
    signature = tool_signature(
        "score", KEY, judge=name, prompt=template, turn=str(row["turn"])
    )
    is_scored = value != NO_SCORE
    return Score(
        metric="score", value=value if is_scored else None, signature=signature
    )


def _message(role: str, content: str) -> Row:
    return {"role": role, "content": content}


def _extra(kept: Row) -> Any:
    return {KEY: kept} if kept else UNSET


_question_fields = (
    FieldMapping((QUESTION,), "id", required=True),
    FieldMapping(("category",), "category"),
    FieldMapping((_turns,), "messages", note="of the user, where there are several"),
    FieldMapping((_turns,), "prompt", note="where there is one"),
    FieldMapping((_reference,), "references", note="that of the last turn"),
)
_names_of_question = {f"extra.{KEY}.{_reference}": f"{_reference} (of the other turns)"}

QUESTIONS = FormatAdapter(
    vendor=KEY,
    fields=_question_fields,
    read=_read_question,
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.NONE, messages=True
    ),
    extra_examples={_reference: ["reference"]},
    other_names=_names_of_question,
)

ANSWERS = FormatAdapter(
    vendor=KEY,
    fields=(
        FieldMapping((QUESTION,), "id", required=True),
        FieldMapping(("model_id",), "outputs.model", required=True),
        FieldMapping(("choices", "index"), "outputs.index", required=True),
        FieldMapping(("choices", _turns), "outputs.text", note="the last one"),
        FieldMapping(
            ("choices", _turns), "outputs.turns", note="with those of the question"
        ),
    ),
    read=_read_answer,
    capacity=RowCapacity(
        references=Cardinality.NONE, outputs=Cardinality.MANY_OF_ONE_MODEL, turns=True
    ),
    other_paths=frozenset({"outputs.interaction_type", f"outputs.extra.{KEY}"}),
    answer_path=("choices",),
    nested_lists=frozenset({_turns}),
    other_names={
        "outputs.interaction_type": "choices.turns (how many there are)",
    },
)

JUDGEMENTS = FormatAdapter(
    vendor=KEY,
    fields=(
        FieldMapping((QUESTION,), "id", required=True),
        FieldMapping(("model",), "outputs.model", required=True),
        FieldMapping(
            ("score",), "outputs.scores.value", note="none for -1", required=True
        ),
        FieldMapping(("judge",), "outputs.scores.signature", note="with the turn"),
    ),
    read=_read_judgement,
    capacity=RowCapacity(
        references=Cardinality.NONE,
        outputs=Cardinality.ONE,
        scores=Cardinality.ONE,
    ),
    other_paths=frozenset({"outputs.scores.metric", f"outputs.extra.{KEY}"}),
    answer_extra_examples=dict.fromkeys(_of_judgement, "value"),
    other_names={
        "outputs.scores.metric": "score (the name)",
        **{f"outputs.extra.{KEY}.{key}": key for key in _of_judgement},
    },
)
