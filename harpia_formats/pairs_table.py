"""What each ordered pair of record formats loses, read off what both of them hold."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, permutations
from typing import Any, NamedTuple

from harpia_formats.format import Format
from harpia_formats.needs import ConversionError, check_needs
from harpia_formats.registry import record_formats, spoke_of
from harpia_formats.spoke import Many, Spoke

#: What stands for keys of rows that no field of a record is for.
OTHER_KEYS = "other keys"
_several = frozenset({Many.ALL, Many.OF_ONE_MODEL})
_chats, _conversations = "messages", "outputs.turns"
#: Whether a row that holds chats also holds answers, and what a conversation becomes.
_as_chat = {
    True: "conversations: a chat and the answer",
    False: "conversations: the chat before the answer",
}


class Spot(NamedTuple):
    """Something that rows have, and the path of the field of a record that it is."""

    path: tuple[str, ...]
    hub: str

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
    #: The same in fewer words.
    summary: str
    #: What is said in another way, or less of it, or in more rows.
    changed: tuple[str, ...]
    #: Keys that the target must have and the source never has.
    needs: tuple[str, ...]
    #: Whether --keep-extra keeps what has no place.
    keeps_extra: bool

    @property
    def is_lossless(self) -> bool:
        """Whether every field of the source has its place in the target."""
        return not self.dropped and not self.changed


def pairs() -> Iterator[Pair]:
    """Yield each ordered pair of two record formats."""
    for source, target in permutations(record_formats().values(), 2):
        yield pair_of(source, target)


def pair_of(source: Format, target: Format) -> Pair:
    """Return what becomes of records of `source` as rows of `target`."""
    ours, theirs = spoke_of(source), spoke_of(target)
    changed = dict(_changes(ours, theirs))
    spots = spots_of(ours)
    lost = [
        each
        for each in spots
        if each.hub not in changed and not _arrives(each, ours, theirs)
    ]
    labels = _labels(spots)
    return Pair(
        source.id,
        target.id,
        tuple(dict.fromkeys(f"{labels[each]}{_part(each, theirs)}" for each in lost)),
        _summary(spots, lost, theirs),
        tuple(changed.values()),
        tuple(_needed(source, target)),
        theirs.room is not None,
    )


def spots_of(spoke: Spoke) -> list[Spot]:
    """Return the fields of rows, what is carried without one, and the header's."""
    spots = [Spot(each.path, each.hub) for each in spoke.fields]
    known = {each.hub for each in spots}
    for each in sorted(spoke.carries - known):
        if "extra" not in each and not any(hub.startswith(f"{each}.") for hub in known):
            spots.append(Spot((each,), each))
    if not spoke.carried("extra"):
        spots.append(Spot((OTHER_KEYS,), f"extra.{spoke.vendor}"))
    for each in spoke.header_fields:
        spots.append(Spot(("header", each.partition(".")[0]), f"header.{each}"))
    return spots


def _arrives(spot: Spot, source: Spoke, target: Spoke) -> bool:
    if not spot.hub.startswith("header."):
        return target.carried(spot.hub)
    asked = spot.hub.removeprefix("header.")
    if asked == "extra":
        return "extra" in target.header_fields
    held = target.header_fields
    return asked in held or (asked == f"extra.{source.vendor}" and "extra" in held)


def _changes(source: Spoke, target: Spoke) -> Iterator[tuple[str, str]]:
    """Yield the path of each field that does not arrive as it is, and what it becomes."""
    ours, theirs = source.holds, target.holds
    if ours.references is Many.ALL and theirs.references is Many.ONE:
        yield "references of several", "references: the first"
    if ours.outputs in _several and theirs.outputs in {Many.ONE, Many.OF_ONE_MODEL}:
        yield "outputs of several", "answers: one row each"
    if ours.scores is Many.ALL and theirs.scores is Many.ONE:
        yield "scores of several", "scores: one row each"
    if source.carried(_chats) and not theirs.messages:
        how = "turns before the answer" if theirs.turns else "the last question"
        yield _chats, f"chats: {how}"
    if source.carried(_conversations) and not theirs.turns:
        has_answers = theirs.outputs is not Many.NONE
        if theirs.messages:
            yield _conversations, _as_chat[has_answers]
        elif has_answers:
            yield _conversations, "conversations: the last question and answer"


def _needed(source: Format, target: Format) -> Iterator[str]:
    """Yield the keys that have to be given before anything can be converted."""
    ours, theirs = spoke_of(source), spoke_of(target)
    for each in theirs.fields:
        one = replace(theirs, fields=(each,))
        try:
            check_needs(source, ours, target, one, (), scored=False)
        except ConversionError:
            yield each.name


def _part(spot: Spot, target: Spoke) -> str:
    """Return a word on a field of which the target has a place for some members."""
    inner = f"{spot.hub}."
    is_partly = any(each.startswith(inner) for each in target.all_carried)
    return " (in part)" if is_partly else ""


def _labels(spots: Sequence[Spot]) -> dict[Spot, str]:
    """Return what each field is called, apart from others at the same place."""
    names = [each.name for each in spots]
    return {
        each: f"{each.name} ({each.hub})"
        if names.count(each.name) > 1
        or any(name.startswith(f"{each.name}.") for name in names)
        else each.name
        for each in spots
    }


def _summary(spots: Sequence[Spot], lost: Collection[Spot], target: Spoke) -> str:
    """Return what is lost in the fewest letters: by name, or all but what is not."""
    if not lost:
        return ""
    labels = _labels(spots)
    words = {each: f"{labels[each]}{_part(each, target)}" for each in lost}
    named = ", ".join(_grouped(spots, words, 0))
    rest = {each: labels[each] for each in spots if each not in words}
    if not rest:
        return "all"
    others = f"all but {', '.join(_grouped(spots, rest, 0))}"
    return others if len(others) < len(named) else named


def _grouped(
    spots: Sequence[Spot], words: dict[Spot, str], depth: int
) -> Iterator[str]:
    """Yield a word for each of the fields that have one, one for all below a key."""

    def key(spot: Spot) -> tuple[str, ...]:
        return spot.path[: depth + 1]

    for path, found in groupby(sorted(spots, key=key), key=key):
        group = list(found)
        told = [each for each in group if each in words]
        if len(told) == 1:
            yield words[told[0]]
        elif told and len(told) == len(group):
            is_one = any(each.path == path for each in group)
            yield ".".join(path) + ("" if is_one else ".*")
        else:
            ends = [each for each in told if len(each.path) == len(path)]
            yield from (words[each] for each in ends)
            deeper = [each for each in group if len(each.path) > len(path)]
            yield from _grouped(deeper, words, depth + 1)


def pair_as_dict(pair: Pair) -> dict[str, Any]:
    """Return a pair as programs get it."""
    return {
        "source": pair.source,
        "target": pair.target,
        "dropped": list(pair.dropped),
        "changed": list(pair.changed),
        "needs": list(pair.needs),
        "keeps_extra": pair.keeps_extra,
    }
