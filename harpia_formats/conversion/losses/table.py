"""Make the table of losses: a line for each field, by its name in the source format."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harpia_formats.conversion.report import FileLosses
from harpia_formats.model.field_fates import Fate
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Place
from harpia_formats.registry import adapter_of

#: Fields that are the position in a list, and have no name in a row.
_positions = frozenset({"outputs.index"})
#: Stands behind the name of a key that is a field of the record in part.
_rest = " (rest)"
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

    Keys of open objects, such as `metadata`, follow the fields.
    """
    lines: dict[str, FieldLine] = {}

    def line_of(name: str, path: str) -> FieldLine:
        beside = path.startswith(_open_prefixes) or name.endswith(_rest)
        return lines.setdefault(name, FieldLine(name, beside=beside))

    for file in files:
        names = names_of(file.source)
        for path, count in file.losses.carried.items():
            name = name_in(names, path)
            line_of(name, path).records += count
        touched: Counter[str] = Counter()
        for loss in file.losses.counts.values():
            field_fate = loss.field_fate
            name = name_in(names, field_fate.path)
            line = line_of(name, field_fate.path)
            line.place = line.place or loss.place
            if field_fate.how:
                line.hows[field_fate.how] = (
                    line.hows.get(field_fate.how, 0) + loss.count
                )
        for (fate, path), count in file.losses.fates.items():
            name = name_in(names, path)
            lines[name].fates[fate] += count
            if fate is not Fate.DEFAULTED:
                touched[name] = max(touched[name], count)
        for path, count in file.losses.carried.items():
            name = name_in(names, path)
            lines[name].kept += max(0, count - touched[name])
    found = [line for line in lines.values() if line.records or line.fates]
    return sorted(found, key=lambda line: line.beside)


def names_of(source: Format | None) -> dict[str, str]:
    """Return the name of each field in the rows of `source`, by its record path.

    The path of the vendor's own extra keys has an empty name.
    """
    if source is None:
        return {}
    adapter = adapter_of(source)
    names: dict[str, str] = {}
    for mapping in adapter.fields:
        if mapping.record_path not in _positions:
            names.setdefault(mapping.record_path, mapping.name)
            if mapping.key_record_path:
                names.setdefault(mapping.key_record_path, mapping.name)
    shared = Counter(names.values())
    names = {
        path: f"{name} ({path})" if shared[name] > 1 else name
        for path, name in names.items()
    }
    names[f"extra.{adapter.vendor}."] = ""
    return names


def name_in(names: dict[str, str], path: str) -> str:
    """Return the name of the field at `path`, given the result of `names_of`."""
    if path in names:
        return names[path]
    owner, _, member = path.rpartition(".")
    if owner in names:
        return f"{names[owner]}.{member}"
    for start, name in names.items():
        if not name and path.startswith(start):
            key = path.removeprefix(start)
            # A part of the key may be a field of the record.
            fields = {
                known.partition(".")[0].partition(" ")[0] for known in names.values()
            }
            return f"{key}{_rest}" if key in fields else key
    return path


def words_for(line: FieldLine) -> Iterator[str]:
    """Yield how often each fate met a field, such as `dropped 12`."""
    for fate in Fate:
        if line.fates[fate]:
            yield f"{fate.name.lower()} {line.fates[fate]:,}"
