"""Pages of results with very many parts: below 1 MB, and they say what is left out."""

import io
from collections.abc import Callable
from dataclasses import replace

import pytest

import harpia_formats as hf
from generated_reports import page_of
from harpia_formats import Excerpt, FileCount, Group, Place, Problem, Report, Severity
from harpia_formats.plugins import Result
from strict_page import StrictPage

COUNT = 800
#: What takes the most bytes: each character is an escape or an entity.
LONG = '"\U000e0001<' * 150


def _report() -> Report:
    place = Place(LONG, 1, 1, 2, 0, 1, LONG, f"/0{LONG}", "", "")
    problem = Problem(
        "S101", LONG, Severity.ERROR, place, LONG, excerpt=Excerpt(LONG, 0, 99)
    )
    return Report(
        tuple(FileCount(f"{at}{LONG}", errors=1) for at in range(COUNT)),
        tuple(
            Group(LONG, "S101", "n", Severity.ERROR, f"/{at}{LONG}", 1, 1, 1, 1)
            for at in range(COUNT)
        ),
        (problem,) * COUNT,
    )


def _row(value: str) -> dict[str, object]:
    """Return a record with very many fields, each with a long name and value."""
    many = {f"{at}{LONG}": f"{LONG}{value}" for at in range(COUNT)}
    question = {"id": "1", "prompt": "q", "references": ["r"]}
    return {**question, "category": "c", "source": "s", "metadata": many, "outputs": []}


def _conversion() -> Result:
    output = io.BytesIO()
    names = tuple(f"{at}{LONG}" for at in range(COUNT))
    rows = [{**_row("a"), "metadata": {name: 1}} for name in names]
    found = hf.convert(rows, to="nemo-input", output=output, from_="record")
    return replace(found, outputs=names, notes=names)


def _differences() -> Result:
    found = hf.diff([_row("a")], [_row("b")])
    # What cannot be compared has no place.
    fields = {name: replace(one, place=None) for name, one in found.fields.items()}
    return replace(found, fields=fields)


def _answered(at: int, models: int) -> dict[str, object]:
    """Return a record of a category of its own with an answer of each model."""
    outputs = [
        {"model": f"{model}{LONG}", "text": "ab"[at % (model + 2) == 0]}
        for model in range(models)
    ]
    category = f"{at}{LONG}"
    question = {"prompt": f"q{at}", "category": category, "references": ["a"]}
    return {**question, "outputs": outputs}


def _scores() -> Result:
    rows = [_answered(at, 1) for at in range(60)]
    metrics = [f"m{at}=em" for at in range(12)]
    return hf.score(rows, metrics=metrics, by=("category",))


def _comparison() -> Result:
    pytest.importorskip("numpy", reason="comparing needs the extra score")
    rows = [_answered(at, 24) for at in range(9)]
    found = hf.compare_scores(rows, metrics=("em",), replicates=50)
    compared = tuple(replace(one, adjusted_p=None) for one in found.compared)
    return replace(found, compared=compared)


@pytest.mark.parametrize(
    "make", [_report, _conversion, _scores, _comparison, _differences]
)
def test_a_page_of_any_result_is_below_one_megabyte(make: Callable[[], Result]) -> None:
    """However many parts there are and whatever their texts."""
    written = page_of(make(), command=LONG * 9)
    page = StrictPage(written)
    assert not page.faults
    assert len(written.encode()) < 1_000_000
    assert "no room for" in page.text


def test_a_rule_without_room_has_its_one_field_in_singular() -> None:
    """Rules with one field each say so in the list of those that are not shown."""
    found = _report()
    groups = (replace(one, code=f"XX{at}") for at, one in enumerate(found.groups))
    text = StrictPage(page_of(replace(found, groups=tuple(groups)))).text

    assert ": 1 at 1 field" in text
    assert "1 fields" not in text
