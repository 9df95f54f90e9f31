"""Find the condition of a schema that made a keyword apply to a record."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from harpia_formats.formats.schema.references import resolve
from harpia_formats.model.problem import Path
from harpia_formats.validation.diagnosis.exact_paths import schema_object_at

#: Keywords that are followed by a name or a number in a path through a schema.
_named = frozenset(
    "properties patternProperties definitions dependencies allOf anyOf oneOf".split()
)
#: Keywords whose schemas apply to a value inside of the one that is validated.
_inward = frozenset(
    "properties patternProperties items additionalProperties additionalItems".split()
)


@dataclass(frozen=True, slots=True)
class AppliedCondition:
    """A `then`, `else` or dependency of a schema that applied to an object."""

    #: The evaluation path to it.
    path: Path
    #: How many steps of an error's path lead to the object that it applied to.
    depth: int
    #: The key whose presence a dependency depends on; None for `then` and `else`.
    key: str | None = None


def condition_of(evaluation_path: Iterable[Any]) -> AppliedCondition | None:
    """Return the innermost condition on an evaluation path, None if it has none."""
    path = tuple(evaluation_path)
    found, depth = None, 0
    for index, keyword in _keywords(path):
        if keyword in {"then", "else"}:
            found = AppliedCondition(path[: index + 1], depth)
        elif keyword == "dependencies" and index + 1 < len(path):
            found = AppliedCondition(path[: index + 2], depth, str(path[index + 1]))
        depth += keyword in _inward
    return found


def keywords_on(evaluation_path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yield the keywords on an evaluation path, each after its index.

    Behind each is whether the next one applies to a value inside of its own.
    """
    for index, keyword in _keywords(evaluation_path):
        yield index, keyword, keyword in _inward


def last_keyword(path: Path) -> str:
    """Return the keyword that a path of a schema ends with, "" if a name ends it."""
    return next(
        (keyword for index, keyword in _keywords(path) if index == len(path) - 1), ""
    )


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


def tested_paths(condition: AppliedCondition, schema: Any) -> list[Path]:
    """Return the paths of the values that a condition tests.

    They begin at the object that the condition applies to.
    """
    if condition.key is not None:
        return [(condition.key,)]
    test = schema_object_at(schema, (*condition.path[:-1], "if"))
    return list(dict.fromkeys(_tested_by(test, schema)))


def _tested_by(test: Any, schema: Any) -> Iterator[Path]:
    """Yield the paths of the values that the schema `test` looks at."""
    if not isinstance(test, dict):
        return
    if isinstance(test.get("$ref"), str):
        yield from _tested_by(resolve(schema, test["$ref"]), schema)
        return
    members = test.get("properties", {})
    for key, member in members.items():
        inner_paths = _tested_inside(member)
        yield from ((key, *rest) for rest in inner_paths or [()])
    with_inner = {key for key, member in members.items() if _tested_inside(member)}
    yield from ((key,) for key in test.get("required", ()) if key not in with_inner)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for alternative in test.get(keyword, ()):
            yield from _tested_by(alternative, schema)
    yield from _tested_by(test.get("not"), schema)


def _tested_inside(test: Any) -> list[Path]:
    """Return the paths of the members that the test of an object looks at."""
    members = test.get("properties", {}) if isinstance(test, dict) else {}
    return [
        (key, *rest)
        for key, member in members.items()
        for rest in _tested_inside(member) or [()]
    ]
