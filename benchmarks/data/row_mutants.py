"""Seeded mutants of rows as JSON texts, made of the members of a few mutated rows.

To mutate a row takes 100 microseconds, and to put a text together from members that
were mutated and written before takes 8: a million rows take seconds.
"""

import json
import random
import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from harpia_formats.api.testing.mutation import copy_of, mutants, slots_of

#: Mutants that the texts of a batch are made of: of rows, and of those mutants.
FIRST, SECOND = 60, 40
#: Mutants with more bytes are not mutated again: some edits copy a row into itself.
MOST_BYTES = 8_000
#: The share of texts that are made of rows, the others of mutants.
OF_ROWS = 0.5
#: How many members are replaced by those of another row with an equal chance.
REPLACED = (0, 0, 1, 1, 2)
#: The share of texts with a repeated key, with members in another order, and with the
#: members of any key among those that replace others.
REPEATED, SHUFFLED, OTHER_KEY = 0.02, 0.3, 0.1
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}\[\],:]')
#: Text that is all escapes in ASCII, more than those of which decoding takes long.
_ESCAPED = "\u6570\u636e" * 8
_SPACES = ("", "", " ", "\t", "  ")

Member = tuple[str, str]


class Mutant(NamedTuple):
    """The JSON text of a mutant, and whether an object in it repeats a key."""

    text: bytes
    repeats: bool


def row_mutants(rows: Sequence[Any], count: int, seed: str) -> list[Mutant]:
    """Return `count` mutants of valid rows as texts; equal seeds give equal mutants.

    Their keys are in any order, their numbers, texts and white space are written in any
    way that JSON allows, without a line break, and a few repeat a key.
    """
    chance = random.Random(seed)
    first = list(islice(mutants(rows, chance.getrandbits(32)), FIRST))
    again = [each for each in first if len(json.dumps(each)) < MOST_BYTES] or rows
    second = list(islice(mutants(again, chance.getrandbits(32)), SECOND))
    shown = [*rows, *(chance.choice(rows) for _ in range(FIRST - len(rows)))]
    sources = [_written(each, chance) for each in shown]
    mutated = [_written(each, chance) for each in (*first, *second)]
    pool = _pool_of((*sources, *mutated))
    everything = [each for members in pool.values() for each in members]
    return [
        _combined(
            chance.choice(sources if chance.random() < OF_ROWS else mutated),
            pool,
            everything,
            chance,
        )
        for _ in range(count)
    ]


def _combined(
    source: str | list[Member],
    pool: dict[str, list[Member]],
    everything: list[Member],
    chance: random.Random,
) -> Mutant:
    """Return a text of the members of a row, some of them replaced."""
    if isinstance(source, str):
        return Mutant(source.encode(), repeats=False)
    members, repeats = source.copy(), False
    for _ in range(chance.choice(REPLACED) if members else 0):
        at = chance.randrange(len(members))
        if chance.random() < OTHER_KEY:
            _put(members, chance.choice(everything))
        else:
            members[at] = chance.choice(pool[_key_of(members[at])])
    if members and chance.random() < REPEATED:
        members.append(chance.choice(pool[_key_of(chance.choice(members))]))
        repeats = True
    if chance.random() < SHUFFLED:
        chance.shuffle(members)
    colon, comma = chance.choice((":", ": ", " :\t")), chance.choice((",", ", ", " ,"))
    inside = comma.join([key + colon + value for key, value in members])
    return Mutant(f"{{{inside}}}".encode(), repeats)


def _put(members: list[Member], member: Member) -> None:
    """Add a member, or replace the one with its key."""
    key = _key_of(member)
    for at, each in enumerate(members):
        if _key_of(each) == key:
            members[at] = member
            return
    members.append(member)


def _key_of(member: Member) -> str:
    """Return the key of a member, however it is written."""
    key = member[0]
    return str(json.loads(key)) if "\\" in key else key[1:-1]


def _pool_of(sources: Sequence[str | list[Member]]) -> dict[str, list[Member]]:
    """Return all members of `sources` by their keys."""
    pool: dict[str, list[Member]] = {}
    for source in sources:
        for member in source if isinstance(source, list) else ():
            pool.setdefault(_key_of(member), []).append(member)
    return pool


def _written(value: Any, chance: random.Random) -> str | list[Member]:
    """Return a row as text, an object as the texts of its keys and values."""
    write = chance.choice(_WAYS)
    if not isinstance(value, dict):
        return write(value, chance)
    return [(write(key, chance), write(each, chance)) for key, each in value.items()]


def _plainly(value: Any, _: random.Random) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _in_ascii(value: Any, _: random.Random) -> str:
    return json.dumps(value)


def _oddly(value: Any, chance: random.Random) -> str:
    """Return `value` as JSON with other numbers, escapes and white space."""
    ascii_ = chance.random() < 0.5
    text = json.dumps(value, ensure_ascii=ascii_)
    return _TOKEN.sub(lambda found: _respelt(found[0], chance), text)


def _respelt(token: str, chance: random.Random) -> str:
    """Return a token of JSON in another spelling of the same value."""
    if token.startswith('"'):
        return _escaped(token, chance)
    if token[0] in "{}[],:":
        return chance.choice(_SPACES) + token + chance.choice(_SPACES)
    if "e" in token or "E" in token:
        return token.upper()
    if "." in token:
        return chance.choice((token, token + "0", token + "e0"))
    tenth = token + "0e-1" if int(token) else "-0"
    return chance.choice(
        (token, token, token + ".0", token + "e0", token + "E+0", tenth)
    )


def _escaped(token: str, chance: random.Random) -> str:
    """Return a string with some of its letters written as escapes, or none."""
    if "\\" in token:
        return token
    share = chance.choice((0.0, 0.05, 0.25))
    return "".join(
        f"\\u{ord(each):04x}"
        if each.isalnum() and _is_hit(each, share, chance)
        else each
        for each in token
    )


def _is_hit(character: str, share: float, chance: random.Random) -> bool:
    return ord(character) < 0x10000 and chance.random() < share


_WAYS: tuple[Callable[[Any, random.Random], str], ...] = (_plainly, _in_ascii, _oddly)


def with_escapes(row: Any, is_valid: Callable[[Any], bool]) -> bytes:
    """Return a valid row in ASCII, with many escapes in each text that may be any.

    Of such rows the typed decoder learns which texts it need not decode.
    """
    holder = [copy_of(row)]
    for slot in tuple(slots_of(holder)):
        text = slot.value
        if isinstance(text, str):
            slot.fill(text + _ESCAPED)
            if not is_valid(holder[0]):
                slot.fill(text)
    return json.dumps(holder[0]).encode()
