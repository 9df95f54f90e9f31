"""The adapters of MT-Bench: questions, answers and judgements to records.

The references of a question are one for each turn, and not alternatives: that of the
last turn is the record's reference, those before it are kept in `extra`.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.mt_bench.formats import KEY, NO_SCORE, QUESTION
from harpia_formats.conversion.mapping.fields import (
    FieldTable,
    members_of_both,
    without,
)
from harpia_formats.conversion.mapping.preparation import tool_signature
from harpia_formats.model.adapter import Cardinality, FieldMapping, Row, RowCapacity
from harpia_formats.model.record import Output, Record, Score, kept_of

_turns, _reference = "turns", "reference"
_choice_keys = frozenset({"index", _turns})
#: Keys of a judgement that belong to the judged answer.
_of_judgement = ("judge", "turn", "judgment", "user_prompt", "tstamp")


def _asked(row: Row, kept: Row) -> Row:
    """Return a prompt, or messages for several turns, and the last reference."""
    turns, others = row[_turns], row.get(_reference, [])
    fields: Row = {"id": row[QUESTION]}
    if len(turns) == 1:
        fields["prompt"] = turns[0]
    else:
        fields["messages"] = [_message("user", turn) for turn in turns]
    if len(others) == len(turns):
        fields["references"] = others[-1:]
        others = others[:-1]
    if others:
        kept[_reference] = others
    return fields


def _answers(row: Row, kept: Row) -> Row:  # noqa: ARG001 - the signature of `read_own`
    """Return an output for each choice."""
    outputs = [_output_of(choice, row["model_id"]) for choice in row["choices"]]
    return {"id": row[QUESTION], "outputs": outputs}


def _output_of(choice: Row, model: str) -> Output:
    """Return the output of one choice: what the model said in each turn."""
    texts = choice[_turns]
    return Output(
        model=model,
        index=choice["index"],
        text=texts[-1],
        turns=[_message("assistant", text) for text in texts] if texts[1:] else UNSET,
        interaction_type="multi_turn" if texts[1:] else "single_turn",
        extra=_extra(without(choice, _choice_keys)),
    )


def _judged(row: Row, kept: Row) -> Row:  # noqa: ARG001 - the signature of `read_own`
    """Return the score of a judgement, whose value is None if the judge gave none.

    The answer that was judged is not in the file: its output has no text.
    """
    name, template = row["judge"]
    signature = tool_signature(
        "score", KEY, judge=name, prompt=template, turn=str(int(row["turn"]))
    )
    value = row["score"] if row["score"] != NO_SCORE else None
    score = Score(metric="score", value=value, signature=signature)
    judged = {key: row[key] for key in _of_judgement if key in row}
    output = Output(model=row["model"], scores=[score], extra={KEY: judged})
    return {"id": row[QUESTION], "outputs": [output]}


def join_question(answer: Record, question: Record) -> Record:
    """Return the record of answers with their question.

    The conversation of user and assistant is the turns of each output. The prompt is
    what the user said in the turn that the texts answer, if that is one.
    """
    asked, references = _turns_of(question), _references_of(question)
    answered = {len(output.turns or (output,)) for output in answer.outputs}
    last = max(answered, default=0)
    turn = last if len(answered) == 1 else 0
    outputs = answer.outputs
    if turn != 1 or len(asked) > 1:
        outputs = [_in_conversation(output, asked) for output in outputs]
    joined = _at_turn(question, turn, asked, references, asked[last:])
    return replace(joined, outputs=outputs, extra=_both(joined, answer))


def _in_conversation(output: Output, asked: Sequence[str]) -> Output:
    """Return an output whose turns are those of the user and of the model."""
    answers = output.turns or [_message("assistant", str(output.text))]
    turns = []
    for number, answer in enumerate(answers):
        if number < len(asked):
            turns.append(_message("user", asked[number]))
        turns.append(answer)
    return replace(output, turns=turns, interaction_type="multi_turn")


def join_judged_question(judgement: Record, question: Record) -> Record:
    """Return the record of a judgement with that turn of the question."""
    (output,) = judgement.outputs
    # A whole number may be written with a point.
    turn = int(output.extra[KEY]["turn"]) if output.extra else 0
    asked, references = _turns_of(question), _references_of(question)
    others = [*asked[: turn - 1], *asked[turn:]]
    joined = _at_turn(question, turn, asked, references, others)
    return replace(joined, outputs=[output], extra=_both(joined, judgement))


def _at_turn(
    question: Record,
    turn: int,
    asked: Sequence[str],
    references: Sequence[str],
    others: Sequence[str],
) -> Record:
    """Return a question with the prompt and the reference of one turn, from 1.

    It has neither if the question has no such turn. References of other turns are kept,
    and so are `others`, the turns that the record has nowhere else.
    """
    kept = {**kept_of(question, KEY)}
    kept.pop(_reference, None)
    at = turn - 1
    is_asked = 0 <= at < len(asked)
    has_reference = is_asked and len(references) == len(asked)
    rest = [*references]
    if has_reference:
        del rest[at]
    if others:
        kept[_turns] = [*others]
    if rest:
        kept[_reference] = rest
    return replace(
        question,
        prompt=asked[at] if is_asked else UNSET,
        messages=UNSET,
        references=[references[at]] if has_reference else UNSET,
        extra=_extra(kept),
    )


def _turns_of(question: Record) -> list[str]:
    """Return what the user says in each turn of a question."""
    if question.messages:
        return [message["content"] for message in question.messages]
    return [] if question.prompt is UNSET else [question.prompt]


def _references_of(question: Record) -> list[str]:
    """Return all references of a question, those of turns in their order."""
    earlier = kept_of(question, KEY).get(_reference, [])
    return [*earlier, *(question.references or [])]


def _both(question: Record, answer: Record) -> Any:
    """Return what is kept of a question and of what was read with it."""
    asked, own = (kept_of(each, KEY) for each in (question, answer))
    return _extra(members_of_both(own, asked, "question"))


def _message(role: str, content: str) -> Row:
    return {"role": role, "content": content}


def _extra(kept: Row) -> Any:
    return {KEY: kept} if kept else UNSET


#: What a record has of the question with which it is read.
_of_question = frozenset({"prompt", "references", "category"})

QUESTIONS = FieldTable(
    KEY,
    (
        FieldMapping((QUESTION,), "id", required=True),
        FieldMapping(("category",), "category"),
        FieldMapping(
            (_turns,), "messages", note="of the user, where there are several"
        ),
        FieldMapping((_turns,), "prompt", note="where there is one"),
        FieldMapping((_reference,), "references", note="that of the last turn"),
    ),
    own_keys=(QUESTION, _turns, _reference),
    read_own=_asked,
    in_order=True,
).adapter(
    is_read_only=True,
    capacity=RowCapacity(outputs=Cardinality.NONE, messages=True),
    extra_examples={_reference: ["reference"]},
    other_names={f"extra.{KEY}.{_reference}": f"{_reference} (of the other turns)"},
)

ANSWERS = FieldTable(
    KEY,
    (
        FieldMapping((QUESTION,), "id", required=True),
        FieldMapping(("model_id",), "outputs.model", required=True),
        FieldMapping(("choices", "index"), "outputs.index", required=True),
        FieldMapping(("choices", _turns), "outputs.text", note="the last one"),
        FieldMapping(
            ("choices", _turns), "outputs.turns", note="with those of the question"
        ),
    ),
    own_keys=(QUESTION, "model_id", "choices"),
    read_own=_answers,
    in_order=True,
).adapter(
    is_read_only=True,
    answer_path=("choices",),
    join=join_question,
    capacity=RowCapacity(
        references=Cardinality.NONE, outputs=Cardinality.MANY_OF_ONE_MODEL, turns=True
    ),
    other_paths=_of_question | {"outputs.interaction_type", f"outputs.extra.{KEY}"},
    nested_lists=frozenset({_turns}),
    other_names={"outputs.interaction_type": "choices.turns (how many there are)"},
)

JUDGEMENTS = FieldTable(
    KEY,
    (
        FieldMapping((QUESTION,), "id", required=True),
        FieldMapping(("model",), "outputs.model", required=True),
        FieldMapping(
            ("score",), "outputs.scores.value", note="none for -1", required=True
        ),
        FieldMapping(("judge",), "outputs.scores.signature", note="with the turn"),
    ),
    own_keys=(QUESTION, "model", "score", *_of_judgement),
    read_own=_judged,
    in_order=True,
).adapter(
    is_read_only=True,
    join=join_judged_question,
    capacity=RowCapacity(references=Cardinality.NONE, scores=Cardinality.ONE),
    other_paths=_of_question | {"outputs.scores.metric", f"outputs.extra.{KEY}"},
    answer_extra_examples=dict.fromkeys(_of_judgement, "value"),
    other_names={
        "outputs.scores.metric": "score (the name)",
        **{f"outputs.extra.{KEY}.{key}": key for key in _of_judgement},
    },
)
