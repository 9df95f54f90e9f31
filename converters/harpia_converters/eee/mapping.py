"""The adapters of EvalEval's samples: rows of three versions to records and back.

Keys of a row that are no fields of a record are put back, and a row names the metric
of its score.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.eee import versions
from harpia_converters.eee.fields import (
    SINGLE,
    answer_fields,
    answers_in,
    fitting_answers,
    has_several,
    other_fields,
    output_of,
    question_fields,
)
from harpia_converters.eee.row_members import RECIPES, recipe_of
from harpia_converters.eee.turns import written_metadata
from harpia_converters.eee.versions import (
    SIGNATURE,
    Version,
    is_count,
    is_texts,
    is_whole_float,
)
from harpia_formats.conversion.mapping.fields import FieldTable
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.field_outcomes import FieldOutcomes
from harpia_formats.model.record import Output, Record, Score, kept_of
from harpia_formats.model.vendor_metrics import full_name

VENDOR = "eee"
#: The key that keeps null turns, for every version's key of turns.
TURNS = "interactions"

Check = Callable[[Any], bool]
#: The key of the hash of the question, which is no field of a record.
HASH = "sample_hash"
_VERSION = "schema_version"


def _is_null(value: Any) -> bool:
    return value is None


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_no_text(value: Any) -> bool:
    return type(value) is not str


def _is_turn_count(value: Any) -> bool:
    return is_count(value, 1)


def _never(value: Any) -> bool:  # noqa: ARG001 - the signature of `Check`
    return False


def _is_null_or_text(value: Any) -> bool:
    return value is None or type(value) is str


def _is_null_or_turn_count(value: Any) -> bool:
    return value is None or is_count(value, 1)


def _is_null_or_count(value: Any) -> bool:
    return value is None or is_count(value)


#: Which values may go back at known places, by owner and key.
_open: Mapping[str, Mapping[str, Check]] = {
    "": {
        **dict.fromkeys(("evaluation_id", "model_id", "evaluation_name"), _never),
        **dict.fromkeys(("interaction_type", "input", "answer_attribution"), _never),
        **dict.fromkeys(("evaluation", "error", "metadata"), _never),
        "evaluation_result_id": _is_no_text,
        "sample_id": _never,
        HASH: _is_text,
        "token_usage": _is_null,
        "performance": _is_null,
    },
    "input": dict.fromkeys(("raw", "formatted", "reference", "choices"), _never),
    "output": {"raw": _never},
    "evaluation": {
        **dict.fromkeys(("score", "is_correct"), _never),
        "num_turns": _is_turn_count,
        "tool_calls_count": is_count,
    },
}
_closed: Mapping[str, Mapping[str, Check]] = {
    "": {
        **_open[""],
        "evaluation_result_id": _never,
        HASH: _is_null_or_text,
        "metadata": _is_null,
    },
    "input": {**_open["input"], "formatted": _is_null, "choices": _is_null},
    "output": _open["output"],
    "evaluation": {
        **_open["evaluation"],
        "num_turns": _is_null_or_turn_count,
        "tool_calls_count": _is_null_or_count,
    },
}


#: The fields of which the hash is made.
_hashed = frozenset({"references", "prompt"})
#: The keys of objects that hold fields.
_objects = frozenset({"input", "output", "evaluation"})


def put_back(row: Row, kept: Row, version: Version, outcomes: FieldOutcomes) -> bool:
    """Put `kept`, extra fields of a read row, into `row`; record losses in `outcomes`.

    `row` has a place for the hash, with `UNSET`. Return whether it has got new keys.
    """
    has_new = False
    if HASH not in kept:
        del row[HASH]
    for key, value in kept.items():
        if key == HASH:
            is_put = _is_hash_put(row, value, version)
        elif key == _VERSION:
            _put_version(row, value, version, outcomes)
            continue
        elif key in _objects and type(value) is dict and value:
            for inner in _put_members(row.get(key), key, value, version):
                outcomes.dropped(
                    f"{_path_of(key)}.{inner}", "no place for it in this version"
                )
            continue
        else:
            is_put = _is_put(row, key, value, version)
            has_new = has_new or is_put
        if not is_put:
            outcomes.dropped(_path_of(key), "no place for it in this version")
    if row.get(HASH) is not None:
        _renew_hash(row, version, outcomes)
    return has_new


def _is_hash_put(row: Row, value: Any, version: Version) -> bool:
    """Put a hash at its place in `row`, or delete the place; return whether it is."""
    known = _closed if version.is_closed else _open
    is_put = known[""][HASH](value)
    if is_put:
        row[HASH] = value
    else:
        del row[HASH]
    return is_put


def _path_of(key: str) -> str:
    return f"extra.{VENDOR}.{key}"


def _put_version(
    row: Row, value: Any, version: Version, outcomes: FieldOutcomes
) -> None:
    if value != version.label and type(value) is str and value in version.labels:
        row[_VERSION] = value
    else:
        outcomes.changed(_path_of(_VERSION), f"is {version.label}")


def _is_put(row: Row, key: str, value: Any, version: Version) -> bool:
    """Put one kept key into `row`; return whether all of its value could be put."""
    if key == TURNS:
        return _is_null_put(row, version.turns, value)
    if key == "output" and value is None:
        return _is_null_put(row, key, value)
    known = _closed if version.is_closed else _open
    check = known[""].get(key)
    if check is None:
        return not version.is_closed and _is_new_put(row, key, value)
    if key in row or not check(value):
        return False
    row[key] = value
    return True


def _is_null_put(row: Row, key: str, value: Any) -> bool:
    """Put null at `key` (output or turns) unless `row` has it; return whether put."""
    if value is not None or key in row:
        return False
    row[key] = None
    return True


def _is_new_put(row: Row, key: str, value: Any) -> bool:
    """Put a key that the schema does not have into `row`; return whether it was put."""
    # The schema still has a condition on `metrics`, a key of an earlier version.
    is_condition = key == "metrics" and row["interaction_type"] != SINGLE
    if is_condition and type(value) is dict and "num_turns" not in value:
        return False
    if key in row or key in {"output", TURNS}:
        return False
    row[key] = value
    return True


def _put_members(owner: Any, name: str, kept: Row, version: Version) -> list[str]:
    """Put the kept members of the object `name` in `owner`; return the keys left."""
    if type(owner) is not dict:
        return list(kept)
    known = (_closed if version.is_closed else _open)[name]
    left = []
    for key, value in kept.items():
        if name == "output" and key == "reasoning_trace":
            is_put = _is_trace_put(owner, value, version)
        else:
            check = known.get(key)
            is_put = key not in owner and (check is None or check(value))
            if is_put:
                owner[key] = value
        if not is_put:
            left.append(key)
    return left


def _is_trace_put(output: Row, surplus: Any, version: Version) -> bool:
    """Put back `surplus`, reasoning beyond the last answer; return whether it fits."""
    trace = output.get("reasoning_trace", [])
    if not version.has_lists or not is_texts(surplus) or trace is None:
        return False
    answers = max(1, len(output["raw"]))
    if len(trace) != (answers if surplus else 0):
        return False
    output["reasoning_trace"] = [*trace, *surplus]
    return True


def _renew_hash(row: Row, version: Version, outcomes: FieldOutcomes) -> None:
    """Compute `sample_hash` again if references or the prompt were changed."""
    for entry in outcomes.entries:
        if entry.path in _hashed:
            break
    else:
        return
    raw, references = row["input"]["raw"], row["input"]["reference"]
    listed = references if version.has_lists else [references]
    if recipe_of(row[HASH], raw, listed) or not (listed or version.is_closed):
        return
    row[HASH] = RECIPES["A" if version.is_closed else "C"](raw, listed)
    outcomes.changed(f"extra.{VENDOR}.{HASH}", "computed again from the written row")


_member = f"metadata.{SIGNATURE}"


def telling_names(score: Score) -> Hashable | None:
    """Return what tells the row of a score from those of others, None without it."""
    name = full_name(score)
    return None if name is None else (score.evaluation_id, score.evaluation_name, name)


def with_result(outputs: list[Output], outcomes: FieldOutcomes) -> list[Output]:
    """Return `outputs` with the `evaluation_result_id` as metric of the first score.

    The list is `outputs` itself if it already is.
    """
    scores = outputs[0].scores if outputs else UNSET
    if not scores:
        return outputs
    score = scores[0]
    name = full_name(score)
    if name == score.metric or score.metric is UNSET:
        return outputs
    if name is None:
        outcomes.dropped("outputs.scores.metric", "it is empty")
    else:
        outcomes.changed("outputs.scores.metric", "with what its signature adds")
    metric = UNSET if name is None else name
    first = replace(outputs[0], scores=[replace(score, metric=metric), *scores[1:]])
    return [first, *outputs[1:]]


def with_signature_of(
    outputs: list[Output], metadata: Any, outcomes: FieldOutcomes
) -> Any:
    """Return the metadata of a row with the signature of its score, if it has one.

    It is `metadata` itself if not. A member of that name which is no signature would be
    read as one.
    """
    scores = outputs[0].scores if outputs else UNSET
    signature = scores[0].signature if scores else UNSET
    held = UNSET if metadata is UNSET else metadata.get(SIGNATURE, UNSET)
    if signature is UNSET:
        if type(held) is str:
            outcomes.changed(_member, "the signature of the score")
            outcomes.defaulted("outputs.scores.signature", f"is {_member}")
        return metadata
    if held is not UNSET:
        outcomes.dropped(_member, "its place is taken by the signature of the score")
    elif metadata == {}:
        outcomes.dropped("metadata", "it is empty")
    rest = {} if metadata is UNSET else metadata
    others = {key: value for key, value in rest.items() if key != SIGNATURE}
    return {**others, SIGNATURE: signature}


def split_signature(row: Row) -> tuple[str | None, Row]:
    """Return the signature in the metadata of `row`, and the row without it."""
    metadata = row.get("metadata")
    if type(metadata) is not dict or type(metadata.get(SIGNATURE)) is not str:
        return None, row
    rest = {key: value for key, value in metadata.items() if key != SIGNATURE}
    if rest:
        row["metadata"] = rest
    else:
        del row["metadata"]
    return metadata[SIGNATURE], row


def with_signature(record: Record, signature: str) -> Record:
    """Return the record of a row with the signature of its score."""
    first, *others = record.outputs or [Output()]
    score, *more = first.scores or [Score()]
    scores = [replace(score, signature=signature), *more]
    return replace(record, outputs=[replace(first, scores=scores), *others])


_root = (
    "schema_version evaluation_id model_id evaluation_name evaluation_result_id "
    "sample_id sample_hash interaction_type input output interactions messages "
    "answer_attribution evaluation token_usage performance error metadata"
).split()
_signature = "outputs.scores.signature"
_input = ("raw", "formatted", "reference", "choices")


def _read(row: Row, table: FieldTable, version: Version) -> Record:
    signature, row = split_signature(row.copy())
    record = _read_unsigned(row, table, version)
    return record if signature is None else with_signature(record, signature)


def _read_unsigned(row: Row, table: FieldTable, version: Version) -> Record:
    """Return the record of a row, which may be changed, without its signature."""
    if row.get("schema_version") == version.label:
        del row["schema_version"]
    if version.turns != TURNS and row.get(version.turns, UNSET) is None:
        del row[version.turns]
        row[TURNS] = None
    output: Any = row.get("output")
    if version.has_lists and has_several(output):
        del row["output"]
        return _with_answers(table.read(row), output)
    record = table.read(row)
    kept = kept_of(record, VENDOR)
    if "output" in kept:
        # It is the last one; the table made the object for this record.
        kept["output"] = kept.pop("output")
    return record


def _kept_members(left: Row, version: Version) -> Row:
    """Return what `_read` keeps of the members of a row that are no fields."""
    if left.get("schema_version") == version.label:
        del left["schema_version"]
    if version.turns != TURNS and version.turns in left:
        del left[version.turns]
        left = dict(sorted({**left, TURNS: None}.items()))
    if "output" in left:
        left["output"] = left.pop("output")
    return left


def _with_answers(record: Record, output: Row) -> Record:
    """Return `record` with an output for each answer in `output`, its row's member."""
    answers, left = answers_in(output)
    first = record.outputs[0]
    outputs = [
        replace(first, **answers[0]),
        *(Output(model=first.model, **answer) for answer in answers[1:]),
    ]
    if left == {}:
        return replace(record, outputs=outputs)
    kept = {**kept_of(record, VENDOR), "output": left}
    return replace(record, outputs=outputs, extra={VENDOR: kept})


def _write(
    record: Record,
    outcomes: FieldOutcomes,
    table: FieldTable,
    version: Version,
    order: Sequence[str],
) -> Row:
    kept = kept_of(record, VENDOR)
    if record.id is UNSET and kept:
        record, kept = _with_own_id(record, kept, version)
    outputs = with_result(fitting_answers(record.outputs, version, outcomes), outcomes)
    metadata = written_metadata(record.metadata, version, outcomes)
    metadata = with_signature_of(outputs, metadata, outcomes)
    if kept or outputs is not record.outputs or metadata is not record.metadata:
        record = replace(record, outputs=outputs, metadata=metadata, extra=UNSET)
    row = table.write(record, outcomes)
    if len(outputs) > 1:
        row["output"] = output_of(outputs)
    if not kept:
        del row[HASH]
        return row
    has_new = put_back(row, kept, version, outcomes)
    if "input" in kept:
        row["input"] = _ordered(row["input"], _input)
    return _ordered(row, order) if has_new else row


def _with_own_id(record: Record, kept: Row, version: Version) -> tuple[Record, Row]:
    """Return `record` with the id that was kept for it, and the rest of `kept`.

    An id such as 3.0 is valid in the open versions, but cannot be a record's id.
    """
    own = kept.get("sample_id")
    if version.is_closed or not is_whole_float(own):
        return record, kept
    rest = {key: value for key, value in kept.items() if key != "sample_id"}
    return replace(record, id=own, extra=UNSET), rest


def _ordered(row: Row, keys: Sequence[str]) -> Row:
    """Return `row` with `keys` in front, in their order."""
    ordered = {key: row[key] for key in keys if key in row}
    if len(ordered) < len(row):
        ordered |= row
    return ordered


def _order_of(version: Version) -> tuple[str, ...]:
    """Return the keys of a row in the order of the version's documentation."""
    turns = {versions.V0_2_0.turns, versions.V0_3_0.turns} - {version.turns}
    return tuple(key for key in _root if key not in turns)


def _sorted_by_key(
    fields: Sequence[FieldMapping], order: Sequence[str]
) -> tuple[FieldMapping, ...]:
    """Return `fields` in the `order` of their keys, those with other keys behind."""
    places = {key: place for place, key in enumerate(order)}
    return tuple(
        sorted(fields, key=lambda field: places.get(field.path[0], len(places)))
    )


def _placed(
    fields: Sequence[FieldMapping], version: Version
) -> dict[tuple[str, ...], Row]:
    """Return the members that rows have apart from fields, by the field behind them."""
    keys = [field.path[0] for field in fields]
    behind_id = keys.index("sample_id") + 1
    return {
        fields[0].path: {"schema_version": version.label},
        # `_write` replaces or deletes it.
        fields[behind_id].path: {HASH: UNSET},
    }


def _adapter(version: Version, capacity: RowCapacity) -> FormatAdapter:
    fields = (
        *question_fields(version),
        *answer_fields(version),
        *other_fields(version),
    )
    order = _order_of(version)
    # The table writes the keys in their order, with a place for those that are kept.
    fields_in_order = _sorted_by_key(fields, order)
    table = FieldTable(
        VENDOR, fields_in_order, placed=_placed(fields_in_order, version)
    )
    return FormatAdapter(
        vendor=VENDOR,
        fields=fields,
        discriminators=frozenset(
            {
                ("interaction_type",),
                ("schema_version",),
                (version.turns, "*", "role"),
            }
        ),
        read=partial(_read, table=table, version=version),
        write=partial(_write, table=table, version=version, order=order),
        capacity=capacity,
        reads_by_fields=True,
        keep_members=partial(_kept_members, version=version),
        extras_path=("metadata",),
        extras_as_text=True,
        other_paths=frozenset(
            {_signature, "outputs.index"} if version.has_lists else {_signature}
        ),
        extra_examples={
            "schema_version": version.other_label,
            "sample_hash": "0" * 64,
            "evaluation": {"num_turns": 1, "tool_calls_count": 0},
            **({"output": {"reasoning_trace": ["more"]}} if version.has_lists else {}),
        },
        read_apart=(("metadata", SIGNATURE),),
        other_names={
            "outputs.index": "output.raw (the place in the list)",
            _signature: f"metadata.{SIGNATURE}",
            f"extra.{VENDOR}.{TURNS}": version.turns,
        },
        repeats_answers=True,
    )


_lists = RowCapacity(
    references=Cardinality.MANY,
    outputs=Cardinality.MANY_OF_ONE_MODEL,
    scores=Cardinality.ONE,
    needs_verdict=True,
    score_name=telling_names,
    turns=True,
    lists_texts=True,
)
_one_answer = RowCapacity(
    scores=Cardinality.ONE, needs_verdict=True, score_name=telling_names, turns=True
)
V0_2_0 = _adapter(versions.V0_2_0, _one_answer)
V0_2_0_TAG = _adapter(versions.V0_2_0_TAG, _lists)
V0_3_0 = _adapter(versions.V0_3_0, _lists)
