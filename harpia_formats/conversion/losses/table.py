"""Make the table of losses: a line for each field, by its name in the source format."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harpia_formats.conversion.report import FileLosses
from harpia_formats.model.field_fates import Fate
from harpia_formats.model.problem import Place

#: What the paths of members of open objects begin with, which are no fields.
_open_prefixes = ("metadata.", "extra.", "outputs.extra.")


@dataclass(slots=True)
class FieldLine:
    """What became of one field over all files."""

    #: Its name in the source format.
    name: str
    #: Whether it is a key of an open object, and no field of a record.
    beside: bool = False
    #: Records that had it.
    records: int = 0
    #: Records of which it arrived unchanged.
    kept: int = 0
    #: How often each fate met it.
    fates: Counter[Fate] = field(default_factory=Counter)
    #: How often it was changed in each way, by the description of the way.
    hows: dict[str, int] = field(default_factory=dict)
    #: The first record of which it did not arrive unchanged.
    place: Place | None = None


def field_lines(files: Sequence[FileLosses]) -> list[FieldLine]:
    """Return a line for each field, in the order in which records have them.

    Keys of open objects, such as `metadata`, follow the fields. There is none for a key
    whose value arrives as the field that is mapped to it.
    """
    lines: dict[str, FieldLine] = {}
    mapped: dict[str, str] = {}
    for file in files:
        losses = file.losses
        mapped |= losses.names.mapped
        fates = (fate_count.field_fate.path for fate_count in losses.counts.values())
        for path in (*losses.carried, *fates):
            name = losses.names.of(path)
            beside = path.startswith(_open_prefixes)
            lines.setdefault(name, FieldLine(name, beside=beside))
        for name, count in losses.records.items():
            lines[name].records += count
            lines[name].kept += losses.kept[name]
        for loss in losses.counts.values():
            line = lines[losses.names.of(loss.field_fate.path)]
            line.place = line.place or loss.place
            how = loss.field_fate.how
            if how:
                line.hows[how] = line.hows.get(how, 0) + loss.count
        for (fate, name), count in losses.fates.items():
            lines[name].fates[fate] += count
    for key, name in mapped.items():
        if name in lines and not lines[name].fates:
            lines.pop(key, None)
    found = [line for line in lines.values() if line.records or line.fates]
    return sorted(found, key=lambda line: line.beside)


def words_for(line: FieldLine) -> Iterator[str]:
    """Yield how often each fate met a field, such as `dropped 12`."""
    for fate in Fate:
        if line.fates[fate]:
            yield f"{fate.name.lower()} {line.fates[fate]:,}"
