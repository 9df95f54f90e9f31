"""The conversions of conversations: their rows, their scripts, and their limits."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import harpia_formats

#: Of the first 300 rows of each format that is converted.
NEMO_DIGEST = "d61e56cb1858fb4d7caf35cc6e2522bb67164d5e0d6795ce8c49844d8255e7e4"
TENCENT_DIGEST = "a669a67503f92e59b9a538a749838ec00a345931fe9fec478c1ce1205e2fa5d2"
ROW_DIGESTS = {"nemo-output": NEMO_DIGEST, "tencent-outputs": TENCENT_DIGEST}


@pytest.fixture
def conversions(modules: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module that measures the conversions of conversations."""
    return modules("harness.conversation_floors")


@pytest.fixture
def page(modules: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module that writes the page of conversations."""
    return modules("report.conversation_page")


@pytest.fixture
def command(modules: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module of the benchmark of conversions."""
    return modules("convert")


@pytest.fixture
def row_generator(modules: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module that generates the rows of conversions."""
    return modules("data.generate_rows")


@pytest.mark.parametrize("name", list(ROW_DIGESTS))
def test_generates_the_same_rows_to_convert(
    row_generator: ModuleType, name: str
) -> None:
    """The first rows of a format are byte for byte what they were when measured."""
    rows = list(row_generator.rows(name, 300))

    assert hashlib.sha256(b"".join(rows)).hexdigest() == ROW_DIGESTS[name]
    assert list(row_generator.rows(name, 300, seed=1)) != rows
    assert list(row_generator.rows(name, 20)) == rows[:20]


@pytest.mark.parametrize("name", list(ROW_DIGESTS))
def test_rows_to_convert_are_valid(row_generator: ModuleType, name: str) -> None:
    """The rows have no problem, the expected format and the expected size."""
    rows = list(row_generator.rows(name, 300))
    report = harpia_formats.validate(b"".join(rows))

    assert report.ok
    assert report.problems == ()
    assert (report.files[0].format, report.files[0].records) == (name, 300)
    assert 1700 < sum(map(len, rows)) / 300 < 2300


def test_answers_to_convert_are_of_several_models(row_generator: ModuleType) -> None:
    """Rows of Tencent have one or two models with one or two answers each."""
    rows = row_generator.rows("tencent-outputs", 200)
    answers = [json.loads(each)["model_outputs"] for each in rows]

    assert {len(each) for each in answers} == {1, 2}
    assert {len(each["responses"]) for of in answers for each in of} == {1, 2}


@pytest.mark.long  # it runs all scripts
@pytest.mark.parametrize("place", range(3))
def test_scripts_write_the_same_rows(
    conversions: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: int
) -> None:
    """Both scripts of a pair convert to the same rows as our command."""
    monkeypatch.setattr(conversions, "PROVEN", 90)
    pair = conversions.PAIRS[place]
    conversions.prove(pair, tmp_path)
    rows = conversions.rows_in(tmp_path / f"ours{pair.suffix}")

    assert len(rows) >= 90
    assert rows == conversions.rows_in(tmp_path / f"script-1{pair.suffix}")


@pytest.mark.parametrize(
    "case",
    [
        ("str(number)", "str(number + (number == 8))", 7),
        pytest.param(
            ("enumerate(lines, 1)", "enumerate(list(lines)[:-1], 1)", 20),
            marks=pytest.mark.long,
        ),
    ],
    ids=["a row that differs", "a row that is missing"],
)
def test_script_with_other_output_is_refused(
    case: tuple[str, str, int],
    conversions: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A script is not compared if its rows differ from ours or are missing."""
    monkeypatch.setattr(conversions, "PROVEN", 20)
    (good, bad, row), pair = case, conversions.PAIRS[2]

    assert good in pair.body
    spoiled = replace(pair, body=pair.body.replace(good, bad))
    with pytest.raises(SystemExit, match=f"json differs at row {row}$"):
        conversions.prove(spoiled, tmp_path)


def conversion_results(
    conversions: ModuleType, seconds: tuple[float, ...], peak: int | None
) -> Any:
    """Return results of one pair: ours with two workers and one, and the scripts."""
    mine = (conversions.OURS, conversions.SERIAL)
    names = (*mine, conversions.PLAIN, conversions.QUICK)
    return {
        "a to b": {
            name: conversions.Measurement(name, (each,), peak)
            for name, each in zip(names, seconds, strict=True)
        }
    }


@pytest.mark.parametrize(
    ("seconds", "peak", "met"),
    [
        ((1.0, 1.7, 3.0, 1.0), 200_000_000, ["yes", "yes", "yes", "yes"]),
        ((1.0, 1.7, 2.9, 1.0), 199_000_000, ["yes", "no", "yes", "yes"]),
        ((1.0, 1.6, 3.0, 0.9), 201_000_000, ["no", "yes", "no", "no"]),
        ((1.0, 1.7, 3.0, 1.0), None, ["yes", "yes", "yes", "no"]),
    ],
)
def test_limits_of_conversions_are_checked(
    conversions: ModuleType,
    page: ModuleType,
    seconds: tuple[float, ...],
    peak: int | None,
    met: list[str],
) -> None:
    """A minimum is met up to its limit, and is not met if nothing was measured."""
    results = conversion_results(conversions, seconds, peak)
    lines = page.floors_table(results).splitlines()[2:]

    assert [each.split()[-2] for each in lines] == met
    assert len(conversions.missed(results)) == met.count("no")


def test_document_shows_measured_conversions(
    conversions: ModuleType, page: ModuleType
) -> None:
    """The document shows the ratios, the seconds, and how to repeat the measurement."""
    results = conversion_results(conversions, (1.0, 1.8, 4.0, 2.0), 100_000_000)
    text = page.document(results, 90, 3, "2.0 kB (a)")

    assert "| script with json   |         0.25 |" in text
    assert "| script with orjson |         0.50 |" in text
    assert "A record takes 2.0 kB (a)." in text
    assert "`python benchmarks/convert.py --conversations --rows 90 --runs 3`" in text


def test_rows_to_convert_are_generated_once(
    conversions: ModuleType, tmp_path: Path
) -> None:
    """A file that is there is kept; one that is cut is written anew."""
    pair = conversions.PAIRS[1]
    path = conversions.generated(pair, 20, tmp_path)
    whole = path.read_bytes()
    before = path.stat().st_mtime_ns
    assert conversions.generated(pair, 20, tmp_path).stat().st_mtime_ns == before
    path.write_bytes(whole[: len(whole) // 2])
    assert conversions.generated(pair, 20, tmp_path).read_bytes() == whole


def test_asks_for_rows_that_can_be_converted(
    command: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """No rows are refused as wrong usage."""
    with pytest.raises(SystemExit):
        command.arguments_of(["--rows", "0"])
    assert "at least one row" in capsys.readouterr().err
