"""The adapter of openai-batch-output: the results of a batch as records."""

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.openai.extra_fields import BATCHES, as_extra, without
from harpia_converters.openai.result_answers import chat_answers, response_answer
from harpia_converters.openai.row_checks import ERROR_STATUS
from harpia_converters.openai.tool_calls import as_turn
from harpia_converters.openai.usage import read_usage
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.record import Output, Record

_body = ("response", "body")
_choices = (*_body, "choices")

_fields = (
    FieldMapping(("custom_id",), "id"),
    FieldMapping((*_body, "model"), "outputs.model"),
    FieldMapping(
        (*_choices, "index"), "outputs.index", note="where there are several choices"
    ),
    FieldMapping(
        (*_choices, "message", "content"),
        "outputs.text",
        note="or text of a completion, or the texts in body.output",
    ),
    FieldMapping(
        (*_choices, "message", "reasoning_content"),
        "outputs.reasoning",
        note="or the summary in body.output",
    ),
    FieldMapping(
        (*_choices, "message", "tool_calls"),
        "outputs.turns",
        note="a turn of the assistant, or the calls in body.output",
    ),
    FieldMapping(
        (*_body, "usage"), "outputs.token_usage", note="where there is one choice"
    ),
    FieldMapping(
        ("error", "message"), "outputs.error", note="or that in response.body.error"
    ),
)


def read_result(row: Row) -> Record:
    """Return the record of a result: its answers, or the error in their place."""
    rest = without(row, {"custom_id", "response", "error"})
    response = row["response"]
    outputs: list[Output] = []
    if response is not None:
        kept, outputs = _read_response(response)
        if kept:
            rest["response"] = kept
    error = row.get("error")
    if error is not None:
        others = without(error, {"message"})
        if others:
            rest["error"] = others
        outputs = _with_error(outputs, error)
    return Record(
        id=row["custom_id"],
        outputs=outputs or [Output(text=None)],
        **as_extra(rest, BATCHES),
    )


def _read_response(response: Row) -> tuple[Row, list[Output]]:
    """Return what is kept of a response, and the answers that it has."""
    rest, body = without(response, {"body"}), response["body"]
    status = response["status_code"]
    if status < ERROR_STATUS:
        del rest["status_code"]
    if type(body) is not dict:
        failed = status >= ERROR_STATUS
        if body and not failed:
            rest["body"] = {"text": body}
        return rest, [Output(text=None, error=_told(body, status))] if failed else []
    left = dict(body)
    model = left.pop("model", UNSET)
    choices, items = left.pop("choices", None), left.pop("output", None)
    outputs = chat_answers(choices or [], model)
    if items:
        outputs.append(response_answer(items, model))
    counts, others = read_usage(left.get("usage"))
    if len(outputs) == 1 and counts:
        left.pop("usage")
        if others:
            left["usage"] = others
        outputs = [replace(outputs[0], token_usage=counts)]
    if status >= ERROR_STATUS or left.get("error") is not None:
        message = _told(left.get("error"), status)
        outputs = [replace(each, error=message) for each in outputs] or [
            Output(model=model, text=None, error=message)
        ]
    if left:
        rest["body"] = left
    return rest, outputs


def _told(error: Any, status: int) -> str:
    """Return what an error says: its message, or its code, or the status."""
    if type(error) is str and error:
        return error
    for key in ("message", "code"):
        found = error.get(key) if type(error) is dict else None
        if type(found) is str and found:
            return found
    return f"status {status}"


def _with_error(outputs: list[Output], error: Row) -> list[Output]:
    """Return the outputs with the error of the request; one if there is none."""
    message = _told(error, 0) if error else "no reason is given"
    return [replace(each, error=message) for each in outputs] or [
        Output(text=None, error=message)
    ]


def join_request(result: Record, request: Record) -> Record:
    """Return the record of a result with the question and the settings of its request.

    Answers and errors are of the model that was asked; another name in the response is
    kept. Calls of tools follow the question.
    """
    model = (request.params or {}).get("model", UNSET)
    chat = [as_turn(message) for message in _chat_of(request)]
    outputs = []
    for output in result.outputs:
        turns = [*chat, *output.turns] if output.turns else output.turns
        beside = output.extra
        if output.model not in (UNSET, model) and model is not UNSET:
            own = (output.extra or {}).get(BATCHES, {})
            beside = {**(output.extra or {}), BATCHES: {**own, "model": output.model}}
        given = output.model if model is UNSET else model
        outputs.append(replace(output, model=given, turns=turns, extra=beside))
    extra = {**(request.extra or {})}
    for owner, members in (result.extra or {}).items():
        extra[owner] = {**extra.get(owner, {}), **members}
    return replace(request, outputs=outputs, extra=extra or UNSET)


def _chat_of(record: Record) -> list[Row]:
    """Return the question of a record as messages."""
    chat: list[Row] = []
    if record.system is not UNSET:
        chat.append({"role": "system", "content": record.system})
    if record.messages:
        return [*chat, *record.messages]
    if record.prompt is not UNSET:
        chat.append({"role": "user", "content": record.prompt})
    return chat


#: What a record has of the request with which it is read.
_of_request = frozenset(Record.__struct_fields__) - {"id", "extra", "outputs"}

RESULTS = FormatAdapter(
    vendor=BATCHES,
    fields=_fields,
    read=read_result,
    capacity=RowCapacity(
        references=Cardinality.NONE, outputs=Cardinality.MANY, turns=True
    ),
    answer_path=_choices,
    join=join_request,
    other_paths=_of_request,
    extra_examples={"response": {"body": {"usage": {"total_tokens": 1}}}},
)
