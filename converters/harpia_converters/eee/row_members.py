"""What checks read of rows of any version, and the recipes of `sample_hash`."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import repeat
from json.encoder import encode_basestring_ascii
from typing import Any, ClassVar

from msgspec import Struct, ValidationError, convert

from harpia_converters.eee.versions import Version
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark

#: An integer, which may be written as 3.0.
_Integer = int | float
_Texts = str | list[str]


class Question(Struct):
    """The `input` of a row."""

    raw: str
    reference: _Texts
    formatted: str | None = None
    choices: list[str] | None = None


class Output(Struct):
    """The `output` of a row."""

    raw: _Texts
    reasoning_trace: _Texts | None = None


class Evaluation(Struct):
    """The score in `evaluation`."""

    score: bool | int | float
    is_correct: bool


class Counts(Struct):
    """The counts in `evaluation`."""

    num_turns: _Integer | None = None
    tool_calls_count: _Integer | None = None


class Step(Struct):
    """An item of `answer_attribution`."""

    turn_idx: _Integer
    source: str
    extracted_value: str
    extraction_method: str
    is_terminal: bool


class Call(Struct):
    """An item of `tool_calls` of a turn."""

    id: str
    name: str
    arguments: dict[str, Any] | None = None


class Turn(Struct):
    """An item of the list of turns."""

    turn_idx: _Integer
    role: str
    content: str | None = None
    reasoning_trace: str | None = None
    tool_calls: list[Call] | None = None
    tool_call_id: _Texts | None = None


class Usage(Struct):
    """The counts in `token_usage`."""

    input_tokens: _Integer
    output_tokens: _Integer
    total_tokens: _Integer
    input_tokens_cache_write: _Integer | None = None
    input_tokens_cache_read: _Integer | None = None
    reasoning_tokens: _Integer | None = None


class Times(Struct):
    """The times in `performance`."""

    latency_ms: int | float | None = None
    time_to_first_token_ms: int | float | None = None
    generation_time_ms: int | float | None = None


#: Hexadecimal digits of a SHA-256.
_DIGITS = 64
#: The keys of the counts of tokens.
TOKENS = Usage.__struct_fields__


class RowCheck:
    """Checks rows of one version; it knows the key of their turns."""

    #: The codes of its rules.
    codes: ClassVar[tuple[str, ...]]

    def __init__(self, version: Version) -> None:
        self._key = version.turns

    def is_clean(self, row: Any) -> bool:
        """Tell whether a typed row has nothing that `remarks` yields."""
        raise NotImplementedError

    def suspects(self, rows: Sequence[Any]) -> Collection[int] | None:
        """Return the numbers of typed rows of one class that may not be clean.

        None if all of them may.
        """
        del rows
        return None

    def remarks(self, row: Any) -> Iterator[Remark]:
        """Yield what is wrong with a decoded row."""
        return self._remarks(row) if type(row) is dict else iter(())

    def _remarks(self, row: dict[str, Any]) -> Iterator[Remark]:
        raise NotImplementedError


def fits(value: Any, kind: Any) -> bool:
    """Tell whether a decoded value has the members of `kind`, each of its type."""
    try:
        convert(value, kind)
    except ValidationError:
        return False
    return True


def quoted(value: Any) -> str:
    """Return `value` as short JSON text."""
    try:
        return short_json(value)
    except ValueError:  # a sum may have more digits than its parts
        return "a number of more digits than Python writes"


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of `text` as UTF-8, in hexadecimal."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def are_digests_of_texts(digests: Sequence[str], texts: Iterable[str]) -> bool:
    """Tell whether these are what `digest_of_text` returns for the texts, all of them.

    This takes half of the time of one after the other.
    """
    if set(map(len, digests)) != {_DIGITS}:
        return False
    data = map(str.encode, texts, repeat("utf-8"), repeat("surrogatepass"))
    found = b"".join([sha256(each).digest() for each in data])
    return found.hex() == "".join(digests)


def canonical_list(raw: str, references: list[str]) -> str:
    """Return a compact object with all references: the documented text."""
    listed = ",".join(map(encode_basestring_ascii, references))
    return f'{{"raw":{encode_basestring_ascii(raw)},"reference":[{listed}]}}'


def canonical_first(raw: str, references: list[str]) -> str:
    """Return an object with the first reference, as for lm_eval."""
    first = encode_basestring_ascii(references[0])
    return f'{{"raw": {encode_basestring_ascii(raw)}, "reference": {first}}}'


def first_joined(raw: str, references: list[str]) -> str:
    """Return the question with the first reference behind it, as HELM does."""
    return raw + references[0]


def all_joined(raw: str, references: list[str]) -> str:
    """Return the question with all references behind it, as Inspect does."""
    return raw + "".join(references)


Recipe = Callable[[str, list[str]], str]

#: The text of a question and its references of which each recipe gives the hash.
HASHED: dict[str, Recipe] = {
    "A": canonical_list,
    "B": canonical_first,
    "C": first_joined,
    "D": all_joined,
}


def _hash_of(text_of: Recipe) -> Recipe:
    return lambda raw, references: digest_of_text(text_of(raw, references))


RECIPES = {letter: _hash_of(text_of) for letter, text_of in HASHED.items()}
#: Of what each recipe gives the hash, in words.
DESCRIBED = {
    "A": "the JSON text with input.raw and all references",
    "B": "the JSON text with input.raw and the first reference",
    "C": "input.raw with the first reference behind it",
    "D": "input.raw with all references behind it",
}
#: The recipes that need a reference.
_first_reference_recipes = frozenset({"B", "C"})


def recipe_of(digest: str, raw: str, references: list[str], likely: str = "A") -> str:
    """Return the letter of the recipe that gives `digest`, or "" if none does.

    The recipe `likely` is tried first.
    """
    if references and RECIPES[likely](raw, references) == digest:
        return likely
    for letter, recipe in RECIPES.items():
        if (references or letter not in _first_reference_recipes) and recipe(
            raw, references
        ) == digest:
            return letter
    return ""
