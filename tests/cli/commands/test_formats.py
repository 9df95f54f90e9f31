import json
from pathlib import Path
from typing import Any

import pytest

from command_runs import run
from known_formats import FORMATS

#: The ids of the schemas, which name their files.
SCHEMAS = {
    path.name.removesuffix(".schema.json")
    for path in (Path(__file__).parents[3] / "schemas").glob("*/*.schema.json")
}
#: The ids of the formats of each family by its name.
FAMILIES = {
    name: [each.id for each in FORMATS.values() if each.family == name]
    for name in dict.fromkeys(each.family for each in FORMATS.values() if each.family)
}


def output_of(*arguments: str) -> str:
    """Return the standard output of `formats`, which must end with 0 and no message."""
    result = run("formats", *arguments)
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout.decode()


@pytest.fixture(scope="module")
def listed() -> dict[str, Any]:
    """Return the formats as programs get them."""
    whole: dict[str, Any] = json.loads(output_of("--output-format", "json"))
    return whole


def test_every_format_has_a_line_under_its_vendor() -> None:
    """The text lists each format below whose it is, with title and aliases."""
    lines = output_of().splitlines()
    vendor = ""
    found = {}
    for line in lines:
        if not line.startswith(" "):
            vendor = line
        elif not line.startswith("    "):
            found[line.split()[0]] = (vendor, line)

    for each in FORMATS.values():
        of_vendor, line = found[each.id]
        assert of_vendor == each.vendor
        assert each.title in line
        assert all(alias in line for alias in each.aliases)


def test_every_dialect_has_a_line_below_its_format() -> None:
    """A dialect that has a name stands right below its format."""
    lines = output_of().splitlines()
    for each in FORMATS.values():
        (at,) = (n for n, line in enumerate(lines) if line.startswith(f"  {each.id} "))
        names = [dialect.name for dialect in each.dialects if dialect.name]
        shown = [line.split()[0] for line in lines[at + 1 : at + 1 + len(names)]]

        assert shown == [f"({name})" for name in names]


def test_families_are_listed_last() -> None:
    """Names that stand for several formats are listed with their members."""
    tail = output_of().splitlines()[-len(FAMILIES) :]

    for line, (name, members) in zip(tail, FAMILIES.items(), strict=True):
        assert line.split()[0] == name
        assert line.endswith(", ".join(members))


def test_columns_are_aligned() -> None:
    """In a pipe the second column begins at one place in all lines."""
    rows = [each for each in output_of().splitlines() if each.startswith("  ")]
    titles = {each.find(" an ") for each in rows if " an object" in each}

    assert len({each.index("JSON Lines") for each in rows if "JSON L" in each}) == 1
    assert titles


def test_json_holds_every_format(listed: dict[str, Any]) -> None:
    """Programs get the formats in the order of their table, and the families."""
    formats = listed["formats"]

    assert [each["id"] for each in formats] == list(FORMATS)
    for shown, known in zip(formats, FORMATS.values(), strict=True):
        assert shown["vendor"] == known.vendor
        assert shown["title"] == known.title
        assert shown["family"] == known.family
        assert shown["aliases"] == list(known.aliases)
        names = [each["name"] for each in shown["dialects"]]
        assert names == [each.name for each in known.dialects]
    assert listed["families"] == FAMILIES


def test_json_names_schemas_that_ship(listed: dict[str, Any]) -> None:
    """Each dialect names its schema and its strict one, which both can be printed."""
    dialects = [each for one in listed["formats"] for each in one["dialects"]]

    for each in dialects:
        assert {each["schema"], each["strict_schema"]} <= SCHEMAS
        assert isinstance(each["documented"], bool)
        assert each["container"]
