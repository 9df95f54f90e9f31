"""Put the keys of a row that are no fields of a record back into a row.

They are kept in the record's `extra` at their own place. A place that belongs to a
field takes back only values that are not read as that field (mostly null). Any other
key goes back unless the version allows no unknown keys (`Version.is_closed`).
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET

from harpia_converters.eee.answers import SINGLE
from harpia_converters.eee.sample_hash import RECIPES, recipe_of
from harpia_converters.eee.versions import Version, is_count, is_texts
from harpia_formats.model.adapter import Row
from harpia_formats.model.field_fates import FieldFates

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


def put_back(row: Row, kept: Row, version: Version, fates: FieldFates) -> bool:
    """Put `kept`, extra fields of a read row, into `row`; record losses in `fates`.

    `row` has a place for the hash, with `UNSET`. Return whether it has got new keys.
    """
    has_new = False
    if HASH not in kept:
        del row[HASH]
    for key, value in kept.items():
        if key == HASH:
            is_put = _is_hash_put(row, value, version)
        elif key == _VERSION:
            _put_version(row, value, version, fates)
            continue
        elif key in _objects and type(value) is dict and value:
            for inner in _put_members(row.get(key), key, value, version):
                fates.dropped(
                    f"{_path_of(key)}.{inner}", "no place for it in this version"
                )
            continue
        else:
            is_put = _is_put(row, key, value, version)
            has_new = has_new or is_put
        if not is_put:
            fates.dropped(_path_of(key), "no place for it in this version")
    if row.get(HASH) is not None:
        _renew_hash(row, version, fates)
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


def _put_version(row: Row, value: Any, version: Version, fates: FieldFates) -> None:
    if value != version.label and type(value) is str and value in version.labels:
        row[_VERSION] = value
    else:
        fates.changed(_path_of(_VERSION), f"is {version.label}")


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


def _renew_hash(row: Row, version: Version, fates: FieldFates) -> None:
    """Compute `sample_hash` again if references or the prompt were changed."""
    for entry in fates.entries:
        if entry.path in _hashed:
            break
    else:
        return
    raw, references = row["input"]["raw"], row["input"]["reference"]
    listed = references if version.has_lists else [references]
    if recipe_of(row[HASH], raw, listed) or not (listed or version.is_closed):
        return
    row[HASH] = RECIPES["A" if version.is_closed else "C"](raw, listed)
    fates.changed(f"extra.{VENDOR}.{HASH}", "computed again from the written row")


def kept_of(extra: Any) -> Row:
    """Return EvalEval's own members in a record's `extra`, or an empty object."""
    return {} if extra is UNSET else extra.get(VENDOR, {})
