"""The answers of one model, and which models there are if it has none."""

from dataclasses import dataclass, field

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.mapping.requirements import ConversionError
from harpia_formats.model.record import Record

#: Models that a sentence names.
NAMED = 5
#: Models that are remembered, so that memory does not grow with them.
MOST = 1_000


@dataclass(slots=True)
class ModelSelection:
    """Takes the answers of the model that is asked for, of all where none is."""

    wanted: str | None
    #: Whether an answer was of it.
    found: bool = False
    #: The models that answers were of.
    seen: dict[str, None] = field(default_factory=dict)

    def note(self, record: Record) -> None:
        """Remember the models of a record, if one is asked for."""
        if self.wanted is None:
            return
        for each in _models_of(record):
            self.found = self.found or each == self.wanted
            if len(self.seen) < MOST:
                self.seen[each] = None

    def of(self, record: Record) -> Record:
        """Return `record` with the answers of the model that is asked for."""
        if self.wanted is None:
            return record
        self.note(record)
        kept = [each for each in record.outputs if each.model == self.wanted]
        return replace(record, outputs=kept)

    def lacking(self, record: Record) -> str:
        """Return that no answer of a record is of the model, "" if one is."""
        seen = _models_of(record)
        if self.wanted is None or self.wanted in seen:
            return ""
        return absent(self.wanted, seen, " of the record")

    def check(self, where: str = "") -> None:
        """Raise `ConversionError` if records were read and no answer was of it."""
        if self.wanted is not None and not self.found:
            raise ConversionError(absent(self.wanted, list(self.seen), where))


def _models_of(record: Record) -> list[str]:
    named = (each.model for each in record.outputs if each.model is not UNSET)
    return list(dict.fromkeys(named))


def absent(wanted: str, seen: list[str], where: str = "") -> str:
    """Return a sentence that no answer is of a model, and which models there are."""
    start = f"no answer{where} is of the model {wanted!r}"
    if not seen:
        return f"{start}; none names its model"
    from harpia_formats.text.spelling import nearest  # noqa: PLC0415 - for mistakes only

    near = nearest(wanted, seen)
    hint = f"; did you mean {near!r}?" if near else ""
    more = f" and {len(seen) - NAMED:,} more" if len(seen) > NAMED else ""
    listed = ", ".join(map(repr, seen[:NAMED]))
    return f"{start}{hint} (there are: {listed}{more})"
