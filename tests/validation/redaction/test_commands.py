"""With `--redact`, no command that reads records shows a value of one."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from canaries import Marker, marks_in, run_here

FIXTURES = Path(__file__).parents[3] / "fixtures"
#: Files of records; the invalid ones are shown by problems, the valid ones by losses.
FILES = sorted(path for path in FIXTURES.glob("*/*/*") if path.is_file())
#: The commands, with `A` and `B` in the place of two files with different marks, and
#: `OUT` in that of an output.
COMMANDS = (
    "convert A --to record -o OUT --loss-report LOSS --on-invalid skip",
    "convert A --to nemo -o OUT --on-invalid quarantine --quarantine ASIDE",
    "convert A --to tencent -o OUT-{model}.jsonl --set model=m --on-invalid skip",
    "convert A --to eee@0.3.0 -o OUT --on-loss fail",
    "convert A --to haystack -o OUT --map prompt=nothing",
    "roundtrip A --via nemo --on-invalid skip",
    "roundtrip A --via record --model wanted",
    "diff A B --on-invalid skip",
    "score A --stored --on-invalid skip --by category",
    "score A --on-invalid skip --by source",
    "score A -m em --on-invalid skip --by id",
    "score A -m f1 --to nemo-results -o OUT --overwrite",
    "stats A --on-invalid skip",
    "detect A",
    "detect A --output-format json",
    "schema infer A -o OUT",
    "split A --by id -o OUT-{value}.jsonl",
    "split A --valid OUT --invalid LOSS --findings ASIDE.findings.jsonl",
    "merge A B -o OUT",
    "merge A A -o OUT",
    "stats A --on-invalid skip --output-format json",
    "score compare A B -m em --on-invalid skip",
    "score agreement A B --field category --on-invalid skip",
    "score agreement A B --on-invalid skip",
    "score compare A B --stored --on-invalid skip",
    "score compare A B --stored --force --on-invalid skip",
)
#: The commands that take `--report`.
REPORTING = frozenset("convert roundtrip diff score".split())


def leaks(
    files: list[Path], seeds: range, folder: Path, shown: pytest.CaptureFixture[str]
) -> Iterator[str]:
    """Yield what commands show of the marks in files, and in reports that they write.

    The numbers of the files are as they were: a score of them is no value.
    """
    for number, path in enumerate(files):
        for seed in seeds:
            at = seed + number
            data = path.read_bytes()
            places = {name: folder / f"{name}{at}-{path.name}" for name in "AB"}
            for salt, place in enumerate(places.values()):
                place.write_bytes(Marker(at + 500 * salt, numbers=False).data(data))
            command = COMMANDS[at % len(COMMANDS)]
            out = folder / f"out{at}.jsonl"
            loss, aside = folder / f"loss{at}.json", folder / f"aside{at}.jsonl"
            reports = [folder / f"report{at}.html", folder / f"report{at}.json"]
            texts = {"OUT": out, "LOSS": loss, "ASIDE": aside, **places}
            words = [
                str(texts.get(word, _placed(word, out, aside)))
                for word in command.split()
            ]
            if command.split()[0] in REPORTING:
                words += [f"--report={report}" for report in reports]
            code = run_here(*words, "--redact")
            output = shown.readouterr()
            findings = folder / f"aside{at}.findings.jsonl"
            written = [
                file.read_text("utf-8")
                for file in (
                    findings,
                    *reports,
                    *([loss] if "convert" in words else []),
                )
                if file.exists()
            ]
            if code == 3:
                yield f"{path} {command}: a bug: {output.err}"
            for mark in marks_in(" ".join((output.out, output.err, *written))):
                yield f"{path} {command}: {mark}"


def _placed(word: str, out: Path, aside: Path) -> str:
    """Return a word with the places of outputs in it."""
    return word.replace("OUT-", f"{out}-").replace(
        "ASIDE.", f"{aside.with_suffix('')}."
    )


def test_no_command_shows_a_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of fixtures with marked values, no command shows a mark."""
    assert list(leaks(FILES[::47], range(1), tmp_path, capsys)) == []


@pytest.mark.long
def test_no_command_shows_a_value_of_many_fixtures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same of many more fixtures, each with every command."""
    seeds = range(len(COMMANDS))

    assert list(islice(leaks(FILES[::8], seeds, tmp_path, capsys), 9)) == []


def test_losses_are_reported_without_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Keys that no schema names share a line, and the counts are those of all."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        '{"id": "1", "prompt": "2 + 2?", "outputs": [], '
        '"metadata": {"patient one": 1, "patient two": 2}}\n'
    )
    out, loss = tmp_path / "out.jsonl", tmp_path / "loss.json"
    options = ("--to", "nemo-input", "-o", out, "--loss-report", loss, "--redact")
    code = run_here("convert", rows, *options, "--set", "ideal_response=4")

    assert code == 0
    assert "metadata.*" in capsys.readouterr().err
    assert "patient" not in loss.read_text()


def test_groups_have_numbers_for_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Groups, models and metrics that the data name are numbered, remarks are shown."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        '{"id": "1", "prompt": "?", "category": "secret", "outputs": [{"model": '
        '"hidden", "text": "4", "scores": [{"metric": "own", "value": 0.5}]}]}\n'
    )
    run_here("score", rows, "--stored", "--by", "category", "--redact")
    shown = capsys.readouterr().out

    assert "category 1" in shown
    assert "metric 1" in shown
    assert "one question has no interval" in shown
    assert not any(word in shown for word in ("secret", "hidden", "own "))
