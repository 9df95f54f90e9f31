"""Find keywords whose values are not allowed, contradict each other, or do nothing."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import jsonschema_rs

from harpia_formats.formats.schema.check.checked_schema import SchemaContext
from harpia_formats.formats.schema.error_paths import path_of_error
from harpia_formats.formats.schema.keywords import Draft, parts_of, schemas_in
from harpia_formats.model.describe import alternatives, short_json
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.spelling import nearest

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
        errors = validator.iter_errors(shallow)
        places = {path_of_error(error, shallow) for error in errors}
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
        help_ = f"if the keyword {name} is meant, it belongs next to {path[-2]}"
        return Remark(INVALID, path, message, help_, at_key=True)
    return Remark(INVALID, path, message)


REDUNDANT_NOT, BOUNDS = "S414", "S415"
REFUSED_VALUE, REPEATED_VALUE = "S416", "S417"
NO_EFFECT, UNKNOWN_FORMAT = "S418", "S419"
#: Values of one `enum` that are checked, and findings on them.
_LISTED, _NAMED = 10_000, 20

#: The types that a keyword applies to.
_applies = {
    keyword: frozenset(types.split())
    for types, keywords in {
        "string": "maxLength minLength pattern contentEncoding contentMediaType "
        "contentSchema",
        "number integer": "exclusiveMaximum exclusiveMinimum maximum minimum "
        "multipleOf",
        "array": "additionalItems contains items maxContains maxItems minContains "
        "minItems prefixItems unevaluatedItems uniqueItems",
        "object": "additionalProperties dependencies dependentRequired "
        "dependentSchemas maxProperties minProperties patternProperties properties "
        "propertyNames required unevaluatedProperties",
    }.items()
    for keyword in keywords.split()
}
#: Keywords without effect unless another one stands next to them.
_needs = {
    "additionalItems": ("items",),
    "else": ("if",),
    "maxContains": ("contains",),
    "minContains": ("contains",),
    "then": ("if",),
    "if": ("then", "else"),
}
#: Pairs of bounds, the lower one first.
_bounds = (
    ("minimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
)
#: Keywords that decide on a value of an `enum` without references.
_deciding = frozenset(
    "type maximum minimum exclusiveMaximum exclusiveMinimum multipleOf maxLength "
    "minLength maxItems minItems uniqueItems maxProperties minProperties".split()
)
#: The names of `format` in any draft, and those of OpenAPI.
_formats = frozenset(
    "date time date-time duration email idn-email hostname idn-hostname ipv4 ipv6 uri "
    "uri-reference iri iri-reference uuid uri-template json-pointer "
    "relative-json-pointer regex "
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double decimal byte "
    "binary password char color phone".split()
)


def value_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield what is wrong within single schemas."""
    known = context.draft.keywords
    for path, node in context.nodes:
        own = {key: part for key, part in context.own(node).items() if key in known}
        if own:
            yield from _bound_remarks(path, own)
            yield from _effect_remarks(path, own, context.draft)
            yield from _enum_remarks(path, own, context.draft)
            yield from _not_remarks(path, own)
            yield from _format_remarks(path, own)


def types_of(node: Any) -> frozenset[str] | None:
    """Return the types that a schema names, with integer for number; None if none."""
    named = node.get("type") if isinstance(node, dict) else None
    if named is None:
        return None
    types = {named} if isinstance(named, str) else set(named)
    return frozenset(types | ({"integer"} if "number" in types else set()))


def _bound_remarks(path: Path, node: dict[str, Any]) -> Iterator[Remark]:
    """Yield the bounds that no value keeps."""
    for lower, upper in _bounds:
        low, high = node.get(lower), node.get(upper)
        if low is None or high is None:
            continue
        if isinstance(low, bool) or isinstance(high, bool):  # in draft-04
            continue
        excludes = lower.startswith("excl") or upper.startswith("excl")
        if low > high or (excludes and low == high):
            message = (
                f"{lower} {short_json(low)} and {upper} {short_json(high)} leave no "
                "value"
            )
            yield Remark(BOUNDS, (*path, lower), message, "swap or correct them")
    least, most = node.get("minItems"), _most_items(node)
    if isinstance(least, int) and most is not None and least > most:
        message = (
            f"minItems {least} leaves no value: no more items than {most} are allowed"
        )
        help_ = "correct minItems, or describe or allow further items"
        yield Remark(BOUNDS, (*path, "minItems"), message, help_)


def _most_items(node: dict[str, Any]) -> int | None:
    """Return how many items the keywords about single items allow, None for any."""
    items, prefix = node.get("items"), node.get("prefixItems")
    if isinstance(prefix, list) and items is False:
        return len(prefix)
    if isinstance(items, list) and node.get("additionalItems") is False:
        return len(items)
    return None


def allows_type(types: frozenset[str] | None, value: Any) -> bool:
    """Return whether a value has one of the types that `types_of` returned."""
    return types is None or _type_of(value) in types


def _effect_remarks(path: Path, node: dict[str, Any], draft: Draft) -> Iterator[Remark]:
    """Yield the keywords that have no effect among the others of a schema."""
    types = types_of(node)
    for keyword in node:
        if keyword == "if" and "unevaluatedProperties" in draft.keywords:
            continue  # what it describes counts as evaluated
        applies = _applies.get(keyword)
        if types is not None and applies and not types & applies:
            named = alternatives(sorted(types - _integers_of(types)))
            message = f"{keyword} has no effect on values of type {named}"
            wanted = alternatives(sorted(applies - {"integer"}))
            help_ = f"it is about values of type {wanted}: correct one of the two"
            yield Remark(NO_EFFECT, (*path, keyword), message, help_, at_key=True)
        elif keyword in _needs and not any(near in node for near in _needs[keyword]):
            wanted = alternatives(list(_needs[keyword]))
            message = f"{keyword} has no effect without {wanted}"
            yield Remark(NO_EFFECT, (*path, keyword), message, "", at_key=True)


def _integers_of(types: frozenset[str]) -> frozenset[str]:
    """Return the name of integers if numbers are among some types, which has them."""
    return frozenset({"integer"} if "number" in types else ())


def _enum_remarks(path: Path, node: dict[str, Any], draft: Draft) -> Iterator[Remark]:
    """Yield the values of `enum` and `const` that are refused or repeated."""
    yield from _refused_remarks(path, node, draft)
    seen: dict[str, int] = {}
    values = node.get("enum")
    for number, value in enumerate(values if isinstance(values, list) else ()):
        first = seen.setdefault(identity(value), number)
        if first != number:
            message = f"enum lists {short_json(value)} twice"
            yield Remark(REPEATED_VALUE, (*path, "enum", number), message, "remove it")


def _refused_remarks(
    path: Path, node: dict[str, Any], draft: Draft
) -> Iterator[Remark]:
    """Yield the values of `enum` and `const` that another keyword refuses."""
    rules = {key: node[key] for key in node.keys() & _deciding}
    if not (rules and node.keys() & {"enum", "const"}):
        return
    is_valid = validator_class(draft)(rules, offline=True).is_valid
    listed = node.get("enum")
    values = [(("enum", at), value) for at, value in enumerate(listed or ())]
    values += [(("const",), node["const"])] if "const" in node else []  # type: ignore[list-item]  # a shorter path
    found = 0
    for place, value in values[:_LISTED]:
        if found < _NAMED and not is_valid(value):
            found += 1
            names = alternatives(sorted(rules))
            is_type = types_of(rules) is not None and _type_of(value) not in (
                types_of(rules) or ()
            )
            by = f"type {short_type(rules['type'])}" if is_type else names
            message = f"{place[0]} has {short_json(value)}, which {by} refuses"
            help_ = "no value can be both: correct one of the two"
            yield Remark(REFUSED_VALUE, (*path, *place), message, help_)


def short_type(named: Any) -> str:
    """Return the value of the keyword `type` in a few words."""
    return named if isinstance(named, str) else alternatives(list(named))


def _type_of(value: Any) -> str:
    """Return the most special JSON type of a value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    kinds = {float: "number", str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "null")


def identity(value: Any) -> str:
    """Return a text that is equal for equal values of JSON, such as 1 and 1.0."""
    return json.dumps(_normal(value), sort_keys=True)


def _normal(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_normal(item) for item in value]
    if isinstance(value, dict):
        return {key: _normal(member) for key, member in value.items()}
    return value


def _not_remarks(path: Path, node: dict[str, Any]) -> Iterator[Remark]:
    """Yield a `not` that only excludes types that `type` next to it excludes, too."""
    refused, types = node.get("not"), types_of(node)
    if types is None or not isinstance(refused, dict) or refused.keys() != {"type"}:
        return
    excluded = types_of(refused) or frozenset()
    named, others = short_type(node["type"]), short_type(refused["type"])
    if not types & excluded:
        message = (
            f"the not repeats the type: what is of type {named} is not {others}, so "
            "a wrong value breaks two keywords"
        )
        yield Remark(REDUNDANT_NOT, (*path, "not"), message, "remove it", at_key=True)
    elif types <= excluded <= set(TYPES):
        message = f"the not refuses all that type {named} allows"
        help_ = "no value is left: correct one of the two"
        yield Remark(BOUNDS, (*path, "not"), message, help_, at_key=True)


def _format_remarks(path: Path, node: dict[str, Any]) -> Iterator[Remark]:
    """Yield a `format` that no draft has."""
    name = node.get("format")
    if not isinstance(name, str) or name in _formats:
        return
    near = nearest(name, _formats)
    message = f"no draft has a format {short_json(name)}, so validators pass over it"
    help_ = f"write {near}, if that is meant" if near else ""
    yield Remark(UNKNOWN_FORMAT, (*path, "format"), message, help_)
