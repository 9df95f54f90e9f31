"""Find conditions of a schema that hold for objects without the key they test."""

from collections.abc import Iterator

from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.schema.check.context import SchemaContext
from harpia_formats.schema.check.groups import SchemaGroup, SchemaPart, required_keys
from harpia_formats.text.describe import short_json

VACUOUS, WITHOUT_KEY = "S412", "S413"


def condition_remarks(
    part: SchemaPart, path: Path, group: SchemaGroup, context: SchemaContext
) -> Iterator[Remark]:
    """Yield the keys that an `if` tests, but holds without."""
    condition = part.node.get("if")
    if not isinstance(condition, dict) or not part.node.keys() & {"then", "else"}:
        return
    tests = context.own(condition).get("properties", {})
    needed = set(required_keys(condition))
    for inner in condition.get("allOf", ()):
        needed |= set(required_keys(inner)) if isinstance(inner, dict) else set()
    required = {
        key
        for other in [
            *(one.node for one in group if one.is_always),
            *part.around,
            part.node,
        ]
        for key in required_keys(other)
    }
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
