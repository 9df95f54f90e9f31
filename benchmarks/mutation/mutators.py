"""The mutants of a module: each is one small change of its syntax tree."""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

#: Longer texts are messages and names rather than what code compares.
_SHORT = 3
#: As many arguments can change places.
_TWO = 2
#: Functions whose arguments may stand in any order.
_SYMMETRIC = {"is_same_file", "is_same_place", "max", "min", "samefile"}
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_WORDS: dict[type[ast.AST], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.And: "and",
    ast.Or: "or",
    ast.Not: "not",
    ast.USub: "-",
}
#: Comparisons that their change negates.
_NEGATED = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
#: Parts of a tree that say what values are, not what is computed.
_SKIPPED = {"annotation", "returns", "decorator_list"}
_NOTHING = ast.Constant(None)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of a module."""

    #: Its place among the mutants of the module.
    number: int
    #: The dotted name of the function or class around it, "" for none.
    function: str
    change: str
    #: The line of code as it is, and its number.
    text: str
    line: int
    #: The line at which the statement around it begins.
    statement: int
    #: Whether it runs as the module is loaded.
    is_loaded: bool
    #: How many mutants of the module before it have its function, change and text.
    turn: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a part of the tree stands."""

    function: str
    is_loaded: bool
    statement: int


#: A change that was found: where, of which node, in words, and what makes it.
_Found = tuple[_Place, Any, str, Callable[[], None]]
#: What a node can be changed to: in words, and the new node.
_New = tuple[str, ast.AST]


def mutants_of(source: str) -> list[Mutant]:
    """Return the mutants of a module, in the order in which `mutated` counts them."""
    lines = source.splitlines()
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for number, (place, node, change, _) in enumerate(_changes(ast.parse(source))):
        text = lines[node.lineno - 1].strip()
        key = place.function, change, text
        found.append(
            Mutant(
                number,
                place.function,
                change,
                text,
                node.lineno,
                place.statement,
                place.is_loaded,
                seen[key],
            )
        )
        seen[key] += 1
    return found


def mutated(source: str, number: int) -> ast.Module:
    """Return the syntax tree of a module with one of its mutants."""
    tree = ast.parse(source)
    *_, change = next(islice(_changes(tree), number, None))
    change()
    return ast.fix_missing_locations(tree)


def _changes(tree: ast.Module) -> Iterator[_Found]:
    """Yield what can be changed in a tree; only one change may be made."""
    return _of_parts(tree, _Place("", is_loaded=True, statement=0))


def _of_parts(node: ast.AST, place: _Place) -> Iterator[_Found]:
    """Yield the changes of all parts of a node."""
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        # Defaults are computed when the function is made.
        yield from _of_parts(node.args, place)
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        name = f"{place.function}.{node.name}".removeprefix(".")
        is_loaded = place.is_loaded and isinstance(node, ast.ClassDef)
        place = replace(place, function=name, is_loaded=is_loaded)
    for name, value in ast.iter_fields(node):
        if name in _SKIPPED or isinstance(value, ast.arguments):
            continue
        parts = value if isinstance(value, list) else [value]
        for at, part in enumerate(parts):
            if isinstance(part, ast.AST) and not _is_text(part):
                owner, where = (value, at) if parts is value else (node, name)
                yield from _of_part(part, place, owner, where)


def _of_part(part: ast.AST, place: _Place, owner: Any, where: Any) -> Iterator[_Found]:
    """Yield the changes of what stands at a place of its owner, and of its parts."""
    if isinstance(part, (ast.stmt, ast.ExceptHandler)):
        place = replace(place, statement=part.lineno)
    for change, new in _new(part):
        yield place, part, change, _put(owner, where, new)
    yield from _of_parts(part, place)


def _is_text(part: ast.AST) -> bool:
    """Tell whether a part is a docstring, a formatted text or no code at all."""
    if isinstance(part, ast.Expr):
        return isinstance(part.value, ast.Constant)
    return isinstance(part, (ast.JoinedStr, ast.Import, ast.ImportFrom))


def _put(owner: Any, where: Any, new: ast.AST) -> Callable[[], None]:
    """Return what puts a node into a list, or makes it an attribute of its owner."""

    def put() -> None:
        if isinstance(owner, list):
            ast.copy_location(new, owner[where])
            owner[where] = new
        else:
            ast.copy_location(new, getattr(owner, where))
            setattr(owner, where, new)

    return put


def _new(part: ast.AST) -> Iterator[_New]:
    """Yield what a part can be changed to."""
    makers: tuple[tuple[type[ast.AST], Callable[[Any], Iterator[_New]]], ...] = (
        (ast.stmt, _new_statement),
        (ast.ExceptHandler, _new_handler),
        (ast.Compare, _new_comparison),
        (ast.BinOp, _new_operation),
        (ast.BoolOp, _new_junction),
        (ast.UnaryOp, _new_unary),
        (ast.IfExp, _new_choice),
        (ast.Call, _new_call),
        (ast.Slice, _new_slice),
        (ast.Constant, _new_constant),
    )
    for kind, make in makers:
        if isinstance(part, kind):
            yield from make(part)


def _new_statement(given: ast.stmt) -> Iterator[_New]:
    if isinstance(given, (ast.If, ast.While)) and _can_negate(given.test):
        yield f"not: {_short(given.test)}", _with(given, test=_not(given.test))
    elif isinstance(given, ast.Return) and given.value is not None:
        if not _is_constant(given.value):
            yield "return None", ast.Return(_NOTHING)
    elif isinstance(given, ast.AugAssign):
        if changed := _OPERATORS.get(type(given.op)):
            words = f"{_word(given.op)}= to {_word(changed())}="
            yield words, _with(given, op=changed())
        yield "removed", ast.Pass()
    elif isinstance(given, ast.Assign):
        if not any(isinstance(each, (ast.Name, ast.Tuple)) for each in given.targets):
            yield "removed", ast.Pass()
    elif isinstance(given, (ast.Expr, ast.Raise, ast.Break, ast.Continue, ast.Delete)):
        yield "removed", ast.Pass()


def _new_handler(given: ast.ExceptHandler) -> Iterator[_New]:
    if isinstance(given.type, ast.Tuple):
        for at, kind in enumerate(given.type.elts):
            kept = [each for each in given.type.elts if each is not kind]
            kinds = ast.Tuple(kept, ast.Load())
            yield f"no {_short(given.type.elts[at])}", _with(given, type=kinds)
    elif not (isinstance(given.body[0], ast.Raise) and given.body[0].exc is None):
        yield "raised again", _with(given, body=[ast.Raise()])


def _new_comparison(given: ast.Compare) -> Iterator[_New]:
    for at, old in enumerate(given.ops):
        changed = _COMPARISONS[type(old)]()
        ops = [*given.ops[:at], changed, *given.ops[at + 1 :]]
        words = f"{_word(old)} to {_word(changed)}"
        yield f"{words}: {_short(given)}", _with(given, ops=ops)


def _new_operation(given: ast.BinOp) -> Iterator[_New]:
    if (changed := _OPERATORS.get(type(given.op))) and not _is_message(given):
        words = f"{_word(given.op)} to {_word(changed())}"
        yield f"{words}: {_short(given)}", _with(given, op=changed())


def _new_junction(given: ast.BoolOp) -> Iterator[_New]:
    changed = ast.Or() if isinstance(given.op, ast.And) else ast.And()
    words = f"{_word(given.op)} to {_word(changed)}"
    yield f"{words}: {_short(given)}", _with(given, op=changed)
    for at, value in enumerate(given.values):
        if isinstance(value, (ast.Name, ast.Attribute, ast.Call)):
            values = [*given.values[:at], _not(value), *given.values[at + 1 :]]
            yield f"not: {_short(value)}", _with(given, values=values)


def _new_unary(given: ast.UnaryOp) -> Iterator[_New]:
    if isinstance(given.op, (ast.Not, ast.USub)):
        yield f"without {_word(given.op)}: {_short(given)}", given.operand


def _new_choice(given: ast.IfExp) -> Iterator[_New]:
    if _can_negate(given.test):
        yield f"not: {_short(given.test)}", _with(given, test=_not(given.test))


def _new_call(given: ast.Call) -> Iterator[_New]:
    first = given.args[:_TWO]
    name = getattr(given.func, "id", None) or getattr(given.func, "attr", None)
    if name in _SYMMETRIC:
        return
    if len(first) == _TWO and not any(isinstance(each, ast.Starred) for each in first):
        args = [first[1], first[0], *given.args[_TWO:]]
        yield f"swapped arguments: {_short(given)}", _with(given, args=args)


def _new_slice(given: ast.Slice) -> Iterator[_New]:
    if given.lower is not None:
        yield f"no lower: {_short(given)}", _with(given, lower=None)
    if given.upper is not None:
        yield f"no upper: {_short(given)}", _with(given, upper=None)


def _new_constant(given: ast.Constant) -> Iterator[_New]:
    value: Any = given.value
    if isinstance(value, bool):
        new: list[Any] = [not value]
    elif isinstance(value, float):
        new = [value * 2 or 1.0]
    elif isinstance(value, int):
        new = [value + 1, value - 1] if value > 0 else [value + 1]
    elif isinstance(value, (str, bytes)) and len(value) <= _SHORT:
        new = [value[:0] if value else (b"X" if isinstance(value, bytes) else "X")]
    else:
        new = []
    for each in new:
        yield f"{value!r} to {each!r}", ast.Constant(each)


def _is_constant(value: ast.expr) -> bool:
    """Tell whether a value is a constant, which has mutants of its own, or empty."""
    is_empty = isinstance(value, (ast.Tuple, ast.List)) and not value.elts
    return isinstance(value, ast.Constant) or is_empty


def _is_message(given: ast.BinOp) -> bool:
    """Tell whether an operation joins texts or types, which nothing else does."""
    sides = given.left, given.right
    texts = (ast.JoinedStr,)
    return any(
        isinstance(each, texts)
        or (
            isinstance(each, ast.Constant) and isinstance(each.value, (str, type(None)))
        )
        for each in sides
    )


def _can_negate(test: ast.expr) -> bool:
    """Tell whether no other mutant of a condition negates it."""
    if isinstance(test, ast.UnaryOp):
        return not isinstance(test.op, ast.Not)
    if isinstance(test, ast.Compare):
        return not (len(test.ops) == 1 and isinstance(test.ops[0], _NEGATED))
    return True


def _not(test: ast.expr) -> ast.UnaryOp:
    return ast.UnaryOp(ast.Not(), test)


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    """Return a copy of a node with other fields."""
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def _short(node: ast.AST) -> str:
    """Return the code of an expression on one line, shortened in the middle."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:40]} ... {text[-15:]}"


def _word(operator: ast.AST) -> str:
    """Return an operator as code has it."""
    return _WORDS[type(operator)]
