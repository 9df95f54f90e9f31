"""Compile a table of fields to functions in Python that read and write its rows.

Also here: what is written for the fields of a record, which ones a record lacks, and
a key that tells which fields a record has.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from types import CodeType
from typing import Any

from msgspec import UNSET, Struct

from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    ChangedValue,
    FieldMapping,
    Row,
    as_is,
)
from harpia_formats.model.field_outcomes import (
    FieldOutcome,
    FieldOutcomes,
    Outcome,
    Unconvertible,
)
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
#: The last key of a path where keys are data.
ANY_KEY = "*"
_owners = ("record", "output", "score")

Read = Callable[[Row], Record]
Write = Callable[[Record, FieldOutcomes], Row]
#: Functions for keys of their own; see `FieldTable`.
ReadOwn = Callable[[Row, Row], Row]
WriteOwn = Callable[[Record, Row, FieldOutcomes], Row]
#: Members that stand in front of a field in every row, by the path of the field.
Placed = Mapping[tuple[str, ...], Mapping[str, Any]]


class Leaf(Struct, frozen=True):
    """A field in the tree of keys, and its place in a record."""

    field: FieldMapping
    level: int
    #: The name of the field in the struct of its level.
    name: str
    #: The name of the field of the score that the key is, where keys are data.
    key_name: str = ""


Tree = Mapping[str, "Leaf | Tree"]


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
        exec(_code_of(source, f"<{heading}>"), self.names)  # noqa: S102 - the lines name values by numbers and have no text of a user
        function: Callable[..., Any] = self.names[heading.partition("(")[0]]
        return function


@lru_cache(maxsize=256)
def _code_of(source: str, name: str) -> CodeType:
    """Return the code of `source`.

    The readers of some files differ in a value only: `convert` of 400 logs of OpenAI's
    evals takes 0.55 s instead of 0.75 s (one sample each, one process).
    """
    return compile(source, name, "exec")


def compile_read(
    vendor: str,
    tree: Tree,
    own_keys: tuple[str, ...] = (),
    read_own: ReadOwn | None = None,
    *,
    in_order: bool = False,
) -> Read:
    """Return the function that returns the record of a row with the keys of `tree`.

    `read_own` is given what is left of a row without `own_keys`. Members that are no
    fields are sorted by their keys, unless they are to stand `in_order`, which is that
    of the row.
    """
    code = Code({"UNSET": UNSET, "EMPTY": {}})
    code.names |= {"Record": Record, "Output": Output, "Score": Score}
    code.names |= {"TEXT": frozenset({str}), "OBJECT": frozenset({dict})}
    code.names |= {"refuse_list": refuse_list}
    reader = _Reader(code, in_order=in_order)
    left = reader.object(tree, "row", None if read_own is None else own_keys)
    given = reader.fields()
    owner = code.name_of(vendor)
    if read_own is None:
        given["extra"] = f"UNSET if {left} is None else {{{owner}: {left}}}"
        code.add(f"return Record({arguments(given)})")
        return code.function("read(row)")
    code.add(f"fields = {code.name_of(read_own)}(row, {left})")
    if not in_order:
        code.add(f"if len({left}) > 1: {_ordered(left, f'sorted({left})')}")
    for name, value in given.items():
        is_there = value if name == "outputs" else f"{value} is not UNSET"
        code.add(f"if {is_there}: fields['{name}'] = {value}")
    code.add(f"if {left}: fields['extra'] = {{{owner}: {left}}}")
    code.add("return Record(**fields)")
    return code.function("read(row)")


def arguments(given: Mapping[str, str]) -> str:
    """Return the keyword arguments of a call, by their names."""
    return ", ".join(f"{name}={value}" for name, value in given.items())


def _ordered(left: str, order: str) -> str:
    """Return the statement that puts the keys of an object in order."""
    return f"{left} = {{k: {left}[k] for k in {order}}}"


@dataclass(slots=True)
class _Reader:
    """Adds the lines that read the fields of a table."""

    code: Code
    in_order: bool
    #: The variable of each field, by its name, of the record, the output and the score.
    found: tuple[dict[str, str], ...] = field(default_factory=lambda: ({}, {}, {}))

    def fields(self) -> dict[str, str]:
        """Add the lines that make the output, and return the fields of the record."""
        of_record, of_output, of_score = self.found
        if of_score:
            self._list("scores", "Score", of_score, "UNSET")
            of_output["scores"] = "scores"
        if of_output:
            self._list("outputs", "Output", of_output, "[]")
            of_record["outputs"] = "outputs"
        return of_record

    def _list(self, name: str, type_: str, given: dict[str, str], absent: str) -> None:
        """Add the line that makes a list of one struct, if it has any field."""
        is_there = " or ".join(f"{value} is not UNSET" for value in given.values())
        made = f"[{type_}({arguments(given)})]"
        self.code.add(f"{name} = {made} if {is_there} else {absent}")

    def object(
        self, tree: Tree, owner: str, own_keys: tuple[str, ...] | None = None
    ) -> str:
        """Add the lines that read the members of the object in the variable `owner`.

        Return the variable of its other members. It is None if there are none, unless
        a function is given them, without `own_keys`.
        """
        code = self.code
        count, left = code.variable("n"), code.variable("left")
        any_key = tree.get(ANY_KEY)
        if isinstance(any_key, Leaf):
            self._data_keys(any_key, owner, left)
            return left
        # The keys of values that their fields cannot hold, mostly null.
        odd = code.variable("odd")
        lefts: dict[str, str] = {}
        # A function is given members in order by removing the fields: to order what is
        # left of nested objects took a quarter of the time in which such rows are read.
        removes = own_keys is not None and self.in_order
        if removes:
            code.add(f"{left} = {{{self._others(owner, own_keys or ())}}}")
        # Most fields are there, so those that are not are counted.
        code.add(f"{count} = {len(tree)}", f"{odd} = ()")
        for key, place in tree.items():
            name = code.name_of(key)
            if isinstance(place, Leaf):
                done = [f"del {left}[{name}]"] if removes else []
                self._field(place, owner, name, (count, odd), done)
                continue
            inner = code.variable("o")
            code.add(f"{inner} = {owner}.get({name}, EMPTY)")
            code.block(f"if {inner} is EMPTY:", f"{count} -= 1")
            code.block(
                f"elif type({inner}) is not dict or not {inner}:",
                f"if type({inner}) is list:",
                f"    refuse_list({inner}, {code.name_of(place)}, {name})",
                f"{inner} = EMPTY; {odd} += ({name},); {count} -= 1",
            )
            lefts[name] = self.object(place, inner)
            if removes:
                code.block(f"if {lefts[name]}:", f"{left}[{name}] = {lefts[name]}")
                code.block(f"elif {inner} is not EMPTY:", f"del {left}[{name}]")
        if removes:
            return left
        known = code.name_of(frozenset((*(own_keys or ()), *tree)))
        lines = [
            f"{left} = {{}}",
            f"for k in {owner}:",
            f"    if k not in {known}: {left}[k] = {owner}[k]",
            f"for k in {odd}: {left}[k] = {owner}[k]",
            *(
                f"if {inner} is not None: {left}[{name}] = {inner}"
                for name, inner in lefts.items()
            ),
        ]
        if self.in_order:
            # What is put behind the others may have stood among them.
            order = _ordered(left, f"filter({left}.__contains__, {owner})")
            lines.append(f"if {' or '.join([odd, *lefts.values()])}: {order}")
        else:
            order = _ordered(left, f"sorted({left})")
            lines.append(f"if len({left}) > 1: {order}")
        if own_keys is not None:
            # Own keys are not counted: a function is given what is left in any case.
            code.add(*lines)
            return left
        code.add(f"{left} = None")
        has_more = [f"{count} != len({owner})"]
        has_more += [f"{inner} is not None" for inner in lefts.values()]
        code.block(f"if {' or '.join(has_more)}:", *lines)
        return left

    def _others(self, owner: str, own_keys: tuple[str, ...]) -> str:
        """Return the members of an object that are no own keys, as those of another."""
        if ANY_KEY in own_keys:
            return ""
        if not own_keys:
            return f"**{owner}"
        own = self.code.name_of(frozenset(own_keys))
        return f"k: x for k, x in {owner}.items() if k not in {own}"

    def _field(
        self,
        place: Leaf,
        owner: str,
        name: str,
        counts: tuple[str, str],
        done: list[str],
    ) -> None:
        """Add the lines that read one field, unless another key was it before.

        `done` are those behind the ones that take its value.
        """
        code, (count, odd) = self.code, counts
        value = code.variable("v")
        code.add(f"{value} = {owner}.get({name}, UNSET)")
        *lines, fits = _read_value(code, place, value)
        code.block(f"if {value} is UNSET:", f"{count} -= 1")
        first = self.found[place.level].setdefault(place.name, value)
        if first != value:
            fits = f"{first} is UNSET and {fits}"
            done = [f"{first} = {value}", *done]
        code.block(
            "else:",
            *lines,
            f"if not ({fits}):",
            f"    {value} = UNSET; {odd} += ({name},); {count} -= 1",
            *(["else:", *(f"    {line}" for line in done)] if done else []),
        )

    def _data_keys(self, place: Leaf, owner: str, left: str) -> None:
        """Add the lines that make a score of each member of an object, by its key."""
        code = self.code
        code.add("scores = []", f"{left} = {{}}")
        *lines, fits = _read_value(code, place, "x")
        code.block(
            f"for k, x in {owner}.items():",
            *lines,
            f"if {fits}: scores.append(Score({place.key_name}=k, {place.name}=x))",
            f"else: {left}[k] = {owner}[k]",
        )
        if not self.in_order:
            code.add(f"if len({left}) > 1: {_ordered(left, f'sorted({left})')}")
        code.add(f"{left} = {left} or None", "scores = scores or UNSET")
        self.found[OF_OUTPUT]["scores"] = "scores"


def refuse_list(given: list[Any], tree: Tree, key: str) -> None:
    """Raise `ConversionError` for a list whose items have the fields of an object.

    What stands there would be kept, and come into no field of the record.
    """
    if any(type(item) is dict and not tree.keys().isdisjoint(item) for item in given):
        raise ConversionError(
            f"`{key}` is a list in a row, and one object in the table of fields:"
            " a function (`read_own`) reads a list of answers"
        )


def _read_value(code: Code, leaf: Leaf, value: str) -> list[str]:
    """Return the lines that read a value that a row has into the variable `value`.

    The last one is the expression that tells whether the field can hold it.
    """
    codec, path = leaf.field.codec, leaf.field.record_path
    lines = []
    if codec is LIST_OF_ONE:
        return [f"type({value}) is str and ({value} := [{value}])"]
    if codec is not None and codec.read is not as_is:
        lines = [f"{value} = {code.name_of(codec.read)}({value})"]
    types = FIELD_TYPES[path]
    fits = f"type({value}) is {types[0].__name__}"
    if len(types) > 1:
        fits = f"type({value}) in {code.name_of(types)}"
    if path in TEXT_LISTS:
        fits += f" and TEXT.issuperset(map(type, {value}))"
    elif path in OBJECT_LISTS:
        fits += f" and OBJECT.issuperset(map(type, {value}))"
    return [*lines, fits]


def compile_write(
    vendor: str,
    leaves: Sequence[Leaf],
    own: str,
    functions: Mapping[str, Callable[..., Any]],
    placed: Placed,
) -> Write:
    """Return the function that returns the row of a record with one output at most.

    It notes the outcomes of fields. `own` is the expression of the members that the row
    begins with. The lines call `functions` by their names: `written_value` returns what
    is written for a field that a record lacks, or whose codec changed its value or left
    it out; `finish` adds the other members of the row; `put_scores` writes scores by
    their keys. `placed` has the members in front of a field, and at () the last ones.
    It raises `Unconvertible` where `written_value` does.
    """
    code = Code({"UNSET": UNSET, "ChangedValue": ChangedValue, **functions})
    # An output that is not there has the same fields as one that has none.
    code.names |= {"NO_OUTPUT": Output(), "NO_SCORE": Score(), "put": put}
    if any(leaf.level != OF_RECORD for leaf in leaves):
        code.add("outputs = record.outputs")
        code.add("output = outputs[0] if outputs else NO_OUTPUT")
    if any(leaf.level == OF_SCORE for leaf in leaves):
        code.add("scores = output.scores")
        code.add("score = scores[0] if scores else NO_SCORE")
    code.add("extra = record.extra")
    owner = code.name_of(vendor)
    is_kept = f"extra is not UNSET and {owner} in extra"
    code.add(f"kept = {{**extra[{owner}]}} if {is_kept} else {{}}", f"row = {own}")
    owners: dict[tuple[str, ...], str] = {(): "row"}
    has_data_keys = any(leaf.key_name for leaf in leaves)
    for leaf in leaves:
        for key, value in placed.get(leaf.field.path, {}).items():
            code.add(f"row[{code.name_of(key)}] = {code.name_of(value)}")
        if leaf.key_name:
            code.add(f"put_scores(row, {code.name_of(leaf)}, record, outcomes)")
        else:
            _write_field(code, leaf, None if has_data_keys else owners)
    for key, value in placed.get((), {}).items():
        code.add(f"row[{code.name_of(key)}] = {code.name_of(value)}")
    code.add("return finish(row, kept, outcomes) if kept else row")
    for variable in owners.values():
        if variable != "row":
            code.lines.insert(0, f"    {variable} = None")
    return code.function("write(record, outcomes)")


@cache
def compiled_as_dict() -> Callable[[Record], Row]:
    """Return the function that does for records what `as_dict` does for any struct.

    It takes half the time: a row of `record` has some thirty fields.
    """
    code = Code({"UNSET": UNSET})
    lines: list[str] = []
    for owner, struct, inner in (
        ("score", Score, ""),
        ("output", Output, "scores"),
        ("record", Record, "outputs"),
    ):
        read = [f"{owner}_row = {{}}"]
        for name in struct.__struct_fields__:
            read += [f"v = {owner}.{name}", "if v is not UNSET:"]
            put_it = [f"{owner}_row[{name!r}] = v"]
            if name == inner:
                put_it = [f"{inner} = {owner}_row[{name!r}] = []", *lines]
            read += [f"    {line}" for line in put_it]
        appended = f"{owner}s.append({owner}_row)"
        each = [f"    {line}" for line in (*read, appended)]
        lines = read if owner == "record" else [f"for {owner} in v:", *each]
    code.add(*lines, "return record_row")
    return code.function("as_dict(record)")


def put(row: Row, path: Iterable[str], value: Any) -> None:
    """Put `value` into `row` at `path`."""
    *owners, key = path
    for owner in owners:
        row = row.setdefault(owner, {})
    row[key] = value


def _write_field(
    code: Code, leaf: Leaf, owners: dict[tuple[str, ...], str] | None
) -> None:
    """Add the lines that write one field, and make the object that it stands in.

    `owners` has the variables of objects that the lines have made, None if not only
    they make objects.
    """
    given, name = leaf.field, code.name_of(leaf.field)
    *path, key = given.path
    if owners is None:
        put_it = [f"put(row, {code.name_of(given.path)}, v)"]
    else:
        put_it = _made_objects(code, tuple(path), owners)
        put_it.append(f"{owners[tuple(path)]}[{code.name_of(key)}] = v")
    put_if_any = ["if v is not UNSET:", *(f"    {line}" for line in put_it)]
    code.add(f"v = {_owners[leaf.level]}.{leaf.name}")
    lacks: list[str] = []
    if given.default is not UNSET:
        outcome = FieldOutcome(Outcome.DEFAULTED, given.record_path, given.default_text)
        lacks = [
            f"outcomes.entries.append({code.name_of(outcome)})",
            f"v = {code.name_of(given.default)}",
            *put_it,
        ]
    elif given.required:
        lacks = [
            f"v = written_value({name}, UNSET, UNSET, outcomes, record)",
            *put_if_any,
        ]
    has = put_it
    if given.codec is not None and given.codec.write is not as_is:
        has = [
            f"x = {code.name_of(given.codec.write)}(v)",
            "if x is UNSET or type(x) is ChangedValue:",
            f"    v = written_value({name}, v, x, outcomes, record)",
            *(f"    {line}" for line in put_if_any),
            "else:",
            "    v = x",
            *(f"    {line}" for line in put_it),
        ]
    # Most values need no codec, whose calls took a third of the time.
    usual, usually = "", put_it
    if given.codec is LIST_OF_ONE:
        usual, usually = "v is not UNSET and len(v) == 1", ["v = v[0]", *put_it]
    elif given.codec is not None and given.codec.unchanged:
        usual = f"type(v) in {code.name_of(given.codec.unchanged)}"
    if usual:
        code.block(f"if {usual}:", *usually)
    code.block(f"{'elif' if usual else 'if'} v is not UNSET:", *has)
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


def written_value(
    given: FieldMapping, held: Any, value: Any, outcomes: FieldOutcomes
) -> Any:
    """Return what is written for the value `held` of a field, and note its outcome.

    `value` is what its codec returns. Raises `Unconvertible` if a row must have the
    field and there is no value.
    """
    if type(value) is ChangedValue:
        if held is not None or value.value is not UNSET:
            outcomes.changed(given.record_path, value.how)
        value = value.value
        noted = held is not None
    else:
        noted = False
    if value is not UNSET:
        return value
    value = default_of(given, outcomes)
    if value is UNSET and held is None:
        outcomes.null(given.record_path)
    elif value is UNSET and held is not UNSET and not noted:
        outcomes.changed(given.record_path, "left out")
    return value


def default_of(given: FieldMapping, outcomes: FieldOutcomes) -> Any:
    """Return what is written for a field that a record lacks, and note it.

    Raises `Unconvertible` if a row must have the field and there is no default.
    """
    if given.default is not UNSET:
        outcomes.defaulted(given.record_path, given.default_text)
    elif given.required:
        raise lacking([given], given.record_path)
    return given.default


def lacking(
    fields: Sequence[FieldMapping], path: str, *, scored: bool = False
) -> Unconvertible:
    """Return the error that a record lacks `fields`; `path` is that of the first.

    `scored` tells that scores are computed already.
    """
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
        if not scored:
            help_ += f", or {how}" if help_ else how
    elif len(constants) < len(names):
        how = (
            "say with `--correct-from NUMBER` from which score on an answer is correct"
        )
        help_ += f", and {how}" if help_ else how
    return Unconvertible(path, reason, help_, tuple(fields))


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
    #: Returns the types of all values of a record, and how many outputs and scores.
    _types: Callable[[Record], list[Hashable]] = field(init=False)

    def __post_init__(self) -> None:
        tree: dict[str, Any] = {}
        for path in self.owners:
            node = tree
            for key in path.split("."):
                node = node.setdefault(key, {})
        object.__setattr__(self, "_of_record", tree.get("extra", {}))
        of_output = tree.get("outputs", {}).get("extra", {})
        object.__setattr__(self, "_of_output", of_output)
        object.__setattr__(self, "_types", compiled_types())

    def of(self, record: Record) -> Hashable:
        """Return the key of a record."""
        parts = self._types(record)
        _add_open(parts, record)
        if record.extra is not UNSET:
            parts.append(_of_extra(record.extra, self._of_record))
        for output in record.outputs:
            if (extra := output.extra) is not UNSET:
                parts.append(_of_extra(extra, self._of_output))
        return tuple(parts)


@cache
def compiled_types() -> Callable[[Record], list[Hashable]]:
    """Return the function that returns the types of all values of a record.

    Behind those of a record and of an output is the number of outputs and scores.
    """
    code = Code({"UNSET": UNSET})
    record, output, score = (
        ", ".join(f"type({owner}.{name})" for name in struct.__struct_fields__)
        for owner, struct in zip(_owners, (Record, Output, Score), strict=True)
    )
    code.add(f"parts = [{record}, len(record.outputs)]")
    code.block(
        "for output in record.outputs:",
        f"parts += ({output})",
        "scores = output.scores",
        "if scores is not UNSET:",
        "    parts.append(len(scores))",
        f"    for score in scores: parts += ({score})",
    )
    code.add("return parts")
    return code.function("types(record)")


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
