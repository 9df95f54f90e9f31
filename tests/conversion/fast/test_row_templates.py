"""Rows converted by templates are the same, and have the same fates, as by records."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harpia_formats.conversion.fast import row_templates
from harpia_formats.conversion.fast.batch import BatchConverter, can_batch
from harpia_formats.conversion.loss_counts import FateCounts
from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.framing.chunk import Chunk, Cursor
from harpia_formats.mapping.choices import Choices, References, Responses, Turns
from harpia_formats.mapping.to_rows import RecordMapper
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.field_fates import Unconvertible
from harpia_formats.model.problem import Place
from harpia_formats.registry import adapter_of, writable_formats
from harpia_formats.schema.dialect import record_schema
from harpia_formats.schema.load import Schema
from harpia_formats.schema.typed_decoder import (
    TypedDecoder,
    UnknownKeys,
    typed_decoder_of,
)
from harpia_formats.schema.validator import schema_validator_of
from harpia_formats.testing.mutation import copy_of, mutants, slots_of
from harpia_formats.validation.unit.row_checks import RowChecks
from harpia_formats.validation.unit.row_validator import RowValidator

FIXTURES = Path(__file__).parents[3] / "fixtures"
FORMATS = writable_formats()
SOURCES = (
    "eee@0.2.0 eee@0.2.0-tag eee@0.3.0 tencent-outputs tencent-messages "
    "tencent-manual nemo-input nemo-output harpia"
).split()
VARIANTS = [
    pytest.param(name, place, id=f"{name} {dialect.name}".strip())
    for name in SOURCES
    for place, dialect in enumerate(FORMATS[name].dialects)
]
CONSTANTS: dict[str, Any] = {
    "id": "1",
    "references": ["r"],
    "outputs.model": "org/m",
    "outputs.text": "a",
    "outputs.scores.value": 1,
    "outputs.scores.is_correct": True,
    "outputs.scores.evaluation_id": "e",
    "outputs.scores.evaluation_name": "n",
}
CHOICES = [
    Choices(*each, constants=CONSTANTS if number % 2 else {})
    for number, each in enumerate(itertools.product(References, Responses, Turns))
]
#: Texts that may decide on other fields.
TEXTS = ("", "x#1", "#", "q", "user", "assistant", "a", "b")
Places = dict[Any, tuple[int, Place | None]]


@dataclass(frozen=True, slots=True)
class Case:
    """Rows of one shape of a format, and the decoder that accepts them."""

    variant: FormatVariant
    schema: Schema
    decoder: TypedDecoder
    #: Each row as its text, and as the decoder decoded it.
    rows: Sequence[tuple[bytes, Any]]

    def converter(self, target: str, choices: Choices) -> BatchConverter:
        """Return a converter of batches."""
        mapper = RecordMapper(adapter_of(FORMATS[target]), choices)
        return BatchConverter(self.variant, adapter_of(self.variant.format), mapper)

    def suits(self, target: str, choices: Choices) -> bool:
        """Tell whether rows may be converted by templates."""
        source = adapter_of(self.variant.format)
        return can_batch(source, adapter_of(FORMATS[target]), choices)


def case_of(name: str, place: int, rows: Iterable[Any]) -> Case:
    """Return what of `rows` is valid and accepted by a decoder that knows all keys."""
    dialect = FORMATS[name].dialects[place]
    schema = record_schema(dialect, strict=bool(dialect.strict))
    assert isinstance(schema, dict)
    schema_validator, survey = schema_validator_of(schema), UnknownKeys()
    valid = [each for each in rows if schema_validator.is_valid(each)]
    for each in valid:
        survey.take(schema, each)
    decoder = typed_decoder_of(schema, survey.extras)
    texts = [json.dumps(each).encode() for each in valid]
    pairs = [(each, decoder.accept(each)) for each in texts]
    accepted = [pair for pair in pairs if pair[1] is not None]
    return Case(FormatVariant(FORMATS[name], dialect), schema, decoder, accepted)


def fixture_rows(name: str) -> Iterator[Any]:
    """Yield the records of the valid fixtures of a format, in whatever container."""
    paths = sorted((FIXTURES / name / "valid").glob("*.json*"))
    assert paths, f"no fixtures of {name}"
    for path in paths:
        try:
            found = json.loads(path.read_bytes())
        except ValueError:
            lines = path.read_bytes().splitlines()
            found = [json.loads(each) for each in lines if each.startswith(b"{")]
        if isinstance(found, dict):
            found = found.get("instances", found.get("instancias", found))
        yield from found if isinstance(found, list) else [found]


def varied(rows: Sequence[Any], chance: random.Random) -> Iterator[Any]:
    """Yield `rows` with other texts in them, so that several have the same shape."""
    for row in rows:
        for _ in range(3):
            holder = [copy_of(row)]
            slots = [each for each in slots_of(holder) if isinstance(each.value, str)]
            for each in slots:
                if chance.random() < 0.15:
                    other = chance.choice(slots).value
                    each.fill(chance.choice((*TEXTS, other)))
            yield holder[0]


def with_answers(row: Any, chance: random.Random) -> Iterator[Any]:
    """Yield a row with several answers and references, where it may have them."""
    some: tuple[Any, ...] = ([], ["a"], ["a", "b"], ["", "b", "c"], "a", "")
    if "model_outputs" in row:
        for _ in range(4):
            yield {**row, "id": chance.choice(TEXTS), "model_outputs": models(chance)}
    if isinstance(row.get("output"), dict):
        for _ in range(2):
            output = {
                "raw": chance.choice(some),
                "reasoning_trace": chance.choice(some),
            }
            asked = {**row["input"], "reference": chance.choice(some)}
            yield {**row, "input": asked, "output": output}
    if "input" in row and isinstance(row["input"], str):
        keys = ("actual-output", "actual_output", "expected-output", "expectedOutput")
        own = {key: each for key, each in row.items() if "output" not in key.lower()}
        for _ in range(3):
            yield {
                **own,
                **{key: chance.choice(some) for key in chance.sample(keys, 3)},
            }


def models(chance: random.Random) -> list[Any]:
    """Return the answers of up to three models, of which some have the same name."""
    return [
        {
            "model_name": chance.choice(("m", "n")),
            "responses": [
                {"content": chance.choice(TEXTS), **thought}
                for thought in chance.choices(
                    ({}, {"reasoning_content": "t"}), k=chance.randint(1, 2)
                )
            ],
        }
        for _ in range(chance.randint(0, 3))
    ]


def keeping(row: Any) -> Iterator[Any]:
    """Yield a row that keeps fields of a record where it has room for them."""
    for fields in ({"category": "c"}, {"category": "", "source": "s"}, {"prompt": "z"}):
        kept = {"harpia-formats": fields}
        yield {**row, **kept}
        if isinstance(row.get("metadata"), dict):
            texts = {"harpia-formats": json.dumps(fields)}
            yield {**row, "metadata": {**row["metadata"], **texts}}


def many_rows(name: str, place: int, count: int, seed: int) -> Iterator[Any]:
    """Yield rows of a dialect, good and bad, those of fixtures first."""
    chance = random.Random(seed)  # noqa: S311 - a test needs a seed, not secrecy
    schema_validator = schema_validator_of(record_schema(FORMATS[name].dialects[place]))
    rows = [each for each in fixture_rows(name) if schema_validator.is_valid(each)]
    yield from rows
    yield from itertools.islice(mutants(rows, seed), count)
    for each in itertools.islice(itertools.cycle(rows), max(6, count // 8)):
        yield from with_answers(each, chance)
        yield from varied([each], chance)
    yield from itertools.chain.from_iterable(map(keeping, rows[:3]))


def check(case: Case, target: str, choices: Choices, chance: random.Random) -> None:
    """Assert that rows in chunks come out as each of them does by itself."""
    oracle, converter = case.converter(target, choices), case.converter(target, choices)
    expected, found = FateCounts(), FateCounts()
    rows = list(case.rows)
    chance.shuffle(rows)
    records = 0
    while rows:
        size = chance.choice((1, 2, 9, 40))
        chunk, rows = rows[:size], rows[size:]
        good = list(converted_rows(oracle, chunk, records))
        if len(good) < len(chunk):
            values = [value for _, value in chunk]
            assert converter.convert(values, case.decoder, case.schema, records) is None
            good = list(converted_rows(oracle, [each[:2] for each in good], records))
        values = [value for _, value, _ in good]
        if chance.random() < 0.5:
            check_members(converter, values, case)
        made = converter.convert(values, case.decoder, case.schema, records)
        texts = [encode(row) for _, _, outcome in good for row in outcome[0]]

        assert made is not None
        assert [encode(each) for each in made.rows] == texts

        for number, (_, _, (_, paths, fates)) in enumerate(good, records):
            expected.add(paths, fates, placed(number))
        for paths, fates, at, times in made.fates:
            found.add(paths, fates, placed(records + at), times)
        records += len(good)
    for paths, fates, times in converter.counted():
        found.add(paths, fates, lambda: None, times)

    assert counted(found) == counted(expected)


def check_members(converter: BatchConverter, values: Sequence[Any], case: Case) -> None:
    """Assert that shapes give the number of members that the decoder counts."""
    expected = sum(map(case.decoder.members, values))

    assert converter.members_in(values, case.decoder, case.schema) == expected


def converted_rows(
    oracle: BatchConverter, chunk: Sequence[tuple[bytes, Any]], before: int
) -> Iterator[tuple[bytes, Any, Any]]:
    """Yield the rows that can be converted, each with its rows, paths and fates."""
    number = before
    for text, value in chunk:
        try:
            outcome = oracle.convert_row(decode(text), number + 1)
        except Unconvertible:
            continue
        number += 1
        yield text, value, outcome


def placed(number: int) -> Any:
    """Return a function that returns the place of a record."""
    return lambda: Place("f", number + 1, 1, 2, number, number + 1)


def counted(losses: FateCounts) -> tuple[dict[str, int], Places]:
    """Return all counts and the first place of each loss."""
    losses.settled()
    places: Places = {
        note: (each.count, each.place) for note, each in losses.counts.items()
    }
    return losses.carried, places


def check_all(name: str, place: int, count: int, seed: int) -> None:
    """Assert the law for every target and all choices."""
    case = case_of(name, place, many_rows(name, place, count, seed))
    chance = random.Random(seed)  # noqa: S311 - a test needs a seed, not secrecy
    suiting = 0
    for target, choices in itertools.product(FORMATS, CHOICES):
        if case.suits(target, choices):
            check(case, target, choices, chance)
            suiting += 1

    assert len(case.rows) > 15
    assert suiting >= 3 * len(CHOICES)


@pytest.mark.parametrize(("name", "place"), VARIANTS)
def test_templates_convert_like_records(name: str, place: int) -> None:
    """Rows, paths, fates, counts, first places and members are those of records."""
    check_all(name, place, 20, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 8))
@pytest.mark.parametrize(("name", "place"), VARIANTS)
def test_templates_convert_like_records_long(name: str, place: int, seed: int) -> None:
    """The law holds for a thousand mutated rows of each shape, six times."""
    check_all(name, place, 1000, seed)


def specials(row: Any) -> Iterator[Any]:
    """Yield a row with each of its texts empty, like an id, or equal to another."""
    prompts = [each.value for each in slots_of(row) if each.key in {"raw", "prompt"}]
    holder = [row]
    for slot in slots_of(holder):
        before = slot.value
        if not isinstance(before, str):
            continue
        for text in ("", "x#1", *prompts):
            slot.fill(text)
            yield copy_of(row)
        slot.fill(before)


def plain_row(name: str, target: str) -> Any:
    """Return a row that can be converted, with a conversation if there is one."""
    rows = [each for each in fixture_rows(name) if isinstance(each, dict)]
    case = case_of(name, 0, rows)
    oracle = case.converter(target, Choices())
    good = [json.loads(text) for text, *_ in converted_rows(oracle, case.rows, 0)]
    return next((each for each in good if chat_in(each)), good[0])


def chat_in(row: Any) -> Any:
    """Return the conversation of a row of several turns, if it is one."""
    chat = row.get("messages") or row.get("interactions") or []
    return chat if len(chat) > 1 else None


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("target", ["nemo-output", "harpia"])
@pytest.mark.parametrize("name", ["eee@0.2.0", "eee@0.3.0", "tencent-outputs"])
def test_special_values_of_one_row_do_not_change_others(
    name: str, target: str, *, is_first: bool
) -> None:
    """A row with empty or equal texts changes no other row of its shape."""
    plain = plain_row(name, target)
    case = case_of(name, 0, [plain, *specials(copy_of(plain))])
    first, *others = case.rows

    assert len(others) > 8
    for each in others:
        pair = [each, first, first] if is_first else [first, each, first]
        oracle, converter = (case.converter(target, Choices()) for _ in range(2))
        expected = list(converted_rows(oracle, pair, 0))
        if len(expected) < len(pair):
            continue
        made = converter.convert(
            [value for _, value in pair], case.decoder, case.schema, 0
        )
        assert made is not None
        assert made.rows == [row for *_, outcome in expected for row in outcome[0]]
        assert fates_in(converter, made.fates) == Counter(
            (frozenset(paths), frozenset(fates)) for *_, (_, paths, fates) in expected
        )


def fates_in(converter: BatchConverter, entries: Iterable[Any]) -> Counter[Any]:
    """Return how many records have which paths and fates."""
    found: Counter[Any] = Counter()
    for paths, fates, _, times in entries:
        found[frozenset(paths), frozenset(fates)] += times
    for paths, fates, times in converter.counted():
        found[frozenset(paths), frozenset(fates)] += times
    return +found


def test_rows_of_a_failed_batch_are_not_counted() -> None:
    """If one row of a batch cannot be converted, no row of it is counted."""
    answer = {"model_name": "m", "responses": [{"content": "a"}]}
    asked = {"messages": [{"role": "user", "content": "q"}], "ref_answer": "r"}
    rows = [{**asked, "model_outputs": [answer] * times} for times in (1, 1, 1, 2)]
    case = case_of("tencent-outputs", 0, rows)
    converter = case.converter("nemo-output", Choices(responses=Responses.FAIL))
    values = [value for _, value in case.rows]

    assert converter.convert(values, case.decoder, case.schema, 0) is None
    assert list(converter.counted()) == []
    assert converter.convert(values[:3], case.decoder, case.schema, 0) is not None
    assert [times for *_, times in converter.counted()] == [3]


def test_members_are_counted_where_shapes_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Members of rows are counted even if their shape has no template any more."""
    monkeypatch.setattr(row_templates, "MAX_SHAPES", 1)
    answer = {"model_name": "m", "responses": [{"content": "a"}]}
    asked = {"messages": [{"role": "user", "content": "q"}], "ref_answer": "r"}
    rows = [{**asked, "model_outputs": [answer] * times} for times in (1, 2, 3, 1, 2)]
    case = case_of("tencent-outputs", 0, rows)
    converter = case.converter("nemo-output", Choices())

    check_members(converter, [value for _, value in case.rows], case)


@pytest.mark.parametrize("key", ["prompt", "response", "llm_name"])
def test_a_repeated_key_is_found_by_shapes(key: str) -> None:
    """A row with a repeated key has more members than its shape tells."""
    asked = {"prompt": "q", "ideal_response": "r", "category": "", "source": ""}
    row = {"input": asked, "response": "a", "llm_name": "m"}
    text = json.dumps(row).replace(f'"{key}"', f'"{key}": "x", "{key}"').encode()
    plain = json.dumps(row).encode()
    case = case_of("nemo-output", 0, [row])
    validator, converter = (
        RowValidator(case.schema, RowChecks()),
        case.converter("harpia", Choices()),
    )
    converter.count_members_for(validator)
    validator.validate(Chunk(b"\n".join([plain] * 100), Cursor()))
    verdicts = [
        validator.validate(Chunk(b"\n".join([*[plain] * 5, each]), Cursor()))
        for each in (plain, text)
    ]

    assert converter.templates is not None
    assert [each.accepted is None for each in verdicts] == [False, True]
    assert [[found.code for found in each.findings] for each in verdicts] == [
        [],
        ["J105"],
    ]


@pytest.mark.parametrize("is_first", [True, False])
def test_rows_with_empty_texts_have_templates_of_their_own(
    monkeypatch: pytest.MonkeyPatch, *, is_first: bool
) -> None:
    """Rows of a shape are converted by templates wherever they have empty texts."""
    asked = {"prompt": "q", "ideal_response": "r", "category": "", "source": ""}
    row: dict[str, Any] = {"input": asked, "response": "a", "llm_name": "m"}
    without = {**row, "input": {**asked, "ideal_response": ""}}
    rows = [without, row] if is_first else [row, without]
    case = case_of("nemo-output", 0, [*rows * 50, {**row, "response": ""}])
    converter = case.converter("harpia", Choices())
    converted: list[int] = []
    usual = BatchConverter.convert_row

    def noted(self: BatchConverter, value: Any, number: int) -> Any:
        converted.append(number)
        return usual(self, value, number)

    monkeypatch.setattr(BatchConverter, "convert_row", noted)
    made = converter.convert(
        [value for _, value in case.rows], case.decoder, case.schema, 0
    )

    assert made is not None
    assert len(converted) <= 3 * (1 + 2 + 2)
    assert [each["expected-output"] for each in made.rows[:2]] == [
        [each["input"]["ideal_response"]] for each in rows
    ]
    assert sum(times for *_, times in converter.counted()) == len(made.rows) == 101


def test_rows_of_a_known_shape_are_converted_by_templates() -> None:
    """One template converts all rows of a shape, so the law is about templates."""
    rest = {"ideal_response": "r", "category": "c", "source": "s"}
    rows: list[Any] = [
        {"input": {"prompt": each, **rest}, "response": "a", "llm_name": "m"}
        for each in "qrst"
    ]
    case = case_of("nemo-output", 0, rows)
    converter = case.converter("harpia", Choices())
    converter.convert([value for _, value in case.rows], case.decoder, case.schema, 0)
    ((paths, fates, times),) = converter.counted()

    assert times == len(rows)
    assert "outputs.model" in paths
    assert {each.path for each in fates} == {
        "id",
        "category",
        "source",
        "outputs.model",
    }
