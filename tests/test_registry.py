import re

import pytest

import harpia_converters
from harpia_formats.registry import (
    FAMILIES,
    UnknownFormat,
    all_formats,
    all_rules,
    family_of,
    formats_named,
)
from harpia_formats.schema import built_in_schema

SHAPES = ("eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0")


def test_formats_are_those_of_the_table() -> None:
    """Every format of the spokes' table is found by its id, in order."""
    assert list(all_formats().values()) == list(harpia_converters.FORMATS)
    assert list(all_formats()) == list(SHAPES)


@pytest.mark.parametrize("identifier", SHAPES)
def test_format_is_named_by_its_id(identifier: str) -> None:
    """An id names one format, which has a schema."""
    (found,) = formats_named(identifier)

    assert found.id == identifier
    assert built_in_schema(identifier)["type"] == "object"


def test_family_names_all_of_its_versions() -> None:
    """A family stands for all of its versions, the user's own schema first."""
    assert {"eee": SHAPES} == FAMILIES
    assert tuple(each.id for each in formats_named("eee")) == SHAPES


@pytest.mark.parametrize("identifier", SHAPES)
def test_family_of_a_version_holds_them_all(identifier: str) -> None:
    """From any version the whole family is found."""
    assert family_of(all_formats()[identifier]) == formats_named("eee")


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("eee@0.2.0_tag", "eee@0.2.0-tag"),
        ("EEE@0.3.0", "eee@0.3.0"),
        ("EEE", "eee"),
        ("eee@030", "eee@0.3.0"),
    ],
)
def test_unknown_format_suggests_the_nearest(asked: str, near: str) -> None:
    """A misspelt id is answered with the one that was probably meant."""
    with pytest.raises(UnknownFormat) as caught:
        formats_named(asked)

    assert caught.value.asked == asked
    assert f"did you mean {near}?" in str(caught.value)


@pytest.mark.parametrize("asked", ["", "nemo", "eee@", "harpia-output"])
def test_unknown_format_names_those_that_there_are(asked: str) -> None:
    """What is near nothing is answered with all names, in one line."""
    with pytest.raises(UnknownFormat) as caught:
        formats_named(asked)

    assert repr(asked) in str(caught.value)
    assert str(caught.value).endswith(f"(known: eee, {', '.join(SHAPES)})")
    assert "\n" not in str(caught.value)


def test_codes_and_names_of_rules_are_unique() -> None:
    """No two rules share a code or a name, and codes are a letter and digits."""
    rules = all_rules()

    assert len({each.name for each in rules.values()}) == len(rules)
    assert all(re.fullmatch("[A-Z][0-9]{3}", each) for each in rules)
    assert all(code == rule.code for code, rule in rules.items())


def test_rules_of_the_spokes_are_known() -> None:
    """A vendor's own rules stand in the same table as ours, behind them."""
    codes = list(all_rules())
    theirs = [each.code for each in harpia_converters.RULES]

    assert codes[-len(theirs) :] == theirs
    assert {"J101", "S101", "S201"} < set(codes)
