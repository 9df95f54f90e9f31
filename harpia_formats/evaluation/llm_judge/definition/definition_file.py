"""Reading a definition from YAML or JSON, in our form or in that of a vendor."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harpia_formats.evaluation.llm_judge.definition.definition import (
    arguments_in,
    definition_of,
    is_plain,
)
from harpia_formats.evaluation.llm_judge.errors import DefinitionError
from harpia_formats.files.io.side_input import read_side_input
from harpia_formats.formats.registry import (
    definitions_in,
    included_definition,
    included_definitions,
)
from harpia_formats.model.text.spelling import nearest

#: The most bytes of a definition file, and the most values in it.
_max_bytes, _max_values = 4_000_000, 100_000
#: The scalars of YAML 1.2. In YAML 1.1 yes and no are booleans, and dates not strings.
_yaml_scalars = {
    "tag:yaml.org,2002:bool": (re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")),
    "tag:yaml.org,2002:timestamp": None,
}


def arguments_from(path: Path, component: str | None = None) -> dict[str, Any]:
    """Return the arguments of `LLMJudge` from a definition file, or an included one.

    The name of an included definition stands for it, and not for a file of that name.
    If the file has several definitions, `component` names one of them. Raises
    `DefinitionError`, which names the file.
    """
    included = included_definition(str(path))
    if included is not None:
        return arguments_of(included, component)
    try:
        return arguments_of(_decoded(path), component)
    except DefinitionError as error:
        raise DefinitionError(f"{path}: {error}") from None


def arguments_of(document: Any, component: str | None = None) -> dict[str, Any]:
    """Return the arguments of `LLMJudge` from a decoded document.

    Raises `DefinitionError`, also if no judge can be built from the arguments.
    """
    arguments = _arguments_in(document, component)
    definition_of(arguments)
    return arguments


def _arguments_in(document: Any, component: str | None) -> dict[str, Any]:
    if not isinstance(document, Mapping):
        raise DefinitionError("a definition must be an object")
    if component is None and is_plain(document):
        return arguments_in(document)
    try:
        found = definitions_in(document)
    except ValueError as error:
        raise DefinitionError(str(error)) from None
    if component is not None:
        found = {
            key: definition for key, definition in found.items() if key == component
        }
    if not found and component is not None:
        raise DefinitionError(f"there is no definition called {component!r}")
    if not found:
        return arguments_in(document)
    if len(found) > 1:
        raise DefinitionError(
            f"there are several definitions, {', '.join(found)}: choose one with "
            "--component"
        )
    return arguments_in(next(iter(found.values())))


def _decoded(path: Path) -> Any:
    try:
        text = read_side_input(path, _max_bytes)
    except OSError as error:
        reason = error.strerror or "cannot be read"
        near = nearest(str(path), included_definitions())
        hint = f"; did you mean {near}, which is included?" if near else ""
        raise DefinitionError(f"{reason}{hint}") from None
    try:
        decoded = text.decode("utf-8-sig")
        value = _json(decoded) if path.suffix.lower() == ".json" else _yaml(decoded)
        return _without_aliases(value, [_max_values])
    except UnicodeDecodeError:
        raise DefinitionError("is not UTF-8") from None
    except RecursionError:
        raise DefinitionError("is nested too deep") from None


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise DefinitionError(f"is not JSON: {error}") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DefinitionError(f"has the key {key!r} twice")
        found[key] = value
    return found


def _yaml(text: str) -> Any:
    try:
        import yaml  # noqa: PLC0415 - in the extra judge
    except ImportError:
        raise DefinitionError(
            "is YAML, which needs the extra judge: pip install "
            "'harpia-formats[judge]'; a file called .json needs nothing"
        ) from None

    class Loader(yaml.SafeLoader):
        """Reads the scalars of YAML 1.2, and refuses repeated keys."""

    Loader.yaml_implicit_resolvers = {
        first: [
            (tag, _yaml_scalars.get(tag, pattern) or pattern)
            for tag, pattern in resolvers
            if _yaml_scalars.get(tag, pattern) is not None
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def mapping(loader: Any, node: Any) -> dict[str, Any]:
        loader.flatten_mapping(node)
        pairs = [
            (
                loader.construct_object(key, deep=True),
                loader.construct_object(value, deep=True),
            )
            for key, value in node.value
        ]
        try:
            return _without_repeats(pairs)
        except TypeError:
            raise DefinitionError("has a key that is not text") from None

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    try:
        return yaml.load(text, Loader)  # noqa: S506 - a safe loader, with fewer scalars
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise DefinitionError(f"is not YAML: {reason}") from None


def _without_aliases(value: Any, left: list[int]) -> Any:
    """Return a copy of `value` in which YAML aliases are separate values.

    `left` counts down the allowed values: nested aliases may stand for billions.
    """
    left[0] -= 1
    if left[0] < 0:
        raise DefinitionError("has far too many values for a definition")
    if isinstance(value, dict):
        return {key: _without_aliases(member, left) for key, member in value.items()}
    return (
        [_without_aliases(item, left) for item in value]
        if isinstance(value, list)
        else value
    )
