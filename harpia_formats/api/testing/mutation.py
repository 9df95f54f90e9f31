"""Seeded random mutation of records, to test what accepts and refuses them."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

#: Edits of one mutant, at most.
MOST_EDITS = 5
#: Values on which validators have been found to disagree.
POOL: tuple[Any, ...] = (
    None,
    True,
    False,
    -0.0,
    1.0,
    0.5,
    0,
    1,
    -1,
    2**53 + 1,
    2**64,
    2**65 + 1,
    10**30,
    "",
    "1",
    "\u0000",
    "\U0001f99c",
    [],
    {},
    [[]],
    [None],
    ["1", 1],
    {"": {}},
    {"1": [{"\u0000": None}]},
)
#: The numbers in `POOL`.
NUMBERS = tuple(value for value in POOL if type(value) in {int, float})
#: Keys that no format knows.
ODD_KEYS = ("", "unknown", "\u0000", "\U0001f99c", "a/b~c", "1")


class Slot(NamedTuple):  # faster to create than a dataclass; hundreds are created
    """The place of a value: an object and a key of it, or an array and an index."""

    container: Any
    key: Any
    #: 0 for the record itself.
    depth: int

    @property
    def value(self) -> Any:
        """The value at this place."""
        return self.container[self.key]

    def fill(self, value: Any) -> None:
        """Replace the value at this place with `value`."""
        self.container[self.key] = value


@dataclass(frozen=True, slots=True)
class Scene:
    """The slots of one record, and the keys and strings of all records, for an edit."""

    slots: Sequence[Slot]
    #: Every key in the records, in order of appearance.
    keys: Sequence[str]
    #: The strings in the records, by the key whose values they are.
    texts: Mapping[str, Sequence[str]]
    chance: random.Random

    def any_value(self) -> Any:
        """Return a copy of a random value in `POOL`."""
        return copy_of(self.chance.choice(POOL))


Edit = Callable[[Slot, Scene], None]


def mutants(records: Sequence[Any], seed: int) -> Iterator[Any]:
    """Return an endless iterator of random copies of `records`, with 1 to 5 edits each.

    Equal records and an equal seed give equal mutants; `records` are not changed. A
    mutant may be valid or not: validate it in two ways that must agree. The values that
    edits insert come from a fixed pool and from `records`, so these should contain
    every key and every string that matters.

    Raises `ValueError` if there are no records.
    """
    if not records:
        raise ValueError("no records to mutate: give at least one")
    chance = random.Random(seed)  # noqa: S311 - a test needs a seed, not secrecy
    return endless(records, chance)


def endless(records: Sequence[Any], chance: random.Random) -> Iterator[Any]:
    """Yield mutants without end."""
    keys, texts = vocabulary_of(records)
    while True:
        holder = [copy_of(chance.choice(records))]
        for _ in range(edit_count(chance)):
            edit(Scene(tuple(slots_of(holder)), keys, texts, chance))
        yield holder[0]


def edit_count(chance: random.Random) -> int:
    """Return a random number of edits, mostly small: one error can hide another."""
    return min(chance.randint(1, MOST_EDITS), chance.randint(1, MOST_EDITS))


def edit(scene: Scene) -> None:
    """Apply one random edit at a slot that it can be applied to."""
    fitting: list[Slot] = []
    while not fitting:
        can_edit, change = scene.chance.choice(EDITS)
        fitting = [slot for slot in scene.slots if can_edit(slot)]
    change(scene.chance.choice(fitting), scene)


def copy_of(value: Any) -> Any:
    """Return a deep copy of a JSON value."""
    if isinstance(value, dict):
        return {key: copy_of(member) for key, member in value.items()}
    if isinstance(value, list):
        return [copy_of(item) for item in value]
    return value


def slots_of(container: Any, depth: int = 0) -> Iterator[Slot]:
    """Yield every slot in `container`, outer ones before inner ones."""
    if isinstance(container, dict):
        keys: Sequence[Any] = tuple(container)
    elif isinstance(container, list):
        keys = range(len(container))
    else:
        return
    for key in keys:
        yield Slot(container, key, depth)
        yield from slots_of(container[key], depth + 1)


def vocabulary_of(
    records: Sequence[Any],
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return the keys of `records`, and the strings under each key."""
    texts: dict[str, dict[str, None]] = {}
    for slot in slots_of(list(records)):
        if isinstance(slot.key, str):
            strings = texts.setdefault(slot.key, {})
            if isinstance(slot.value, str):
                strings[slot.value] = None
    return tuple(texts), {key: tuple(seen) for key, seen in texts.items() if seen}


def misspelling_of(key: str, chance: random.Random) -> str:
    """Return `key` with a random typing error or in another case."""
    at = chance.randrange(max(1, len(key) - 1))
    swapped = key[:at] + key[at : at + 2][::-1] + key[at + 2 :]
    lost = key[:at] + key[at + 1 :]
    wrong = (swapped, lost, key + "s", key.swapcase())
    return chance.choice([name for name in wrong if name != key])


def another_key(scene: Scene) -> str:
    """Return a key of the records, a misspelling of one, or one of `ODD_KEYS`."""
    known = scene.chance.choice(scene.keys) if scene.keys else ""
    misspelt = misspelling_of(known, scene.chance)
    return scene.chance.choice((known, misspelt, scene.chance.choice(ODD_KEYS)))


def delete(slot: Slot, _: Scene) -> None:
    """Delete a member or an item."""
    del slot.container[slot.key]


def clear(slot: Slot, _: Scene) -> None:
    """Replace a value with null."""
    slot.fill(None)


def replace(slot: Slot, scene: Scene) -> None:
    """Replace a value with one of `POOL`."""
    slot.fill(scene.any_value())


def add(slot: Slot, scene: Scene) -> None:
    """Set a key of an object, which may already exist, to a value of `POOL`."""
    slot.value[another_key(scene)] = scene.any_value()


def rename(slot: Slot, scene: Scene) -> None:
    """Rename a key, often to a misspelling of it."""
    misspelt = misspelling_of(slot.key, scene.chance)
    name = scene.chance.choice((misspelt, another_key(scene)))
    slot.container[name] = slot.container.pop(slot.key)


def move(slot: Slot, scene: Scene) -> None:
    """Copy a member of any object in the record into another object."""
    members = [found for found in scene.slots if is_member(found)]
    if members:
        source = scene.chance.choice(members)
        slot.value[source.key] = copy_of(source.value)


def transplant(slot: Slot, scene: Scene) -> None:
    """Replace a value with the value of another slot."""
    slot.fill(copy_of(scene.chance.choice(scene.slots).value))


def wrap(slot: Slot, _: Scene) -> None:
    """Wrap a value in a list."""
    slot.fill([slot.value])


def recast(slot: Slot, _: Scene) -> None:
    """Turn an integer into a float, or a float without a fraction into an integer."""
    value = slot.value
    if isinstance(value, int):
        slot.fill(float(value))
    elif value.is_integer():
        slot.fill(int(value))


def renumber(slot: Slot, scene: Scene) -> None:
    """Replace a number with one of `POOL`, or with its negative."""
    slot.fill(scene.chance.choice((*NUMBERS, -slot.value)))


def reword(slot: Slot, scene: Scene) -> None:
    """Replace a string with one that the records have under the same key."""
    seen = scene.texts.get(slot.key, (slot.value,))
    slot.fill(scene.chance.choice(seen))


def is_any(_: Slot) -> bool:
    """Accept every slot."""
    return True


def is_inner(slot: Slot) -> bool:
    """Tell whether `slot` is inside the record."""
    return slot.depth > 0


def is_member(slot: Slot) -> bool:
    """Tell whether `slot` is a member of an object."""
    return isinstance(slot.container, dict)


def holds_object(slot: Slot) -> bool:
    """Tell whether `slot` holds an object."""
    return isinstance(slot.value, dict)


def holds_number(slot: Slot) -> bool:
    """Tell whether `slot` holds a number in the range of a float."""
    value = slot.value
    return type(value) is float or (type(value) is int and abs(value) < 2**1000)


def is_member_text(slot: Slot) -> bool:
    """Tell whether `slot` is a member that holds a string."""
    return is_member(slot) and isinstance(slot.value, str)


#: Every edit, with the condition for the slots that it can be applied to.
EDITS: tuple[tuple[Callable[[Slot], bool], Edit], ...] = (
    (is_inner, delete),
    (is_any, clear),
    (is_any, replace),
    (holds_object, add),
    (is_member, rename),
    (holds_object, move),
    (is_any, transplant),
    (is_any, wrap),
    (holds_number, recast),
    (holds_number, renumber),
    (is_member_text, reword),
)
