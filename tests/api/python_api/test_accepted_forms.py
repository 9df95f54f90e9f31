"""What the Python functions accept besides the documented forms, and their errors."""

import io
import json
import pickle
from collections.abc import Callable
from errno import ENOENT
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import harpia_formats
from cases import for_each_case
from harpia_formats import HarpiaFormatsError, OptionError
from harpia_formats.api.testing import filled, records

ROOT = Path(__file__).parents[3]
ANSWERS = ROOT / "fixtures/nemo-output/valid/answers.jsonl"
QUESTIONS = ROOT / "fixtures/csv/named/questions.csv"

READING: dict[str, Callable[[str], Any]] = {
    "read": lambda name: list(harpia_formats.read(name)),
    "convert": lambda name: harpia_formats.convert(name, to="csv", output="x.csv"),
    "score": lambda name: harpia_formats.score(name, metrics=("em",)),
    "stats": harpia_formats.stats,
    "head": harpia_formats.head,
    "sample": lambda name: harpia_formats.sample(name, 1, output="x.jsonl"),
    "diff": lambda name: harpia_formats.diff(name, ANSWERS),
    "infer_schema": harpia_formats.infer_schema,
    "iter_problems": lambda name: list(harpia_formats.iter_problems(name)),
}


@for_each_case("name", READING)
def test_missing_file_is_a_file_not_found_error(name: str, tmp_path: Path) -> None:
    """A file that does not exist is Python's error for that, and ours."""
    missing = str(tmp_path / "missing.jsonl")
    with pytest.raises(FileNotFoundError, match=r"missing\.jsonl: does not exist") as e:
        READING[name](missing)

    assert isinstance(e.value, HarpiaFormatsError)
    assert str(pickle.loads(pickle.dumps(e.value))) == str(e.value)  # noqa: S301 - our own bytes
    assert (e.value.errno, e.value.filename) == (ENOENT, missing)


def test_other_errors_are_no_file_not_found_error(tmp_path: Path) -> None:
    """A file that exists and cannot be read is not reported as missing."""
    (tmp_path / "bad.jsonl").write_bytes(b"\x00\x01\n")
    with pytest.raises(HarpiaFormatsError) as error:
        list(harpia_formats.read(tmp_path / "bad.jsonl"))

    assert not isinstance(error.value, FileNotFoundError)


def test_one_text_is_one_item_of_several(tmp_path: Path) -> None:
    """One text is one pattern, model, field or label also where no option is meant."""
    rows = [
        {"prompt": "q", "references": ["x"], "outputs": [{"model": "ab", "text": "x"}]},
        {"prompt": "q", "references": ["x"], "outputs": [{"model": "c", "text": "y"}]},
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "a.jsonl").write_text("{}\n")
    found = harpia_formats.detect(tmp_path, exclude="*.json")

    assert [Path(one.path).name for one in found] == ["a.jsonl"]
    with pytest.raises(HarpiaFormatsError, match="model 'none'"):
        harpia_formats.compare_scores(rows, metrics="em", models="none")
    with pytest.raises(HarpiaFormatsError, match="needs two systems"):
        harpia_formats.compare_scores(rows, metrics="em", models="ab")
    with pytest.raises(HarpiaFormatsError, match="labels must be 2 to 100"):
        harpia_formats.score_agreement(rows, rows, labels="ab")
    for fields in ("score", ["score"]):
        with pytest.raises(HarpiaFormatsError, match="score"):
            harpia_formats.score_agreement(rows, rows, fields=fields)


def test_names_are_taken_of_everything_that_has_items(tmp_path: Path) -> None:
    """Labels, fields, models and patterns are items of any kind of list."""
    rows = [
        {
            "prompt": f"q{number}",
            "references": ["x"],
            "outputs": [{"model": "a", "text": "x"}, {"model": "b", "text": "y"}],
            "metadata": {"one": number, "two": 3 - number},
        }
        for number in (1, 2)
    ]
    fields: Any = {"metadata.one": 1, "metadata.two": 2}.keys()
    every: list[Any] = [range(1, 3), iter([1, 2]), {1: "", 2: ""}.keys()]
    for labels in every:
        scores = harpia_formats.score_agreement(rows, fields=fields, labels=labels)
        assert scores["agreement"].value == 0
    models: Any = (name for name in "ab")
    report = harpia_formats.compare_scores(rows, metrics="em", models=models)
    assert [one.name for one in report.systems] == ["a", "b"]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    patterns: Any = iter(["*.json"])
    (found,) = harpia_formats.detect(tmp_path, exclude=patterns)
    assert found.reason == "all files are left out by exclude"


def test_a_seed_is_any_whole_number() -> None:
    """A seed that numpy drew is the same one as that of Python."""
    rows = [{"prompt": str(number)} for number in range(20)]
    drawn = []
    seeds: list[Any] = [7, np.int64(7), "7"]
    for seed in seeds:
        out = io.BytesIO()
        harpia_formats.sample(rows, 3, seed=seed, output=out)
        drawn.append(out.getvalue())

    assert len(set(drawn)) == 1


def test_one_name_is_taken_for_several() -> None:
    """One text is taken where a function expects several names."""
    scores = harpia_formats.score(ANSWERS, metrics="em")
    report = harpia_formats.validate(ANSWERS, select="J")

    assert (
        scores["em"].value == harpia_formats.score(ANSWERS, metrics=["em"])["em"].value
    )
    assert report == harpia_formats.validate(ANSWERS, select=["J"])


def test_options_have_the_names_of_the_command_line(tmp_path: Path) -> None:
    """`map` is `columns`, and `format` and `from_` are one option."""
    column = {"prompt": "question"}
    named = list(harpia_formats.read(QUESTIONS, map=column))
    assert named == list(harpia_formats.read(QUESTIONS, columns=column))
    out = tmp_path / "out.csv"
    done = harpia_formats.convert(ANSWERS, format="nemo-output", to="csv", output=out)

    assert len(named) > 1
    assert done.rows == 5
    assert harpia_formats.validate(ANSWERS, from_="nemo-output").ok
    with pytest.raises(OptionError, match="map and columns are one option"):
        harpia_formats.read(QUESTIONS, map={"prompt": "a"}, columns={"prompt": "a"})
    for function in (harpia_formats.read, harpia_formats.validate):
        with pytest.raises(OptionError, match="from_ and format are one option"):
            function(ANSWERS, format="nemo-input", from_="nemo-output")


@for_each_case(
    "options",
    [
        {"format": "csv", "from_": None},
        {"from_": "csv", "format": None},
        {"format": "csv", "map": None, "columns": None},
        {"format": "csv", "map": None, "columns": {"prompt": "q"}},
        {"format": "csv", "map": {"prompt": "q"}, "columns": None},
    ],
)
def test_none_is_no_value_under_either_name(options: dict[str, Any]) -> None:
    """Of two names of an argument, one with None is as if it was not given."""
    data = b"q\nx\n"

    assert len(list(harpia_formats.read(data, **options))) == 1
    assert harpia_formats.stats(data, **options).records == 1
    assert harpia_formats.validate(data, **options).files[0].format == "csv"
    for call in (harpia_formats.read, harpia_formats.stats, harpia_formats.validate):
        with pytest.raises(OptionError, match="are one option; give one of them"):
            call(data, format="csv", from_="csv")


def test_record_as_an_object() -> None:
    """`to_dict` returns the fields that are set, as a row of the format `record`."""
    for record in harpia_formats.read(ANSWERS):
        row = record.to_dict()

        assert json.loads(json.dumps(row)) == row
        assert list(harpia_formats.read([row])) == [record]


@given(records().map(filled))
def test_rows_of_a_table_read_back(record: Any) -> None:
    """`to_table(records).to_pylist()` has rows that are the same records again."""
    rows = harpia_formats.to_table([record, record]).to_pylist()

    assert list(harpia_formats.read(rows)) == list(
        harpia_formats.from_table(harpia_formats.to_table([record, record]))
    )
    assert harpia_formats.validate(rows).ok
