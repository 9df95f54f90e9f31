"""Find the exact places of the errors of the schema engine.

The engine reports a key that is written as a number as that number, and leaves out keys
that are empty, so that one of its paths may mean several places.
"""

import re
from collections.abc import Iterator
from typing import Any

from harpia_formats.formats.schema.references import resolve
from harpia_formats.model.problem import Path


def path_of_error(error: Any, record: Any, evaluated: Path | None = None) -> Path:
    """Return the exact path in `record` of an error of jsonschema-rs.

    Where the engine's path may mean several paths, the value of the error decides, and
    then how far the schema leads into the record: `evaluated` is the exact path through
    it, or else that of the engine, which lacks properties without a name.
    """
    engine_path = tuple(error.instance_path)
    if is_exact(record, engine_path):
        return engine_path
    instance = error.instance
    paths = list(matching_paths(record, engine_path))
    same = [path for path in paths if _is_same(_value_at(record, path), instance)]
    schema_path = evaluated or tuple(error.evaluation_path)
    # The keyword that failed is about the value itself, but items that are forbidden.
    depth = sum(
        is_inward and (at < len(schema_path) - 1 or keyword == "items")
        for at, keyword, is_inward in keywords_on(schema_path)
    )
    as_deep = (path for path in same or paths if len(path) == depth)
    return next(as_deep, (same or paths)[0])


def _is_same(value: Any, other: Any) -> bool:
    """Return whether two values are equal and of one type: 1 and true are not."""
    return type(value) is type(other) and bool(value == other)


def _value_at(node: Any, path: Path) -> Any:
    """Return the value at a `path` of `node` that is known to be there."""
    for step in path:
        node = node[step]
    return node


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
    # A path through a schema with loops has many more steps than the record levels.
    pending: list[tuple[Any, Path, int]] = [(node, (), 0)]
    while pending:
        node, path, done = pending.pop()
        found: list[tuple[Any, Path, int]] = []
        if done == len(engine_path):
            yield path
        else:
            for key in keys_matching(node, engine_path[done]):
                inner = node[key]
                if key == "$ref" and schema is not None and isinstance(inner, str):
                    inner = resolve(schema, inner)
                found.append((inner, (*path, key), done + 1))
        if isinstance(node, dict) and "" in node:
            found.append((node[""], (*path, ""), done))
        pending += reversed(found)


def keys_matching(node: Any, engine_step: str | int) -> Iterator[str | int]:
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


#: Keywords that are followed by a name or a number in a path through a schema.
_named = frozenset(
    "properties patternProperties definitions dependencies allOf anyOf oneOf".split()
)
#: Keywords whose schemas apply to a value inside of the one that is validated.
_inward = frozenset(
    "properties patternProperties items additionalProperties additionalItems".split()
)


def keywords_on(evaluation_path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yield the keywords on an evaluation path, each after its index.

    Behind each is whether the next one applies to a value inside of its own.
    """
    for index, keyword in _keywords(evaluation_path):
        yield index, keyword, keyword in _inward


def _keywords(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the keywords on a path through a schema, each after its index."""
    index = 0
    while index < len(path):
        keyword = str(path[index])
        yield index, keyword
        index += 1
        is_numbered = (
            keyword == "items" and index < len(path) and type(path[index]) is int
        )
        if keyword in _named or is_numbered:
            index += 1
