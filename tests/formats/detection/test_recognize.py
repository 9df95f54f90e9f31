from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.files.framing.chunk import Chunk, Cursor, FramingFault
from harpia_formats.files.framing.container import Layout
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.detection.recognize import (
    Recognition,
    default_variant,
    recognize,
    recognize_as,
    require_documented,
)
from harpia_formats.formats.detection.sample import Sample, decoded_value, parsed_rows
from harpia_formats.formats.registry import all_formats, formats_named
from harpia_formats.model.format import Format

FIXTURES = Path(__file__).parents[3] / "fixtures"
ALL = tuple(all_formats().values())
FAMILY = formats_named("eee")
SEED, TAG, CURRENT = FAMILY


def records_of(format_: Format) -> list[Any]:
    """Return some valid records of a shape."""
    text = (FIXTURES / format_.id / "valid" / "runs.jsonl").read_bytes()
    return [msgspec.json.decode(each) for each in text.splitlines()]


def sample_of(rows: list[Any], layout: Layout = Layout.LINES) -> Sample:
    """Return the sample of a file that begins with these rows."""
    return Sample(layout, tuple(rows))


def document(identifier: str, name: str) -> Sample:
    """Return the sample of a fixture that is one object."""
    text = (FIXTURES / identifier / "valid" / name).read_bytes()
    return sample_of([msgspec.json.decode(text)], Layout.OBJECT)


def codes_of(found: Recognition) -> list[str]:
    """Return the codes of the notes."""
    return [each.code for each in found.notes]


def taken(format_: Format) -> Recognition:
    """Return the recognition of a format in its first dialect, without notes."""
    return Recognition(FormatVariant(format_, format_.dialects[0]))


def test_values_are_the_rows_that_parse() -> None:
    """Rows that do not parse, at whatever depth, and faults have no values."""
    deep = b"[" * 100_000 + b"]" * 100_000
    rows = [b'{"a": 1}', b"{", b"", b"\xff", b'"\xff"', deep, b"NaN", b"2"]

    assert list(parsed_rows(Chunk(b"\n".join(rows), Cursor(), rows))) == [{"a": 1}, 2]
    assert list(parsed_rows(FramingFault("bom", Cursor()))) == []


@given(
    st.lists(
        st.sampled_from(
            [
                b'{"a": 1}',
                b'{"a": [2]}',
                b"{}",
                b"[3]",
                b"4",
                b"{",
                b'{"\xff": 1}',
                b" ",
            ]
        ),
        min_size=1,
    ),
    st.booleans(),
)
def test_values_are_those_of_each_row(rows: list[bytes], has_end: bool) -> None:
    """Rows that are decoded at once have the values that each has alone."""
    alone = [value for row in rows for value in decoded_value(row)]
    lines = Chunk(b"\n".join(rows) + b"\n" * has_end, Cursor())
    items = [row for row in rows if list(decoded_value(row))]

    assert list(parsed_rows(lines)) == alone
    inside = Chunk(b", ".join(items), Cursor(), items=len(items))
    assert list(parsed_rows(inside)) == alone


@pytest.mark.parametrize("formats", [FAMILY, ALL])
def test_first_version_needs_no_note(formats: tuple[Format, ...]) -> None:
    """The first format of a family needs no note."""
    found = recognize(sample_of(records_of(SEED)), formats)

    assert found.variant == FormatVariant(SEED, SEED.dialects[0])
    assert found.choice is not None
    assert found.notes == ()


@pytest.mark.parametrize("shape", [TAG, CURRENT], ids=lambda each: each.id)
def test_other_version_is_chosen_with_a_note(shape: Format) -> None:
    """Another version is chosen, and the note gives the evidence."""
    found = recognize(sample_of(records_of(shape)), ALL)
    (note,) = found.notes

    assert found.variant == FormatVariant(shape, shape.dialects[0])
    assert note.code == "S202"
    assert note.message.startswith(f"validated as {shape.id}: ")
    assert " records have " in note.message


def test_another_format_of_a_vendor_is_no_other_version() -> None:
    """The variant of NeMo with outputs is reported only if `nemo` was asked for."""
    lines = (FIXTURES / "nemo-output" / "valid" / "answers.jsonl").read_bytes()
    sample = sample_of([msgspec.json.decode(each) for each in lines.splitlines()])
    plain, asked = (
        recognize(sample, ALL),
        recognize(sample, formats_named("nemo"), "nemo"),
    )

    assert plain.variant is not None
    assert plain.variant == asked.variant
    assert plain.variant.name == "nemo-output"
    assert (codes_of(plain), codes_of(asked)) == ([], ["S202"])


def test_undocumented_dialect_is_noted() -> None:
    """A dialect that the vendor does not document is chosen with a note."""
    sample = document("harpia", "instancias.json")
    found = recognize(sample, ALL)
    (note,) = found.notes

    assert found.variant is not None
    assert found.variant.name == "harpia (instancias)"
    assert (note.code, note.message.split(":")[0]) == (
        "S202",
        "validated as harpia (instancias)",
    )
    assert "--strict" in note.help


def test_strict_refuses_undocumented_dialects() -> None:
    """With `--strict`, an undocumented dialect is noted as another shape."""
    sample = document("harpia", "instancias.json")
    found = require_documented(recognize(sample, ALL), sample)

    assert found.variant == default_variant(all_formats()["harpia"], Layout.OBJECT)
    assert codes_of(found) == ["S201"]
    assert "not what HarpIA Lab documents" in found.notes[0].message


def test_strict_does_not_change_documented_formats() -> None:
    """`--strict` changes nothing for a documented or an unknown format."""
    for sample in (sample_of(records_of(CURRENT)), sample_of([{}])):
        found = recognize(sample, ALL)

        assert require_documented(found, sample) is found


def test_ambiguous_records_are_noted() -> None:
    """If all records match another format as well, a note names both."""
    scores: dict[str, Any] = {"groups": {"g": {"metrics": {"f1": {"scores": {}}}}}}
    found = recognize(sample_of([records_of(SEED)[0] | scores], Layout.ONE_LINE), ALL)
    (note,) = found.notes

    assert found.variant == FormatVariant(SEED, SEED.dialects[0])
    assert note.code == "S204"
    assert note.message == ("may be eee@0.2.0 or nemo-results; validated as eee@0.2.0")


def test_no_rows_give_no_notes() -> None:
    """If no row is JSON, there is no format and no note."""
    assert recognize(sample_of([]), FAMILY) == Recognition()
    assert recognize_as([SEED], sample_of([]), FAMILY, SEED.id) == taken(SEED)


def test_note_on_unknown_records_lists_missing_keys() -> None:
    """The note on an unknown format names the nearest formats and missing keys."""
    found = recognize(sample_of([{"input": {}, "evaluation": {}}, {}]), ALL)
    (note,) = found.notes
    names = note.message.removeprefix("no known format; the nearest are ").split(", ")

    assert (found.variant, note.code) == (None, "S301")
    assert len(names) == 3
    assert "eee@0.2.0" in names
    assert "eee@0.2.0 lacks schema_version, evaluation_id, " in note.help
    assert all(f"{each} lacks " in note.help for each in names)
    assert "lacks input" not in note.help


def test_records_that_are_no_objects_are_near_nothing() -> None:
    """Records that are no objects are near no format."""
    found = recognize(sample_of([[1, 2]]), ALL)

    assert codes_of(found) == ["S301"]
    assert "not objects" in found.notes[0].message


@pytest.mark.parametrize("rows", [[], [{}], [3]])
def test_asked_format_is_taken_for_anything(rows: list[Any]) -> None:
    """If a format is asked for, unknown records are validated as that."""
    sample = sample_of(rows)

    assert recognize_as([TAG], sample, ALL, TAG.id) == taken(TAG)
    assert recognize_as(FAMILY, sample, ALL, "eee") == taken(SEED)


def test_asked_format_is_taken_in_a_dialect_that_the_layout_allows() -> None:
    """An array asked to be a HarpIA input is a list of instances, no document."""
    harpia = all_formats()["harpia"]
    found = recognize_as([harpia], sample_of([{}], Layout.ARRAY), ALL, "harpia")

    assert found.variant is not None
    assert found.variant.name == "harpia (instances)"
    assert default_variant(harpia, Layout.OBJECT).name == "harpia"
    assert default_variant(harpia, Layout.TEXT).name == "harpia"


def test_versions_of_a_requested_family_are_distinguished() -> None:
    """The version within a requested family is recognized as without the request."""
    sample = sample_of(records_of(CURRENT))

    assert recognize_as(FAMILY, sample, ALL, "eee") == recognize(sample, FAMILY, "eee")


def test_other_version_than_requested_is_noted_once() -> None:
    """One note reports that most records are of another version than requested."""
    found = recognize_as([SEED], sample_of(records_of(CURRENT)), ALL, SEED.id)
    (note,) = found.notes

    assert found.variant == FormatVariant(SEED, SEED.dialects[0])
    assert note.code == "S201"
    assert note.message.startswith("the file is eee@0.3.0, not eee@0.2.0: ")
    assert "`--format eee@0.3.0`;" in note.help


def test_truncated_sample_gets_no_note_on_its_version() -> None:
    """A document that was only read in part gets no note about another version."""
    sample = document("haystack-run", sorted_names("haystack-run")[0])
    cut = Sample(sample.layout, sample.rows, whole=False)

    assert codes_of(recognize_as([SEED], sample, ALL, SEED.id)) == ["S201"]
    assert codes_of(recognize_as([SEED], cut, ALL, SEED.id)) == []


def sorted_names(identifier: str) -> list[str]:
    """Return the names of a format's fixtures that are JSON documents."""
    return sorted(
        each.name for each in (FIXTURES / identifier / "valid").glob("*.json")
    )


def test_other_shape_that_is_valid_is_no_matter() -> None:
    """Records that match another version may be valid in the one asked for."""
    rows = [each for each in records_of(SEED) if each["interaction_type"] == "agentic"]

    assert rows
    assert recognize_as([TAG], sample_of(rows), ALL, TAG.id) == taken(TAG)


@pytest.mark.parametrize(
    ("others", "codes"), [(1, ["S210"]), (2, ["S210"]), (3, ["S201"])]
)
def test_other_shape_needs_more_than_half(others: int, codes: list[str]) -> None:
    """The file is of another version only if most of its records are."""
    rows = records_of(CURRENT)[:1] * others + [{}] * 2

    assert codes_of(recognize_as([SEED], sample_of(rows), ALL, SEED.id)) == codes
