"""Records are mapped by compiled programs as by the plain steps."""

from collections.abc import Iterable
from dataclasses import replace as replace_field
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from cases import for_each_case
from effort import drawn, examples, pairs
from field_paths import unrelated
from harpia_formats import Output, Record, Score
from harpia_formats.conversion.destination import validator_of_rows
from harpia_formats.conversion.mapping.chats import fit_chats
from harpia_formats.conversion.mapping.choices import (
    Choices,
    Prompt,
    References,
    Responses,
    Turns,
)
from harpia_formats.conversion.mapping.compiled_fields import (
    PresenceKeys,
    compiled_as_dict,
)
from harpia_formats.conversion.mapping.direct_read import direct_read, extra_keys
from harpia_formats.conversion.mapping.field_constants import Completion
from harpia_formats.conversion.mapping.fit import (
    fit_record,
    fit_scores,
    unfitted_check,
)
from harpia_formats.conversion.mapping.preparation import Preparation
from harpia_formats.conversion.mapping.record_program import (
    NO_OUTCOMES,
    RecordProgram,
    same_chats_checks,
    unsplit_checks,
)
from harpia_formats.conversion.mapping.requirements import RowRequirements, fulfilling
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.model.record import FIELD_TYPES, as_dict, field_paths
from harpia_formats.plugins import (
    Cardinality,
    FieldMapping,
    FieldOutcomes,
    FieldTable,
    Format,
    FormatAdapter,
    RowCapacity,
    Unconvertible,
    filled,
    records,
)
from known_formats import WRITABLE, adapter_named
from plain_comparison import plain_differences
from row_files import random_file

OWNERS = frozenset({"extra.eee.input", "extra.eee.output", "outputs.extra.own.inner"})
CONSTANTS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.just("1"),
        "prompt": st.just("q"),
        "references": st.just(["r"]),
        "metadata.k": st.just(1),
        "params.model": st.just("m"),
        "params.top_p": st.just(0.5),
        "outputs.model": st.just("m"),
        "outputs.text": st.just("a"),
        "outputs.reasoning": st.just("why"),
        "outputs.scores.value": st.just(0.5),
        "outputs.scores.metric": st.just("em"),
    },
)
NO = Cardinality.NONE
#: Scores are of answers: rows without answers have none.
CAPACITIES = st.builds(
    RowCapacity,
    st.sampled_from((Cardinality.ONE, Cardinality.MANY)),
    st.sampled_from(Cardinality),
    st.sampled_from((Cardinality.NONE, Cardinality.ONE, Cardinality.MANY)),
    needs_verdict=st.booleans(),
    messages=st.booleans(),
    turns=st.booleans(),
).filter(lambda given: given.outputs is not NO or given.scores is NO)
CHOICES = st.builds(
    Choices,
    st.sampled_from(References),
    st.sampled_from(Responses),
    st.sampled_from(Turns),
    st.none() | st.just("m"),
)


def with_constants(
    record: Record, constants: dict[str, Any], outcomes: FieldOutcomes, *, turns: bool
) -> Record:
    """Return `record` with `constants` for the fields that it lacks, step by step."""
    own: dict[str, Any] = {}
    of_outputs: dict[str, Any] = {}
    of_scores: dict[str, Any] = {}
    for path, value in constants.items():
        owner, _, name = path.partition(".")
        if path.startswith("outputs.scores."):
            of_scores[path.removeprefix("outputs.scores.")] = value
        elif owner == "outputs":
            of_outputs[name] = value
        elif owner in {"params", "metadata"}:
            members = own.get(owner, getattr(record, owner))
            members = {} if members is UNSET else members
            if name not in members:
                own[owner] = {**members, name: value}
                outcomes.defaulted(path, "`--set`")
        elif getattr(record, path) in (UNSET, []) and not is_asked(path, record):
            own[path] = value
            outcomes.defaulted(path, "`--set`")
    outputs = record.outputs
    if not outputs and "text" in of_outputs:
        outcomes.defaulted("outputs", "`--set`")
        outputs = [Output()]
    completed = []
    for output in outputs:
        answers = [
            each for each in output.turns or () if each.get("role") == "assistant"
        ]
        has_content = any(each.get("content") is not None for each in answers)
        # A conversation is an answer, even without a text.
        skipped = {"text"} if output.turns and (turns or has_content) else set()
        missing = {key: of_outputs[key] for key in of_outputs if key not in skipped}
        answer = with_missing(output, missing, "outputs.", outcomes)
        if of_scores:
            scores = [
                with_missing(score, of_scores, "outputs.scores.", outcomes)
                for score in output.scores or [Score()]
            ]
            answer = replace(answer, scores=scores)
        completed.append(answer)
    return replace(record, **own, outputs=completed)


def is_asked(path: str, record: Record) -> bool:
    """Return whether a chat asks what the prompt at `path` would."""
    asked = (each for each in record.messages or () if each.get("role") == "user")
    return path == "prompt" and any(type(each.get("content")) is str for each in asked)


def with_missing(
    owner: Any, values: dict[str, Any], start: str, outcomes: FieldOutcomes
) -> Any:
    """Return `owner` with those of `values` that it lacks, each noted by its path."""
    missing = {key: values[key] for key in values if getattr(owner, key) is UNSET}
    for key in missing:
        outcomes.defaulted(f"{start}{key}", "`--set`")
    return replace(owner, **missing)


@given(records(), CONSTANTS, st.booleans())
def test_constants_complete_records_as_step_by_step(
    record: Record,
    constants: dict[str, Any],
    turns: bool,
) -> None:
    """A record gets what it lacks, and each constant is noted in its order."""
    outcomes, expected_outcomes = FieldOutcomes(), FieldOutcomes()
    expected = with_constants(record, constants, expected_outcomes, turns=turns)

    capacity = RowCapacity(messages=True, turns=turns)

    assert Completion(constants, capacity).complete(record, outcomes) == expected
    assert outcomes == expected_outcomes


@examples(12)
@given(st.lists(records(), min_size=2, max_size=12))
def test_records_with_the_same_key_have_the_same_fields(found: list[Record]) -> None:
    """Paths and nulls follow from the key of a record."""
    keys, known = PresenceKeys(OWNERS), dict[Any, list[tuple[str, bool]]]()
    for record in found:
        paths = list(field_paths(record, OWNERS).items())
        assert known.setdefault(keys.of(record), paths) == paths


@for_each_case(
    "left, right",
    [
        ({"params": {}, "metadata": {"a": 1}}, {"params": {"a": 1}, "metadata": {}}),
        ({"params": {"a": None}}, {"params": {"a": 1}}),
        ({"metadata": {"a": None, "b": 1}}, {"metadata": {"a": 1, "b": None}}),
        ({"extra": {"eee": {"input": {"a": 1}}}}, {"extra": {"eee": {"input": {}}}}),
        ({"extra": {"a": {"b": 1}}}, {"extra": {"b": {"a": 1}}}),
        ({"messages": []}, {"messages": [{"role": "system"}]}),
        ({"messages": [{"role": "user"}]}, {"messages": [{"role": "system"}]}),
        ({"outputs": [Output()]}, {"outputs": [Output(scores=[])]}),
        ({"outputs": [Output(scores=[])]}, {"outputs": [Output(scores=[Score()])]}),
        ({"outputs": [Output(text=None)]}, {"outputs": [Output(text="")]}),
        ({"outputs": [Output(), Output(text="")]}, {"outputs": [Output(text="")] * 2}),
    ],
)
def test_records_with_other_fields_have_other_keys(
    left: dict[str, Any], right: dict[str, Any]
) -> None:
    """Records whose fields, keys or nulls differ are distinguished."""
    keys = PresenceKeys(OWNERS)

    assert keys.of(Record(**left)) != keys.of(Record(**right))


def are_true(checks: Iterable[str], record: Record, choices: Choices) -> bool:
    """Tell whether all expressions are true of a record, as in the compiled program."""
    names: dict[str, Any] = {"record": record, "outputs": record.outputs}
    names |= {"UNSET": UNSET, "MODEL": choices.model}
    return all(eval(check, names) for check in checks)  # noqa: S307 - the expressions are those of the program


@given(records(), CAPACITIES, CHOICES)
def test_record_is_unchanged_only_if_no_step_changes_it(
    record: Record, capacity: RowCapacity, choices: Choices
) -> None:
    """Where the checks say so, fitting yields the record itself without any outcome."""
    if not are_true(unsplit_checks(capacity), record, choices):
        return
    outcomes, of_chats = FieldOutcomes(), FieldOutcomes()
    try:
        parts: Any = list(fit_record(record, capacity, choices, outcomes))
    except Unconvertible:
        parts = None
    if are_true(same_chats_checks(capacity), record, choices):
        assert parts == [record]
        assert outcomes == FieldOutcomes()
        return
    try:
        expected: Any = [fit_chats(record, capacity, choices, of_chats)]
    except Unconvertible:
        expected = None

    assert parts == expected
    assert outcomes == of_chats


@given(
    records(),
    CAPACITIES,
    st.booleans(),
    st.sampled_from((None, "em")),
    st.sampled_from((None, 0.5)),
)
def test_scores_are_left_alone_only_if_no_step_changes_them(
    record: Record,
    capacity: RowCapacity,
    needs_verdict: bool,
    metric: str | None,
    correct_from: float | None,
) -> None:
    """Where the check says so, fitting scores returns the record without outcomes."""
    choices = Choices(metric=metric, correct_from=correct_from)
    if not are_true([unfitted_check(choices)], record, choices):
        return
    outcomes = FieldOutcomes()

    fitted = fit_scores(
        record, replace_field(capacity, needs_verdict=needs_verdict), choices, outcomes
    )

    assert fitted is record
    assert outcomes == FieldOutcomes()


@given(
    records(),
    st.sampled_from(sorted(WRITABLE)),
    st.sampled_from(Prompt),
    st.sampled_from((None, "none", "all")),
    st.sampled_from((None, "m")),
)
def test_records_are_left_alone_only_if_preparation_changes_nothing(
    record: Record, target: str, prompt: Prompt, filter_: str | None, model: str | None
) -> None:
    """Where the checks say so, preparing returns the record without outcomes."""
    choices = Choices(prompt=prompt, filter=filter_, model=model)
    preparation = Preparation(adapter_named(target), choices)
    if not are_true(preparation.unprepared_checks, record, choices):
        return
    outcomes = FieldOutcomes()

    assert preparation.prepared(record, outcomes) is record
    assert outcomes == FieldOutcomes()


@given(records())
def test_records_as_dicts_have_the_members_of_any_struct_in_order(
    record: Record,
) -> None:
    """The compiled function returns what the plain one does, also the order of keys."""
    assert encode(compiled_as_dict()(record)) == encode(as_dict(record))


TARGETS = sorted(WRITABLE)


def result_or_error(map_record: Any) -> Any:
    """Return rows as bytes, paths and outcomes of a record, None if there is no row."""
    try:
        return map_record()
    except Unconvertible:
        return None


@given(
    st.lists(records(), min_size=1, max_size=8),
    st.sampled_from(TARGETS),
    CHOICES,
    st.booleans(),
    CONSTANTS,
)
def test_program_maps_records_as_the_mapper_does(
    found: list[Record],
    target: str,
    choices: Choices,
    keep_extra: bool,
    constants: dict[str, Any],
) -> None:
    """Rows with their order of keys, paths and outcomes are equal for each record."""
    adapter = adapter_named(target)
    given_choices = Choices(
        choices.references,
        choices.responses,
        choices.turns,
        choices.model,
        constants,
        keep_extra,
    )
    mapper = RecordMapper(adapter, given_choices, owners=OWNERS)
    program = RecordProgram(mapper, limit=3)

    def plain(record: Record, number: int) -> Any:
        mapped = mapper.map(record, number)
        return encode(mapped.rows), mapped.paths, mapped.outcomes

    def quick(record: Record, number: int) -> Any:
        rows, known = program.map(record, number, NO_OUTCOMES)
        return encode(rows), known.paths, known.outcomes

    for number, record in enumerate([*found, *found], 1):
        expected = result_or_error(lambda r=record, n=number: plain(r, n))
        assert result_or_error(lambda r=record, n=number: quick(r, n)) == expected
    assert NO_OUTCOMES.entries == []


def test_reasoning_of_the_last_turn_is_that_of_the_answer() -> None:
    """A row with texts only has the answer that turns end with, and its reasoning."""
    turns: list[dict[str, Any]] = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a", "reasoning": "why"},
        {"role": "assistant", "content": None, "tool_calls": []},
    ]
    record = Record(outputs=[Output(turns=turns)])
    parts = fit_record(record, RowCapacity(), Choices(), FieldOutcomes())

    assert [*parts] == [Record(prompt="q", outputs=[Output(text="a", reasoning="why")])]


@given(record=records(), names=st.sets(st.sampled_from([*FIELD_TYPES, "outputs"])))
@settings(suppress_health_check=list(HealthCheck), deadline=None)
def test_requirements_are_fulfilled_by_the_paths_of_a_record(
    record: Record, names: set[str]
) -> None:
    """A record is refused if and only if its paths lack what is required."""
    alone = [RowRequirements(((name, name),)) for name in sorted(names)]
    paths = set(field_paths(record))
    lacking = [
        one for one in alone if not paths.intersection(fulfilling(one.fields[0][0]))
    ]
    refused = [one for one in alone if is_refused(one, record)]

    assert refused == lacking
    all_ = RowRequirements(tuple((name, name) for name in names))
    assert is_refused(all_, record) is bool(lacking)


def is_refused(requirements: RowRequirements, record: Record) -> bool:
    """Tell whether a record lacks what is required."""
    try:
        requirements.check(record)
    except Unconvertible:
        return True
    return False


# Rows whose keys are data, such as the names of metrics

SCORES = FieldMapping(
    ("scores", "*"), "outputs.scores.value", key_record_path="outputs.scores.metric"
)
TABLE = FieldTable(
    "other",
    (
        FieldMapping(("question",), "prompt"),
        FieldMapping(("answer",), "outputs.text"),
        SCORES,
    ),
)
ADAPTER = FormatAdapter(
    vendor="other",
    fields=TABLE.fields,
    read=TABLE.read,
    write=TABLE.write,
    capacity=RowCapacity(scores=Cardinality.MANY),
)


@settings(suppress_health_check=list(HealthCheck))
@given(record=records(), metric=st.sampled_from([None, "m"]))
def test_differences_are_the_declared_losses(
    record: Record, metric: str | None
) -> None:
    """A record differs after a round trip exactly in its recorded losses."""
    constants: dict[str, Any] = {"outputs.text": "a"}
    if metric is not None:
        constants |= {"outputs.scores.metric": metric, "outputs.scores.value": 1}
    choices = Choices(
        references=References.FIRST, responses=Responses.FIRST, constants=constants
    )
    try:
        written = RecordMapper(ADAPTER, choices).map(filled(record))
    except Unconvertible:
        assume(record.outputs != [])
        raise
    (row,) = written.rows
    back = ADAPTER.read(row)
    found = {each.path for each in plain_differences(filled(record), back)}
    noted = {each.path for each in written.outcomes}

    assert unrelated(found, noted) == set()
    assert unrelated(noted, found) == set()


# What is read straight from decoded rows is what the whole record becomes

SOURCES = [
    format_
    for format_ in WRITABLE.values()
    if adapter_named(format_.id).reads_by_fields
]
TARGET_FORMATS = list(WRITABLE.values())
SOME_CHOICES = (
    Choices(),
    Choices(References.EXPAND, Responses.LIST, Turns.TRANSCRIPT),
    Choices(References.FAIL, Responses.FIRST, Turns.FAIL),
    Choices(
        model="m",
        constants={"outputs.model": "m", "id": "1", "references": ["r"]},
    ),
    Choices(prompt=Prompt.FORMATTED),
)
#: Random rows of each format, and those that the decoder learns.
ROWS, LEARNED = 200 + drawn(50), 200


@cache
def decoder_and_rows(format_: Format) -> tuple[TypedDecoder, list[bytes]]:
    """Return a decoder that has seen rows of a format, and the rows that it accepts."""
    file = random_file(format_, format_.dialects[0], ROWS, f"direct {format_.id}")
    texts = [encode(row.value) for row in file.rows]
    validator = validator_of_rows(format_, format_.dialects[0])
    for text in texts[:LEARNED]:
        validator.validate(Chunk(text, Cursor(), [text]))
    decoder = validator.decoder
    assert decoder is not None
    return decoder, [text for text in texts if decoder.accept(text) is not None]


def mapped_whole(mapper: RecordMapper, record: Record, number: int) -> Any:
    """Return what a record becomes, None if it cannot be converted."""
    try:
        mapped = mapper.map(record, number)
    except Unconvertible:
        return None
    return encode(mapped.rows), mapped.paths, mapped.outcomes


def mapped_directly(
    program: RecordProgram, found: tuple[Record, Any], whole: Record, number: int
) -> Any:
    """Return what needed fields become, None if they cannot be converted."""
    needed, key = found
    try:
        nulls = field_paths(whole, program.mapper.owners)
        rows, record_outcome = program.map_needed(needed, number, key, lambda _: nulls)
    except Unconvertible:
        return None
    return encode(rows), record_outcome.paths, record_outcome.outcomes


@pytest.mark.parametrize("path", ["extra.nemo", "outputs.extra.nemo", "extra"])
def test_other_keys_of_rows_are_read_where_they_may_be_written(path: str) -> None:
    """A target that carries the extra of another vendor gets that extra."""
    source = WRITABLE["nemo-output"]
    decoder, texts = decoder_and_rows(source)
    target = adapter_named("haystack")
    carrying = replace_field(target, other_paths=target.other_paths | {path})
    rows = [Chunk(text, Cursor()) for text in texts]

    for asked, is_read in ((target, False), (carrying, True)):
        direct = direct_read(adapter_named(source.id), asked, Choices(), decoder)
        assert direct is not None
        extras = {
            found[0].extra is not UNSET
            for row in rows
            for found in direct.records(row, [decoder.decode(row.data)])
            if found is not None
        }
        assert (True in extras) is is_read


@pytest.mark.parametrize(
    ("source", "target"), pairs(SOURCES, TARGET_FORMATS), ids=lambda each: each.id
)
def test_needed_fields_become_what_the_whole_record_becomes(
    source: Format, target: Format
) -> None:
    """Rows, paths and outcomes are the same, for each row that is read directly."""
    ours, theirs = adapter_named(source.id), adapter_named(target.id)
    decoder, texts = decoder_and_rows(source)
    taken = 0
    for choices in SOME_CHOICES:
        direct = direct_read(ours, theirs, choices, decoder)
        if direct is None:
            continue
        mapper = RecordMapper(theirs, choices, owners=ours.extra_owners)
        program = RecordProgram(mapper)
        for number, text in enumerate(texts, 1):
            (found,) = direct.records(Chunk(text, Cursor()), [decoder.decode(text)])
            if found is None:
                continue
            taken += 1
            whole = ours.read(decode(text))
            expected = mapped_whole(mapper, whole, number)
            assert mapped_directly(program, found, whole, number) == expected, text
    assert taken


def test_escapes_of_other_letters_are_no_foreign_keys() -> None:
    """Rows with an accent as an escape are not decoded a second time."""
    keys = extra_keys(adapter_named("tencent-outputs"), adapter_named("nemo-output"))

    assert [key for key in keys if key in rb'"harpia\u002dformats"'] != []
    assert [key for key in keys if key in rb'"caf\u00e9"'] == []
