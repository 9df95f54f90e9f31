"""Compile a table of fields to functions in Python that read and write its rows.

Beside it: what is written for the fields of a record, which ones a record lacks, and
a key that tells which fields a record has.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import filterfalse
from typing import Any

from msgspec import UNSET
from msgspec.structs import astuple

from harpia_formats.model.adapter import (
    DECLINED,
    NO_PARTS,
    ChangedValue,
    FieldMapping,
    Left,
    Row,
    Together,
    as_is,
)
from harpia_formats.model.field_fates import Fate, FieldFate, FieldFates, Unconvertible
from harpia_formats.model.problem import ConversionError
from harpia_formats.model.record import (
    FIELD_TYPES,
    OBJECT_LISTS,
    TEXT_LISTS,
    Output,
    Record,
    Score,
)

#: The levels of fields of records, of their outputs, and of the scores of those.
OF_RECORD, OF_OUTPUT, OF_SCORE = 0, 1, 2
_owners = ("record", "output", "score")

Read = Callable[[Row], Record]
Write = Callable[[Record, FieldFates], Row]
#: Members that stand in front of a field in every row, by the path of the field.
Placed = Mapping[tuple[str, ...], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A field in the tree of keys, and its place in a record."""

    field: FieldMapping
    level: int
    #: The name of the field in the struct of its level.
    name: str
    #: The name of the field of the score that the key is, where keys are data.
    key_name: str = ""
    #: The key in the object that the field is, where it is a member of that.
    member: str = ""
    #: The path of the list in whose items the field is, () if it is in none.
    list_path: tuple[str, ...] = ()
    #: Whether a value of any type is taken but null, as the schema of rows allows it.
    is_trusted: bool = False


Tree = Mapping[str, "Leaf | Tree"]


@dataclass(frozen=True, slots=True)
class Shape:
    """Where the fields of a table are in rows."""

    vendor: str
    tree: Tree
    #: All fields, those that are read together as well.
    leaves: Sequence[Leaf]
    together: Sequence[Together]
    #: The path of the list whose items are outputs, () if there is none.
    list_of: tuple[str, ...] = ()
    #: Whether members that are no fields stay in the order of the row.
    in_order: bool = False
    #: Whether rows have members beside fields and what is kept.
    has_constants: bool = False


def together_at(together: Sequence[Together], path: tuple[str, ...]) -> list[Together]:
    """Return the keys that are read together of the object at `path`."""
    return [each for each in together if each.at == path and each.read is not None]


@dataclass(slots=True)
class Code:
    """The lines of a function, and the values that they name."""

    names: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    #: How many names were made.
    count: int = 0

    def add(self, *lines: str) -> None:
        """Add lines at the current depth."""
        self.lines += ["    " * self.depth + line for line in lines]

    def block(self, heading: str, *lines: str) -> None:
        """Add a statement, such as an `if`, with the lines below it."""
        self.add(heading, *(f"    {line}" for line in lines))

    def name_of(self, value: Any) -> str:
        """Return a new name that stands for `value` in the lines."""
        name = self.variable("c")
        self.names[name] = value
        return name

    def variable(self, start: str) -> str:
        """Return a new name that begins with `start`."""
        self.count += 1
        return f"{start}{self.count}"

    def function(self, heading: str) -> Callable[..., Any]:
        """Return the function with a `heading` such as `read(row)`."""
        source = "\n".join([f"def {heading}:", *self.lines])
        exec(compile(source, f"<{heading}>", "exec"), self.names)  # noqa: S102 - the lines name values by numbers and have no text of a user
        function: Callable[..., Any] = self.names[heading.partition("(")[0]]
        return function


def can_compile(leaves: Sequence[Leaf]) -> bool:
    """Tell whether no key is data, and no object of a row is several outputs."""
    return not any(leaf.key_name for leaf in leaves)


def compile_read(shape: Shape) -> Read:
    """Return the function that returns the record of a row of a `shape`."""
    code = Code({"UNSET": UNSET, "EMPTY": {}, "filterfalse": filterfalse})
    code.names |= {"Record": Record, "Output": Output, "Score": Score}
    code.names |= {"TEXT": frozenset({str}), "OBJECT": frozenset({dict})}
    code.names["NO_PARTS"] = NO_PARTS
    reader = _Reader(code, shape)
    code.add(f"return Record({reader.record()})")
    return code.function("read(row)")


def arguments(given: Mapping[str, str]) -> str:
    """Return the keyword arguments of a call, by their names."""
    return ", ".join(f"{name}={value}" for name, value in given.items())


@dataclass(slots=True)
class _Reader:
    """Adds the lines that read the rows of a shape."""

    code: Code
    shape: Shape
    #: The variable of each field, by its name, of the record, the output and the score.
    found: tuple[dict[str, str], ...] = ({}, {}, {})
    #: The variables of what keys say that are read together, of record and of output.
    parts: tuple[list[str], list[str]] = ([], [])
    #: The variable of the items that are outputs.
    items: str = ""
    items_tree: Tree = field(default_factory=dict)

    def record(self) -> str:
        """Add the lines that read a row, and return the arguments of its record."""
        self._begin()
        left = self.object(self.shape.tree, "row", ())
        of_record, parts = self.found[0], self.parts[0]
        has_outputs = self._outputs()
        if has_outputs:
            of_record["outputs"] = "outputs"
        given = arguments(of_record | {"extra": self._extra(left)})
        return ", ".join([given, *(f"**{part}" for part in parts)])

    def _begin(self) -> None:
        self.found, self.parts = ({}, {}, {}), ([], [])

    def _outputs(self) -> bool:
        """Add the lines that make the outputs; return whether there may be any."""
        code = self.code
        self._scores()
        own, parts = self.found[1], self.parts[1]
        if not self.items:
            if not own and not parts:
                return False
            made = f"[{_call('Output', own, parts)}]"
            if not parts:
                code.add(f"outputs = {made} if {_any_of(own, parts)} else []")
                return True
            # A function may return the outputs themselves, as a field of the record.
            made = f"{{'outputs': {made}}} if {_any_of(own, parts)} else EMPTY"
            code.add(f"outputs = {made}")
            self.parts[0].append("outputs")
            return False
        code.add("outputs = []")
        code.add(f"for item in {self.items}:")
        code.depth += 1
        self._begin()
        left = self.object(self.items_tree, "item", self.shape.list_of)
        self._scores()
        given = own | self.found[1] | {"extra": self._extra(left)}
        made = _call("Output", given, self.parts[1])
        code.add(f"outputs.append({made})")
        code.depth -= 1
        if own:
            made = _call("Output", own, ())
            code.block(
                f"if not outputs and ({_any_of(own, ())}):", f"outputs = [{made}]"
            )
        return True

    def _extra(self, left: str) -> str:
        """Return the expression that makes the extra of what is left."""
        vendor = self.code.name_of(self.shape.vendor)
        return f"UNSET if {left} is None else {{{vendor}: {left}}}"

    def _scores(self) -> None:
        """Add the line that makes the score of an output, if it has one."""
        of_score = self.found[2]
        if of_score:
            made = _call("Score", of_score, ())
            self.code.add(f"scores = [{made}] if {_any_of(of_score, ())} else UNSET")
            self.found[1]["scores"] = "scores"

    def object(self, tree: Tree, owner: str, path: tuple[str, ...]) -> str:
        """Add the lines that read the members of the object in the variable `owner`.

        Return the variable of its other members, None if it has none.
        """
        code = self.code
        count, left = code.variable("n"), code.variable("left")
        # The keys of values that their fields cannot hold, mostly null.
        odd = code.variable("odd")
        lefts: dict[str, str] = {}
        together = together_at(self.shape.together, path)
        keys = dict.fromkeys(key for each in together for key in each.keys)
        keys |= dict.fromkeys(tree)
        # Most fields are there, so those that are not are counted.
        code.add(f"{count} = {len(keys)}", f"{odd} = ()")
        values: dict[str, str] = {}
        for key in keys.keys() - tree.keys():
            values[key] = code.variable("v")
            code.add(f"{values[key]} = {owner}.get({code.name_of(key)}, UNSET)")
            code.add(f"if {values[key]} is UNSET: {count} -= 1")
        left_of_parts = [self._together(each, values) for each in together]
        members: dict[str, dict[str, str]] = {}
        for key, place in tree.items():
            name = code.name_of(key)
            if isinstance(place, Leaf) and place.member:
                members.setdefault(place.name, {})[key] = place.member
            elif isinstance(place, Leaf):
                self._field(place, owner, name, (count, odd))
            elif (*path, key) == self.shape.list_of:
                self._items(place, owner, name, (count, odd))
            else:
                inner = code.variable("o")
                code.add(f"{inner} = {owner}.get({name}, EMPTY)")
                code.block(f"if {inner} is EMPTY:", f"{count} -= 1")
                refuse = f"{code.name_of(refuse_list)}({inner}, {code.name_of(place)}"
                code.block(
                    f"elif type({inner}) is not dict or not {inner}:",
                    f"if type({inner}) is list: {refuse}, {name})",
                    f"{inner} = EMPTY; {odd} += ({name},); {count} -= 1",
                )
                lefts[name] = self.object(place, inner, (*path, key))
        for field_name, own in members.items():
            self._members(field_name, own, owner, count)
        code.add(f"{left} = None")
        known = code.name_of(frozenset(keys).__contains__)
        has_more = [f"{count} != len({owner})"]
        has_more += [f"{inner} is not None" for inner in lefts.values()]
        has_more += [part for part, _ in left_of_parts]
        rest = _ordered_rest if self.shape.in_order else _sorted_rest
        lines = rest(left, odd, owner, known, lefts)
        for part, where in left_of_parts:
            lines += _with_part(left, part, owner, where)
        if not self.shape.in_order:
            lines.append(
                f"if len({left}) > 1: {left} = {{k: {left}[k] for k in sorted({left})}}"
            )
        code.block(f"if {' or '.join(has_more)}:", *lines)
        return left

    def _together(
        self, together: Together, values: Mapping[str, str]
    ) -> tuple[str, Left]:
        """Add the line that reads some keys together; return what is left of them."""
        code = self.code
        part = code.variable("p")
        given = [values[key] for key in together.keys]
        call = f"{code.name_of(together.read)}({', '.join(given)})"
        are_absent = " and ".join(f"{value} is UNSET" for value in given)
        code.add(f"{part} = NO_PARTS if {are_absent} else {call}")
        self.parts[0].append(f"{part}.record")
        if says_output(together, self.shape.leaves):
            self.parts[1].append(f"{part}.output")
        return f"{part}.left", together.left

    def _field(
        self, place: Leaf, owner: str, name: str, counts: tuple[str, str]
    ) -> None:
        """Add the lines that read one field: the first of its keys that has a value."""
        code, (count, odd) = self.code, counts
        value = code.variable("v")
        code.add(f"{value} = {owner}.get({name}, UNSET)")
        *lines, fits = _read_value(code, place, value)
        code.block(f"if {value} is UNSET:", f"{count} -= 1")
        first = self.found[place.level].setdefault(place.name, value)
        is_taken = "" if first == value else f"{first} is not UNSET or "
        code.block(
            "else:",
            *lines,
            f"if {is_taken}not ({fits}):",
            f"    {value} = UNSET; {odd} += ({name},); {count} -= 1",
            *([] if first == value else ["else:", f"    {first} = {value}"]),
        )

    def _items(
        self, tree: Tree, owner: str, name: str, counts: tuple[str, str]
    ) -> None:
        """Add the lines that find the items of the list that are outputs."""
        code, (count, odd) = self.code, counts
        self.items, self.items_tree = code.variable("i"), tree
        code.add(f"{self.items} = {owner}.get({name}, UNSET)")
        code.block(f"if {self.items} is UNSET:", f"{self.items} = (); {count} -= 1")
        code.block(
            f"elif type({self.items}) is not list"
            f" or not OBJECT.issuperset(map(type, {self.items})):",
            f"{self.items} = (); {odd} += ({name},); {count} -= 1",
        )

    def _members(self, name: str, own: dict[str, str], owner: str, count: str) -> None:
        """Add the lines that gather the members of a field in the order of the row."""
        code = self.code
        value, names = code.variable("v"), code.name_of(own)
        found = f"{{{names}[k]: {owner}[k] for k in {owner} if k in {names}}}"
        is_none = f"{code.name_of(frozenset(own))}.isdisjoint({owner})"
        code.add(
            f"{value} = EMPTY if {is_none} else {found}",
            f"{count} -= {len(own)} - len({value})",
        )
        self.found[OF_RECORD][name] = f"{value} or UNSET"


def _call(name: str, given: Mapping[str, str], parts: Sequence[str]) -> str:
    """Return the call of a struct with fields in variables, and in some objects."""
    own = [arguments(given)] if given else []
    return f"{name}({', '.join([*own, *(f'**{part}' for part in parts)])})"


def _any_of(given: Mapping[str, str], parts: Sequence[str]) -> str:
    """Return the expression that tells whether one of some fields is there."""
    is_there = [f"{value} is not UNSET" for value in given.values()]
    return " or ".join([*is_there, *parts])


def _with_part(left: str, part: str, owner: str, place: Left) -> list[str]:
    """Return the lines that add what is left of keys that are read together."""
    if place is Left.IN_PLACE:
        both = f"{{**{left}, **{part}}}"
        ordered = f"{{k: all[k] for k in (*{owner}, *all) if k in all}}"
        return [f"if {part}:", f"    all = {both}", f"    {left} = {ordered}"]
    if place is Left.IN_FRONT:
        return [f"{left} = {{**{part}, **{left}}}"]
    return [f"{left}.update({part})"]


def _sorted_rest(
    left: str, odd: str, owner: str, known: str, lefts: Mapping[str, str]
) -> list[str]:
    """Return the lines that find the members that are no fields, to be sorted."""
    return [
        f"{left} = {{k: {owner}[k] for k in filterfalse({known}, {owner})}}",
        f"for k in {odd}: {left}[k] = {owner}[k]",
        *(
            f"if {inner} is not None: {left}[{name}] = {inner}"
            for name, inner in lefts.items()
        ),
    ]


def _ordered_rest(
    left: str, odd: str, owner: str, known: str, lefts: Mapping[str, str]
) -> list[str]:
    """Return the lines that find the members that are no fields, as they stand."""
    inside = ", ".join(f"{name}: {inner}" for name, inner in lefts.items())
    value, is_left = f"{owner}[k]", f"k in {odd} or not {known}(k)"
    if inside:
        value = f"{value} if inside.get(k) is None else inside[k]"
        is_left = f"{is_left} or inside.get(k) is not None"
        found = f"{{k: {value} for k in {owner} if {is_left}}}"
        return [f"inside = {{{inside}}}", f"{left} = {found}"]
    usual = f"{{k: {value} for k in filterfalse({known}, {owner})}}"
    found = f"{{k: {value} for k in {owner} if {is_left}}}"
    return [f"{left} = {found} if {odd} else {usual}"]


def refuse_list(given: list[Any], tree: Tree, key: str) -> None:
    """Raise `ConversionError` for a list whose items have the fields of an object.

    What stands there would be kept, and come into no field of the record.
    """
    if any(type(item) is dict and not tree.keys().isdisjoint(item) for item in given):
        raise ConversionError(
            f"`{key}` is a list in a row, and one object in the table of fields:"
            " `list_of` names a list of answers"
        )


def _read_value(code: Code, leaf: Leaf, value: str) -> list[str]:
    """Return the lines that read a value that a row has into the variable `value`.

    The last one is the expression that tells whether the field can hold it.
    """
    codec, path = leaf.field.codec, leaf.field.record_path
    lines = []
    if codec is not None and codec.read is not as_is:
        lines = [f"{value} = {code.name_of(codec.read)}({value})"]
    types = FIELD_TYPES[path]
    if leaf.is_trusted:
        is_read = f"{value} is not {code.name_of(DECLINED)}"
        may_be_null = type(None) in types
        return [
            *lines,
            is_read if may_be_null else f"{value} is not None and {is_read}",
        ]
    fits = f"type({value}) is {types[0].__name__}"
    if len(types) > 1:
        fits = f"type({value}) in {code.name_of(types)}"
    if path in TEXT_LISTS:
        fits += f" and TEXT.issuperset(map(type, {value}))"
    elif path in OBJECT_LISTS:
        fits += f" and OBJECT.issuperset(map(type, {value}))"
    return [*lines, fits]


def compile_write(
    shape: Shape,
    written_value: Callable[..., Any],
    finish: Callable[..., Row],
    placed: Placed,
) -> Write:
    """Return the function that returns the row of a record with one output at most.

    It notes the fates of fields. `written_value` returns what is written for a field
    that a record lacks, or whose codec changed its value or left it out; `finish` adds
    the other members of the row; `placed` has those in front of a field. Functions
    write first, in their order, and what they write stands where the first of their
    fields does. It raises `Unconvertible` where `written_value` does.
    """
    code = Code({"UNSET": UNSET, "ChangedValue": ChangedValue})
    code.names |= {"written_value": written_value, "finish": finish}
    code.names["put_members"] = put_members
    # An output that is not there has the same fields as one that has none.
    code.names |= {"NO_OUTPUT": Output(), "NO_SCORE": Score()}
    code.add("outputs = record.outputs")
    code.add("output = outputs[0] if outputs else NO_OUTPUT")
    if any(leaf.level == OF_SCORE for leaf in shape.leaves):
        code.add("scores = output.scores")
        code.add("score = scores[0] if scores else NO_SCORE")
    code.add("extra = record.extra")
    own = code.name_of(shape.vendor)
    is_kept = f"extra is not UNSET and {own} in extra"
    code.add(f"kept = {{**extra[{own}]}} if {is_kept} else {{}}")
    made = _call_writers(code, shape.together)
    owners: dict[tuple[str, ...], str] = {(): "row"}
    steps = list(write_steps(shape.leaves, shape.together))
    # What is written first is the row, to which all else is added.
    is_joined = bool(steps) and isinstance(steps[0], Together)
    code.add(f"row = {made[id(steps[0])] if is_joined else {}}")
    for step in steps[is_joined:]:
        if isinstance(step, Together):
            code.add(f"row.update({made[id(step)]})")
            continue
        for key, value in placed.get(step.field.path, {}).items():
            code.add(f"row[{code.name_of(key)}] = {code.name_of(value)}")
        if step.member:
            keys = code.name_of(members_of(shape.leaves, step))
            code.add(f"put_members(row, record.{step.name}, {keys})")
        else:
            _write_field(code, step, owners)
    is_finished = "" if shape.has_constants else " if kept else row"
    code.add(f"return finish(row, kept, fates){is_finished}")
    for variable in owners.values():
        if variable != "row":
            code.lines.insert(0, f"    {variable} = None")
    return code.function("write(record, fates)")


def _call_writers(code: Code, together: Sequence[Together]) -> dict[int, str]:
    """Add the lines that call the functions that write; return what they write."""
    made: dict[int, str] = {}
    for each in together:
        if each.write is None:
            continue
        write = f"{code.name_of(each.write)}(record, kept, fates)"
        if each.keys:
            made[id(each)] = code.variable("m")
            code.add(f"{made[id(each)]} = {write}")
        else:
            code.add(f"if kept: {write}")
    return made


def write_steps(
    leaves: Sequence[Leaf], together: Sequence[Together]
) -> Iterator[Leaf | Together]:
    """Yield what writes the members of a row, in their order: a field only once."""
    done: list[Together] = []
    places: set[tuple[int, str]] = set()
    for leaf in leaves:
        joined = [each for each in together if is_of(each, leaf.field)]
        if joined:
            for each in joined:
                if each.write is not None and each not in done:
                    done.append(each)
                    yield each
        elif (place := (leaf.level, leaf.name)) not in places:
            places.add(place)
            yield leaf


def says_output(together: Together, leaves: Sequence[Leaf]) -> bool:
    """Tell whether a field of an output is read of keys that are read together."""
    return any(
        leaf.level != OF_RECORD and is_of(together, leaf.field) for leaf in leaves
    )


def members_of(leaves: Sequence[Leaf], first: Leaf) -> dict[str, tuple[str, ...]]:
    """Return the paths of the members of the object that `first` is a member of."""
    return {
        leaf.member: leaf.field.path
        for leaf in leaves
        if leaf.member and leaf.name == first.name
    }


def is_of(together: Together, given: FieldMapping) -> bool:
    """Tell whether a field is read of keys that are read together."""
    start = len(together.at)
    return given.path[:start] == together.at and given.path[start] in together.keys


def put_members(row: Row, given: Any, keys: Mapping[str, tuple[str, ...]]) -> None:
    """Put members of an object of a record into `row`, in its order, by their paths."""
    for key, value in {} if given is UNSET else given.items():
        if key in keys:
            put(row, keys[key], value)


def put(row: Row, path: Iterable[str], value: Any) -> None:
    """Put `value` into `row` at `path`."""
    *owners, key = path
    for owner in owners:
        row = row.setdefault(owner, {})
    row[key] = value


def _write_field(code: Code, leaf: Leaf, owners: dict[tuple[str, ...], str]) -> None:
    """Add the lines that write one field, and make the object that it stands in."""
    given, name = leaf.field, code.name_of(leaf.field)
    *path, key = given.path
    made = _made_objects(code, tuple(path), owners)
    put = [*made, f"{owners[tuple(path)]}[{code.name_of(key)}] = v"]
    put_if_any = ["if v is not UNSET:", *(f"    {line}" for line in put)]
    code.add(f"v = {_owners[leaf.level]}.{leaf.name}")
    lacks: list[str] = []
    if given.default is not UNSET:
        fate = FieldFate(Fate.DEFAULTED, given.record_path, given.default_text)
        lacks = [
            f"fates.entries.append({code.name_of(fate)})",
            f"v = {code.name_of(given.default)}",
            *put,
        ]
    elif given.required:
        lacks = [f"v = written_value({name}, UNSET, UNSET, fates, record)", *put_if_any]
    has = put
    if given.codec is not None and given.codec.write is not as_is:
        has = [
            f"x = {code.name_of(given.codec.write)}(v)",
            "if x is UNSET or type(x) is ChangedValue:",
            f"    v = written_value({name}, v, x, fates, record)",
            *(f"    {line}" for line in put_if_any),
            "else:",
            "    v = x",
            *(f"    {line}" for line in put),
        ]
    code.block("if v is not UNSET:", *has)
    if lacks:
        code.block("else:", *lacks)


def _made_objects(
    code: Code, path: tuple[str, ...], owners: dict[tuple[str, ...], str]
) -> list[str]:
    """Return the lines that make the objects at `path` in a row, unless it has them."""
    lines: list[str] = []
    for size in range(1, len(path) + 1):
        start = path[:size]
        if start not in owners:
            owners[start] = code.variable("o")
        variable, above = owners[start], owners[start[:-1]]
        key = code.name_of(start[-1])
        lines.append(f"if {variable} is None: {variable} = {above}[{key}] = {{}}")
    return lines


#: Fields that no constant can fill: they differ from answer to answer.
_VERDICT = "outputs.scores.is_correct"
VERDICTS = frozenset({"outputs.scores.value", _VERDICT})


def written_value(given: FieldMapping, held: Any, value: Any, fates: FieldFates) -> Any:
    """Return what is written for the value `held` of a field, and note its fate.

    `value` is what its codec returns. Raises `Unconvertible` if a row must have the
    field and there is no value.
    """
    if type(value) is ChangedValue:
        if held is not None or value.value is not UNSET:
            fates.changed(given.record_path, value.how)
        value = value.value
        noted = held is not None
    else:
        noted = False
    if value is not UNSET:
        return value
    value = default_of(given, fates)
    if value is UNSET and held is None:
        fates.null(given.record_path)
    elif value is UNSET and held is not UNSET and not noted:
        fates.changed(given.record_path, "left out")
    return value


def default_of(given: FieldMapping, fates: FieldFates) -> Any:
    """Return what is written for a field that a record lacks, and note it.

    Raises `Unconvertible` if a row must have the field and there is no default.
    """
    if given.default is not UNSET:
        fates.defaulted(given.record_path, given.default_text)
    elif given.required:
        raise lacking([given], given.record_path)
    return given.default


def lacking(fields: Iterable[FieldMapping], path: str) -> Unconvertible:
    """Return the error that a record lacks `fields`; `path` is that of the first."""
    paths = {given.name: given.record_path for given in fields}
    names = list(paths)
    reason = "the record has nothing for " + listed([f"`{name}`" for name in names])
    # A score may be given where the verdict of each answer is known, which no constant
    # decides.
    no_constants = VERDICTS if _VERDICT in paths.values() else frozenset[str]()
    constants = [name for name in names if paths[name] not in no_constants]
    help_ = ""
    if constants:
        them = "it" if len(names) == 1 else "them"
        them = them if constants == names else listed(constants)
        options = " ".join(f"--set {name}=VALUE" for name in constants)
        help_ = f"give {them} with `{options}`"
    if "outputs.scores.value" in paths.values():
        how = "compute the score with `--score em` or `--score f1`"
        help_ += f", or {how}" if help_ else how
    elif len(constants) < len(names):
        how = (
            "say with `--correct-from NUMBER` from which score on an answer is correct"
        )
        help_ += f", and {how}" if help_ else how
    return Unconvertible(path, reason, help_)


def missing_in(leaves: Iterable[Leaf], owners: Sequence[Any]) -> Iterator[FieldMapping]:
    """Yield the fields that a row must have and that have no value.

    `owners` has the owner of the fields of each level, None for one that is missing.
    """
    for leaf in leaves:
        given, owner = leaf.field, owners[leaf.level]
        if not given.required or given.default is not UNSET or leaf.key_name:
            continue
        value = UNSET if owner is None else getattr(owner, leaf.name)
        if value is not UNSET and given.codec is not None:
            value = given.codec.write(value)
        if (value.value if type(value) is ChangedValue else value) is UNSET:
            yield given


def listed(names: list[str]) -> str:
    """Return names as one text, with "and" in front of the last one."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


#: The fields of an owner, by their first key: those inside of them, and so on.
_Owners = Mapping[str, "_Owners"]


@dataclass(frozen=True, slots=True)
class PresenceKeys:
    """Makes the keys of records, whose extras have `owners` as in `field_paths`."""

    owners: frozenset[str]
    _of_record: _Owners = field(init=False)
    _of_output: _Owners = field(init=False)

    def __post_init__(self) -> None:
        tree: dict[str, Any] = {}
        for path in self.owners:
            node = tree
            for key in path.split("."):
                node = node.setdefault(key, {})
        object.__setattr__(self, "_of_record", tree.get("extra", {}))
        of_output = tree.get("outputs", {}).get("extra", {})
        object.__setattr__(self, "_of_output", of_output)

    def of(self, record: Record) -> Hashable:
        """Return the key of a record."""
        values, counts = astuple(record), []
        for output in record.outputs:
            values += astuple(output)
            scores = output.scores
            if scores is not UNSET:
                counts.append(len(scores))
                for score in scores:
                    values += astuple(score)
        parts: list[Hashable] = [*map(type, values), len(record.outputs), *counts]
        _add_open(parts, record)
        if record.extra is not UNSET:
            parts.append(_of_extra(record.extra, self._of_record))
        for output in record.outputs:
            if (extra := output.extra) is not UNSET:
                parts.append(_of_extra(extra, self._of_output))  # noqa: PERF401 - mostly there is one output
        return tuple(parts)


def _add_open(parts: list[Hashable], record: Record) -> None:
    """Add the keys of the open objects of a record, and its first role."""
    if record.params is not UNSET:
        parts.append(members_key(record.params))
    if record.metadata is not UNSET:
        parts.append(members_key(record.metadata))
    if messages := record.messages:
        parts.append(messages[0].get("role") == "system")
    elif messages is not UNSET:
        parts.append(None)


def members_key(members: Mapping[str, Any]) -> Hashable:
    """Return the keys of an object, and behind None those whose value is null."""
    if None in members.values():
        nulls = [key for key, value in members.items() if value is None]
        return (*members, None, *nulls)
    return tuple(members)


def _of_extra(extra: Mapping[str, Any], owners: _Owners) -> Hashable:
    """Return the keys in the extra of a record or an output."""
    parts: list[Hashable] = []
    for vendor, members in extra.items():
        parts += (vendor, members_key(members))
        if inner := owners.get(vendor):
            _add_owners(parts, members, inner)
    return tuple(parts)


def _add_owners(
    parts: list[Hashable], members: Mapping[str, Any], owners: _Owners
) -> None:
    """Add the keys inside of each object in `owners` that is not empty."""
    for key, inner in owners.items():
        value = members.get(key)
        if not value:
            continue
        if type(value) is dict and not inner:
            parts.append((key, members_key(value)))
        else:
            parts.append((key, *_of_owner(value, inner)))


def _of_owner(value: Any, owners: _Owners) -> Iterator[Hashable]:
    """Yield the keys inside of an object, or of each object of a list of them."""
    if type(value) is dict:
        objects = [value]
    elif type(value) is list and all(type(item) is dict for item in value):
        objects = value
    else:
        return
    for members in objects:
        parts: list[Hashable] = [members_key(members)]
        _add_owners(parts, members, owners)
        yield tuple(parts)
