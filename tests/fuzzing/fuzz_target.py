"""What a fuzz target is, and the inputs with which its search begins.

The seeds are the fixtures. The stored inputs are those that fuzzing found to reach code
that no seed reaches, and those that once broke a property: one file for each target,
with an input in base64 on each line, since any bytes stand on a line so, and a change
of one input is a change of one line.
"""

import base64
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

from harpia_formats.api.testing.mutation import mutants

FIXTURES = Path(__file__).parents[2] / "fixtures"
CORPUS = Path(__file__).parent / "corpus"
#: Bytes of an input, at most: longer ones are slow, and reach little more.
LONGEST = 4096
_COMMENT = "#"


@dataclass(frozen=True, slots=True)
class Target:
    """Code that is given any bytes, and the properties that it must have for all."""

    name: str
    #: Raises an exception if a property does not hold for these bytes.
    check: Callable[[bytes], None]
    #: The modules and packages, all they hold included, whose coverage guides the
    #: search: to instrument others takes long, and leads away.
    code: tuple[str, ...]
    #: Return inputs that are near to what users have.
    seeds: Callable[[], Iterable[bytes]]
    #: Return a changed input, given one and a seed, that keeps to the syntax of the
    #: target; None where changes of single bytes reach enough.
    mutate: Callable[[bytes, int], bytes] | None = None
    #: Whether native code reads the input that may crash, so that tests run it in a
    #: process of its own.
    is_isolated: bool = False


def check_refusal(error: Exception) -> None:
    """Assert that the error that refuses an input says why, in text for people."""
    text = str(error)
    assert text.strip(), type(error)
    # What cannot be encoded cannot be printed.
    assert text.encode()


def stored_inputs(target: str) -> list[bytes]:
    """Return the stored inputs of a target, given its name."""
    path = CORPUS / f"{target}.txt"
    if not path.exists():
        return []
    lines = path.read_text("ascii").splitlines()
    return [base64.b64decode(line) for line in lines if not line.startswith(_COMMENT)]


def store_inputs(target: str, inputs: Iterable[bytes]) -> None:
    """Add inputs to those that are stored for a target, given its name."""
    path = CORPUS / f"{target}.txt"
    known = path.read_text("ascii").splitlines() if path.exists() else []
    lines = [base64.b64encode(each).decode() for each in inputs]
    if not lines:
        return
    path.write_text("".join(f"{line}\n" for line in dict.fromkeys((*known, *lines))))


def fixture_files(*suffixes: str, most: int = LONGEST) -> Iterator[bytes]:
    """Yield the fixtures of at most `most` bytes whose names end in some suffix."""
    for path in sorted(FIXTURES.rglob("*")):
        if path.name.endswith(suffixes) and path.is_file():
            data = path.read_bytes()
            if len(data) <= most:
                yield data


def fixture_rows(identifier: str, *kinds: str, most: int = LONGEST) -> Iterator[bytes]:
    """Yield the rows of a format's fixtures in lines, of at most `most` bytes each.

    `kinds` are folders of them, such as "valid".
    """
    for kind in kinds:
        for path in sorted((FIXTURES / identifier / kind).glob("*.jsonl")):
            lines = path.read_bytes().split(b"\n")
            yield from (line for line in lines if line.strip() and len(line) <= most)


def every(count: int, inputs: Iterable[bytes]) -> list[bytes]:
    """Return at most about `count` of the inputs, spread over all of them."""
    found = list(dict.fromkeys(inputs))
    return found[:: max(1, len(found) // count)]


@cache
def choices(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return for each byte one of `names`; most bytes keep theirs if names are added.

    So a stored input is still one of the format that it was found for.
    """

    def weight(byte: int, name: str) -> bytes:
        return blake2b(name.encode(), key=bytes([byte]), digest_size=8).digest()

    return tuple(max(names, key=lambda name: weight(byte, name)) for byte in range(256))


def split_choice(data: bytes, names: tuple[str, ...]) -> tuple[str, bytes]:
    """Return which of `names` the first byte of an input chooses, and the rest."""
    return choices(names)[data[0] if data else 0], data[1:]


def with_choice(name: str, names: tuple[str, ...], data: bytes) -> bytes:
    """Return the input that chooses `name`, with `data` as the rest."""
    return bytes([choices(names).index(name)]) + data


def mutated_json(data: bytes, seed: int, *, prefix: int = 1) -> bytes:
    """Return an input whose JSON, behind `prefix` bytes, has one to five edits.

    Lines are edited one by one; what is no JSON stays as it is.
    """
    chance = random.Random(seed)  # noqa: S311 - needs a seed, not secrecy
    lines = data[prefix:].split(b"\n")
    at = chance.randrange(len(lines))
    try:
        value = msgspec.json.decode(lines[at])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return data
    try:
        lines[at] = msgspec.json.encode(next(mutants([value], seed)))
    except (RecursionError, UnicodeEncodeError):
        return data
    return data[:prefix] + b"\n".join(lines)
