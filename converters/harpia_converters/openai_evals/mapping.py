"""The adapters of openai-evals and openai-evals-log: samples and events to records."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field

from harpia_converters.openai_evals.formats import KEY, LOG_KEY, MATCH, SAMPLING
from harpia_formats.conversion.mapping.chat_messages import (
    chat_fields,
    read_chat,
    write_chat,
)
from harpia_formats.conversion.mapping.fields import FieldTable, put_in_front, without
from harpia_formats.conversion.mapping.preparation import extraction, tool_signature
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    Row,
    RowCapacity,
    ValueCodec,
    at_path,
)
from harpia_formats.model.field_outcomes import FieldOutcomes, Unconvertible
from harpia_formats.model.record import SYSTEM_MESSAGE, Header, Output, Record, Score

_input, _ideal = "input", "ideal"
_own = (_input, _ideal)
#: The value of `input` in the extra of a record whose input was a text and not a chat.
_is_text = "text"


def _text_or_list(texts: list[str]) -> Any:
    return texts[0] if len(texts) == 1 else texts


_references = ValueCodec(LIST_OF_ONE.read, _text_or_list, "one text is a list of one")


def _read_sample(row: Row, kept: Row) -> Row:
    """Return the question and the references of a sample."""
    asked, ideal = row[_input], row[_ideal]
    if type(asked) is str:
        fields: Row = {"prompt": asked}
        kept[_input] = _is_text
    else:
        fields = read_chat(asked)
    fields["references"] = [ideal] if type(ideal) is str else ideal
    return fields


def _write_sample(record: Record, kept: Row, outcomes: FieldOutcomes) -> Row:
    """Return the question and the references of a record.

    A prompt is written as a chat, which OpenAI's guide asks for, unless it was a text.
    Raises `Unconvertible` for a record without a question or without references.
    """
    is_text = kept.get(_input) == _is_text and not record.messages
    is_text = is_text and record.system is UNSET and record.prompt is not UNSET
    asked: Any = record.prompt if is_text else write_chat(record, outcomes)
    if is_text:
        del kept[_input]
        if record.messages is not UNSET:
            outcomes.dropped("messages", "there are none")
    if record.references is UNSET:
        reason = f"the record has nothing for `{_ideal}`"
        help_ = f"give it with `--set {_ideal}=VALUE`"
        raise Unconvertible("references", reason, help_)
    return {_input: asked, _ideal: _text_or_list(record.references)}


SAMPLES = FieldTable(
    KEY,
    (
        *chat_fields(
            (_input,),
            "of more than a prompt",
            "a text, or the only message of the user",
        ),
        FieldMapping((_ideal,), "references", _references, required=True),
    ),
    own_keys=_own,
    read_own=_read_sample,
    write_own=_write_sample,
    in_order=True,
).adapter(
    capacity=RowCapacity(
        references=Cardinality.MANY,
        outputs=Cardinality.NONE,
        messages=True,
        asks_only=True,
    ),
    extras_path=(),
    discriminators=frozenset({(_input, "*", "role")}),
    extra_examples={_input: _is_text},
    other_names={
        SYSTEM_MESSAGE: f"{_input} (system)",
        f"extra.{KEY}.{_input}": f"{_input} (a text)",
    },
)


_spec, _samples, _report = "spec", "samples", "final_report"
#: The key of a record's extra that holds what is not read of the events.
_unread = "unread_events"
#: Keys of the specification that name the eval.
_task_keys = ("eval_name", "base_eval", "split")


class _Run(Struct, frozen=True):
    """What the specification of a run says of each of its answers."""

    model: str | UnsetType = UNSET
    evaluation_id: str | UnsetType = UNSET
    evaluation_name: str | UnsetType = UNSET
    signature: str = tool_signature(MATCH, "evals")


class _Sample(Struct):
    """The fields of a record, as the events of its sample are read."""

    run: _Run
    question: Row = field(default_factory=dict)
    #: The prompt of the first sampling event.
    asked: Any = None
    texts: list[Any] = field(default_factory=list)
    references: Any = UNSET
    #: Scores and attributions, by the place of their answer.
    scores: dict[int, list[Score]] = field(default_factory=dict)
    steps: dict[int, list[Row]] = field(default_factory=dict)

    def sampling(self, data: Row) -> Row:
        """Take a sampling event; return what of its data is not read."""
        prompt, sampled = data.get("prompt"), data.get("sampled")
        texts = sampled if isinstance(sampled, list) else [sampled]
        if not all(type(text) is str for text in texts):
            return data
        if self.asked is None:
            question = _question_of(prompt)
            if question is None:
                return data
            self.asked, self.question = prompt, question
        elif prompt != self.asked:
            # Something else was asked, such as a grading of the first answer.
            return data
        self.texts += texts
        return without(data, ("prompt", "sampled"))

    def match(self, data: Row) -> Row:
        """Take a match event; return what of its data is not read."""
        correct = data.get("correct")
        if type(correct) is not bool:
            return data
        place = self._place_of(data.get("sampled"))
        score = Score(
            metric=MATCH,
            value=int(correct),
            is_correct=correct,
            evaluation_id=self.run.evaluation_id,
            evaluation_name=self.run.evaluation_name,
            signature=self.run.signature,
        )
        self.scores.setdefault(place, []).append(score)
        return without(
            data, ("correct", *self._expected(data), *self._picked(data, place))
        )

    def _place_of(self, sampled: Any) -> int:
        """Return the place of the answer that was matched: one of that text, if any.

        Of several, it is the first one that was not matched yet, if there is one.
        """
        same = [at for at, text in enumerate(self.texts) if text == sampled]
        places = same or [*range(len(self.texts))] or [0]
        return next((at for at in places if at not in self.scores), places[0])

    def _expected(self, data: Row) -> tuple[str, ...]:
        """Take the references; return their key if they are what was expected."""
        expected = data.get("expected", UNSET)
        if type(expected) is str:
            expected = [expected]
        if not _are_texts(expected):
            return ()
        if self.references is UNSET:
            self.references = expected
        return ("expected",) if self.references == expected else ()

    def _picked(self, data: Row, place: int) -> tuple[str, ...]:
        """Take what was found in the answer; return its key if it was text, or none."""
        picked = data.get("picked", UNSET)
        found = [picked] if type(picked) is str else picked
        if not _are_texts(found):
            return ("picked",) if picked is None else ()
        steps = [extraction(text, "picked") for text in found]
        self.steps.setdefault(place, []).extend(steps)
        return ("picked",)

    def outputs(self) -> list[Output]:
        """Return the answers with their scores; one without text if there is none."""
        places = range(len(self.texts) or bool(self.scores))
        return [
            Output(
                model=self.run.model,
                index=place if len(self.texts) > 1 else UNSET,
                text=self.texts[place] if self.texts else UNSET,
                attribution=self.steps.get(place, UNSET),
                scores=self.scores.get(place, UNSET),
            )
            for place in places
        ]


def _question_of(prompt: Any) -> Row | None:
    """Return the fields of a question for a prompt, None if it cannot be one."""
    if type(prompt) is str:
        return {"prompt": prompt}
    is_chat = type(prompt) is list and prompt and all(map(_is_message, prompt))
    return read_chat(prompt) if is_chat else None


def _is_message(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("role")) is str
        and type(value.get("content")) is str
    )


def _are_texts(value: Any) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


def _needed_around(around: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the specification of the run, which is all that `_run_of` needs."""
    return {_spec: around[_spec]} if _spec in around else {}


def _run_of(around: Mapping[str, Any]) -> _Run:
    """Return what the specification in a document says of each answer."""
    spec = around.get(_spec)
    if type(spec) is not dict:
        return _Run()
    models = spec.get("completion_fns")
    class_ = _text(at_path(spec, ("run_config", "eval_spec", "cls")))
    name = _text(spec.get("eval_name"))
    parts = {"eval": name or "", "cls": class_ or ""}
    return _Run(
        _text(models[0]) if type(models) is list and models else UNSET,
        _text(spec.get("run_id")),
        name,
        tool_signature(MATCH, "evals", **parts),
    )


def _text(value: Any) -> str | UnsetType:
    return value if type(value) is str else UNSET


def _read_events(run: _Run, row: Row, kept: Row) -> Row:
    """Return the fields of a sample, and keep what is not read of its events."""
    sample = _Sample(run)
    events = row["events"]
    del kept["events"]
    # A match may be written before what it is about.
    for type_, take in ((SAMPLING, sample.sampling), (MATCH, sample.match)):
        events = [
            {**event, "data": take(event["data"])} if event["type"] == type_ else event
            for event in events
        ]
    sample_id = kept.pop("sample_id")
    events = [
        without(event, ("sample_id",)) if event.get("sample_id") == sample_id else event
        for event in events
    ]
    put_in_front(kept, _unread, events)
    return {
        **({} if sample_id is None else {"id": sample_id}),
        **sample.question,
        "references": sample.references,
        "outputs": sample.outputs(),
    }


def _read_header(document: Row) -> Header:
    """Return the header of a log: the eval as task, its run as evaluation."""
    spec = document.get(_spec)
    if type(spec) is not dict:
        spec = {}
    task = {key: spec[key] for key in _task_keys if key in spec}
    run = without(spec, _task_keys)
    if _report in document:
        run[_report] = document[_report]
    rest = without(document, (_spec, _report))
    if rest.get("run_id") == spec.get("run_id"):
        rest = without(rest, ("run_id",))
    return Header(
        task=task or UNSET,
        evaluation=run or UNSET,
        extra={LOG_KEY: rest} if rest else UNSET,
    )


_event = ("events", "data")

LOG = FieldTable(
    LOG_KEY,
    (
        FieldMapping(("sample_id",), "id"),
        FieldMapping((*_event, "prompt"), "prompt", note="of the first sampling"),
        FieldMapping((*_event, "prompt"), "system", note="in front of a single prompt"),
        FieldMapping((*_event, "prompt"), "messages", note="of more than a prompt"),
        FieldMapping((*_event, "expected"), "references", note="of a match"),
        FieldMapping((_spec, "completion_fns"), "outputs.model", note="the first one"),
        FieldMapping((*_event, "sampled"), "outputs.text", note="one answer each"),
        FieldMapping((*_event, "picked"), "outputs.attribution", note="of a match"),
        FieldMapping((*_event, "correct"), "outputs.scores.value", note="1 or 0"),
        FieldMapping((*_event, "correct"), "outputs.scores.is_correct"),
        FieldMapping((_spec, "run_id"), "outputs.scores.evaluation_id"),
        FieldMapping((_spec, "eval_name"), "outputs.scores.evaluation_name"),
    ),
    run_of=_run_of,
    read_own=_read_events,
    in_order=True,
    removes_own=True,
).adapter(
    is_read_only=True,
    needed_around=_needed_around,
    capacity=RowCapacity(
        references=Cardinality.MANY,
        outputs=Cardinality.MANY_OF_ONE_MODEL,
        scores=Cardinality.MANY,
        messages=True,
    ),
    read_header=_read_header,
    other_paths=frozenset(
        {"outputs.index", "outputs.scores.metric", "outputs.scores.signature"}
    ),
    discriminators=frozenset({("events", "*", "type")}),
    extra_examples={_unread: [{"type": "metrics", "data": {}}]},
    other_names={
        "outputs.index": "events.data.sampled (the place in the list)",
        "outputs.scores.metric": "events.type (match)",
        "outputs.scores.signature": "spec (the eval and its class)",
        f"extra.{LOG_KEY}.{_unread}": "events (all that is not read)",
    },
)
