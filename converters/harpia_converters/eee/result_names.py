"""What a row says of the metric of its score: `evaluation_result_id`, and a signature.

Rows of several metrics of one answer share their `sample_id` and `evaluation_name`, and
differ in `evaluation_result_id`. A signature has a place in the metadata only.
"""

from collections.abc import Hashable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import FieldFates
from harpia_formats.model.record import Output, Record, Score
from harpia_formats.model.stored_score import full_name

#: The key of the signature of a score in the metadata of a row.
SIGNATURE = "score_signature"
_member = f"metadata.{SIGNATURE}"


def telling_names(score: Score) -> Hashable | None:
    """Return what tells the row of a score from those of others, None without it."""
    name = full_name(score)
    return None if name is None else (score.evaluation_id, score.evaluation_name, name)


def with_result(outputs: list[Output], fates: FieldFates) -> list[Output]:
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
        fates.dropped("outputs.scores.metric", "it is empty")
    else:
        fates.changed("outputs.scores.metric", "with what its signature adds")
    metric = UNSET if name is None else name
    first = replace(outputs[0], scores=[replace(score, metric=metric), *scores[1:]])
    return [first, *outputs[1:]]


def with_signature_of(outputs: list[Output], metadata: Any, fates: FieldFates) -> Any:
    """Return the metadata of a row with the signature of its score, if it has one.

    It is `metadata` itself if not. A member of that name which is no signature would be
    read as one.
    """
    scores = outputs[0].scores if outputs else UNSET
    signature = scores[0].signature if scores else UNSET
    held = UNSET if metadata is UNSET else metadata.get(SIGNATURE, UNSET)
    if signature is UNSET:
        if type(held) is str:
            fates.changed(_member, "the signature of the score")
            fates.defaulted("outputs.scores.signature", f"is {_member}")
        return metadata
    if held is not UNSET:
        fates.dropped(_member, "its place is taken by the signature of the score")
    elif metadata == {}:
        fates.dropped("metadata", "it is empty")
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
