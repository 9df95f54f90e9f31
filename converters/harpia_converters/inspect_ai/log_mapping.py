"""The adapter of inspect-log: one record for each sample in each epoch."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET

from harpia_converters.inspect_ai.chats import Chat, is_empty
from harpia_converters.inspect_ai.contents import Attachments
from harpia_converters.inspect_ai.detection import KEY
from harpia_converters.inspect_ai.outputs import read_outputs, with_conversation
from harpia_converters.inspect_ai.run import Run, needed_around, run_of
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.record import Header, Record

#: Members of a sample that are read.
_read_keys = frozenset(
    "id epoch input choices target messages output scores score metadata model_usage "
    "total_time".split()
)
#: Members that say what happened in a sample, step by step. Only their number is kept.
_steps = ("events", "transcript")
#: Members that only events refer to, beside what is resolved.
_of_steps = frozenset({*_steps, "attachments", "events_data", "message_pool"})


#: Fields that are read from the values of keys, with what they are there.
_other_names = {
    "outputs.scores.is_correct": "scores.* (C and I)",
    "outputs.scores.signature": "scores.* (the version of Inspect and the scorer)",
}
_extra, _of_answer = f"extra.{KEY}", f"outputs.extra.{KEY}"
#: What is kept under the key of a field, or of another object than the sample.
_names_of_rest = {
    f"{_extra}.input": "input (ids and sources)",
    f"{_extra}.input_parts": "input (parts that are no text)",
    f"{_extra}.messages": "messages (ids and sources)",
    f"{_extra}.parts": "messages (parts that are no text)",
    f"{_extra}.error": "error (its traceback)",
    f"{_extra}.unresolved_attachments": "attachments (missing ones)",
    f"{_of_answer}.message": "output.choices.message (ids and sources)",
    f"{_of_answer}.parts": "output.choices.message (parts that are no text)",
    f"{_of_answer}.stop_reason": "output.choices.stop_reason",
    f"{_of_answer}.model": "output.model",
    f"{_of_answer}.usage": "output.usage",
    f"{_of_answer}.time": "output.time",
    f"{_of_answer}.scores": "scores.* (answers and explanations)",
    f"{_of_answer}.usage_of": "output.usage (instead of model_usage)",
}
#: Documented members of samples and outputs that are no fields.
_examples: Row = {
    "input": [{"id": "m1"}],
    "input_parts": [{"message": 0, "type": "image", "image": "a.png"}],
    "messages": [{"id": "m1"}],
    "parts": [{"message": 0, "type": "image", "image": "a.png"}],
    "events": 7,
    "error": {"traceback": "Traceback"},
    "error_retries": [{"message": "timeout"}],
    "limit": {"type": "token", "limit": 1.0},
    "store": {"key": 1},
    "files": ["a.txt"],
    "setup": "ls",
    "sandbox": {"type": "docker"},
    "uuid": "u1",
    "turn_count": 1,
    "working_time": 0.5,
    "role_usage": {"grader": {"input_tokens": 1}},
    "unresolved_attachments": 1,
}
_answer_examples: Row = {
    "stop_reason": "stop",
    "message": {"id": "m2"},
    "parts": [{"type": "image", "image": "a.png"}],
    "logprobs": {"content": []},
    "model": "served",
    "usage": {"input_tokens": 1},
    "usage_of": "the last call",
    "model_usage": {"judge": {"input_tokens": 1}},
    "time": 0.5,
    "scores": {"match": {"answer": "a"}},
}


def repeated_ids(around: Mapping[str, Any]) -> str:
    """Return that samples are run several times, "" for a log with one epoch."""
    epochs = run_of(around).epochs
    return f"each sample has {epochs:,} epochs with one id" if epochs > 1 else ""


def reader_in(around: Mapping[str, Any]) -> Callable[[Row], Record]:
    """Return the function that reads the samples of a log.

    `around` is what `needed_around` returned of the members before the samples.
    """
    run = run_of(around)

    def read(sample: Row) -> Record:
        return _read(sample, run)

    return read


def _read(sample: Row, run: Run) -> Record:
    attachments = Attachments(sample)
    chat = Chat(sample.get("messages") or [], attachments)
    fields, asked, rest = _question(sample, attachments)
    if "system" not in fields and chat.system() is not None:
        fields["system"] = chat.system()
    first, *others = read_outputs(sample, run, attachments)
    first = with_conversation(first, chat, asked)
    if chat.has_rest:
        rest["messages"] = chat.rest
    if chat.parts:
        rest["parts"] = chat.parts
    rest |= _rest_of(sample)
    if attachments.unresolved:
        rest["unresolved_attachments"] = len(attachments.unresolved)
    return Record(
        id=sample["id"],
        **fields,
        references=_references(sample["target"]),
        choices=sample.get("choices") or UNSET,
        metadata=sample.get("metadata") or UNSET,
        extra={KEY: rest} if rest else UNSET,
        outputs=[first, *others],
    )


def _question(sample: Row, attachments: Attachments) -> tuple[Row, list[Row], Row]:
    """Return the fields for what is asked, it as messages, and what has no place."""
    given = sample["input"]
    if type(given) is str:
        prompt = attachments.text(given)
        return {"prompt": prompt}, [{"role": "user", "content": prompt}], {}
    chat = Chat(given, attachments)
    fields: Row = {"messages": chat.turns}
    system = chat.system()
    if system is not None:
        fields["system"] = system
    elif chat.is_one_question:
        fields = {"prompt": chat.turns[0]["content"]}
    rest: Row = {}
    if chat.has_rest:
        rest["input"] = chat.rest
    if chat.parts:
        rest["input_parts"] = chat.parts
    return fields, chat.turns, rest


def _references(target: Any) -> Any:
    """Return the texts of a target; `UNSET` if there is none, which is spelt as ""."""
    texts = [target] if type(target) is str else target
    return [text for text in texts if text] or UNSET


def _rest_of(sample: Row) -> Row:
    """Return the members of a sample that are read as no field.

    Of its events only their number is kept.
    """
    rest = {
        key: value
        for key, value in sample.items()
        if key not in _read_keys and key not in _of_steps and not is_empty(value)
    }
    error = rest.pop("error", None)
    if error:
        more = {key: value for key, value in error.items() if key != "message"}
        if not is_empty(more):
            rest["error"] = more
    for key in _steps:
        steps = sample.get(key)
        steps = steps.get("events") if type(steps) is dict else steps
        if steps:
            rest["events"] = len(steps)
    return rest


def read_header(document: Row) -> Header:
    """Return the header of a log, given as `document` without its samples."""
    rest = {
        key: value
        for key, value in document.items()
        if key not in {"eval", "log_format"} and not is_empty(value)
    }
    run = document.get("eval")
    return Header(
        evaluation=run if type(run) is dict else UNSET,
        extra={KEY: rest} if rest else UNSET,
    )


LOG = FormatAdapter(
    vendor=KEY,
    fields=(
        FieldMapping(("id",), "id", required=True),
        FieldMapping(
            ("input",), "prompt", required=True, note="a text, or a single message"
        ),
        FieldMapping(("input",), "messages", note="a chat of several messages"),
        FieldMapping(("messages",), "system", note="the first one of the system"),
        FieldMapping(("target",), "references", LIST_OF_ONE, note='none for ""'),
        FieldMapping(("choices",), "choices"),
        FieldMapping(("metadata",), "metadata"),
        FieldMapping(("epoch",), "outputs.index", note="the epoch less 1"),
        FieldMapping(("eval", "model"), "outputs.model", note="of the log"),
        FieldMapping(
            ("messages",),
            "outputs.formatted_prompt",
            note="before the first answer, if it is one message of the user",
        ),
        FieldMapping(("output", "choices"), "outputs.text", note="the parts of text"),
        FieldMapping(
            ("output", "choices"), "outputs.reasoning", note="the parts of reasoning"
        ),
        FieldMapping(
            ("messages",),
            "outputs.turns",
            note="where they say more than the question and the answer",
        ),
        FieldMapping(
            ("messages",), "outputs.interaction_type", note="by tools and answers"
        ),
        FieldMapping(
            ("model_usage",),
            "outputs.token_usage",
            note="of the evaluated model, else of `output.usage`",
        ),
        FieldMapping(
            ("total_time",), "outputs.performance", note="seconds to milliseconds"
        ),
        FieldMapping(("error", "message"), "outputs.error"),
        FieldMapping(
            ("scores", "*"),
            "outputs.scores.value",
            key_record_path="outputs.scores.metric",
            note="C is 1, P 0.5, I and N 0; `scorer.key` for each key of an object",
        ),
        FieldMapping(
            ("eval", "task"), "outputs.scores.evaluation_name", note="of the log"
        ),
        FieldMapping(
            ("eval", "eval_id"),
            "outputs.scores.evaluation_id",
            note="of the log, else its `run_id`",
        ),
    ),
    read=reader_in({}),
    reader_in=reader_in,
    repeated_ids=repeated_ids,
    needed_around=needed_around,
    capacity=RowCapacity(
        references=Cardinality.MANY,
        outputs=Cardinality.MANY_OF_ONE_MODEL,
        scores=Cardinality.MANY,
        messages=True,
        turns=True,
    ),
    read_header=read_header,
    other_paths=frozenset({*_other_names, f"outputs.extra.{KEY}"}),
    other_names={**_other_names, **_names_of_rest},
    not_kept={f"{_extra}.events": "only their number is kept"},
    extra_examples=_examples,
    answer_extra_examples=_answer_examples,
)
