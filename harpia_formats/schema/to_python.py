"""A schema as a Python module that needs nothing but the standard library."""

import ast
from copy import deepcopy
from typing import Any

from harpia_formats._version import __version__

_HEAD = '''"""Judge data by the schema {name} of harpia-formats {version}.

Made by `harpia-formats schema {name} --as-python`; needs the standard library only.
`validate(data)` returns the data if the schema allows it, and else raises `Invalid`,
which tells the first thing that is wrong.

- The verdict is that of JSON Schema, draft-07: 1.0 is an integer, true is no number,
  and the keyword `format` refuses nothing.
- What is no JSON is not seen here: `json.loads` takes NaN and Infinity for numbers,
  makes an infinity of 1e400, and keeps the last of repeated keys.
"""


class Invalid(ValueError):
    """Data that the schema refuses: what is wrong, with which value, by which rule."""

    def __init__(self, message, value=None, name=None, rule=None):
        super().__init__(message)
        self.message = message
        self.value = value
        self.name = name
        self.rule = rule


'''


def as_python(name: str, schema: dict[str, Any]) -> str:
    """Return a module whose `validate` judges by `schema`, which is called `name`."""
    import fastjsonschema  # noqa: PLC0415 - for those who ask for a module only

    # A copy, for the generator changes what it is given; and without a name of its own,
    # so that the function is called validate.
    schema = deepcopy(schema)
    schema.pop("$id", None)
    code = fastjsonschema.compile_to_code(schema, use_default=False, use_formats=False)
    head = _HEAD.format(name=name, version=__version__)
    return head + ast.unparse(_on_its_own(ast.parse(code))) + "\n"


def _on_its_own(module: ast.Module) -> ast.Module:
    """Return `module` with `Invalid` for the exceptions that it imports.

    It is made shorter too: each of its errors would repeat the schema that it is about.
    """
    body: list[ast.stmt] = []
    for each in module.body:
        if isinstance(each, ast.ImportFrom) and each.module == "fastjsonschema":
            names = [ast.Name(alias.name, ast.Store()) for alias in each.names]
            body.append(ast.Assign([*names], ast.Name("Invalid", ast.Load())))
        elif not _is_version(each):
            body.append(each)
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            node.keywords = [key for key in node.keywords if key.arg != "definition"]
    return ast.fix_missing_locations(ast.Module(body, []))


def _is_version(statement: ast.stmt) -> bool:
    """Tell whether a statement only notes the version of the generator."""
    if not isinstance(statement, ast.Assign):
        return False
    target = statement.targets[0]
    return isinstance(target, ast.Name) and target.id == "VERSION"
