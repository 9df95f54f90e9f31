"""What each ordered pair of record formats loses, read off what both of them hold."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from harpia_formats.mapping.requirements import ConversionError, check_requirements
from harpia_formats.model.adapter import Cardinality, FormatAdapter
from harpia_formats.model.format import Format
from harpia_formats.registry import adapter_of, readable_formats, writable_formats

#: What stands for keys of rows, and of answers, that no field of a record is for.
OTHER_KEYS, REST_OF_ANSWERS = "other keys", "rest of answers"
_header = "header"
_several = frozenset({Cardinality.MANY, Cardinality.MANY_OF_ONE_MODEL})
_chats, _conversations = "messages", "outputs.turns"
#: Whether a row that holds chats also holds answers, and what a conversation becomes.
_as_chat = {
    True: "conversations: a chat and the answer",
    False: "conversations: the chat before the answer",
}


class Spot(NamedTuple):
    """Something that rows have, and the path of the field of a record that it is."""

    path: tuple[str, ...]
    record_path: str

    @property
    def name(self) -> str:
        """Its path as one word."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Pair:
    """What becomes of records of one format on their way into another."""

    source: str
    target: str
    #: Spots that have no place, as the source calls them.
    dropped: tuple[str, ...]
    #: The same as paths in a record.
    paths: tuple[str, ...]
    #: Those of rows in fewer words, and those of the header.
    summary: str
    header: str
    #: What is said in another way, or less of it, or in more rows.
    changed: tuple[str, ...]
    #: Keys that the target must have and the source never has.
    needs: tuple[str, ...]
    #: The same in fewer words.
    needed: str
    #: Whether --keep-extra keeps what has no place.
    keeps_extra: bool

    @property
    def is_lossless(self) -> bool:
        """Whether every field of the source has its place in the target."""
        return not self.dropped and not self.changed


def pairs() -> Iterator[Pair]:
    """Yield each ordered pair of a format that can be read and one to be written."""
    for source, target in product(
        readable_formats().values(), writable_formats().values()
    ):
        if source != target:
            yield pair_of(source, target)


def pair_of(source: Format, target: Format) -> Pair:
    """Return what becomes of records of `source` as rows of `target`."""
    ours, theirs = adapter_of(source), adapter_of(target)
    changed = dict(_changes(ours, theirs))
    spots = spots_of(ours)
    lost = [
        each
        for each in spots
        if each.record_path not in changed and not _arrives(each, ours, theirs)
    ]
    labels = _labels(spots)
    words = {each: f"{labels[each]}{_part(each, theirs)}" for each in lost}
    needs = {each: each.name for each in _needed(source, target)}
    return Pair(
        source=source.id,
        target=target.id,
        dropped=tuple(words.values()),
        paths=tuple(each.record_path for each in lost),
        summary=_summary(_apart(spots, header=False), words),
        header=_summary(_apart(spots, header=True), words),
        changed=tuple(changed.values()),
        needs=tuple(needs.values()),
        needed=", ".join(_grouped(spots_of(theirs), needs)),
        keeps_extra=theirs.extras_path is not None,
    )


def spots_of(adapter: FormatAdapter) -> list[Spot]:
    """Return the fields of rows, what is carried without one, and the header's."""
    # What a row always has at a place is read as one field, however it is written.
    taken = {
        each.path: each.record_path
        for each in reversed(adapter.fields)
        if each.required
    }
    spots = [
        Spot(each.path, each.record_path)
        for each in adapter.fields
        if taken.get(each.path, each.record_path) == each.record_path
    ]
    spots += [
        Spot(each.path, each.key_record_path)
        for each in adapter.fields
        if each.key_record_path
    ]
    known = [each.record_path for each in spots]
    spots += [
        Spot((each,), each)
        for each in sorted(adapter.other_paths)
        if "extra" not in each
        and not any(record_path.startswith(each) for record_path in known)
    ]
    if not adapter.carries("extra"):
        spots.append(Spot((OTHER_KEYS,), f"extra.{adapter.vendor}"))
    of_answers = f"outputs.extra.{adapter.vendor}"
    if of_answers in adapter.other_paths:
        spots.append(Spot((REST_OF_ANSWERS,), of_answers))
    return spots + [
        Spot((_header, each.partition(".")[0]), f"{_header}.{each}")
        for each in adapter.header_fields
    ]


def _apart(spots: Sequence[Spot], *, header: bool) -> list[Spot]:
    """Return the spots of rows, or those of the header."""
    return [each for each in spots if (each.path[0] == _header) is header]


def _arrives(spot: Spot, source: FormatAdapter, target: FormatAdapter) -> bool:
    if spot.path[0] != _header:
        return target.carries(spot.record_path)
    asked = spot.record_path.removeprefix(f"{_header}.")
    if asked == "extra":
        return "extra" in target.header_fields
    held = target.header_fields
    return asked in held or (asked == f"extra.{source.vendor}" and "extra" in held)


def _changes(source: FormatAdapter, target: FormatAdapter) -> Iterator[tuple[str, str]]:
    """Yield each field that does not arrive as it is, and what it becomes."""
    ours, theirs = source.capacity, target.capacity
    if ours.references is Cardinality.MANY and theirs.references is Cardinality.ONE:
        yield "references of several", "references: the first"
    if ours.outputs in _several and theirs.outputs in {
        Cardinality.ONE,
        Cardinality.MANY_OF_ONE_MODEL,
    }:
        yield "outputs of several", "answers: one row each"
    if ours.scores is Cardinality.MANY and theirs.scores is Cardinality.ONE:
        yield "scores of several", "scores: one row each"
    if source.carries(_chats) and not theirs.messages:
        how = "turns before the answer" if theirs.turns else "the last question"
        yield _chats, f"chats: {how}"
    if source.carries(_conversations) and not theirs.turns:
        has_answers = theirs.outputs is not Cardinality.NONE
        if theirs.messages:
            yield _conversations, _as_chat[has_answers]
        elif has_answers:
            yield _conversations, "conversations: the last answer"


def _needed(source: Format, target: Format) -> Iterator[Spot]:
    """Yield the spots that have to be filled before anything can be converted."""
    ours, theirs = adapter_of(source), adapter_of(target)
    for each in theirs.fields:
        one = replace(theirs, fields=(each,))
        try:
            check_requirements(source, ours, target, one, (), scored=False)
        except ConversionError:
            yield Spot(each.path, each.record_path)


def _part(spot: Spot, target: FormatAdapter) -> str:
    """Return a word on a field of which the target has a place for some members."""
    inner = f"{spot.record_path}."
    is_partly = any(each.startswith(inner) for each in target.carried_paths)
    return " (in part)" if is_partly else ""


def _labels(spots: Sequence[Spot]) -> dict[Spot, str]:
    """Return what each spot is called, apart from others at the same place."""
    names = [each.name for each in spots]
    return {
        each: f"{each.name} ({each.record_path})"
        if names.count(each.name) > 1
        or any(name.startswith(f"{each.name}.") for name in names)
        else each.name
        for each in spots
    }


def _summary(spots: Sequence[Spot], words: Mapping[Spot, str]) -> str:
    """Return what has a word in the fewest letters: by name, or all but the others."""
    if not any(each in words for each in spots):
        return ""
    labels = _labels(spots)
    rest = {each: labels[each] for each in spots if each not in words}
    named = ", ".join(_grouped(spots, words))
    others = f"all but {', '.join(_grouped(spots, rest))}"
    return others if rest and len(others) < len(named) else named


def _grouped(
    spots: Iterable[Spot], words: Mapping[Spot, str], depth: int = 1
) -> Iterator[str]:
    """Yield a word for each spot that has one, and one for all that are below a key."""
    groups: dict[tuple[str, ...], list[Spot]] = {}
    for each in spots:
        groups.setdefault(each.path[:depth], []).append(each)
    for path, group in groups.items():
        told = [each for each in group if each in words]
        if len(told) == 1:
            yield words[told[0]]
        elif told and len(told) == len(group):
            is_one = any(each.path == path for each in group)
            yield ".".join(path) + ("" if is_one else ".*")
        elif told:
            yield from _at(path, told, words)
            below = (each for each in group if each.path != path)
            yield from _grouped(below, words, depth + 1)


def _at(
    path: tuple[str, ...], told: Sequence[Spot], words: Mapping[Spot, str]
) -> Iterator[str]:
    """Yield one word for the spots that are at `path` itself."""
    here = [each for each in told if each.path == path]
    if len(here) == 1:
        yield words[here[0]]
    elif here:
        yield f"{here[0].name} ({', '.join(each.record_path for each in here)})"


def line_of(pair: Pair) -> str:
    """Return what a pair loses as one line."""
    parts = []
    if pair.summary:
        kept = " (not with --keep-extra)" if pair.keeps_extra else ""
        parts.append(f"drops {pair.summary}{kept}")
    if pair.header:
        parts.append(f"drops {pair.header}")
    parts += pair.changed
    if not parts:
        parts.append("no field")
    if pair.needs:
        parts.append(f"needs {pair.needed}")
    return "; ".join(parts)


def pair_as_dict(pair: Pair) -> dict[str, Any]:
    """Return a pair as programs get it."""
    return {
        "source": pair.source,
        "target": pair.target,
        "dropped": list(pair.dropped),
        "dropped_paths": list(pair.paths),
        "changed": list(pair.changed),
        "needs": list(pair.needs),
        "keeps_extra": pair.keeps_extra,
    }
