from cases import for_each_case
from harpia_formats.formats.schema.references import resolve


@for_each_case(
    "reference, found",
    [
        ("#", "root"),
        ("#/definitions/a~1b", "slash"),
        ("#/definitions/c%20d", "space"),
        ("#/allOf/0", "item"),
        ("#anchor", "anchor"),
        ("urn:root#anchor", "anchor"),
        ("urn:root", "root"),
        ("#/allOf/1", None),
        ("#/definitions/c%20d/title/x", None),
        ("urn:other", None),
    ],
)
def test_resolve(reference: str, found: str | None) -> None:
    """A reference is resolved by pointer or by name, or to None."""
    schema = {
        "$id": "urn:root",
        "title": "root",
        "definitions": {
            "a/b": {"title": "slash"},
            "c d": {"title": "space"},
            "e": {"$id": "#anchor", "title": "anchor"},
        },
        "allOf": [{"title": "item"}],
    }

    node = resolve(schema, reference)

    assert (node and node["title"]) == found
