"""Write a schema as a Python module that needs the standard library only."""

import ast
from copy import deepcopy
from typing import Any, NoReturn

from harpia_formats._version import __version__
from harpia_formats.formats.schema.bundled_schemas import SchemaError
from harpia_formats.formats.schema.user_schema import with_local_references

_HEAD = '''"""Validate data by the schema {name} of harpia-formats {version}.

Made by `harpia-formats schema {name} --as-python`; needs the standard library only.
`validate(data)` returns the data if the schema allows it, and else raises `Invalid`,
which describes the first error.

- The verdict is that of JSON Schema, draft-07: 1.0 is an integer, true is no number,
  and the keyword `format` refuses nothing.
- Faults of the JSON text are not found: `json.loads` accepts NaN and Infinity, reads
  1e400 as infinity, and keeps the last of repeated keys.
"""


class Invalid(ValueError):
    """Data that the schema refuses: a message, the value, its name and the rule."""

    def __init__(self, message, value=None, name=None, rule=None):
        super().__init__(message)
        self.message = message
        self.value = value
        self.name = name
        self.rule = rule


'''


def as_python(name: str, schema: dict[str, Any]) -> str:
    """Return the source of a module whose `validate` checks data by `schema`.

    `name` is the id of the schema. Raises `SchemaError` if the generator cannot
    express it.
    """
    import fastjsonschema  # noqa: PLC0415 - only `schema --as-python` needs it

    # A copy, since the generator changes its argument; without an `$id`, so that the
    # function is called validate.
    schema = deepcopy(schema)
    local = with_local_references(name, schema)
    assert isinstance(local, dict)  # noqa: S101 - it was one
    schema = local
    schema.pop("$id", None)
    try:
        code = fastjsonschema.compile_to_code(
            schema,
            handlers=dict.fromkeys(("file", "ftp", "http", "https"), _refuse),
            use_default=False,
            use_formats=False,
        )
    except (ValueError, fastjsonschema.JsonSchemaDefinitionException) as error:
        # It takes data with a key `$ref` for a reference.
        raise SchemaError(name, f"cannot be written as Python: {error}") from error
    head = _HEAD.format(name=name, version=__version__)
    return head + ast.unparse(_on_its_own(ast.parse(code))) + "\n"


def _refuse(uri: str) -> NoReturn:
    """Raise `ValueError` instead of fetching a schema."""
    raise ValueError(f"it refers to {uri}")


def _on_its_own(module: ast.Module) -> ast.Module:
    """Return `module` with `Invalid` instead of the exceptions that it imports.

    It becomes shorter, too: each error would repeat the schema that it is about.
    """
    body: list[ast.stmt] = []
    for statement in module.body:
        if (
            isinstance(statement, ast.ImportFrom)
            and statement.module == "fastjsonschema"
        ):
            names = [ast.Name(alias.name, ast.Store()) for alias in statement.names]
            body.append(ast.Assign([*names], ast.Name("Invalid", ast.Load())))
        elif not _is_version(statement):
            body.append(statement)
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            node.keywords = [key for key in node.keywords if key.arg != "definition"]
    return ast.fix_missing_locations(ast.Module(body, []))


def _is_version(statement: ast.stmt) -> bool:
    """Tell whether a statement only assigns the version of the generator."""
    if not isinstance(statement, ast.Assign):
        return False
    target = statement.targets[0]
    return isinstance(target, ast.Name) and target.id == "VERSION"
