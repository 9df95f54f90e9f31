"""Columns of several components stay apart."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from effort import pairs
from harpia_formats import convert, diff, roundtrip, validate
from known_formats import WRITABLE, adapter_named

TWO = Path(__file__).parents[3] / "fixtures" / "haystack" / "valid"
TWO /= "two-components.json"
DOCUMENT: dict[str, Any] = {
    "first": {"questions": ["a", "b"], "own": [1, None]},
    "second": {"questions": ["c"], "responses": ["d"]},
}
#: Formats that carry what Haystack's rows have besides.
HOLDING = [
    name
    for name, format_ in WRITABLE.items()
    if adapter_named(format_.id).carries("extra.haystack")
]


@pytest.mark.parametrize(
    ("via", "data"),
    pairs(HOLDING, [TWO.read_bytes(), json.dumps(DOCUMENT).encode()]),
)
def test_components_come_back(via: str, data: bytes) -> None:
    """The columns of each component are below its name again, and have no others."""
    there, back = BytesIO(), BytesIO()
    first = convert(data, to=via, from_="haystack", output=there)
    second = convert(there.getvalue(), to="haystack", from_=via, output=back)

    assert json.loads(back.getvalue()) == json.loads(data)
    assert first.lossless
    assert second.lossless
    assert roundtrip(data, via=via, from_="haystack").ok
    assert diff(data, back.getvalue(), from_="haystack", to="haystack").ok
    assert validate(back.getvalue()).ok


def test_other_components_are_a_difference() -> None:
    """Rows that are of another component differ."""
    other = json.dumps({"third": DOCUMENT["first"], "second": DOCUMENT["second"]})
    report = diff(
        json.dumps(DOCUMENT).encode(), other.encode(), from_="haystack", to="haystack"
    )

    assert list(report.fields) == ["extra.haystack.(component)"]


def test_components_are_a_loss_where_there_is_no_place() -> None:
    """A format without components drops their names, and says so."""
    data = json.dumps(DOCUMENT).encode()
    output = BytesIO()
    report = convert(
        data,
        to="nemo-input",
        from_="haystack",
        output=output,
        constants={"references": ["r"], "category": "c", "source": "s"},
    )
    lost = {outcome.path for outcome in report.losses[0].losses.counts}

    assert "extra.haystack.(component)" in lost


def test_rows_without_a_component_stand_beside_others(tmp_path: Path) -> None:
    """A file with columns alone is a component of its own among those of another."""
    files = [tmp_path / "two.json", tmp_path / "one.json"]
    files[0].write_text(json.dumps(DOCUMENT))
    files[1].write_text(json.dumps({"questions": ["z"], "responses": ["y"]}))
    output = BytesIO()
    assert convert(*files, to="haystack", from_="haystack", output=output).written

    assert json.loads(output.getvalue()) == {
        **DOCUMENT,
        "component": {"questions": ["z"], "responses": ["y"]},
    }


def test_rows_of_one_component_come_from_several_files() -> None:
    """A component that is the only one of its file is that of its name in another one.

    No row is lost, and a column that only one of the files has is null for the others.
    """
    one = {"first": {"questions": ["z"], "responses": ["y"]}}
    two, one_of = json.dumps(DOCUMENT).encode(), json.dumps(one).encode()
    for files, order in (((two, one_of), ["a", "b", "z"]), ((one_of, two), "zab")):
        output = BytesIO()
        done = convert(*files, to="haystack", from_="haystack", output=output)
        written = json.loads(output.getvalue())

        assert (done.rows, done.lossless) == (4, True)
        assert written["second"] == DOCUMENT["second"]
        columns = written["first"]
        assert columns["questions"] == list(order)
        rows = dict(zip(columns["questions"], columns["responses"], strict=True))
        assert rows == {"a": None, "b": None, "z": "y"}
        own = dict(zip(columns["questions"], columns["own"], strict=True))
        assert own == {"a": 1, "b": None, "z": None}
