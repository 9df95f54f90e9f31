"""The adapter of inspect-log: one record for each sample in each epoch.

The answers of a sample are outputs, with its scores and what the log says of the run.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from harpia_converters.inspect_ai.formats import KEY
from harpia_converters.inspect_ai.messages import (
    ASSISTANT,
    SYSTEM,
    USER,
    Attachments,
    Chat,
    Value,
    content_of,
    is_empty,
    other_parts,
    others_in,
    values_in,
)
from harpia_formats.conversion.mapping.fields import FieldTable, without
from harpia_formats.conversion.mapping.preparation import tool_signature
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    Row,
    RowCapacity,
    at_path,
)
from harpia_formats.model.record import Header, Output, Score


class Run(Struct, frozen=True):
    """The run of a log, as far as its samples depend on it; "" for what is unknown."""

    model: str = ""
    task: str = ""
    evaluation_id: str = ""
    #: The version of Inspect.
    version: str = ""
    #: The name of the only scorer, in early logs.
    scorer: str = ""
    #: How many times each sample is run.
    epochs: int = 1


def needed_around(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what `run_of` needs of the members of a log before its samples."""
    run, epochs = members.get("eval"), at_path(members, ("eval", "config", "epochs"))
    return {
        "model": _text(run, "model"),
        "task": _text(run, "task"),
        "evaluation_id": _text(run, "eval_id") or _text(run, "run_id"),
        "version": _text(run, "packages", "inspect_ai"),
        "scorer": _scorer(members.get("results")),
        "epochs": epochs if type(epochs) is int and epochs > 0 else 1,
    }


def run_of(needed: Mapping[str, Any]) -> Run:
    """Return the run of samples, given what `needed_around` returned, or nothing."""
    return Run(**needed)


def _scorer(results: Any) -> str:
    """Return the name of the first scorer in the results of a log of any version."""
    scores = at_path(results, ("scores",))
    if isinstance(scores, list) and scores and isinstance(scores[0], dict):
        return _text(scores[0], "name")
    return _text(results, "scorer", "name")


def _text(owner: Any, *path: str) -> str:
    value = at_path(owner, path)
    return value if isinstance(value, str) else ""


#: The name of the package, as the logs give it.
_tool = "inspect_ai"
#: What a scorer is called if nothing names it.
_unnamed = "score"


def scorers_of(sample: Row, run: Run) -> Row:
    """Return what each scorer says of a sample, by its name."""
    scorers: Row | None = sample.get("scores")
    if scorers:
        return scorers
    # Early logs have one scorer, which only their results name.
    score = sample.get("score")
    return {run.scorer or _unnamed: score} if type(score) is dict else {}


def read_scores(scorers: Row, run: Run) -> tuple[list[Score], Row]:
    """Return the scores of a sample, and the further data of each of its scorers.

    A value that is no number is among the further data, and the score has none.
    """
    scores: list[Score] = []
    rest: Row = {}
    for scorer, score in scorers.items():
        own = others_in(score, ("value",))
        for value in values_in(score["value"]):
            scores.append(_score(scorer, value, run))
            if value.is_other:
                own["value"] = score["value"]
        if own:
            rest[scorer] = own
    return scores, rest


def _score(scorer: str, value: Value, run: Run) -> Score:
    metric = f"{scorer}.{value.key}" if value.key else scorer
    known: Any = UNSET if value.is_correct is None else value.is_correct
    return Score(
        metric=metric,
        value=value.number,
        is_correct=known,
        evaluation_id=run.evaluation_id or UNSET,
        evaluation_name=run.task or UNSET,
        signature=tool_signature(metric, _tool, run.version, scorer=scorer),
    )


def unscored(run: Run) -> list[Score] | UnsetType:
    """Return a score without a value that says of which run and task a sample is.

    That is for a sample without scores, such as one that failed: it may get one.
    """
    if not (run.evaluation_id or run.task):
        return UNSET
    return [
        Score(
            evaluation_id=run.evaluation_id or UNSET,
            evaluation_name=run.task or UNSET,
        )
    ]


#: Members of an output and of a choice that are read, or repeat what others say.
_read_output_keys = frozenset("choices completion error stop_reason".split())
_message_keys = frozenset("role content reasoning tool_calls".split())
#: The key of the time in a record, in milliseconds.
_latency = "latency_ms"
#: Digits behind the point of milliseconds: seconds are given to the microsecond.
_digits = 3


def read_outputs(sample: Row, run: Run, attachments: Attachments) -> list[Output]:
    """Return the outputs of a sample: one for each choice, and one if there is none.

    All but the text, the reasoning and what belongs to a choice is of the first one.
    """
    output = sample.get("output") or {}
    epoch = sample["epoch"] - 1
    given = output.get("choices") or ()
    messages = sample.get("messages") or ()
    in_messages = [message.get("tool_calls") for message in messages]
    choices = [_of_choice(choice, attachments, in_messages) for choice in given]
    outputs = choices or [Output(text=output.get("completion") or None)]
    model: Any = run.model or output.get("model") or UNSET
    outputs = [
        replace(each, model=model, index=epoch + number * run.epochs)
        for number, each in enumerate(outputs)
    ]
    first = _with_rest(outputs[0], sample, output, run)
    if others := _differing(sample, output, outputs[0], attachments):
        kept = {} if first.extra is UNSET else first.extra[KEY]
        first = replace(first, extra={KEY: {**kept, "output": others}})
    return [first, *outputs[1:]]


def _differing(
    sample: Row, output: Row, answer: Output, attachments: Attachments
) -> Row:
    """Return the members of an output that differ from what they repeat."""
    found: Row = {}
    completion = output.get("completion")
    if completion and attachments.text(completion) not in _spellings(answer, output):
        found["completion"] = completion
    if output.get("error") and _error(sample, output) != output["error"]:
        found["error"] = output["error"]
    choices = output.get("choices")
    reason = output.get("stop_reason")
    of_choice = choices[0].get("stop_reason") if choices else None
    if not is_empty(reason) and reason != of_choice:
        found["stop_reason"] = reason
    return found


def _spellings(answer: Output, output: Row) -> tuple[Any, ...]:
    """Return the text of an answer, and its parts without line feeds between them."""
    choices = output.get("choices")
    content = choices[0]["message"].get("content") if choices else None
    if type(content) is not list:
        return (answer.text,)
    texts = [part.get("text") for part in content if part["type"] == "text"]
    return answer.text, "".join(text for text in texts if type(text) is str)


def _of_choice(
    choice: Row, attachments: Attachments, in_messages: Sequence[list[Row] | None]
) -> Output:
    """Return the output of one choice, with what it has no place for as extra.

    The calls of tools in it are those of a message of the conversation: those of all
    messages are `in_messages`.
    """
    message = choice["message"]
    content = content_of(message, attachments)
    parts, rest_of_parts = other_parts(message, content, attachments)
    rest = others_in(choice, ("message",))
    others = others_in(message, _message_keys)
    if message["role"] != ASSISTANT:
        others["role"] = message["role"]
    if message.get("tool_calls") and message["tool_calls"] not in in_messages:
        others["tool_calls"] = message["tool_calls"]
    if rest_of_parts:
        others["content"] = rest_of_parts
    if others:
        rest["message"] = others
    if parts:
        rest["parts"] = parts
    return Output(
        text=content.text,
        reasoning=UNSET if content.reasoning is None else content.reasoning,
        extra={KEY: rest} if rest else UNSET,
    )


def _with_rest(answer: Output, sample: Row, output: Row, run: Run) -> Output:
    """Return the first output with the scores, tokens, times and error of a sample."""
    scores, of_scorers = read_scores(scorers_of(sample, run), run)
    usage, rest = _usage(sample, output, run)
    if of_scorers:
        rest["scores"] = of_scorers
    rest |= others_in(output, {*_read_output_keys, *rest})
    if usage is output.get("usage"):
        rest.pop("usage", None)
    kept = {} if answer.extra is UNSET else answer.extra[KEY]
    kept = {**kept, **rest}
    time = sample.get("total_time")
    return replace(
        answer,
        scores=scores or unscored(run),
        token_usage=UNSET if usage is None else usage,
        performance=UNSET if time is None else {_latency: round(time * 1000, _digits)},
        error=_error(sample, output),
        extra={KEY: kept} if kept else UNSET,
    )


def _usage(sample: Row, output: Row, run: Run) -> tuple[Row | None, Row]:
    """Return the tokens of the evaluated model, and those that have no place.

    They are those of the whole sample if it says so, else those of the last call.
    """
    of_models: Row = sample.get("model_usage") or {}
    own = of_models.get(run.model)
    if own is None:
        last: Row | None = output.get("usage")
        rest = {"model_usage": of_models} if of_models else {}
        return last, rest if last is None else {**rest, "usage_of": "the last call"}
    others = without(of_models, (run.model,))
    return own, {"model_usage": others} if others else {}


def _error(sample: Row, output: Row) -> Any:
    """Return what went wrong in a sample, or in its last call; `UNSET` if nothing."""
    error = sample.get("error")
    if error is not None:
        return error["message"]
    return output.get("error") or UNSET


def with_conversation(
    answer: Output, chat: Chat, asked: list[Row], system: str | None
) -> Output:
    """Return the first output with the conversation that led to it.

    A conversation that is only what was `asked` and the answer is not repeated, nor is
    one of the `system` message of the record, the formatted prompt and the answer.
    """
    if not chat.turns:
        return answer
    prompt = chat.prompt()
    own: Row = {"role": ASSISTANT, "content": answer.text}
    if answer.reasoning is not UNSET:
        own["reasoning"] = answer.reasoning
    if prompt is not None:
        asked = [] if system is None else [{"role": SYSTEM, "content": system}]
        asked.append({"role": USER, "content": prompt})
    return replace(
        answer,
        formatted_prompt=UNSET if prompt is None else prompt,
        turns=UNSET if chat.consists_of(asked, own) else chat.turns,
        interaction_type=chat.interaction(),
    )


#: Members of a sample that are read.
_read_sample_keys = frozenset(
    "id epoch input choices target messages output scores metadata model_usage "
    "total_time".split()
)
#: Members that say what happened in a sample, step by step, or that only such members
#: refer to. Only the number of their items is kept.
_steps = ("events", "events_data", "message_pool")
#: Values that messages refer to. Of others only the number is kept.
_attachments = "attachments"
#: In early logs, the events with the attachments.
_transcript = "transcript"
_early_events, _early_values = "events", "content"


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
    f"{_extra}.transcript_members": "transcript (apart from events and content)",
    f"{_extra}.unresolved_attachments": "attachments (missing ones)",
    f"{_of_answer}.message": "output.choices.message (ids and sources)",
    f"{_of_answer}.output": "output (what differs from its choices)",
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
    **dict.fromkeys((*_steps, _attachments, _transcript), 7),
    "transcript_members": {"key": 1},
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
    "output": {"completion": "other"},
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


def _read_sample(run: Run, sample: Row, kept: Row) -> Row:
    """Return the fields of a sample, and keep what is read as no field."""
    attachments = Attachments(sample)
    chat = Chat(sample.get("messages") or [], attachments)
    fields, asked = _question(sample, attachments, kept)
    if "system" not in fields and chat.system() is not None:
        fields["system"] = chat.system()
    first, *others = read_outputs(sample, run, attachments)
    first = with_conversation(first, chat, asked, fields.get("system"))
    if chat.has_rest:
        kept["messages"] = chat.rest
    if chat.parts:
        kept["parts"] = chat.parts
    kept |= _rest_of(sample, attachments)
    if attachments.unresolved:
        kept["unresolved_attachments"] = len(attachments.unresolved)
    return {
        "id": sample["id"],
        **fields,
        "references": _references(sample["target"]),
        "choices": sample.get("choices") or UNSET,
        "metadata": sample.get("metadata") or UNSET,
        "outputs": [first, *others],
    }


def _question(
    sample: Row, attachments: Attachments, kept: Row
) -> tuple[Row, list[Row]]:
    """Return the fields for what is asked, and it as messages; keep the others."""
    given = sample["input"]
    if type(given) is str:
        prompt = attachments.text(given)
        return {"prompt": prompt}, [{"role": "user", "content": prompt}]
    chat = Chat(given, attachments)
    fields: Row = {"messages": chat.turns}
    system = chat.system()
    if system is not None:
        fields["system"] = system
    elif chat.is_one_question:
        fields = {"prompt": chat.turns[0]["content"]}
    if chat.has_rest:
        kept["input"] = chat.rest
    if chat.parts:
        kept["input_parts"] = chat.parts
    return fields, chat.turns


def _references(target: Any) -> Any:
    """Return the texts of a target; `UNSET` if there is none, which is spelt as ""."""
    texts = [target] if type(target) is str else target
    return [text for text in texts if text] or UNSET


def _rest_of(sample: Row, attachments: Attachments) -> Row:
    """Return the members of a sample that are read as no field.

    Of its events, and of attachments that no message refers to, it is their number.
    """
    rest = others_in(sample, {*_read_sample_keys, _attachments, _transcript})
    if not sample.get("scores"):  # then it is read
        rest.pop("score", None)
    error = rest.pop("error", None)
    if error:
        more = without(error, ("message",))
        if not is_empty(more):
            rest["error"] = more
    counts = Counter({key: _items_in(rest.pop(key)) for key in _steps if key in rest})
    transcript = sample.get(_transcript)
    if type(transcript) is dict:
        more = without(transcript, (_early_events, _early_values))
        if not is_empty(more):
            rest[f"{_transcript}_members"] = more
        left = {_early_values} if attachments.is_early else ()
        transcript = without(transcript, {*more, *left})
    counts[_transcript] += _items_in(transcript)
    counts[_transcript if attachments.is_early else _attachments] += attachments.unused
    return rest | {key: count for key, count in counts.items() if count}


def _items_in(value: Any) -> int:
    """Return how many items a list has, or those in an object."""
    if type(value) is dict:
        members = value.values()
        return sum(len(one) if type(one) in {list, dict} else 1 for one in members)
    if type(value) is list:
        return len(value)
    return int(not is_empty(value))


def read_header(document: Row) -> Header:
    """Return the header of a log, given as `document` without its samples."""
    rest = others_in(document, ("eval", "log_format"))
    run = document.get("eval")
    return Header(
        evaluation=run if type(run) is dict else UNSET,
        extra={KEY: rest} if rest else UNSET,
    )


LOG = FieldTable(
    KEY,
    (
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
    own_keys=("*",),
    run_of=run_of,
    read_own=_read_sample,
    in_order=True,
).adapter(
    is_read_only=True,
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
    not_kept={
        f"{_extra}.{key}": "only their number is kept"
        for key in (*_steps, _attachments, _transcript)
    },
    extra_examples=_examples,
    answer_extra_examples=_answer_examples,
)
