"""Make records with every field in every form that rows of a format can hold."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from harpia_formats.conversion.losses.conversion_report import REST
from harpia_formats.conversion.mapping.choices import Choices, Responses
from harpia_formats.conversion.mapping.record_program import RecordProgram
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.model.adapter import Cardinality, FormatAdapter, Row
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_outcomes import Unconvertible
from harpia_formats.model.record import Output, Record, Score

#: Values for fields that a format requires and a specimen lacks.
FILLED: dict[str, Any] = {
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
_system, _asked = ({"role": role, "content": role} for role in ("system", "user"))
_answered = {"role": "assistant", "content": "answer"}
_called = {
    "role": "assistant",
    "tool_calls": [{"id": "1", "name": "tool", "arguments": {"x": 1}}],
}
_returned = {"role": "tool", "content": "result", "tool_call_id": "1"}
#: Settings of the generation that some formats have a place for.
_params = ("max_tokens", "temperature", "top_p", "top_k")
_score = Score(
    metric="em",
    value=0.5,
    is_correct=True,
    evaluation_id="run",
    evaluation_name="task",
    result_id="result",
    signature="em|filter:strict",
)
#: The structs of a record, and what the paths of their fields begin with.
_structs: tuple[tuple[type[Struct], str], ...] = (
    (Record, ""),
    (Output, "outputs."),
    (Score, "outputs.scores."),
)
#: `UNSET` for each field of a struct that a format has no place for.
_Gone = Mapping[type[Struct], Mapping[str, Any]]


def specimens_of(adapter: FormatAdapter) -> Iterator[Record]:
    """Return records as rows of the format are read, each of them once.

    What the format has no place for is left out. Of a format that is not written, the
    values are those of its fields, in any form.
    """
    return _as_read(_records(adapter), adapter)


def specimens_between(source: FormatAdapter, target: FormatAdapter) -> Iterator[Record]:
    """Return records with extra fields that only one target has a place for."""
    records = []
    if source.carries("extra"):
        vendors = (target.vendor, REST)
        records = [_with_extra(source, vendor, [REST]) for vendor in vendors]
    elif source.vendor == target.vendor:
        taken = {mapping.path[0] for mapping in target.fields}
        taken -= {mapping.path[0] for mapping in source.fields}
        records = [_with_extra(source, source.vendor, sorted(taken))]
    return _as_read(records, source)


def _with_extra(adapter: FormatAdapter, vendor: str, keys: Iterable[str]) -> Record:
    """Return a record with extra fields of `vendor`, and so its output."""
    record = next(_records(adapter))
    extra = {vendor: dict.fromkeys(keys, "value")}
    outputs = [replace(output, extra=extra) for output in record.outputs]
    return replace(record, extra=extra, outputs=outputs)


def _as_read(records: Iterable[Record], adapter: FormatAdapter) -> Iterator[Record]:
    """Yield each record that is read from the rows that `records` are written as."""
    seen = set()
    for specimen in _with_repeats(records, adapter):
        text = encode(specimen)
        if text not in seen:
            seen.add(text)
            yield specimen


def _with_repeats(
    records: Iterable[Record], adapter: FormatAdapter
) -> Iterator[Record]:
    """Yield the same, maybe some of them again."""
    if adapter.write is None:
        gone = {struct: _absent(struct, path, adapter) for struct, path in _structs}
        yield from (_carried(record, adapter, gone) for record in records)
        return
    required = {mapping.record_path for mapping in adapter.fields if mapping.required}
    constants = {path: FILLED[path] for path in required & FILLED.keys()}
    written = adapter.with_own_extra or adapter
    programs = [
        RecordProgram(
            RecordMapper(written, Choices(responses=responses, constants=constants))
        )
        for responses in (Responses.LIST, Responses.EXPAND)
    ]
    rows = (encode(row) for record in records for row in _rows_of(record, programs))
    # Most records differ in what rows have no place for.
    for row in dict.fromkeys(rows):
        yield adapter.read(decode(row))


def _rows_of(record: Record, programs: Iterable[RecordProgram]) -> list[Row]:
    """Return the rows of the first program that allows them, none if no one does."""
    for program in programs:
        with suppress(Unconvertible):
            return program.rows_of(record)
    return []


def _records(adapter: FormatAdapter) -> Iterator[Record]:
    """Yield a record with every field, and records that differ from it in one."""
    extra = _extra_of(adapter, "extra")
    output = _output(_extra_of(adapter, "outputs.extra"))
    record = Record(
        id="id",
        prompt="question",
        system="system",
        references=["reference"],
        choices=["reference", "other"],
        contexts=["context"],
        category="category",
        source="source",
        params={
            **dict.fromkeys((*_params, REST), 1),
            **adapter.setting_examples,
        },
        metadata={REST: "value"},
        extra=extra,
        outputs=[output],
    )
    yield record
    # A key of an inner object may go to the place of that of the outer one.
    inner = {key: value for key, value in extra[adapter.vendor].items() if key != REST}
    if inner:
        yield replace(record, extra={adapter.vendor: inner})
    bare = replace(output, extra=UNSET)
    for changes in _of_record(bare):
        yield replace(record, **changes)
    for changes in _of_output():
        yield replace(record, outputs=[replace(output, **changes)])
        yield replace(record, outputs=[replace(bare, **changes)])
    for key, value in adapter.extra_examples.items():
        own = replace(record, extra={adapter.vendor: {key: value}})
        yield from (own, replace(own, references=["reference", "other"]))
        yield replace(own, system=UNSET)
    for key, value in adapter.answer_extra_examples.items():
        named = replace(bare, extra={adapter.vendor: {key: value}})
        yield replace(record, outputs=[named])
    for changes in ({"value": True}, {"value": None}, {"value": 1}):
        scores = [replace(_score, **changes)]
        yield replace(record, outputs=[replace(output, scores=scores)])
    yield replace(record, outputs=[_filtered(output)])


def _filtered(output: Output) -> Output:
    """Return an answer with what two filters extracted, and the score of each."""
    filters = ("first", "second")
    steps = [
        {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": "answer",
            "extraction_method": name,
            "is_terminal": True,
        }
        for name in filters
    ]
    scores = [replace(_score, signature=f"em|filter:{name}") for name in filters]
    return replace(output, attribution=steps, scores=scores)


def _of_record(output: Output) -> Iterator[dict[str, Any]]:
    chat = {"prompt": UNSET, "system": UNSET, "messages": [_system, _asked]}
    spoken = [_system, _asked, _answered, _asked]
    long = {**chat, "messages": spoken}
    named = [{**message, "name": "name"} for message in (_system, _asked)]
    yield from (
        {"id": 7},
        {"references": ["reference", "other"]},
        {"references": []},
        {"gt": "expected"},
        {"gt": "expected", "references": UNSET},
        chat,
        long,
        {**long, "messages": [*spoken, _called, _returned]},
        {**long, "messages": spoken[:-1]},
        {**long, "messages": [_asked, _asked]},
        {**long, "messages": named},
        {**long, "prompt": "question"},
        {**long, "prompt": _asked["content"]},
        {**long, "system": "other"},
        {**long, "system": "system"},
        {"outputs": [Output()]},
        {**chat, "messages": [], "gt": "expected"},
        {**chat, "messages": [{**_system, "content": ""}, _asked]},
        {"metadata": {REST: 1}},
        {"metadata": {REST: None}},
        {"metadata": {}},
        {"params": {"temperature": None, REST: None}},
        {"system": ""},
        {"outputs": []},
        {"outputs": [_with(output, 0), _with(output, 1)]},
        {"outputs": [_with(output, 0), replace(_with(output, 1), scores=UNSET)]},
        {"outputs": [output, replace(output, model="org/other")]},
        {"outputs": [replace(output, index=0)]},
        {"outputs": [_plain(output, 0), _plain(output, 1)]},
        {"outputs": [_plain(output, 0), replace(_plain(output, 1), text=None)]},
        {"outputs": [_plain(output, 1), replace(_plain(output, 5), reasoning=UNSET)]},
    )


def _of_output() -> Iterator[dict[str, Any]]:
    turns: dict[str, Any] = {"text": UNSET, "reasoning": UNSET, "attribution": UNSET}
    turns["interaction_type"] = UNSET
    talk = [_system, _asked, {**_answered, "reasoning": "thought"}]
    yield from (
        {"text": None},
        {"reasoning": None},
        {"error": None},
        {"text": None, "reasoning": UNSET},
        {**turns, "turns": talk},
        {**turns, "turns": talk, "interaction_type": "multi_turn"},
        {**turns, "turns": [_answered]},
        {**turns, "turns": [_system, _asked, _called, _returned, _answered]},
        {**turns, "turns": [_system, _asked, _called]},
        {**turns, "turns": [{**_asked, "tool_call_id": None}, _answered]},
        {**turns, "turns": [_asked, {**_answered, "reasoning": None}]},
        {**turns, "turns": [{**_asked, "content": "question"}, _answered]},
        {**turns, "turns": [_asked, {**_answered, "reasoning": "thought"}, *talk[1:]]},
        {"turns": talk, "interaction_type": "multi_turn"},
        {"turns": []},
        {**turns, "turns": [], "text": None},
        {**turns, "turns": [], "text": None, "interaction_type": "multi_turn"},
        {"interaction_type": "agentic"},
        {"scores": [_score, replace(_score, metric="f1")]},
        {"scores": []},
        {"token_usage": {"input_tokens": 1}},
        {"token_usage": {**_usage, REST: 1}},
        {"performance": {"latency_ms": None}},
        {"performance": {REST: "fast", "additional_details": {REST: 1}}},
        {"attribution": [_found("output.raw")]},
        {"attribution": [_found("turns[0]")]},
        {"attribution": [_found("interactions[0].content")]},
        {"attribution": []},
    )


_usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


def _found(source: str) -> dict[str, Any]:
    return {
        "turn_idx": 0,
        "source": source,
        "extracted_value": "answer",
        "extraction_method": "regex",
        "is_terminal": True,
    }


def _output(extra: Any) -> Output:
    return Output(
        model="org/model",
        formatted_prompt="formatted",
        text="answer",
        reasoning="thought",
        interaction_type="single_turn",
        attribution=[_found("output.raw")],
        scores=[_score],
        token_usage=_usage,
        performance={"latency_ms": 1.5},
        error="error",
        extra=extra,
    )


def _with(output: Output, index: int) -> Output:
    return replace(output, index=index, text=f"answer {index}")


def _plain(output: Output, index: int) -> Output:
    names = ("model", "reasoning", "scores")
    given = {name: getattr(output, name) for name in names}
    return Output(index=index, text=f"answer {index}", **given)


def _extra_of(adapter: FormatAdapter, path: str) -> Any:
    """Return an extra with a key of the vendor at each place that rows may have one."""
    found: dict[str, Any] = {REST: "value"}
    start = f"{path}.{adapter.vendor}."
    for owner in sorted(adapter.extra_owners):
        if owner.startswith(start):
            inner = found
            for key in owner.removeprefix(start).split("."):
                inner = inner.setdefault(key, {REST: "value"})
    return {adapter.vendor: found}


def _carried(record: Record, adapter: FormatAdapter, gone: _Gone) -> Record:
    """Return `record` with the fields only that the format has a place for."""
    capacity = adapter.capacity
    outputs = [_carried_output(output, adapter, gone) for output in record.outputs]
    if capacity.outputs is Cardinality.ONE:
        outputs = outputs[:1]
    references, params = record.references, record.params
    if "params" not in adapter.carried_paths and params is not UNSET:
        # Rows have a place for some settings only.
        own = {name: params[name] for name in params if _has_setting(adapter, name)}
        params = own or UNSET
    if capacity.references is Cardinality.ONE and references is not UNSET:
        references = references[:1]
    return replace(
        replace(record, references=references, params=params, outputs=outputs),
        **gone[Record],
        **({"outputs": []} if capacity.outputs is Cardinality.NONE else {}),
    )


def _has_setting(adapter: FormatAdapter, name: str) -> bool:
    return f"params.{name}" in adapter.carried_paths


def _carried_output(output: Output, adapter: FormatAdapter, gone: _Gone) -> Output:
    scores = output.scores
    if scores is not UNSET and adapter.capacity.scores is Cardinality.ONE:
        scores = scores[:1]
    scores = [replace(score, **gone[Score]) for score in scores or ()] or UNSET
    return replace(output, **{"scores": scores, **gone[Output]})


def _absent(struct: type[Struct], start: str, adapter: FormatAdapter) -> dict[str, Any]:
    """Return `UNSET` for each field of a struct that the format has no place for."""
    return {
        name: UNSET
        for name in struct.__struct_fields__
        if name not in {"outputs", "extra"}
        and not adapter.carries(f"{start}{name}")
        and not any(
            path.startswith(f"{start}{name}.") for path in adapter.carried_paths
        )
    }
