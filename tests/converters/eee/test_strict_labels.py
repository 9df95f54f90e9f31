"""Labels of another version are refused under --strict (S211)."""

import itertools
import json

from cases import for_each_case
from eee_rows import SHAPES, clean_row
from harpia_formats import validate


@for_each_case(
    "shape, label, prefix",
    itertools.product(
        SHAPES,
        ["0.0.1", "0.2.0", "0.2.2", "0.3.0", "banana"],
        ["", "instance_level_eval_"],
    ),
)
def test_label_of_another_version_is_one_error(
    shape: str, label: str, prefix: str
) -> None:
    """With --strict a label is that of the shape, and without it any is valid."""
    row = {**clean_row(shape, "single_turn"), "schema_version": prefix + label}
    data = json.dumps(row).encode() + b"\n"
    known = {
        "eee@0.2.0": {"0.2.0", "0.0.1"},
        "eee@0.2.0-tag": {"0.2.0"},
        "eee@0.3.0": {"0.3.0", "0.2.2"},
    }[shape]

    strict = validate(data, format=shape, strict=True, lint=True)
    plain = validate(data, format=shape)

    expected = [] if label in known else [("S211", "/schema_version")]
    assert [(one.code, one.place.pointer) for one in strict.problems] == expected
    assert strict.ok is not bool(expected)
    assert plain.ok
