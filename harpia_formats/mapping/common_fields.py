"""What two formats both have a place for, which is all that can be compared."""

from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from harpia_formats.model.adapter import Cardinality, FormatAdapter
from harpia_formats.model.record import Record

#: Fields that are told of as left out.
MOST = 50
#: Fields that are compared, or left out, by themselves.
_apart = frozenset({"outputs", "scores", "extra"})


@dataclass(slots=True)
class CommonFields:
    """Takes from records what one of some formats has no place for."""

    adapters: tuple[FormatAdapter, ...]
    #: Fields that were taken away from some record.
    left_out: tuple[str, ...] = ()

    def of(self, record: Record) -> Record:
        """Return `record` without what one of the formats has no place for."""
        if len(self.adapters) == 1:
            return record
        changes: dict[str, Any] = {}
        for name in Record.__struct_fields__:
            held = getattr(record, name) is not UNSET and name not in _apart
            if held and not self._is_common(name):
                changes[name] = UNSET
        if self._holds_one_reference and record.references:
            if len(record.references) > 1:
                self._leave_out("references but the first")
            changes["references"] = record.references[:1]
        outputs = []
        if all(each.capacity.outputs is not Cardinality.NONE for each in self.adapters):
            outputs = [self._narrowed_output(each) for each in record.outputs]
        elif record.outputs:
            self._leave_out("outputs")
        if self._of_several_vendors:
            changes["extra"] = self._without_extra("extra", record.extra)
        return replace(record, **changes, outputs=outputs)

    @property
    def _holds_one_reference(self) -> bool:
        """Whether one of the formats has room for no more than one reference."""
        return any(
            each.capacity.references is Cardinality.ONE for each in self.adapters
        )

    @property
    def _of_several_vendors(self) -> bool:
        """Whether what is kept of rows cannot be compared."""
        return len({each.vendor for each in self.adapters}) > 1

    def _without_extra(self, path: str, extra: Any) -> UnsetType:
        for vendor, members in extra.items() if extra is not UNSET else ():
            for key in members:
                self._leave_out(f"{path}.{vendor}.{key}")
        return UNSET

    def _leave_out(self, path: str) -> None:
        """Remember what is not compared, so that it is said."""
        if path not in self.left_out and len(self.left_out) < MOST:
            self.left_out = (*self.left_out, path)

    def _narrowed_output(self, output: Any) -> Any:
        changes = {
            name: UNSET
            for name in output.__struct_fields__
            if getattr(output, name) is not UNSET
            and name not in _apart
            and not self._is_common(f"outputs.{name}")
        }
        if self._of_several_vendors:
            changes["extra"] = self._without_extra("outputs.extra", output.extra)
        if output.scores is not UNSET:
            changes["scores"] = self._narrowed_scores(output.scores)
        return replace(output, **changes)

    def _narrowed_scores(self, scores: list[Any]) -> Any:
        if not all(
            each.capacity.scores is not Cardinality.NONE for each in self.adapters
        ):
            self._leave_out("outputs.scores")
            return UNSET
        narrowed = []
        for score in scores:
            changes = {
                name: UNSET
                for name in score.__struct_fields__
                if getattr(score, name) is not UNSET
                and not self._is_common(f"outputs.scores.{name}")
            }
            narrowed.append(replace(score, **changes))
        return narrowed

    def _is_common(self, path: str) -> bool:
        common = all(each.carries(path) for each in self.adapters)
        if not common:
            self._leave_out(path)
        return common
