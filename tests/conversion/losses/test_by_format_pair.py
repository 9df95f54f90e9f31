import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given

import command_runs
import harpia_formats
from cases import for_each_case
from effort import drawn, examples, some_pairs
from harpia_formats import ConversionError, Record
from harpia_formats.conversion.losses import field_map_markdown, format_pair_losses
from harpia_formats.conversion.losses.conversion_report import LOSSES, SourceNames
from harpia_formats.conversion.losses.format_pair_losses import (
    FieldLosses,
    PairLosses,
    Specimens,
    all_pairs,
    line_of,
    losses_of_pair,
    mapper_for,
    pair_as_dict,
    specimens_in,
)
from harpia_formats.conversion.losses.specimen_records import (
    specimens_between,
    specimens_of,
)
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.requirements import check_requirements
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.model.exact_json import decode, encode
from harpia_formats.plugins import (
    Cardinality,
    Container,
    FieldMapping,
    FieldOutcomes,
    FieldTable,
    Outcome,
    RowCapacity,
    Unconvertible,
    filled,
    records,
)
from known_formats import READABLE, WRITABLE, adapter_named
from required_values import REQUIRED

FIXTURES = Path(__file__).parents[3] / "fixtures"
FORMATS = READABLE
PAIRS = [(source, target) for source in FORMATS for target in WRITABLE]
PAIRS = [each for each in PAIRS if each[0] != each[1]]
#: How many targets of a source the short form of what takes long has.
SOME = drawn(1)
#: The targets into which the fixtures of each source are converted.
TARGETS = {
    source: [
        each
        for name, each in some_pairs(list(FORMATS), list(WRITABLE))
        if name == source != each
    ]
    for source in FORMATS
}


def some_targets(source: str) -> list[str]:
    """Return some formats that a format is converted into, the same in each run."""
    others = [each for each in WRITABLE if each != source]
    return Random(source).sample(others, SOME)  # noqa: S311 - a test needs a seed, not secrecy


@cache
def every_pair() -> list[PairLosses]:
    """Return what is listed for all pairs, which is found once."""
    return list(all_pairs())


@cache
def known_specimens(source: str) -> Specimens:
    """Return the records of a format that show what it can lose."""
    return specimens_in(FORMATS[source])


@cache
def printed(source: str, target: str) -> PairLosses:
    """Return what is listed for a pair."""
    return losses_of_pair(FORMATS[source], WRITABLE[target], known_specimens(source))


def seen_in(source: str, target: str, records: Iterable[Record]) -> FieldLosses:
    """Return what records of a format lose in another one."""
    ours, theirs = adapter_named(source), adapter_named(target)
    found, mapper = FieldLosses(SourceNames(ours)), mapper_for(ours, theirs)
    for record in records:
        with suppress(Unconvertible):
            found.add(mapper.map(record))
    return found


def unlisted(found: FieldLosses, pair: PairLosses) -> dict[str, str]:
    """Return the fields that are lost and not listed so, or listed and not lost."""
    arrived = [name for name in pair.dropped if name in found.arrived]
    listed = {*pair.dropped, *pair.changed}
    return {
        **{name: "is lost" for name in found.losses if name not in listed},
        **dict.fromkeys(arrived, "arrives"),
    }


def run(*arguments: str) -> str:
    """Return what `formats` writes with `arguments`, which must go well."""
    done = command_runs.run("formats", *arguments, timeout=60)
    assert done.returncode == 0
    return done.stdout.decode()


@pytest.mark.long  # it finds the losses of all pairs
def test_every_ordered_pair_is_there_once() -> None:
    """The table has each ordered pair of two record formats, and no other."""
    found = [(each.source, each.target) for each in every_pair()]

    assert found == PAIRS


@for_each_case("source", FORMATS)
def test_losses_of_fixtures_are_listed(source: str) -> None:
    """Each pair lists what a conversion of the fixtures loses, and how."""
    files = sorted((FIXTURES / source / "valid").iterdir())
    records = [
        each for file in files for each in harpia_formats.read(file, format=source)
    ]
    found = {
        target: unlisted(seen_in(source, target, records), printed(source, target))
        for target in TARGETS[source]
    }

    assert records
    assert {target: names for target, names in found.items() if names} == {}


@pytest.mark.parametrize("source", WRITABLE)
@examples(4, suppress_health_check=list(HealthCheck))
@given(record=records())
def test_losses_of_any_record_are_listed(source: str, record: Record) -> None:
    """Each pair lists what a conversion of any record loses, and how."""
    adapter = adapter_named(source)
    mapper = RecordMapper(adapter, Choices(constants=REQUIRED))
    try:
        rows = mapper.map(filled(record)).rows
    except Unconvertible:
        assume(condition=False)
    read = [adapter.read(decode(encode(row))) for row in rows]
    for target in some_targets(source):
        found = unlisted(seen_in(source, target, read), printed(source, target))
        assert found == {}, target


OF_ROWS = [
    name for name in WRITABLE if FORMATS[name].dialects[0].container is Container.ROWS
]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(name, marks=pytest.mark.long if at % 2 else [])
        for at, name in enumerate(OF_ROWS)
    ],
)
def test_listed_losses_are_those_of_a_converted_file(
    source: str, tmp_path: Path
) -> None:
    """A file with every field in every form loses what some pairs list, and no more."""
    check_converted_file(source, some_targets(source), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("source", OF_ROWS)
def test_listed_losses_are_those_of_a_converted_file_long(
    source: str, tmp_path: Path
) -> None:
    """The same holds for every pair."""
    check_converted_file(source, WRITABLE, tmp_path)


def check_converted_file(source: str, targets: Iterable[str], folder: Path) -> None:
    """Convert a file with every field in every form, and compare what it loses."""
    adapter = adapter_named(source)
    names, known = SourceNames(adapter), list(specimens_of(adapter))
    options: dict[str, Any] = {"from_": source, "constants": REQUIRED}
    options |= {"output": folder / "out", "overwrite": True}
    for target in targets:
        if target in {source, "record"}:
            continue
        lossy = set()
        between = specimens_between(adapter, adapter_named(target))
        for record in (*known, *between):
            row = encode(adapter.writer(record, FieldOutcomes()))
            with suppress(harpia_formats.ValidationFailed):
                done = harpia_formats.convert(row, to=target, **options)
                lossy |= {
                    names.of_any_key(outcome.path)
                    for outcome in done.losses[0].losses.counts
                    if outcome.outcome in LOSSES | {Outcome.SPLIT}
                }
        listed = {*printed(source, target).dropped, *printed(source, target).changed}
        assert {name for name in listed if "header" not in name} == lossy, target


@for_each_case("source", FORMATS)
def test_needed_fields_are_those_that_stop_a_conversion(source: str) -> None:
    """A pair needs a field exactly if a conversion without it is refused."""
    for target in TARGETS[source]:
        check_needed_fields(source, target)


@pytest.mark.long
@for_each_case("pair", PAIRS, ids=" ".join)
def test_needed_fields_are_those_that_stop_a_conversion_long(
    pair: tuple[str, str],
) -> None:
    """The same holds for every pair."""
    check_needed_fields(*pair)


def check_needed_fields(source: str, target: str) -> None:
    """Assert that a conversion is refused for the fields that a pair needs."""
    ours, theirs = FORMATS[source], FORMATS[target]
    adapters = adapter_named(source), adapter_named(target)
    message = ""
    try:
        check_requirements(ours, adapters[0], theirs, adapters[1], (), scored=False)
    except ConversionError as error:
        message = str(error)
    needs = printed(source, target).needs

    assert bool(message) == bool(needs), target
    assert all(each in message for each in needs), target


def test_the_hub_takes_every_field_of_every_format() -> None:
    """The hub's own format has all that is read: only what no reader keeps is lost."""
    pairs = [printed(each, "record") for each in FORMATS if each != "record"]
    lost = {each.source: [*each.paths, *each.changed] for each in pairs}

    assert {each: list(adapter_named(each).not_kept) for each in lost} == lost
    assert all(each.is_lossless for each in pairs if not lost[each.source])


def test_several_answers_become_one_row_each() -> None:
    """Several answers are listed as one row each if a row holds one answer."""
    found = printed("tencent-outputs", "nemo-output")

    assert found.changed == {
        "messages (messages)": (
            "dropped (all but the last of the user)",
            "the last of the user",
        ),
        "model_outputs": ("one row each",),
    }
    assert "max_tokens" in found.dropped


def test_only_the_first_reference_is_kept() -> None:
    """Several references are listed as cut to the first if a row holds one."""
    found = printed("harpia", "nemo-output").changed["expected-output"]

    assert found == ("dropped (all but the first)",)
    assert "input.ideal_response" not in printed("nemo-output", "harpia").changed


def test_loss_of_conversations_is_listed() -> None:
    """A conversation is listed as a chat, as its last answer, or as dropped."""
    whole = printed("eee@0.3.0", "tencent-outputs")
    short = printed("eee@0.3.0", "nemo-output")
    gone = printed("eee@0.3.0", "nemo-input")

    assert "messages and the answer" in whole.changed["messages"]
    assert "the last answer" in short.changed["messages"]
    assert "messages" in gone.dropped


def test_change_of_the_type_of_ids_is_listed() -> None:
    """A version whose ids are text lists that ids of others become text."""
    found = printed("eee@0.2.0", "eee@0.3.0").changed

    assert found["sample_id"] == ("as text",)
    assert "sample_id" not in printed("eee@0.2.0", "eee@0.2.0-tag").changed


def test_line_lists_kept_fields_if_most_are_dropped() -> None:
    """If most fields are dropped, the line lists the fields that are kept."""
    line = line_of(printed("eee@0.2.0", "nemo-input"))

    assert line == "drops all but input.raw, input.reference"


def test_fields_below_one_key_are_listed_as_one() -> None:
    """If all fields below a key are lost or needed, the line names the key once."""
    lost = line_of(printed("tencent-outputs", "tencent-messages"))
    needed = line_of(printed("nemo-input", "eee@0.3.0"))

    assert lost.startswith("drops model_outputs.* (not with `--keep-extra`)")
    assert needed.endswith(
        "needs evaluation_id, model_id, evaluation_name, evaluation.*"
    )
    assert "metadata" in printed("eee@0.2.0", "nemo-input").dropped


def test_unknown_keys_of_records_are_told_from_those_of_answers() -> None:
    """The keys below `extra` are one field, and no other field is among them."""
    pair = printed("record", "nemo-output")

    assert {"outputs.extra", "extra"} & {*pair.dropped} == {"outputs.extra"}
    assert pair.changed["extra"] == ("dropped in part",)
    assert "dropped (the first message)" in pair.changed["messages.system"]


def test_key_of_several_fields_lists_the_lost_ones() -> None:
    """A key that holds several fields is listed with those fields that are lost."""
    found = printed("tencent-messages", "haystack")

    assert "messages (gt)" in found.dropped
    assert "messages (system)" in found.dropped
    assert "messages (prompt)" not in found.dropped


def test_write_only_field_is_not_lost() -> None:
    """A field that is never read from a key is not listed as lost."""
    assert printed("tencent-csv", "nemo-input").dropped == ("system", "other keys")


def test_line_states_whether_keep_extra_helps() -> None:
    """The line states whether --keep-extra keeps the dropped fields."""
    kept = line_of(printed("nemo-output", "haystack"))
    lost = line_of(printed("nemo-output", "harpia"))
    header = line_of(printed("haystack", "eee@0.3.0"))

    assert kept.endswith("(not with `--keep-extra`)")
    assert "--keep-extra" not in lost
    assert "; drops header.extra;" in header


def test_a_pair_without_a_loss_says_so() -> None:
    """A line of a pair that carries every field says that no field is lost."""
    assert line_of(printed("nemo-output", "csv")) == "no field"
    assert line_of(printed("eee@0.2.0", "record")) == "no field"


@pytest.mark.long  # it finds the losses of all pairs again
def test_the_command_writes_a_line_for_each_pair() -> None:
    """In a pipe each pair is one line: from, to, and what is lost, in columns."""
    lines = run("--pairs").splitlines()
    expected = every_pair()

    assert len(expected) == len(lines)
    for line, each in zip(lines, expected, strict=True):
        assert [each.source, each.target] == line.split()[:2]
        assert line.endswith(line_of(each))
    assert len({line.index(line.split(maxsplit=1)[1]) for line in lines}) == 1


@pytest.mark.long  # it finds the losses of all pairs again
def test_programs_get_every_pair() -> None:
    """As JSON each pair has all that is dropped, changed and needed, by name."""
    printed = json.loads(run("--pairs", "--output-format", "json"))

    assert {"pairs": [pair_as_dict(each) for each in every_pair()]} == printed


# Formats that are only read, and with keys that are data

NEMO = WRITABLE["nemo-output"]
READ_ONLY = replace(NEMO, id="read-only", read_only=True)
ADAPTER = replace(adapter_named(NEMO.id), write=None)
DATA_KEYS = replace(READ_ONLY, id="data-keys", vendor="other")
OF_DATA_KEYS = FieldTable(
    "other",
    (
        FieldMapping(("question",), "prompt"),
        FieldMapping(("answer",), "outputs.text"),
        FieldMapping(
            ("scores", "*"),
            "outputs.scores.value",
            key_record_path="outputs.scores.metric",
        ),
    ),
).adapter(capacity=RowCapacity(scores=Cardinality.MANY))


@pytest.fixture
def more_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add one format that is only read to those that are read, and one of data keys."""
    adapters = {READ_ONLY.id: ADAPTER, DATA_KEYS.id: OF_DATA_KEYS}
    readable = {**READABLE, READ_ONLY.id: READ_ONLY}

    def adapter_of(each: Any) -> Any:
        return adapters.get(each.id) or adapter_named(each.id)

    for module in (format_pair_losses, field_map_markdown):
        monkeypatch.setattr(module, "readable_formats", lambda: readable)
        monkeypatch.setattr(module, "adapter_of", adapter_of)


@pytest.mark.usefixtures("more_formats")
def test_pairs_have_it_as_a_source_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of pairs has a pair into every written format, and none into it."""
    monkeypatch.setattr(
        format_pair_losses,
        "losses_of_pair",
        lambda source, target, _: (source.id, target.id),
    )
    pairs: list[Any] = list(format_pair_losses.all_pairs())

    assert [target for source, target in pairs if source == READ_ONLY.id] == [*WRITABLE]
    assert READ_ONLY.id not in {target for _, target in pairs}


@pytest.mark.usefixtures("more_formats")
def test_mapping_page_says_that_it_is_not_written() -> None:
    """The mapping page has its table, and that rows are only read."""
    sentence = "- Rows can be read, but not written."
    page = field_map_markdown.mapping_page()

    assert sentence in page
    assert sentence in field_map_markdown.mapping_table(READ_ONLY)
    assert sentence not in field_map_markdown.mapping_table(NEMO)


def test_no_row_is_made_by_its_adapter() -> None:
    """An adapter without `write` refuses to be used for rows."""
    with pytest.raises(TypeError, match="read and not written"):
        RecordMapper(ADAPTER, Choices())


@pytest.mark.usefixtures("more_formats")
def test_the_tables_of_losses_name_value_and_key() -> None:
    """Value and key are two fields that a format without scores drops."""
    lost = losses_of_pair(DATA_KEYS, NEMO).paths
    kept = losses_of_pair(DATA_KEYS, WRITABLE["record"]).paths
    table = field_map_markdown.mapping_table(DATA_KEYS)

    assert {"outputs.scores.value", "outputs.scores.metric"} <= {*lost}
    assert "outputs.scores.metric" not in kept
    assert "each key is `outputs.scores.metric`" in table
