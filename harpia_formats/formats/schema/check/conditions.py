"""Find conditions of a schema that hold for objects without the key they test."""

from collections.abc import Iterator
from typing import Any

from harpia_formats.formats.schema.check.context import SchemaContext
from harpia_formats.formats.schema.check.groups import (
    SchemaGroup,
    SchemaPart,
    required_keys,
)
from harpia_formats.formats.schema.check.values import allows_type, identity, types_of
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.text.describe import short_json

VACUOUS, WITHOUT_KEY, NEVER = "S412", "S413", "S433"


def condition_remarks(
    part: SchemaPart, path: Path, group: SchemaGroup, context: SchemaContext
) -> Iterator[Remark]:
    """Yield the keys that an `if` tests, but holds without, or that never hold."""
    condition = part.node.get("if")
    if not isinstance(condition, dict) or not part.node.keys() & {"then", "else"}:
        return
    tests = context.own(condition).get("properties", {})
    needed = set(required_keys(condition))
    for inner in condition.get("allOf", ()):
        needed |= set(required_keys(inner)) if isinstance(inner, dict) else set()
    binding = [*(one.node for one in group if one.is_always), *part.around, part.node]
    required = {key for other in binding for key in required_keys(other)}
    yield from _never_holding(part, path, needed, binding, context)
    for key, test in tests.items():
        # Without the key, `false` and schemas of nothing hold on purpose.
        if key in needed or test in (True, False) or test == {}:
            continue
        here, shown = (*path, "if", "properties", key), short_json(key)
        help_ = f'add "required": [{shown}] to the if'
        if key in required:
            message = (
                f"the if also holds without {shown}, so an object without it gets "
                f"the errors of {_branch(part)}, too"
            )
            yield Remark(WITHOUT_KEY, here, message, help_, at_key=True)
        else:
            message = (
                f"the if also holds for objects without {shown}, so {_branch(part)} "
                f"{'applies' if 'then' in part.node else 'does not apply'} to them"
            )
            yield Remark(VACUOUS, here, message, help_, at_key=True)


def _branch(part: SchemaPart) -> str:
    """Return the keyword of the branch that a condition decides on."""
    return "then" if "then" in part.node else "else"


def _never_holding(
    part: SchemaPart,
    path: Path,
    needed: set[str],
    binding: list[dict[str, Any]],
    context: SchemaContext,
) -> Iterator[Remark]:
    """Yield the keys that an `if` needs with values that the schemas around it refuse.

    `binding` are the schemas that apply whenever the condition is tested.
    """
    tests = context.own(part.node["if"]).get("properties", {})
    for key in [key for key in tests if key in needed]:
        described = [node.get("properties", {}).get(key) for node in binding]
        schemas = [node for node in described if isinstance(node, dict)]
        if any(_excludes(tests[key], schema) for schema in schemas):
            message = (
                f"the if never holds: no value of {short_json(key)} that the schema "
                f"allows is one that it tests for, so "
                f"{'then never applies' if 'then' in part.node else 'else always does'}"
            )
            here = (*path, "if", "properties", key)
            help_ = "correct the value in the if, or allow it in properties"
            yield Remark(NEVER, here, message, help_, at_key=True)


def _excludes(test: Any, schema: dict[str, Any]) -> bool:
    """Return whether no value matches both schemas, by their values and types."""
    if not isinstance(test, dict):
        return test is False
    tested, allowed = _values_of(test), _values_of(schema)
    types, other_types = types_of(test), types_of(schema)
    if tested is not None and allowed is not None:
        texts = {identity(value) for value in allowed}
        return not any(identity(value) in texts for value in tested)
    if tested is not None:
        return not any(allows_type(other_types, value) for value in tested)
    if allowed is not None:
        return not any(allows_type(types, value) for value in allowed)
    return types is not None and other_types is not None and not types & other_types


def _values_of(schema: dict[str, Any]) -> list[Any] | None:
    """Return the values that a schema lists, None if it lists none."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return listed if isinstance(listed, list) else None
