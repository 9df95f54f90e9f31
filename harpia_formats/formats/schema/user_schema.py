"""Read a schema that a user gives, and check that it can be used."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from jsonschema_rs import ValidationError

from harpia_formats.files.io.side_input import read_side_input
from harpia_formats.formats.schema.load import Schema, SchemaError
from harpia_formats.formats.schema.local_references import (
    DRAFT_07,
    with_local_references,
)
from harpia_formats.formats.schema.references import members, resolve
from harpia_formats.formats.schema.schema_remarks import (
    keywords_of_other_drafts,
    schema_remarks,
)
from harpia_formats.formats.schema.subschemas import subschemas
from harpia_formats.formats.schema.validator import MASK, schema_validator_of
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import pointer_of

#: Levels of nesting in a user's schema, below what the engine can compile.
DEPTH_LIMIT = 100
#: Keywords that an error names at most.
_NAMED = 5


class CheckedSchema(NamedTuple):
    """A user's schema that can be used, and what is doubtful about it."""

    #: Its references are pointers into itself.
    schema: Schema
    #: Remarks on the schema as it was given.
    remarks: tuple[Remark, ...]


def read_schema(path: Path) -> tuple[bytes, Any]:
    """Return the text of a file and its JSON value. Raises `SchemaError`."""
    name = str(path)
    text = b""
    try:
        text = read_side_input(path)
        return text, msgspec.json.decode(text)
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise SchemaError(name, reason[0].lower() + reason[1:]) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SchemaError(name, _not_json(text, error)) from error


def _not_json(text: bytes, error: Exception) -> str:
    """Return why the text of a schema is not JSON, with line and column."""
    from harpia_formats.files.parsing.json_syntax import find_fault  # noqa: PLC0415 - broken schemas only

    fault = find_fault(text)
    if fault is None:
        return f"is not a schema: not JSON: {error}"
    before = text[: fault.start].decode("utf-8", "replace").split("\n")
    place = f"line {len(before)}, column {len(before[-1]) + 1}"
    return f"is not a schema: not JSON: {fault.message} ({place})"


def check_schema(name: str, schema: Any) -> CheckedSchema:
    """Return a draft-07 schema that can be used, with local references.

    Nothing is fetched: a reference out of the file is refused, and so is one that leads
    back to itself without a step into the data. `name` is its name in errors. Raises
    `SchemaError`.
    """
    _check_draft(name, schema)
    check_depth(name, schema)
    _check_meta_schema(name, schema)
    _check_keywords(name, schema)
    local = with_local_references(name, schema)
    _check_references(name, local)
    _check_engine(name, local)
    return CheckedSchema(local, tuple(schema_remarks(schema)))


def _check_draft(name: str, schema: Any) -> None:
    """Raise `SchemaError` if the schema names another draft, or is none at all."""
    if not isinstance(schema, dict):
        if isinstance(schema, bool):
            return
        raise SchemaError(name, "is not a schema: neither an object nor true or false")
    draft = schema.get("$schema", DRAFT_07)
    if not isinstance(draft, str) or draft.rstrip("#").replace("https", "http") != (
        DRAFT_07
    ):
        raise SchemaError(name, f"is written in {draft}; only draft-07 is supported")


def check_depth(name: str, schema: Any) -> None:
    """Raise `SchemaError` for more levels than `DEPTH_LIMIT`."""
    level = [schema]
    for _ in range(DEPTH_LIMIT):
        level = [member for node in level for member in members(node)]
        if not level:
            return
    raise SchemaError(name, f"is nested deeper than {DEPTH_LIMIT} levels")


def _check_keywords(name: str, schema: Any) -> None:
    """Raise `SchemaError` for keywords of other drafts in a schema that names none."""
    if isinstance(schema, bool) or "$schema" in schema:
        return
    found = keywords_of_other_drafts(schema)
    if not found:
        return
    named = ", ".join(map(pointer_of, found[:_NAMED]))
    rest = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    has = "a keyword" if len(found) == 1 else f"{len(found)} keywords"
    reason = (
        f"has {has} that draft-07 does not have: {named}{rest}; only draft-07 is "
        f'supported: write the schema in it, or add "$schema": "{DRAFT_07}#" if they '
        "may be ignored"
    )
    raise SchemaError(name, reason)


def _check_meta_schema(name: str, schema: Any) -> None:
    """Raise `SchemaError` if the meta-schema refuses the schema.

    The reference implementation checks that.
    """
    import jsonschema  # noqa: PLC0415 - a tenth of a second, for user schemas only

    validator = jsonschema.Draft7Validator(jsonschema.Draft7Validator.META_SCHEMA)
    first = jsonschema.exceptions.best_match(validator.iter_errors(schema))
    if first is not None:
        place = pointer_of(tuple(first.absolute_path)) or "its root"
        found = str(first.message)[:200]
        raise SchemaError(name, f"is not a draft-07 schema: at {place}: {found}")


def _check_engine(name: str, schema: Any) -> None:
    """Raise `SchemaError` for what only the engine refuses, such as a bad pattern."""
    try:
        schema_validator_of(schema)
    except ValidationError as error:
        place = pointer_of(tuple(error.instance_path)) or "its root"
        found = _with_value(str(error.message), schema, error.instance_path)[:200]
        reason = f"cannot be used: at {place}: {found}"
        raise SchemaError(name, reason) from None
    except ValueError as error:
        raise SchemaError(name, f"cannot be used: {str(error)[:200]}") from None


def _with_value(message: str, schema: Any, path: Iterable[Any]) -> str:
    """Return a message of the engine with the value at `path` in place of its mask."""
    value = schema
    for step in path:
        value = value[step]
    return message.replace(MASK, json.dumps(value, ensure_ascii=False), 1)


def _check_references(name: str, schema: Any) -> None:
    """Raise `SchemaError` for a reference to no schema, or that leads to itself.

    All references are local. Parts that are only referred to are checked, too.
    """
    pending = [schema]
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if id(node) in seen or not isinstance(node, dict):
            continue
        seen.add(id(node))
        pending += [part for _, part in subschemas(node)]
        target = node.get("$ref")
        if isinstance(target, str):
            _resolve_to_end(name, schema, target)
            pending.append(resolve(schema, target))


def _resolve_to_end(name: str, schema: Any, target: str) -> None:
    """Follow references up to a schema that is none; raise `SchemaError` if unable."""
    seen = [target]
    pending = [target]
    while pending:
        following = pending.pop()
        node = resolve(schema, following)
        if not isinstance(node, (dict, bool)):
            raise SchemaError(name, f"refers to {following}, which is not a schema")
        for reference in _same_place(node):
            if reference == target:
                raise SchemaError(name, f"{target} refers to itself")
            if reference not in seen:
                seen.append(reference)
                pending.append(reference)


def _same_place(node: Any) -> Iterator[str]:
    """Yield the references that apply to the same value as `node` does."""
    if not isinstance(node, dict):
        return
    if isinstance(node.get("$ref"), str):
        yield node["$ref"]
        return
    parts = [node.get(keyword) for keyword in ("not", "if", "then", "else")]
    for keyword in ("allOf", "anyOf", "oneOf"):
        parts += node.get(keyword, [])
    parts += node.get("dependencies", {}).values()
    for part in parts:
        yield from _same_place(part)
