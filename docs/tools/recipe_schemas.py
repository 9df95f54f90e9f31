"""Write the schemas of recipes from the options and the comments on them.

To bring them up to date: `python docs/tools/recipe_schemas.py`.
"""

import json
import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from harpia_formats.api.recipe_file import PARAMETERS
from harpia_formats.api.recipe_keys import COMMANDS, Command, Key

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "schemas" / "harpia-formats"
#: The modules with the dataclasses of options.
MODULES = ("evaluation/scoring/options.py", "api/recipe_keys.py")
_simple = {bool: "boolean", int: "integer", float: "number"}
_comment = re.compile(r"    #: ?(.*)")
_field = re.compile(r"    (\w+):")


def comments() -> dict[str, str]:
    """Return the comment on each field of the dataclasses of options."""
    found: dict[str, str] = {}
    for module in MODULES:
        waiting: list[str] = []
        text = (ROOT / "harpia_formats" / module).read_text(encoding="utf-8")
        for line in text.splitlines():
            comment, field = _comment.match(line), _field.match(line)
            if field and waiting:
                found.setdefault(field[1], " ".join(waiting))
            waiting = [*waiting, comment[1]] if comment else []
    return found


def path_of(command: Command) -> Path:
    """Return the file of the schema of a command's recipes."""
    return FOLDER / f"{_name(command)}-1.schema.json"


def schema_of(command: Command) -> dict[str, Any]:
    """Return the schema of the recipes of a command."""
    said = comments()
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": f"urn:harpia-formats:schema:{_name(command)}:1",
        "title": f"recipe of harpia-formats {command.name}, version 1",
        "description": f"What `harpia-formats {command.name} --recipe` reads. For "
        "editors; the command checks more.",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            key.name: {"description": said[key.option], **_of_key(key)}
            for key in command.all_keys().values()
        },
    }


def _name(command: Command) -> str:
    return f"{command.name.replace(' ', '-')}-recipe"


def _of_key(key: Key) -> dict[str, Any]:
    if key.name == PARAMETERS:
        return {"type": "object", "additionalProperties": {"type": "object"}}
    return _of_type(key.type)


def _of_type(kind: Any) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, UnionType):
        found = [_of_type(one) for one in arguments if one is not type(None)]
        found = [one for place, one in enumerate(found) if one not in found[:place]]
        return found[0] if len(found) == 1 else {"anyOf": found}
    if origin is Literal:
        return {"type": "string", "enum": [*arguments]}
    if origin is tuple:
        return {"type": "array", "items": _of_type(arguments[0])}
    if origin is Mapping:
        texts = {"additionalProperties": {"type": "string"}}
        return {"type": "object", **(texts if arguments[1] is str else {})}
    is_text = origin is PathLike or (isinstance(kind, type) and issubclass(kind, str))
    return {"type": "string" if is_text else _simple[kind]}


def schema_text(command: Command) -> str:
    """Return the text of the file of a schema."""
    return json.dumps(schema_of(command), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for each in COMMANDS:
        path_of(each).write_text(schema_text(each), encoding="utf-8")
