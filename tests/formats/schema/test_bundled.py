import json
from pathlib import Path

from harpia_formats.formats.schema.bundled_schemas import (
    built_in_schema,
    schema_ids,
    schema_text,
)

SCHEMAS = Path(__file__).parents[3] / "schemas"


def test_every_schema_has_an_id() -> None:
    """The ids are the names of the files in the folders of the vendors, sorted."""
    files = {each.name for each in SCHEMAS.glob("*/*")}

    assert {f"{each}.schema.json" for each in schema_ids()} == files
    assert list(schema_ids()) == sorted(schema_ids())


def test_text_is_that_of_the_file() -> None:
    """The text of a schema is that of its file, byte for byte."""
    for each in schema_ids():
        (file,) = SCHEMAS.glob(f"*/{each}.schema.json")
        assert schema_text(each) == file.read_bytes()


def test_schema_is_the_text_decoded() -> None:
    """The printed schema is the one that records are validated by."""
    for each in schema_ids():
        assert json.loads(schema_text(each)) == built_in_schema(each)
