"""With `--redact`, no command that reads records shows a value of one."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import judge_server as stub
from canaries import Marker, marks_in, run_here
from json_lines import jsonl

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


#: Every kind of expectation, and some that are broken by most files.
PLAN = """\
[datasets.a]
files = "{a}"
format = "{format}"
min-records = 2
max-records = 3
min-records-per-file = 1
max-records-per-file = 1
max-invalid = "50 %"
max-warnings = 0
max-findings = {{ S = 1 }}
max-missing-answers = 0  # KEY
max-prompt-characters = 2  # KEY
models = ["m"]  # KEY
answers-per-question = 1  # KEY
required-values = {{ category = "c" }}  # KEY
allowed-values = {{ prompt = "p" }}  # KEY
ids-in = "b"  # KEY
same-prompts-as = "b"  # KEY
prompts-in = "b"  # KEY
no-prompts-of = "b"  # KEY

[datasets.b]
files = "{b}"
format = "{format}"
max-invalid = "99 %"
"""


#: The same for formats that lack what is compared there.
COUNTS = "\n".join(line for line in PLAN.splitlines() if "# KEY" not in line)


def test_preflight_shows_no_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of fixtures with marked values, no expectation and no reporter shows a mark."""
    monkeypatch.chdir(tmp_path)
    answers = [one for one in FILES if one.parts[-3] == "record"]
    for number, path in enumerate([*answers[::4], *FILES[5::80]]):
        names = {name: f"{name}-{path.name}" for name in "ab"}
        for seed, name in enumerate(names.values(), number):
            # The scores that a check shows are numbers of the data set.
            marked = Marker(seed, numbers=False).data(path.read_bytes())
            Path(name).write_bytes(marked)
        plan = PLAN if path in answers else COUNTS
        Path("p.toml").write_text(plan.format(format=path.parts[-3], **names))
        reports = [Path("p.html"), Path("p.json")]
        code = run_here(
            "preflight", "p.toml", "--redact", *(f"--report={one}" for one in reports)
        )
        output = capsys.readouterr()
        assert code in {0, 1}, (path, output.err)
        written = [one.read_text("utf-8") for one in reports]
        for report in reports:
            report.unlink()

        assert marks_in("".join((*output, *written))) == [], path


def write_rows(path: Path) -> None:
    """Write rows whose values are all marks."""
    mark = "ሀለሐመ"
    found = [
        {
            "input": {"prompt": f"{mark} {number}", "ideal_response": mark},
            "response": f"{mark} {number}",
            "llm_name": mark,
        }
        for number in range(4)
    ]
    path.write_bytes(jsonl(*found, ensure_ascii=False))


DEFINITION = """\
instructions: Is this answer right?
inputs: [responses]
outputs:
- {name: score, type: number, minimum: 0, maximum: 1}
examples:
- inputs: {responses: "4"}
  outputs: {score: 1}
"""


def test_judge_shows_no_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither invalid records nor replies that repeat a prompt show a mark."""
    pytest.importorskip("openai", reason="the extra judge is not installed")
    monkeypatch.chdir(tmp_path)
    write_rows(Path("a.jsonl"))
    Path("judge.yaml").write_text(DEFINITION)
    Path("bad.jsonl").write_text(
        Path("a.jsonl").read_text("utf-8").replace('"response"', '"respons"')
    )
    replies = iter("no verdict;error;verdict".split(";"))

    def answer(request: Any, _: Any) -> Any:
        """Return a reply that holds the prompt: a text, an error or a wrong verdict."""
        prompt = request["messages"][0]["content"]
        kind = next(replies, "")
        if kind == "error":
            return stub.Answer(json.dumps({"error": {"message": prompt}}).encode(), 400)
        return stub.completion(prompt if kind else json.dumps({"score": prompt}))

    words = (
        "-d",
        "judge.yaml",
        "--redact",
        "--concurrency",
        1,
        "--retries",
        0,
        "--no-raise-on-failure",
    )
    with stub.JudgeServer(answer) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        codes = [
            run_here("judge", name, *words, "-o", f"o-{name}.json")
            for name in ("a.jsonl", "bad.jsonl", "none.jsonl")
        ]
        assert server.total >= 4
    shown = "".join(capsys.readouterr())

    assert codes == [1, 1, 2]
    assert "4 more rows without a verdict" in shown
    assert marks_in(shown) == []
