"""Reduce records to the fields that several formats have in common."""

from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET, Raw, Struct
from msgspec.structs import replace

from harpia_formats.conversion.comparison.encoded_records import (
    decode_extra,
    decode_items,
)
from harpia_formats.model.adapter import Cardinality, FormatAdapter
from harpia_formats.model.record import Header, Output, Record, Score

#: Paths that are listed as left out.
MAX_LISTED = 50
#: Fields that are reduced by rules of their own.
_reduced_apart = frozenset({"outputs", "scores", "extra"})
#: Fields of a record, an output or a score, each with its name there and its path.
_NamesAndPaths = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class CommonFields:
    """Removes the fields from records that one of several formats has no place for."""

    adapters: tuple[FormatAdapter, ...]
    #: The paths of fields that were removed from some record.
    left_out: dict[str, None] = field(default_factory=dict)
    #: The names and the paths of the fields of records, outputs and scores that one of
    #: the formats has no place for.
    _record: _NamesAndPaths = field(init=False)
    _output: _NamesAndPaths = field(init=False)
    _score: _NamesAndPaths = field(init=False)
    #: Whether all formats have room for several references, for outputs, for scores.
    _several_references: bool = field(init=False)
    _outputs: bool = field(init=False)
    _scores: bool = field(init=False)
    #: Whether the formats have different extra fields, which cannot be compared.
    _of_several_vendors: bool = field(init=False)

    def __post_init__(self) -> None:
        # Decided once, not for each record.
        self._record = self._without_place("", Record)
        self._output = self._without_place("outputs.", Output)
        self._score = self._without_place("outputs.scores.", Score)
        capacities = [adapter.capacity for adapter in self.adapters]
        self._several_references = all(
            capacity.references is not Cardinality.ONE for capacity in capacities
        )
        self._outputs = all(
            capacity.outputs is not Cardinality.NONE for capacity in capacities
        )
        self._scores = all(
            capacity.scores is not Cardinality.NONE for capacity in capacities
        )
        # Records hold the extra fields of any vendor.
        own = {one.vendor for one in self.adapters if not one.carries("extra")}
        self._of_several_vendors = len(own) > 1

    @property
    def is_all(self) -> bool:
        """Whether no field is removed from any record: there is only one format."""
        return len(self.adapters) < 2  # noqa: PLR2004 - several

    def reduce(self, record: Any) -> None:
        """Remove the fields that one of the formats has no place for.

        `record` is an `EncodedRecord`.
        """
        if self.is_all:
            return
        self._remove(record, self._record)
        if not self._several_references and record.references is not UNSET:
            references = decode_items(record.references)
            if len(references) > 1:
                self._leave_out("references but the first")
                record.references = Raw(b"[%b]" % bytes(references[0]))
        if self._outputs:
            for output in record.outputs:
                self._reduce_output(output)
        elif record.outputs:
            self._leave_out("outputs")
            record.outputs = []
        if self._of_several_vendors and record.extra is not UNSET:
            self._remove_extra("extra", record)

    def _reduce_output(self, output: Any) -> None:
        self._remove(output, self._output)
        if self._of_several_vendors and output.extra is not UNSET:
            self._remove_extra("outputs.extra", output)
        if output.scores is UNSET:
            return
        if not self._scores:
            self._leave_out("outputs.scores")
            output.scores = UNSET
        elif self._score:
            for score in output.scores:
                self._remove(score, self._score)

    def _remove(self, part: Any, fields: _NamesAndPaths) -> None:
        """Remove `fields` from a record, an output or a score."""
        for name, path in fields:
            if getattr(part, name) is not UNSET:
                self._leave_out(path)
                setattr(part, name, UNSET)

    def _remove_extra(self, path: str, part: Any) -> None:
        for vendor, members in decode_extra(part.extra).items():
            for key in members:
                self._leave_out(f"{path}.{vendor}.{key}")
        part.extra = UNSET

    def reduce_header(self, header: Header) -> Header:
        """Return `header` without fields that one of the formats has no place for."""
        if len(self.adapters) == 1:
            return header
        changes: dict[str, Any] = {}
        for name in header.__struct_fields__:
            if getattr(header, name) is UNSET:
                continue
            places = [
                any(path.partition(".")[0] == name for path in adapter.header_fields)
                for adapter in self.adapters
            ]
            if not all(places) or (name == "extra" and self._of_several_vendors):
                self._leave_out(f"header.{name}")
                changes[name] = UNSET
        return replace(header, **changes)

    def _without_place(self, start: str, struct: type[Struct]) -> _NamesAndPaths:
        """Return the fields that one format has no place for; paths have a `start`."""
        return tuple(
            (name, f"{start}{name}")
            for name in struct.__struct_fields__
            if name not in _reduced_apart
            and not all(one.carries(f"{start}{name}") for one in self.adapters)
        )

    def _leave_out(self, path: str) -> None:
        """Add a path to those that are listed as left out."""
        if path not in self.left_out and len(self.left_out) < MAX_LISTED:
            self.left_out[path] = None
