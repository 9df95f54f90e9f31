"""With `--redact`, neither `preflight` nor `judge` shows a value of its data."""

import json
from pathlib import Path
from typing import Any

import pytest

import judge_server as stub
from canaries import Marker, marks_in, run_here
from json_lines import jsonl

TESTS = Path(__file__).parents[2]
FIXTURES = TESTS.parent / "fixtures"
FILES = sorted(path for path in FIXTURES.glob("*/*/*") if path.is_file())

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
