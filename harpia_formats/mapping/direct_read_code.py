"""Write the function that reads needed fields from what a typed decoder decoded."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import astuple

from harpia_formats.mapping.choices import Choices, Turns
from harpia_formats.mapping.compiled_table import Code, arguments
from harpia_formats.mapping.extras import EXTRAS_KEY
from harpia_formats.mapping.presence import members_key
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    as_is,
)
from harpia_formats.model.record import (
    FIELD_TYPES,
    OBJECT_LISTS,
    OPEN_OBJECTS,
    TEXT_LISTS,
    Output,
    Record,
    Score,
)
from harpia_formats.schema.typed_decoder import TypedDecoder

#: Returns the record of a decoded row with the fields that a target needs, and the key
#: of what becomes of all its fields; None for a row that has to be read as a whole.
DirectRead = Callable[[Any], tuple[Record, Hashable] | None]

#: Fields that may decide on what is written though the target has no place for them.
_always = frozenset(
    "id prompt system messages references gt outputs.model outputs.text "
    "outputs.reasoning".split()
)
_builtins = frozenset({str, int, float, bool, type(None)})
_levels = (("outputs.scores.", "scores"), ("outputs.", "outputs"), ("", "record"))


@dataclass(slots=True)
class DirectReader:
    """Writes the function that reads rows of one decoder for one target."""

    source: FormatAdapter
    target: FormatAdapter
    choices: Choices
    decoder: TypedDecoder
    code: Code = field(init=False)
    #: The variable of each object in rows, by its keys.
    objects: dict[tuple[str, ...], str] = field(default_factory=dict)
    #: What the key is made of.
    key: list[str] = field(default_factory=list)
    #: The variable of each needed field, by the struct that it is of and its name.
    found: dict[str, dict[str, str]] = field(default_factory=dict)
    #: The variables of fields of outputs and scores that are not needed.
    passed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.code = Code({"UNSET": UNSET, "astuple": astuple, "Struct": Struct})
        self.code.names |= {"Record": Record, "Output": Output, "Score": Score}
        self.code.names |= {"TEXT": frozenset({str}), "OBJECT": frozenset({dict})}
        self.code.names |= {"to_builtins": msgspec.to_builtins, "BUILTIN": _builtins}
        self.found = {name: {} for _, name in _levels}

    def is_typed(self) -> bool:
        """Tell whether the decoder has a type for each object that holds fields."""
        owners = {mapping.path[:-1] for mapping in self.source.fields}
        owners |= {path[:-1] for path in self._deciders()}
        return all(owner in self.decoder.attributes for owner in owners)

    def _deciders(self) -> Sequence[tuple[str, ...]]:
        """Return the paths of texts that decide how fields are read."""
        return [path for path in sorted(self.source.discriminators) if "*" not in path]

    def function(self) -> DirectRead:
        """Return the function."""
        code = self.code
        self._object(())
        self._refuse_extras()
        for mapping in self.source.fields:
            self._field(mapping)
        for path in self._deciders():
            value = self._value(path)
            self.key.append(f"{value} if type({value}) is str else None")
        self._make()
        code.add(f"return Record({arguments(self.found['record'])}), key")
        return code.function("direct(row)")

    def _object(self, path: tuple[str, ...]) -> str:
        """Add the lines that find the object at `path`; return its variable."""
        known = self.objects.get(path)
        if known is not None:
            return known
        code = self.code
        if not path:
            self.objects[path] = "row"
            self.key.append("*map(type, astuple(row))")
            return "row"
        variable, types = code.variable("o"), code.variable("t")
        struct, attributes = self.decoder.classes[path], self.decoder.attributes[path]
        absent = SimpleNamespace(**dict.fromkeys(attributes.values(), UNSET))
        code.add(f"{variable} = {self._value(path)}", f"{types} = None")
        code.block(
            f"if type({variable}) is {code.name_of(struct)}:",
            f"{types} = (*map(type, astuple({variable})),)",
        )
        # A value of another type, such as a list, may have fields inside.
        code.block(
            f"elif {variable} is not UNSET and {variable} is not None:", "return None"
        )
        code.block("else:", f"{variable} = {code.name_of(absent)}")
        self.objects[path] = variable
        self.key.append(types)
        return variable

    def _value(self, path: tuple[str, ...]) -> str:
        """Return the expression of the value at `path`, `UNSET` if no row has it."""
        owner = self._object(path[:-1])
        attribute = self.decoder.attributes[path[:-1]].get(path[-1])
        return "UNSET" if attribute is None else f"{owner}.{attribute}"

    def _refuse_extras(self) -> None:
        """Add the lines that return None for a row with extra fields of a record."""
        path = self.source.extras_path
        if path == ():
            self.code.block(
                f"if {self._value((EXTRAS_KEY,))} is not UNSET:", "return None"
            )
        elif path is not None:
            owner = self._value(path)
            self.code.add(f"e = {owner}")
            self.code.block(
                "if e is not UNSET and e is not None:",
                "if type(e) is not dict: e = to_builtins(e)",
                f"if {EXTRAS_KEY!r} in e: return None",
            )

    def _is_needed(self, mapping: FieldMapping) -> bool:
        """Tell whether the value of a field may decide on anything but its type."""
        path, capacity = mapping.record_path, self.target.capacity
        if path in _always or self.target.carries(path):
            return True
        if path == "outputs.turns":
            return capacity.messages or capacity.outputs is not Cardinality.NONE
        return _is_read_by_value(mapping)

    def _field(self, mapping: FieldMapping) -> None:
        """Add the lines that read one field."""
        code, path = self.code, mapping.record_path
        start, level = next(each for each in _levels if path.startswith(each[0]))
        value = code.variable("v")
        code.add(f"{value} = {self._value(mapping.path)}")
        types = FIELD_TYPES[path]
        if path in OPEN_OBJECTS:
            self.key.append(f"{code.name_of(_keys_of)}({value})")
        if not self._is_needed(mapping):
            if list in types:
                self.key.append(
                    f"frozenset(map(type, {value})) if type({value}) is list else None"
                )
            if level != "record":
                self.passed.append(value)
            return
        if _is_read_by_value(mapping):
            # An empty list may be read as null, and another one as a text.
            self.key.append(f"type({value})")
        self.found[level][path.removeprefix(start)] = value
        code.block(
            f"if {value} is not UNSET:",
            *self._taken(mapping, value),
        )

    def _taken(self, mapping: FieldMapping, value: str) -> list[str]:
        """Return the lines that take the value of a needed field.

        A null that the field cannot hold is not taken, and goes to the extra.
        """
        path, codec = mapping.record_path, mapping.codec
        lines = []
        if path == "outputs.turns" and (
            self.target.capacity.messages or self.target.capacity.turns
        ):
            # Messages are written, and may have numbers.
            lines.append(f"if {value} is not None: return None")
        lines += [
            f"raw = {value}",
            f"if type(raw) not in BUILTIN: {value} = to_builtins(raw)",
        ]
        if codec is not None and codec.read is not as_is:
            lines.append(f"{value} = {self.code.name_of(codec.read)}({value})")
        if self._takes_last_answer(mapping):
            lines = self._last_answer(mapping, value, lines)
        fits = f"type({value}) in {self.code.name_of(frozenset(FIELD_TYPES[path]))}"
        if path in TEXT_LISTS:
            fits += f" and TEXT.issuperset(map(type, {value}))"
        elif path in OBJECT_LISTS:
            fits += f" and OBJECT.issuperset(map(type, {value}))"
        return [
            *lines,
            f"if not ({fits}):",
            "    if raw is not None: return None",
            f"    {value} = UNSET",
        ]

    def _takes_last_answer(self, mapping: FieldMapping) -> bool:
        """Tell whether nothing but the last answer of a conversation is written."""
        if mapping.record_path != "outputs.turns" or mapping.codec is None:
            return False
        capacity = self.target.capacity
        is_text = not (capacity.turns or capacity.messages)
        is_typed = (*mapping.path, "*") in self.decoder.classes
        is_last = self.choices.turns is Turns.LAST
        return is_text and is_last and is_typed and mapping.codec.by_item

    def _last_answer(
        self, mapping: FieldMapping, value: str, otherwise: list[str]
    ) -> list[str]:
        """Return the lines that read only the last answer of a conversation.

        The turns before it are those of a question that the record has anyway.
        """
        assert mapping.codec is not None  # noqa: S101 - asked before
        struct = self.decoder.classes[*mapping.path, "*"]
        kinds = self.code.name_of(frozenset({struct}))
        last = self.code.name_of(partial(_answer_in, read=mapping.codec.read))
        prompt = self.found["record"].get("prompt", "UNSET")
        return [
            f"raw = {value}",
            "if type(raw) is list:",
            f"    if {prompt} is UNSET or not {kinds}.issuperset(map(type, raw)):",
            "        return None",
            f"    {value} = {last}(raw)",
            "else:",
            *(f"    {line}" for line in otherwise),
        ]

    def _make(self) -> None:
        """Add the lines that make the key, the scores and the outputs."""
        code, found = self.code, self.found
        code.add(f"key = ('row', {', '.join(self.key)})")
        if found["scores"]:
            is_there = _any_of(found["scores"].values())
            made = f"[Score({arguments(found['scores'])})]"
            code.add(f"scores = {made} if {is_there} else UNSET")
            found["outputs"]["scores"] = "scores"
        if not found["outputs"]:
            if self.passed:
                code.block(f"if {_any_of(self.passed)}:", "return None")
            return
        made = f"outputs = [Output({arguments(found['outputs'])})]"
        code.block(f"if {_any_of(found['outputs'].values())}:", made)
        if self.passed:
            # Whether there is an output at all depends on what is not needed.
            code.block(f"elif {_any_of(self.passed)}:", "return None")
        code.block("else:", "outputs = []")
        found["record"]["outputs"] = "outputs"


def _is_read_by_value(mapping: FieldMapping) -> bool:
    """Tell whether the type of what is read depends on more than that of the value."""
    codec = mapping.codec
    return not (codec is None or codec.read is as_is or codec.by_type)


def _any_of(variables: Any) -> str:
    return " or ".join(f"{each} is not UNSET" for each in variables)


def _keys_of(value: Any) -> Hashable:
    """Return the keys of an object, and which of its values are null."""
    if type(value) is dict:
        return members_key(value)
    if isinstance(value, Struct):
        return tuple(map(type, astuple(value)))
    return None


def _answer_in(raw: list[Any], read: Callable[[list[Any]], Any]) -> list[Any]:
    """Return the turns in `raw` that `chats.fit_chats` takes the answer from: one.

    That is the last turn of the assistant with a content, or without one if no other
    has it, or any turn if none is the assistant's.
    """
    found: list[Any] = []
    for item in reversed(raw):
        turns: list[Any] = read([msgspec.to_builtins(item)])
        if turns[0].get("role") == "assistant":
            if turns[0].get("content") is not None:
                return turns
            found = found or turns
    return found or read(msgspec.to_builtins(raw[:1]))
