"""Read the fields that a target needs directly from the rows of a typed decoder.

A row of a format with `FormatAdapter.reads_by_fields` needs no dict then, no field that
is not written, and its extra only for targets that may write that. The types of all its
values are the key of what becomes of its fields, which is found once for each key by
reading one such row as a whole.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import astuple

from harpia_formats.conversion.mapping.choices import Choices, Prompt
from harpia_formats.conversion.mapping.compiled_fields import (
    Code,
    arguments,
    members_key,
)
from harpia_formats.conversion.mapping.direct_objects import (
    DirectObjects,
    ExactParts,
    has_objects,
    is_text_list,
    json_types,
    type_at,
)
from harpia_formats.conversion.mapping.extra_fields import EXTRAS_KEY, NO_SURROUNDINGS
from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.adapter import (
    LIST_OF_ONE,
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

#: Types of values that hold no number with a text of its own, such as 1e2.
_exact_types = frozenset({str, int, bool, type(None)})
_extras = ("extra", "outputs.extra")


def may_write_extra(source: FormatAdapter, target: FormatAdapter) -> bool:
    """Tell whether keys of rows of `source` that are no fields may be written."""
    return source.vendor == target.vendor or any(
        target.carries(f"{start}.{source.vendor}") for start in _extras
    )


def extra_keys(source: FormatAdapter, target: FormatAdapter) -> tuple[bytes, ...]:
    """Return texts of which rows of `source` have one if they hold foreign fields.

    These are what only other formats have fields for, and `target` may write it. The
    texts are their keys, and what escapes of their letters begin with. Rows with one
    are decoded a second time, so that escapes of other letters should not count.
    """
    keys = [] if source.extras_path is None else [EXTRAS_KEY]
    if any(source.carries(f"{start}.{target.vendor}") for start in _extras):
        keys.append("extra")
    escapes = {f"\\u{ord(letter):04x}"[:-1] for letter in "".join(keys)}
    return tuple(text.encode() for text in (*(f'"{key}"' for key in keys), *escapes))


def _writes_float_fields(source: FormatAdapter, target: FormatAdapter) -> bool:
    """Tell whether `target` has a place for a field of `source` with floats."""
    paths = {mapping.record_path for mapping in source.fields} | source.other_paths
    return any(
        target.carries(path)
        for path in paths - TEXT_LISTS
        if not _exact_types.issuperset(FIELD_TYPES.get(path, (object,)))
    )


def may_write_floats(
    source: FormatAdapter, target: FormatAdapter, choices: Choices
) -> bool:
    """Tell whether a row may have a float that the row of its record had.

    Only the exact decoder keeps the text of a float. Messages and turns may have some
    under any key.
    """
    is_any = choices.keep_extra or source.reads_numbers_as_text
    if is_any or may_write_extra(source, target):
        return True
    paths = {mapping.record_path for mapping in source.fields} | source.other_paths
    is_chat = target.capacity.messages or target.capacity.turns
    if is_chat and paths & {"messages", "outputs.turns"}:
        return True
    return _writes_float_fields(source, target)


#: The record of a row with the fields that a target needs, and the key of what becomes
#: of all its fields; None for a row that has to be read as a whole.
DirectRecord = tuple[Record, Hashable] | None


class DirectRead(Struct, frozen=True):
    """Reads rows of one decoder for one target."""

    #: Returns the record of a decoded row, with its exact parts if there are any.
    read: Callable[[Any, Any], DirectRecord]
    #: Decodes the exact parts of all rows of a chunk.
    parts: Callable[[Chunk], Sequence[Any]] | None

    def records(self, chunk: Chunk, values: Sequence[Any]) -> Iterator[DirectRecord]:
        """Yield the record of each row of `chunk`, decoded as `values`."""
        if self.parts is None:
            return map(self.read, values, repeat(None))
        try:
            parts = self.parts(chunk)
        except msgspec.MsgspecError:
            return repeat(None, len(values))
        return map(self.read, values, parts)


#: Fields that may decide on what is written though the target has no place for them.
_always = frozenset(
    "id prompt system messages references gt choices outputs.model outputs.text "
    "outputs.reasoning".split()
)
_builtins = frozenset({str, int, float, bool, type(None)})
_levels = (("outputs.scores.", "scores"), ("outputs.", "outputs"), ("", "record"))
#: The values that the code names.
_names = {
    "UNSET": UNSET,
    "astuple": astuple,
    "Struct": Struct,
    "Record": Record,
    "Output": Output,
    "Score": Score,
    "TEXT": frozenset({str}),
    "OBJECT": frozenset({dict}),
    "to_builtins": msgspec.to_builtins,
    "BUILTIN": _builtins,
}


class DirectReader(DirectObjects, kw_only=True):
    """Writes the function that reads rows of one decoder for one target."""

    target: FormatAdapter
    choices: Choices
    #: The variable of each needed field, by the struct that it is of and its name.
    found: dict[str, dict[str, str]] = field(
        default_factory=lambda: {name: {} for _, name in _levels}
    )
    #: The variables of fields of outputs and scores that are not needed.
    passed: list[str] = field(default_factory=list)

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
        self._find_exact()
        parts = self.parts.reader()
        self.object(())
        self.refuse_extras()
        for mapping in self.source.fields:
            self._field(mapping)
        for path in self._deciders():
            value = self.value(path)
            self.key.append(f"{value} if type({value}) is str else None")
        if self.has_extra and (extra := self.add_extra()):
            self.found["record"]["extra"] = extra
        self._make()
        code.add(f"return Record({arguments(self.found['record'])}), key")
        return DirectRead(code.function("direct(row, parts)"), parts)

    def _find_exact(self) -> None:
        """Find the values that have to be taken from the exact parts."""
        if not self.is_exact:
            return
        paths = [
            mapping.path for mapping in self.source.fields if self._is_written(mapping)
        ]
        if self.has_extra:
            known = {mapping.path for mapping in self.source.fields}
            owners = {path[:size] for path in known for size in range(len(path))}
            paths += [
                (*owner, key)
                for owner in owners
                for key in self.decoder.attributes[owner]
                if (*owner, key) not in known | owners
            ]
        self.exact = {path for path in paths if self.parts.add(path)}

    def _is_written(self, mapping: FieldMapping) -> bool:
        """Tell whether the target writes the value of a field, maybe as messages."""
        if mapping.record_path == "outputs.turns" and self._writes_turns:
            return True
        return self.target.carries(mapping.record_path)

    @property
    def _writes_turns(self) -> bool:
        capacity = self.target.capacity
        return capacity.messages or capacity.turns

    def _is_needed(self, mapping: FieldMapping) -> bool:
        """Tell whether the value of a field may decide on anything but its type."""
        path, capacity = mapping.record_path, self.target.capacity
        if self.has_extra or path in _always or self.target.carries(path):
            return True
        if path == "outputs.formatted_prompt":
            return self.choices.prompt is Prompt.FORMATTED
        if path == "outputs.turns":
            return capacity.messages or capacity.outputs is not Cardinality.NONE
        return _is_read_by_value(mapping)

    def _field(self, mapping: FieldMapping) -> None:
        """Add the lines that read one field."""
        code, path = self.code, mapping.record_path
        start, level = next(each for each in _levels if path.startswith(each[0]))
        value = self.values[mapping.path] = code.variable("v")
        code.add(f"{value} = {self.value(mapping.path)}")
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
        if type_at(self.decoder, mapping.path) is UnsetType:
            return
        self.found[level][path.removeprefix(start)] = value
        lines = self._taken(mapping, value)
        if lines:
            code.block(f"if {value} is not UNSET:", *lines)

    def _taken(self, mapping: FieldMapping, value: str) -> list[str]:
        """Return the lines that take the value of a needed field.

        A null that the field cannot hold is not taken, and goes to the extra.
        """
        path, codec = mapping.record_path, mapping.codec
        kind = type_at(self.decoder, mapping.path)
        found, types = json_types(kind), frozenset(FIELD_TYPES[path])
        lines = []
        if mapping.path not in self.exact and has_objects(kind):
            lines = [f"if type({value}) not in BUILTIN: {value} = to_builtins({value})"]
        if codec is LIST_OF_ONE and found == {str}:
            return [*lines, f"{value} = [{value}]"]
        read = None if codec is None or codec.read is as_is else codec.read
        has_items = path in OBJECT_LISTS or (
            path in TEXT_LISTS and not is_text_list(kind)
        )
        if read is None and not has_items and found - {type(None)} <= types:
            # Its type alone tells that it fits.
            if found <= types:
                return lines
            return [*lines, f"if {value} is None: {value} = UNSET"]
        lines.insert(0, f"raw = {value}")
        if read is not None:
            lines.append(f"{value} = {self.code.name_of(read)}({value})")
        fits = f"type({value}) in {self.code.name_of(types)}"
        if len(types) == 1:
            fits = f"type({value}) is {self.code.name_of(*types)}"
        if path in TEXT_LISTS:
            fits += f" and TEXT.issuperset(map(type, {value}))"
        elif path in OBJECT_LISTS:
            fits += f" and OBJECT.issuperset(map(type, {value}))"
        lines += [
            f"if not ({fits}):",
            "    if raw is not None: return None",
            f"    {value} = UNSET",
        ]
        if type(None) in found and _declines_null(mapping):
            # Most nulls stand for what a row does not have, which takes no call.
            declined = f"if {value} is None: {value} = UNSET"
            return [declined, "else:", *(f"    {line}" for line in lines)]
        return lines

    def _make(self) -> None:
        """Add the lines that make the key, the scores and the outputs."""
        code, found = self.code, self.found
        key = f"('row', {', '.join(self.key)})" if self.is_exact else "None"
        code.add(f"key = {key}")
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


def _declines_null(mapping: FieldMapping) -> bool:
    """Tell whether a field cannot hold what its codec reads of null."""
    codec, types = mapping.codec, FIELD_TYPES[mapping.record_path]
    if codec is None or not codec.by_type:
        return False
    return type(codec.read(None)) not in types


def _any_of(variables: Any) -> str:
    return " or ".join(f"{each} is not UNSET" for each in variables)


def _keys_of(value: Any) -> Hashable:
    """Return the keys of an object, and which of its values are null."""
    if type(value) is dict:
        return members_key(value)
    if isinstance(value, Struct):
        return tuple(map(type, astuple(value)))
    return None


__all__ = ["DirectRead", "direct_read"]


def direct_read(  # noqa: PLR0913 - what reads rows, and for whom
    source: FormatAdapter,
    target: FormatAdapter,
    choices: Choices,
    decoder: TypedDecoder,
    around: Mapping[str, Any] = NO_SURROUNDINGS,
    *,
    is_exact: bool = True,
) -> DirectRead | None:
    """Return the function that reads rows of `decoder` for `target`.

    `around` is what stands around the rows. If not `is_exact`, numbers may lose their
    text, objects the order of their keys, and all keys are None. None where rows have
    to be read as a whole, such as where their objects have no types.
    """
    if source.direct_reader is not None and not choices.keep_extra:
        return _own_reader(source, target, decoder, around)
    if not source.reads_by_fields or choices.keep_extra:
        return None
    paths = {mapping.record_path for mapping in source.fields}
    if len(paths) < len(source.fields) or "messages" in paths:
        return None
    has_extra = may_write_extra(source, target)
    reader = DirectReader(
        source=source,
        parts=ExactParts(decoder),
        code=Code(dict(_names)),
        has_extra=has_extra,
        target=target,
        choices=choices,
        is_exact=is_exact,
    )
    return reader.function() if reader.is_typed() else None


def _own_reader(
    source: FormatAdapter,
    target: FormatAdapter,
    decoder: TypedDecoder,
    around: Mapping[str, Any],
) -> DirectRead | None:
    """Return the function that the source has for its rows, None if it has none."""
    assert source.direct_reader is not None  # noqa: S101 - asked before
    if may_write_extra(source, target):
        return None
    read = source.direct_reader(around, target, decoder)
    return None if read is None else DirectRead(lambda row, _: read(row), None)
