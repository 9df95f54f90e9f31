"""Reduce records to the fields that several formats have in common."""

from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from harpia_formats.model.adapter import Cardinality, FormatAdapter
from harpia_formats.model.record import Header, Record

#: Paths that are listed as left out.
MAX_LISTED = 50
#: Fields that are reduced by rules of their own.
_reduced_apart = frozenset({"outputs", "scores", "extra"})


@dataclass(slots=True)
class CommonFields:
    """Removes the fields from records that one of several formats has no place for."""

    adapters: tuple[FormatAdapter, ...]
    #: The paths of fields that were removed from some record.
    left_out: tuple[str, ...] = ()

    def reduce(self, record: Record) -> Record:
        """Return `record` without fields that one of the formats has no place for."""
        if len(self.adapters) == 1:
            return record
        changes: dict[str, Any] = {}
        for name in Record.__struct_fields__:
            held = getattr(record, name) is not UNSET and name not in _reduced_apart
            if held and not self._is_common(name):
                changes[name] = UNSET
        capacities = [adapter.capacity for adapter in self.adapters]
        one_reference = any(
            capacity.references is Cardinality.ONE for capacity in capacities
        )
        if one_reference and record.references:
            if len(record.references) > 1:
                self._leave_out("references but the first")
            changes["references"] = record.references[:1]
        outputs = []
        if all(
            adapter.capacity.outputs is not Cardinality.NONE
            for adapter in self.adapters
        ):
            outputs = [self._reduced_output(output) for output in record.outputs]
        elif record.outputs:
            self._leave_out("outputs")
        if self._of_several_vendors:
            changes["extra"] = self._without_extra("extra", record.extra)
        return replace(record, **changes, outputs=outputs)

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

    @property
    def _of_several_vendors(self) -> bool:
        """Whether the formats have different extra fields, which cannot be compared."""
        return len({adapter.vendor for adapter in self.adapters}) > 1

    def _without_extra(self, path: str, extra: Any) -> UnsetType:
        for vendor, members in extra.items() if extra is not UNSET else ():
            for key in members:
                self._leave_out(f"{path}.{vendor}.{key}")
        return UNSET

    def _leave_out(self, path: str) -> None:
        """Add a path to those that are listed as left out."""
        if path not in self.left_out and len(self.left_out) < MAX_LISTED:
            self.left_out = (*self.left_out, path)

    def _reduced_output(self, output: Any) -> Any:
        changes = {
            name: UNSET
            for name in output.__struct_fields__
            if getattr(output, name) is not UNSET
            and name not in _reduced_apart
            and not self._is_common(f"outputs.{name}")
        }
        if self._of_several_vendors:
            changes["extra"] = self._without_extra("outputs.extra", output.extra)
        if output.scores is not UNSET:
            changes["scores"] = self._reduced_scores(output.scores)
        return replace(output, **changes)

    def _reduced_scores(self, scores: list[Any]) -> Any:
        if not all(
            adapter.capacity.scores is not Cardinality.NONE for adapter in self.adapters
        ):
            self._leave_out("outputs.scores")
            return UNSET
        reduced = []
        for score in scores:
            changes = {
                name: UNSET
                for name in score.__struct_fields__
                if getattr(score, name) is not UNSET
                and not self._is_common(f"outputs.scores.{name}")
            }
            reduced.append(replace(score, **changes))
        return reduced

    def _is_common(self, path: str) -> bool:
        common = all(adapter.carries(path) for adapter in self.adapters)
        if not common:
            self._leave_out(path)
        return common
