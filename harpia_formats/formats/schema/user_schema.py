"""Read a schema that a user gives, and check that it can be used."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urldefrag, urljoin, urlsplit

import msgspec

from harpia_formats.files.io.reader import read_side_input
from harpia_formats.formats.schema.bundled_schemas import (
    MASK,
    Schema,
    SchemaError,
    schema_validator_of,
)
from harpia_formats.formats.schema.error_paths import path_of_error
from harpia_formats.formats.schema.keywords import (
    is_valid_schema,
    keywords_of_other_drafts,
    schema_remarks,
)
from harpia_formats.formats.schema.references import (
    members,
    path_of,
    resolve,
    subschemas,
)
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path as ValuePath
from harpia_formats.model.problem import pointer_of

#: Values of a bounded schema with its references expanded, at most.
EXPANDED_LIMIT = 5_000
#: Levels of a bounded schema with its references expanded, at most.
DEPTH_LIMIT = 200
#: Values of an `enum` that are compared one by one, at most.
LISTED_LIMIT = 100
#: Characters of a pattern, and repetitions that it counts, at most.
PATTERN_LIMIT, REPEAT_LIMIT = 1_000, 1_000
#: What a pattern without look-around and back-references does not contain. Some that
#: it finds are harmless, such as an escaped digit in a class.
_unusual = re.compile(r"\(\?(?!:)|\\[1-9kK]")
_counted = re.compile(r"\{(\d+)(?:,(\d*))?\}")


class _Unbounded(Exception):  # noqa: N818 - an answer, not an error
    """The time of a validation may not be bounded."""


def is_bounded(schema: Any, part: Any = None) -> bool:
    """Return whether the time of validating by `schema` is bounded by the data.

    It is False for what is not certain. `schema` may be any JSON value. With `part`, an
    object in it, it is about validating by that.
    """
    try:
        _Expansion(schema).size(schema if part is None else part, 0)
    except _Unbounded:
        return False
    return True


class _Expansion:
    """Counts the values of a schema with its references expanded."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        #: The sizes of the values that were counted, and 0 for those not yet counted.
        self._sizes: dict[int, int] = {}

    def size(self, node: Any, depth: int) -> int:
        """Return the number of values in `node`. Raises `_Unbounded`."""
        if not isinstance(node, (dict, list)):
            return 1
        known = self._sizes.get(id(node))
        if known == 0 or depth > DEPTH_LIMIT:
            raise _Unbounded  # a reference leads back to itself
        if known is None:
            self._sizes[id(node)] = 0
            if isinstance(node, dict):
                _check_bounded_keywords(node, is_root=node is self._schema)
            parts = members(node)
            if isinstance(node, dict) and isinstance(node.get("$ref"), str):
                parts = [*parts, self._target(node["$ref"])]
            known = 1
            for part in parts:
                known += self.size(part, depth + 1)
                if known > EXPANDED_LIMIT:
                    raise _Unbounded
            self._sizes[id(node)] = known
        return known

    def _target(self, reference: str) -> Any:
        """Return what a reference leads to. Raises `_Unbounded` without knowing it."""
        found = resolve(self._schema, reference) if reference[:1] == "#" else None
        if found is None:
            raise _Unbounded
        return found


def _check_bounded_keywords(node: dict[str, Any], *, is_root: bool) -> None:
    """Raise `_Unbounded` for keywords whose cost is not that of their size."""
    if "$id" in node and not is_root:
        raise _Unbounded  # references inside are not relative to the root
    listed = members(node.get("enum"))
    if len(listed) > LISTED_LIMIT and not all(isinstance(text, str) for text in listed):
        raise _Unbounded
    named = node.get("patternProperties")
    patterns = [node.get("pattern"), *(named if isinstance(named, dict) else ())]
    for pattern in patterns:
        if isinstance(pattern, str) and not is_linear_pattern(pattern):
            raise _Unbounded


def is_linear_pattern(pattern: str) -> bool:
    """Return whether a short pattern is searched in linear time."""
    if len(pattern) > PATTERN_LIMIT or _unusual.search(pattern):
        return False
    product = 1
    for least, most in _counted.findall(pattern):
        digits = most or least
        if len(digits) > len(str(REPEAT_LIMIT)):
            return False
        product *= max(1, int(digits))
    return product <= REPEAT_LIMIT


DRAFT_07 = "http://json-schema.org/draft-07/schema"
#: The URI of a schema that has none.
_ROOT = ""


class _Reference(NamedTuple):
    """An object with a `$ref`, and the URI that it is relative to."""

    node: Mapping[str, Any]
    base: str


def with_local_references(name: str, schema: Schema) -> Schema:
    """Return `schema` with every reference as a pointer into the schema.

    Its keywords must have values that draft-07 allows. It is returned as it is if no
    reference names an `$id` or the meta-schema; otherwise it is copied without `$id`s.
    Raises `SchemaError` for a reference that cannot be resolved.
    """
    if isinstance(schema, bool):
        return schema
    if _mentions_meta_schema(schema):
        schema = _with_meta_schema(schema)
    found = _References(name, schema)
    targets = found.targets()
    is_local = all(
        target == reference.node["$ref"]
        for reference, target in zip(found.references, targets, strict=True)
    )
    if is_local and not found.has_inner_ids:
        return schema
    by_node = {
        id(reference.node): target
        for reference, target in zip(found.references, targets, strict=True)
    }
    copied: dict[str, Any] = _rewritten(schema, by_node, found.seen)
    return copied


class _References:
    """The references of a schema, and what its `$id`s name."""

    def __init__(self, name: str, schema: dict[str, Any]) -> None:
        self._name = name
        self._schema = schema
        #: The pointer of each part that an `$id` names, and of the root.
        self._resources = {_ROOT: "#"}
        #: The pointer of each part that is named within a part, as `URI#name`.
        self._anchors: dict[str, str] = {}
        #: The objects that stand where a schema stands, by their `id`.
        self.seen: set[int] = set()
        self.references: list[_Reference] = []
        #: Whether references in a part of the schema are not relative to its root.
        self.has_inner_ids = False
        self._take(schema, (), _ROOT)

    def targets(self) -> list[str]:
        """Return the pointer of each reference, in the order of `references`.

        What is referred to is taken as a schema, too, wherever it stands. Raises
        `SchemaError`.
        """
        found: list[str] = []
        while len(found) < len(self.references):
            found.append(self._target(self.references[len(found)]))
        return found

    def _take(self, root: Any, path: ValuePath, base: str) -> None:
        """Take the `$id`s and references of the schema `root` at `path`."""
        pending = [(root, path, base)]
        while pending:
            node, path, base = pending.pop()
            if not isinstance(node, dict) or id(node) in self.seen:
                continue
            self.seen.add(id(node))
            if isinstance(node.get("$ref"), str):
                self.references.append(_Reference(node, base))
            elif isinstance(node.get("$id"), str):
                base = self._named(node["$id"], path, base)
            pending += [
                (part, (*path, *steps), base)
                for steps, part in reversed([*subschemas(node)])
            ]

    def _named(self, identifier: str, path: ValuePath, base: str) -> str:
        """Take the `$id` of a part at `path`; return what is relative to it."""
        pointer = "#" + quote(pointer_of(path), safe="/~!$&'()*+,;=:@")
        try:
            urlsplit(identifier)
            uri, fragment = urldefrag(_joined(base, identifier))
        except ValueError:
            place = f"{pointer_of(path)}/$id"
            reason = f"cannot be used: at {place}: {identifier} is not a URI"
            raise SchemaError(self._name, reason) from None
        known = self._anchors if fragment else self._resources
        key = f"{uri}#{fragment}" if fragment else uri
        if known.setdefault(key, pointer) != pointer and key != _ROOT:
            reason = f"has two parts with the $id {identifier}: {known[key]}, {pointer}"
            raise SchemaError(self._name, reason)
        if identifier.startswith("#"):
            return base
        self._resources.setdefault(uri, pointer)
        self.has_inner_ids |= bool(path or fragment)
        return uri

    def _split(self, reference: _Reference) -> tuple[str, str]:
        """Return the URI that a reference names, without and with its fragment."""
        target = reference.node["$ref"]
        try:
            uri, fragment = urldefrag(_joined(reference.base, target))
        except ValueError:
            return target, ""
        if uri not in self._resources and _is_meta_schema(uri):
            uri = DRAFT_07
        return uri, fragment

    def _target(self, reference: _Reference) -> str:
        """Return the pointer that a reference leads to. Raises `SchemaError`."""
        target = reference.node["$ref"]
        uri, fragment = self._split(reference)
        root = self._resources.get(uri)
        if root is None:
            reason = f"refers to {target}; only references inside the file are followed"
            raise SchemaError(self._name, reason)
        if not fragment:
            pointer: str | None = root
        elif fragment.startswith("/"):
            pointer = root + fragment
        else:
            pointer = self._anchors.get(f"{uri}#{fragment}")
        found = None if pointer is None else resolve(self._schema, pointer)
        if pointer is None or found is None:
            raise SchemaError(self._name, f"refers to {target}, which is not there")
        if isinstance(found, dict) and id(found) not in self.seen:
            if not is_valid_schema(found):
                raise SchemaError(
                    self._name, f"refers to {target}, which is not a schema"
                )
            self._take(found, path_of(self._schema, pointer) or (), uri)
        return pointer


def _joined(base: str, reference: str) -> str:
    """Return the URI of a reference that is relative to `base`. Raises `ValueError`."""
    # Not every scheme can be joined to, such as `urn`.
    if reference.startswith("#"):
        return base + reference
    return urljoin(base, reference)


def _is_meta_schema(uri: str) -> bool:
    """Return whether a URI without a fragment is that of the draft-07 meta-schema."""
    return uri.replace("https:", "http:", 1) == DRAFT_07


def _mentions_meta_schema(node: Any) -> bool:
    """Return whether an object in `node` refers to the meta-schema."""
    if isinstance(node, dict):
        reference = node.get("$ref")
        if isinstance(reference, str) and _is_meta_schema(reference.partition("#")[0]):
            return True
    return any(map(_mentions_meta_schema, members(node)))


def _with_meta_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return `schema` with the meta-schema among its definitions."""
    import jsonschema  # noqa: PLC0415 - a tenth of a second, for user schemas only

    if _is_meta_schema(str(schema.get("$id", "")).rstrip("#")):
        return schema  # it is the meta-schema
    meta = dict(jsonschema.Draft7Validator.META_SCHEMA)
    return schema | {"definitions": {**schema.get("definitions", {}), DRAFT_07: meta}}


def _rewritten(node: Any, targets: Mapping[int, str], schemas: set[int]) -> Any:
    """Return a copy of `node` with other references, and without the `$id`s.

    `targets` has the new references by the `id` of their objects, `schemas` the `id`s
    of the objects that are schemas.
    """
    if isinstance(node, list):
        return [_rewritten(part, targets, schemas) for part in node]
    if not isinstance(node, dict):
        return node
    copied = {
        key: _rewritten(part, targets, schemas)
        for key, part in node.items()
        if not (key == "$id" and id(node) in schemas)
    }
    if id(node) in targets:
        copied["$ref"] = targets[id(node)]
    return copied


#: Levels of nesting in a user's schema, below what the engine can compile.
NESTING_LIMIT = 100
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
    _check_draft_keywords(name, schema)
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
    """Raise `SchemaError` for more levels than `NESTING_LIMIT`."""
    level = [schema]
    for _ in range(NESTING_LIMIT):
        level = [member for node in level for member in members(node)]
        if not level:
            return
    raise SchemaError(name, f"is nested deeper than {NESTING_LIMIT} levels")


def _check_draft_keywords(name: str, schema: Any) -> None:
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
    from jsonschema_rs import ValidationError  # noqa: PLC0415 - not to write a schema as Python

    try:
        schema_validator_of(schema)
    except ValidationError as error:
        path = path_of_error(error, schema)
        place = pointer_of(path) or "its root"
        found = _with_value(str(error.message), schema, path)[:200]
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
