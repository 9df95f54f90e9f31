"""Write what was seen of rows as a draft-07 schema."""

from typing import Any

from harpia_formats.validation.inference.options import InferOptions
from harpia_formats.validation.inference.seen import KEY_LIMIT, Seen

#: How often each text of an `enum` must be there.
_REPEATED = 10
#: An object is a map if it has less than this share of all keys, on average.
_SHARE = 0.1
#: The JSON type of each Python type, in the order in which they are written.
_names = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
DRAFT = "http://json-schema.org/draft-07/schema#"


def schema_of(seen: Seen, options: InferOptions, title: str) -> dict[str, Any]:
    """Return the schema of rows of which so much was seen, with a `title`."""
    body = _schema_of(seen, options, "rows")
    described = f"Inferred from {_counted(seen.count, 'row')}"
    return {
        "$schema": DRAFT,
        "title": title,
        "description": described,
        **body,
    }


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _schema_of(seen: Seen, options: InferOptions, objects: str) -> dict[str, Any]:
    """Return the keywords for values; `objects` is what objects of them are called."""
    types = [name for kind, name in _names.items() if kind in seen.kinds]
    if "number" in types and "integer" in types:
        types.remove("integer")
    found: dict[str, Any] = {}
    if seen.kinds.get(dict):
        found = _object_keywords(seen, options, objects)
    if seen.items is not None:
        found["items"] = _schema_of(seen.items, options, "objects")
    texts = _listed_texts(seen, options)
    if not texts:
        return {"type": types[0] if len(types) == 1 else types, **found}
    listed = {"type": "string", "enum": texts}
    types.remove("string")
    if not types:
        return listed
    rest = {"type": types[0] if len(types) == 1 else types, **found}
    return {"anyOf": [listed, rest]}


def _listed_texts(seen: Seen, options: InferOptions) -> list[str]:
    """Return the texts of an `enum`, an empty list if none is justified.

    They are few and each is repeated: a text that is always the same, or is there only
    now and then, does not show that there are no others.
    """
    texts = seen.texts or {}
    # Beside objects and arrays, `anyOf` would put all of them a level deeper.
    if seen.kinds.keys() & {dict, list} or not 1 < len(texts) <= options.enum_limit:
        return []
    return sorted(texts) if min(texts.values()) >= _REPEATED else []


def _object_keywords(seen: Seen, options: InferOptions, objects: str) -> dict[str, Any]:
    """Return the keywords for the objects among values."""
    number = seen.kinds[dict]
    if _is_map(seen, options):
        members = seen.all_members()
        keys = f"{len(seen.keys):,}" if seen.keys else f"more than {KEY_LIMIT:,}"
        comment = f"a map: {keys} different keys in {number:,} {objects}"
        rest = _schema_of(members, options, "objects") if members.count else True
        return {"$comment": comment, "additionalProperties": rest}
    found: dict[str, Any] = {}
    required = [key for key, member in seen.keys.items() if member.count == number]
    if required:
        found["required"] = required
    if seen.keys:
        found["properties"] = {
            key: _member(member, options, number, objects)
            for key, member in seen.keys.items()
        }
    if options.closed and seen.keys:
        found["additionalProperties"] = False
    return found


def _member(
    member: Seen, options: InferOptions, number: int, objects: str
) -> dict[str, Any]:
    """Return the schema of a member, with how many objects have it if not all do."""
    schema = _schema_of(member, options, "objects")
    if member.count == number:
        return schema
    comment = f"in {member.count:,} of {number:,} {objects}"
    if "$comment" in schema:
        comment = f"{comment}; {schema['$comment']}"
    return {"$comment": comment, **{k: v for k, v in schema.items() if k != "$comment"}}


def _is_map(seen: Seen, options: InferOptions) -> bool:
    """Return whether objects have keys that are data, and not names of fields."""
    if seen.rest is not None:
        return True
    keys, objects = len(seen.keys), seen.kinds[dict]
    members = sum(member.count for member in seen.keys.values())
    return keys > options.map_keys and members < _SHARE * keys * objects
