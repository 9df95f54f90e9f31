"""The contracts: built-in schemas, and the user's own after a careful look."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

DRAFT_07 = "http://json-schema.org/draft-07/schema"
#: Levels of nesting in a user's schema, below what the engine can compile.
DEPTH_LIMIT = 100


class SchemaError(Exception):
    """A schema that cannot be used; carries its name and the reason."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


@cache
def built_in_schema(identifier: str) -> dict[str, Any]:
    """Return the schema that ships for a format id, such as `eee@0.2.0`."""
    installed = files("harpia_formats") / "_schemas"
    checkout = Path(__file__).parents[1] / "schemas"
    folder = installed if installed.is_dir() else checkout
    text = (folder / f"{identifier}.schema.json").read_bytes()
    schema: dict[str, Any] = msgspec.json.decode(text)
    return schema


def user_schema(path: Path) -> dict[str, Any] | bool:
    """Read a draft-07 schema from a file and make sure that it can be trusted.

    Nothing is fetched: a reference out of the file is refused, and so is one that
    leads back to itself without a step into the data. Raises `SchemaError`.
    """
    name = str(path)
    try:
        schema = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise SchemaError(name, reason[0].lower() + reason[1:]) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SchemaError(name, f"is not a schema: not JSON: {error}") from error
    check_schema(name, schema)
    checked: dict[str, Any] | bool = schema
    return checked


def check_schema(name: str, schema: Any) -> None:
    """Raise `SchemaError` unless `schema` is a draft-07 schema of its own."""
    _check_draft(name, schema)
    _check_depth(name, schema)
    _check_keywords(name, schema)
    _check_references(name, schema)


def _check_draft(name: str, schema: Any) -> None:
    if not isinstance(schema, dict):
        if isinstance(schema, bool):
            return
        raise SchemaError(name, "is not a schema: neither an object nor true or false")
    draft = schema.get("$schema", DRAFT_07)
    if not isinstance(draft, str) or draft.rstrip("#").replace("https", "http") != (
        DRAFT_07
    ):
        raise SchemaError(name, f"is written in {draft}; only draft-07 is supported")


def _check_depth(name: str, schema: Any) -> None:
    level = [schema]
    for _ in range(DEPTH_LIMIT):
        level = [each for node in level for each in _members(node)]
        if not level:
            return
    raise SchemaError(name, f"is nested deeper than {DEPTH_LIMIT} levels")


def _members(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _check_keywords(name: str, schema: Any) -> None:
    """Check against the meta-schema with the reference implementation."""
    import jsonschema  # noqa: PLC0415 - a tenth of a second, for user schemas only

    errors = jsonschema.Draft7Validator(jsonschema.Draft7Validator.META_SCHEMA)
    first = min(
        errors.iter_errors(schema), key=lambda each: each.json_path, default=None
    )
    if first is not None:
        place = "/" + "/".join(str(each) for each in first.absolute_path)
        found = str(first.message)[:200]
        raise SchemaError(name, f"is not a draft-07 schema: at {place}: {found}")


def _check_references(name: str, schema: Any) -> None:
    targets = {id(node): node["$ref"] for node in _references(schema)}
    for target in targets.values():
        if not target.startswith("#"):
            reason = f"refers to {target}; only references inside the file are followed"
            raise SchemaError(name, reason)
        _resolve_to_end(name, schema, target)


def _references(node: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in `node` that hold a reference, values excluded."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node
        for key, each in node.items():
            if key not in {"enum", "const", "default", "examples"}:
                yield from _references(each)
    elif isinstance(node, list):
        for each in node:
            yield from _references(each)


def _resolve_to_end(name: str, schema: Any, target: str) -> None:
    """Follow references until a schema that is none, or say what is wrong."""
    seen = [target]
    pending = [target]
    while pending:
        node = resolve(schema, pending.pop())
        if node is None:
            raise SchemaError(name, f"refers to {target}, which is not there")
        for following in _same_place(node):
            if following == target:
                raise SchemaError(name, f"{target} refers to itself")
            if following not in seen:
                seen.append(following)
                pending.append(following)


def _same_place(node: Any) -> Iterator[str]:
    """Yield the references that apply to the very value that `node` applies to."""
    if not isinstance(node, dict):
        return
    if isinstance(node.get("$ref"), str):
        yield node["$ref"]
        return
    parts = [node.get(each) for each in ("not", "if", "then", "else")]
    for keyword in ("allOf", "anyOf", "oneOf"):
        parts += node.get(keyword, [])
    for each in parts:
        yield from _same_place(each)


def resolve(schema: Any, reference: str) -> Any:
    """Return what a local `reference` of `schema` points to, or None."""
    if reference == "#":
        return schema
    if not reference.startswith("#/"):
        return _node_named(schema, reference)
    node = schema
    for part in reference[2:].split("/"):
        key = _unescaped(part)
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def _unescaped(part: str) -> str:
    from urllib.parse import unquote  # noqa: PLC0415 - only schemas with references

    return unquote(part).replace("~1", "/").replace("~0", "~")


def _node_named(node: Any, name: str) -> Any:
    """Return the subschema whose `$id` is the fragment `name`, or None."""
    if isinstance(node, dict) and node.get("$id") == name:
        return node
    for each in _members(node):
        if (found := _node_named(each, name)) is not None:
            return found
    return None
