"""Make the references of a schema pointers into the schema itself.

A reference may name a part of its file by an `$id`, which changes what the references
inside that part are relative to, or the draft-07 meta-schema, which is embedded then.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urldefrag, urljoin, urlsplit

from harpia_formats.formats.schema.load import Schema, SchemaError
from harpia_formats.formats.schema.references import members, path_of, resolve
from harpia_formats.formats.schema.subschemas import subschemas
from harpia_formats.model.problem import Path, pointer_of

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

    def _take(self, root: Any, path: Path, base: str) -> None:
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

    def _named(self, identifier: str, path: Path, base: str) -> str:
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
        self.has_inner_ids |= bool(path)
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
            if not _is_valid_schema(found):
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


def _is_valid_schema(node: Any) -> bool:
    """Return whether the meta-schema allows what a reference leads to."""
    import jsonschema  # noqa: PLC0415 - a tenth of a second, for user schemas only

    meta = jsonschema.Draft7Validator(jsonschema.Draft7Validator.META_SCHEMA)
    return bool(meta.is_valid(node))


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
