"""Follow paths through records and schemas, and make the engine's paths exact.

The engine reports a key of digits as a number, and it leaves empty keys out of a path.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.formats.schema.references import resolve
from harpia_formats.model.problem import Path


def value_at(record: Any, path: Path) -> Any:
    """Return the value at `path` of `record`. Raises `LookupError` if there is none."""
    value = record
    for step in path:
        is_there = isinstance(value, dict if isinstance(step, str) else list)
        if not is_there:
            raise LookupError(path)
        value = value[step]
    return value


def has_value(record: Any, path: Path) -> bool:
    """Return whether `record` has a value at `path`."""
    value = record
    for step in path:
        if isinstance(step, str):
            if not isinstance(value, dict) or step not in value:
                return False
        elif not isinstance(value, list) or step >= len(value):
            return False
        value = value[step]
    return True


def schema_at(schema: Any, path: Path) -> Any:
    """Return the part of `schema` at `path`, following references.

    Raises `LookupError` or `TypeError` if the schema has no such path.
    """
    node = schema
    for step in path:
        if step == "$ref" and isinstance(node, dict) and isinstance(node[step], str):
            node = resolve(schema, node[step])
        else:
            node = node[next(_keys_matching(node, step), step)]
    return node


def schema_object_at(schema: Any, path: Path) -> Mapping[str, Any]:
    """Return the object at `path` of `schema`, an empty one if there is none."""
    try:
        node = schema_at(schema, path)
    except (LookupError, TypeError):
        return {}
    return node if isinstance(node, dict) else {}


def is_exact(record: Any, path: Path) -> bool:
    """Return whether the engine's `path` can mean only one path of `record`."""
    node = record
    for step in path:
        if isinstance(node, dict) and (type(step) is int or "" in node):
            return False
        node = node[step]
    return not (isinstance(node, dict) and "" in node)


def matching_paths(node: Any, engine_path: Path, schema: Any = None) -> Iterator[Path]:
    """Yield every path in `node` that the engine reports as `engine_path`.

    References are followed if `schema` is given, the schema that they are in.
    """
    if not engine_path:
        yield ()
    else:
        for key in _keys_matching(node, engine_path[0]):
            inner = node[key]
            if key == "$ref" and schema is not None and isinstance(inner, str):
                inner = resolve(schema, inner)
            yield from (
                (key, *rest) for rest in matching_paths(inner, engine_path[1:], schema)
            )
    if isinstance(node, dict) and "" in node:
        yield from (
            ("", *rest) for rest in matching_paths(node[""], engine_path, schema)
        )


def _keys_matching(node: Any, engine_step: str | int) -> Iterator[str | int]:
    """Yield the keys or the index of `node` that the engine reports as a step."""
    if isinstance(node, list):
        if isinstance(engine_step, int) and engine_step < len(node):
            yield engine_step
    elif isinstance(node, dict):
        if str(engine_step) in node:
            yield str(engine_step)
        if isinstance(engine_step, int):
            same_number = re.compile(rf"\+?0*{engine_step}")
            for key in node:
                if key != str(engine_step) and same_number.fullmatch(key):
                    yield key
