"""The table of losses: a line for each field, in the words of who reads it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harpia_formats.conversion.report import FileLosses
from harpia_formats.model.field_fates import Fate
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Place
from harpia_formats.registry import adapter_of

#: Fields that a place in a list says, which has no name of its own.
_of_places = frozenset({"outputs.index"})
#: Behind the name of a key that is in part no field of a record.
_rest = " (rest)"
#: What a path begins with that is no field: a member of what vendors keep as they like.
_free = ("metadata.", "extra.", "outputs.extra.")


@dataclass(slots=True)
class FieldLine:
    """What became of one field over all files."""

    #: What the source calls it.
    name: str
    #: Whether it is no field of a record, but a key that vendors fill as they like.
    beside: bool = False
    #: Records that had it.
    records: int = 0
    #: Records of which it arrived as it was.
    kept: int = 0
    #: How often which fate met it.
    fates: Counter[Fate] = field(default_factory=Counter)
    #: What was done, in words.
    hows: dict[str, int] = field(default_factory=dict)
    #: The first record of which it did not arrive as it was.
    place: Place | None = None


def field_lines(files: Sequence[FileLosses]) -> list[FieldLine]:
    """Return a line for each field, in the order in which records have them.

    What is beside the fields, such as a key of `metadata`, comes behind them.
    """
    lines: dict[str, FieldLine] = {}

    def line_of(name: str, path: str) -> FieldLine:
        return lines.setdefault(name, FieldLine(name, beside=is_beside(name, path)))

    for file in files:
        names = names_of(file.source)
        for path, count in file.losses.carried.items():
            name = name_in(names, path)
            line_of(name, path).records += count
        touched: Counter[str] = Counter()
        for each in file.losses.losses.values():
            name = name_in(names, each.note.path)
            line = line_of(name, each.note.path)
            line.place = line.place or each.place
            if each.note.how:
                line.hows[each.note.how] = line.hows.get(each.note.how, 0) + each.count
        for (fate, path), count in file.losses.fates.items():
            name = name_in(names, path)
            lines[name].fates[fate] += count
            if fate is not Fate.DEFAULTED:
                touched[name] = max(touched[name], count)
        for path, count in file.losses.carried.items():
            name = name_in(names, path)
            lines[name].kept += max(0, count - touched[name])
    found = [each for each in lines.values() if each.records or each.fates]
    return sorted(found, key=lambda each: each.beside)


def is_beside(name: str, path: str) -> bool:
    """Tell whether a line is of what is beside the fields of a record."""
    return path.startswith(_free) or name.endswith(_rest)


def names_of(source: Format | None) -> dict[str, str]:
    """Return what `source` calls the fields of records, by their paths."""
    if source is None:
        return {}
    adapter = adapter_of(source)
    names: dict[str, str] = {}
    for each in adapter.fields:
        if each.record_path not in _of_places:
            names.setdefault(each.record_path, each.name)
            if each.key_record_path:
                names.setdefault(each.key_record_path, each.name)
    shared = Counter(names.values())
    names = {
        path: f"{name} ({path})" if shared[name] > 1 else name
        for path, name in names.items()
    }
    names[f"extra.{adapter.vendor}."] = ""
    return names


def name_in(names: dict[str, str], path: str) -> str:
    """Return what the source calls the field at `path`."""
    if path in names:
        return names[path]
    owner, _, member = path.rpartition(".")
    if owner in names:
        return f"{names[owner]}.{member}"
    for start, name in names.items():
        if not name and path.startswith(start):
            key = path.removeprefix(start)
            # A field that is an object may be kept in part.
            rests = {
                each.partition(".")[0].partition(" ")[0] for each in names.values()
            }
            return f"{key}{_rest}" if key in rests else key
    return path


def words_for(line: FieldLine) -> Iterator[str]:
    """Yield what became of a field, such as `dropped 12`."""
    for fate in Fate:
        if line.fates[fate]:
            yield f"{fate.name.lower()} {line.fates[fate]:,}"
