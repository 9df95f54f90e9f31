"""Find keywords whose values their draft does not allow, and leave them out."""

from copy import deepcopy
from typing import Any

import jsonschema_rs

from harpia_formats.formats.schema.drafts import Draft
from harpia_formats.formats.schema.schema_places import parts_of, schemas_in
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.text.describe import short_json
from harpia_formats.model.text.spelling import nearest

INVALID = "S404"
#: Keywords with several schemas.
_PARTS = frozenset(
    "$defs allOf anyOf definitions dependencies dependentSchemas items oneOf "
    "patternProperties prefixItems properties".split()
)

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
#: What other languages call the types of JSON.
_TYPES_ELSEWHERE = {
    "any": "",
    "bool": "boolean",
    "char": "string",
    "date": "string",
    "datetime": "string",
    "decimal": "number",
    "dict": "object",
    "double": "number",
    "enum": "",
    "file": "string",
    "float": "number",
    "int": "integer",
    "int32": "integer",
    "int64": "integer",
    "list": "array",
    "long": "integer",
    "map": "object",
    "nil": "null",
    "none": "null",
    "numeric": "number",
    "str": "string",
    "text": "string",
    "tuple": "array",
    "undefined": "null",
}
_SCHEMA = "a schema: an object, true or false"
_BY_NAME = "an object with a schema for each name"
_COUNT = "a whole number from 0 on"
_NAMES = "a list of names, each once"
#: What the value of each keyword is.
_WANTED = {
    "a list with at least one schema": "allOf anyOf oneOf prefixItems",
    "a list of values": "enum examples",
    "a number above 0": "multipleOf",
    "a number": "exclusiveMaximum exclusiveMinimum maximum minimum",
    "text": "$comment $id $ref $schema contentEncoding contentMediaType description "
    "format id pattern title",
    "true or false": "deprecated readOnly uniqueItems writeOnly",
    _BY_NAME: "$defs definitions dependentSchemas patternProperties properties",
    _COUNT: "maxContains maxItems maxLength maxProperties minContains minItems "
    "minLength minProperties",
    _NAMES: "required",
    _SCHEMA: "additionalItems additionalProperties contains else if not "
    "propertyNames then unevaluatedItems unevaluatedProperties",
    "a schema or a list of schemas": "items",
    "an object with a schema or a list of names for each name": "dependencies",
}
_wanted = {word: text for text, words in _WANTED.items() for word in words.split()}


def invalid_keywords(schema: Any, draft: Draft) -> tuple[list[Remark], Any]:
    """Return a remark on each keyword with a value that `draft` does not allow.

    And the schema without them: itself if there is none, else a copy in which what
    should be a schema and is none has become an empty one, so that paths stay.
    """
    if not isinstance(schema, (dict, bool)):
        found = short_json(schema)
        message = f"a schema is an object, true or false, not {found}"
        return [Remark(INVALID, (), message)], True
    validator = meta_validator(draft)
    remarks: list[Remark] = []
    usable = schema
    for path, node in schemas_in(schema, draft):
        shallow = _without_parts(node, draft)
        if validator.is_valid(shallow):
            continue
        usable = deepcopy(schema) if usable is schema else usable
        places = {
            tuple(error.instance_path) for error in validator.iter_errors(shallow)
        }
        for place in sorted(places, key=str):
            remarks.append(_remark_at(path, place, node, draft))
            _leave_out(path, place, usable)
    return remarks, usable


def _without_parts(node: dict[str, Any], draft: Draft) -> dict[str, Any]:
    """Return a schema with an empty one in the place of each schema in it."""
    shallow = dict(node)
    for path, part in parts_of(node, draft):
        if not isinstance(part, dict):
            continue
        keyword, *rest = path
        if not rest:
            shallow[str(keyword)] = {}
            continue
        if shallow[str(keyword)] is node[str(keyword)]:
            shallow[str(keyword)] = node[str(keyword)].copy()
        shallow[str(keyword)][rest[0]] = {}
    return shallow


def _leave_out(path: Path, place: Path, schema: Any) -> None:
    """Remove what stands at `place` of the schema at `path`, or its keyword."""
    node = value_at(schema, path)
    if not isinstance(node, dict):  # what is around it was left out before
        return
    if not place:
        for keyword in [key for key in node if key.startswith("exclusiveM")]:
            del node[keyword]
        return
    keyword, *rest = place
    value = node.get(keyword)
    if len(rest) == 1 and keyword in _PARTS and isinstance(value, (dict, list)):
        value[rest[0]] = {}  # type: ignore[index]  # a step of its own path
    else:
        node.pop(keyword, None)


def meta_validator(draft: Draft) -> Any:
    """Return a validator of the schemas that `draft` allows."""
    return validator_class(draft)(
        {"$ref": draft.uri}, offline=True, validate_formats=False
    )


def validator_class(draft: Draft) -> Any:
    """Return the class of the engine's validators by the schemas of a draft."""
    name = draft.name.removeprefix("draft-").lstrip("0").replace("-", "")
    return getattr(jsonschema_rs, f"Draft{name}Validator")


def value_at(schema: Any, path: Path) -> Any:
    """Return what stands at `path`, None if nothing does."""
    for step in path:
        is_item = isinstance(schema, list) and isinstance(step, int)
        if not (is_item or (isinstance(schema, dict) and step in schema)):
            return None
        schema = schema[step]
    return schema


def _remark_at(around: Path, place: Path, node: dict[str, Any], draft: Draft) -> Remark:
    """Return the remark on what stands at `place` of the schema `node` at `around`."""
    value, path = value_at(node, place), (*around, *place)
    keyword = str(place[0]) if place else ""
    if len(place) > 1 and keyword in {"properties", "patternProperties"}:
        return _member_remark(path, value, draft)
    if keyword == "type":
        return _type_remark(path, value)
    if keyword == "required" and isinstance(value, bool):
        message = f"required is {short_json(value)}, its form in draft-03"
        help_ = "list the key in the required of the object that has it"
        return Remark(INVALID, path, message, help_)
    if keyword.startswith("exclusiveM") and isinstance(value, bool):
        bound = keyword.removeprefix("exclusive").lower()
        message = f"{keyword} is {short_json(value)}, its form in draft-04"
        help_ = f"give it the number, in place of {bound}" if value else "leave it out"
        return Remark(INVALID, path, message, help_)
    shown = short_json(value)
    wanted = _wanted.get(keyword)
    message = (
        f"{keyword} is {shown}, which {draft.name} does not allow there"
        if keyword
        else f"the schema is not allowed by {draft.name}"
    )
    is_item = len(place) > 1 and isinstance(place[-1], int)
    if is_item and keyword in _PARTS:
        message = f"an item of {keyword} is {shown}, not {_SCHEMA}"
        return Remark(INVALID, path, message)
    if keyword == "required" and not is_item and isinstance(value, list):
        message = f"required is an array, but not {_NAMES}"
    return Remark(INVALID, path, message, f"it is {wanted}" if wanted else "")


def _type_remark(path: Path, value: Any) -> Remark:
    """Return the remark on a `type` that is none."""
    names = value if isinstance(value, list) else [value]
    unknown = [name for name in names if name not in TYPES]
    if not unknown:
        message = "type lists a type twice, or none"
        return Remark(INVALID, path, message, "list each type once")
    first = unknown[0]
    message = f"{short_json(first)} is no type of JSON Schema"
    meant = ""
    if isinstance(first, str):
        lower = first.lower()
        if _TYPES_ELSEWHERE.get(lower) == "":
            help_ = "leave the type out if any will do"
            return Remark(INVALID, path, message, help_)
        meant = _TYPES_ELSEWHERE.get(lower) or nearest(first, TYPES)
    help_ = f"write {meant}" if meant else f"it is one of {', '.join(TYPES)}"
    return Remark(INVALID, path, message, help_)


def _member_remark(path: Path, value: Any, draft: Draft) -> Remark:
    """Return the remark on the value of a property that is no schema."""
    name = str(path[-1])
    message = f"the property {short_json(name)} is {short_json(value)}, not {_SCHEMA}"
    if name in draft.keywords:
        help_ = f"if the keyword {name} is meant, it stands beside {path[-2]}"
        return Remark(INVALID, path, message, help_, at_key=True)
    return Remark(INVALID, path, message)
