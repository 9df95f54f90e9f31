"""The blocks of a module's functions: statements that run one after the other."""

import ast
from collections.abc import Iterator
from typing import Any

#: What a module calls whose runs are noted, with the number of a block.
NOTE = "_note_block"
#: Statements that others stand within, so that the next one may be left out.
_COMPOUND = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match)

_WITHIN = (*_COMPOUND, ast.ExceptHandler, ast.match_case)


def blocks_of(tree: ast.Module) -> tuple[list[str], dict[int, str]]:
    """Return the names of all blocks, and that of each line where a statement begins.

    A name is that of the function and a number, which other functions do not change.
    """
    names, lines = [], {}
    for name, statements, at, end in _blocks(tree):
        names.append(name)
        for statement in statements[at:end]:
            lines[statement.lineno] = name
            for handler in getattr(statement, "handlers", ()):
                lines.setdefault(handler.lineno, name)
    return names, lines


def noting(tree: ast.Module) -> ast.Module:
    """Return the tree with a call of `NOTE` in front of each block, by its place."""
    found = [*enumerate(_blocks(tree))]
    # From the end, so that the places of the others in their lists stay true.
    for number, (_, statements, at, _) in reversed(found):
        call = ast.parse(f"{NOTE}({number})").body[0]
        statements.insert(at, ast.copy_location(call, statements[at]))
    return ast.fix_missing_locations(tree)


def _blocks(tree: ast.Module) -> Iterator[tuple[str, list[Any], int, int]]:
    """Yield each block: its name, the list that it is in, and where it begins and ends.

    Blocks of one list come in its order.
    """
    for name, function in _functions(tree, ""):
        count = 0
        for statements in _lists(function):
            for begin, end in _spans(statements):
                yield f"{name}:{count}", statements, begin, end
                count += 1


def _functions(node: ast.AST, name: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the functions and methods within a node, each with its dotted name."""
    for part in ast.iter_child_nodes(node):
        is_named = isinstance(part, (ast.FunctionDef, ast.ClassDef))
        inner = f"{name}.{part.name}" if is_named else name  # type: ignore[attr-defined]  # a function or a class
        if isinstance(part, ast.FunctionDef):
            yield inner, part
        yield from _functions(part, inner)


def _lists(function: ast.FunctionDef) -> Iterator[list[Any]]:
    """Yield the lists of statements of a function, without those of inner functions."""
    waiting: list[ast.AST] = [function]
    while waiting:
        for name, value in ast.iter_fields(waiting.pop(0)):
            parts = value if isinstance(value, list) else ()
            if name in {"body", "orelse", "finalbody"} and parts:
                yield parts
            waiting += [part for part in parts if isinstance(part, _WITHIN)]


def _spans(statements: list[Any]) -> Iterator[tuple[int, int]]:
    """Yield where each block of a list of statements begins and ends."""
    begin = 0
    for at, statement in enumerate(statements):
        if at == 0 and _is_docstring(statement):
            begin = 1
        elif isinstance(statement, _COMPOUND):
            yield begin, at + 1
            begin = at + 1
    if begin < len(statements):
        yield begin, len(statements)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
