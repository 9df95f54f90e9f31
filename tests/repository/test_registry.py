import pytest

import harpia_converters
from cases import for_each_case
from harpia_formats import UnknownFormat, validate
from known_formats import (
    FORMATS,
    READABLE,
    RULES,
    WRITABLE,
    adapter_named,
    bundled_schema,
)

SHAPES = ("eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0")
FAMILIES = dict.fromkeys(each.family for each in FORMATS.values() if each.family)


@for_each_case("identifier", FORMATS)
def test_format_is_named_by_its_id(identifier: str) -> None:
    """An id names one format, whose dialects have schemas and names of their own."""
    dialects = FORMATS[identifier].dialects
    names = [each.name for each in dialects]

    assert validate(b"", format=identifier).files[0].format == identifier
    assert len(set(names)) == len(names)
    assert names[0] == ""
    for each in dialects:
        assert bundled_schema(each.schema)["$schema"]
        assert not each.strict or bundled_schema(each.strict)["$schema"]


@pytest.mark.parametrize("label", ["eee@0.2.1", "eee@0.2.2", "eee@0.2.3"])
def test_format_is_named_by_an_alias(label: str) -> None:
    """A version that has the shape of another is that format."""
    assert validate(b"", format=label).files[0].format == "eee@0.3.0"


def test_ids_aliases_and_families_are_all_different() -> None:
    """No name stands for two things."""
    aliases = [name for each in FORMATS.values() for name in each.aliases]
    names = [*FORMATS, *aliases, *FAMILIES]

    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("family", "members"),
    [
        ("eee", SHAPES),
        ("nemo", ("nemo-input", "nemo-output")),
        ("tencent", ("tencent-messages", "tencent-outputs")),
    ],
)
def test_family_names_all_of_its_members(family: str, members: tuple[str, ...]) -> None:
    """A family stands for formats of one vendor, in the order of their table."""
    found = [each for each in FORMATS.values() if each.family == family]

    assert tuple(each.id for each in found) == members
    assert len({each.vendor for each in found}) == 1
    assert validate(b"", format=family).files[0].format in members


@for_each_case(
    "asked, near",
    [
        ("eee@0.2.0_tag", "eee@0.2.0-tag"),
        ("EEE@0.3.0", "eee@0.3.0"),
        ("EEE", "eee"),
        ("eee@030", "eee@0.3.0"),
        ("nemo_output", "nemo-output"),
        ("harpia-ouput", "harpia-output"),
    ],
)
def test_unknown_format_suggests_the_nearest(asked: str, near: str) -> None:
    """The error for a misspelt id suggests the nearest id."""
    with pytest.raises(UnknownFormat) as caught:
        validate(b"", format=asked)

    assert caught.value.asked == asked
    assert f"did you mean {near}?" in str(caught.value)


@pytest.mark.parametrize("asked", ["", "zzz", "42", "\n"])
def test_error_for_an_unknown_format_lists_all_formats(asked: str) -> None:
    """The error for an unknown format without near names lists all names."""
    with pytest.raises(UnknownFormat) as caught:
        validate(b"", format=asked)
    names = ", ".join([*FAMILIES, *FORMATS])

    assert str(caught.value) == f"no format is called {asked!r} (known: {names})"
    assert "\n" not in str(caught.value)


def test_vendor_rules_follow_the_own_rules() -> None:
    """The rules of vendors are in the table of all rules, after our own."""
    codes = list(RULES)
    theirs = [each.code for each in harpia_converters.RULES]

    assert codes[-len(theirs) :] == theirs
    assert {"J101", "J301", "S101", "S201", "X101"} < set(codes)


@for_each_case("name", READABLE)
def test_read_only_formats_are_those_whose_adapter_does_not_write(name: str) -> None:
    """A format is called read-only exactly if its adapter has no `write`."""
    format_ = FORMATS[name]

    assert format_.read_only == (adapter_named(name).write is None)
    assert (name in WRITABLE) == (not format_.read_only)
