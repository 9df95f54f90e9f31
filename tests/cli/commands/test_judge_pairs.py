"""`harpia-formats judge --pairwise`: requests, output, cache, and scores of pairs."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import judge_server as stub
from canaries import marks_in
from command_runs import Result
from harpia_formats import score, validate
from in_process import completed_in
from json_lines import jsonl, jsonl_rows

pytest.importorskip("openai", reason="the extra judge is not installed")

DEFINITION = """\
instructions: Which of the two answers is better?
inputs: [questions, first, second]
outputs:
- {name: verdict, choices: [first, second, tie]}
- {name: score, type: number, minimum: 0, maximum: 1}
examples: []
api_params: {max_retries: 0}
"""
#: A text that no output may show with --redact.
MARK = "ሀለሐመ"


def answers_as_lines(model: str, answers: Iterable[str]) -> bytes:
    """Return lines of NeMo with the answers of a model to questions in their order."""
    rows = (
        {
            "input": {"prompt": f"q{at}", "ideal_response": "r"},
            "response": answer,
            "llm_name": model,
        }
        for at, answer in enumerate(answers)
    )
    return jsonl(*rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with answers of two models, and a definition of pairs."""
    # The longer answer is better; the first one wins if both are as long.
    both = {"a": ["long", "x", "x", "lone"], "b": ["x", "long", "y"]}
    for model, answers in both.items():
        (tmp_path / f"{model}.jsonl").write_bytes(answers_as_lines(model, answers))
    parts = [(tmp_path / f"{model}.jsonl").read_bytes() for model in both]
    (tmp_path / "in.jsonl").write_bytes(b"".join(parts))
    (tmp_path / "pairs.yaml").write_text(DEFINITION)
    return tmp_path


def answers_in(prompt: str) -> list[str]:
    """Return the two answers in a prompt."""
    return re.findall(r" (?:first|second)>\n(.*)\n</data", prompt)


@pytest.fixture
def server() -> Iterator[Any]:
    """Serve the choice of the longer answer; "lost" has no verdict."""

    def answer(request: Any, _: dict[str, str]) -> Any:
        first, second = answers_in(request["messages"][0]["content"])
        if first == "lost":
            return stub.completion(f"no {first}")
        verdict = "first" if len(first) >= len(second) else "second"
        return stub.completion(json.dumps({"verdict": verdict, "score": 1}))

    with stub.JudgeServer(answer) as running:
        yield running


def run(
    folder: Path, *arguments: str, server: Any = None, standard_input: bytes = b""
) -> Result:
    """Run a command in a folder, in this process."""
    own = {"OPENAI_API_KEY": "sk-test-000000000", "NO_COLOR": "1"}
    if server is not None:
        own["OPENAI_BASE_URL"] = server.url
    return completed_in(folder, *arguments, variables=own, stdin=standard_input)


def judged(folder: Path, *arguments: str, server: Any, **more: Any) -> Result:
    """Run `judge --pairwise` with the definition in the folder."""
    words = ["judge", "-d", "pairs.yaml", "--pairwise", *arguments]
    return run(folder, *words, server=server, **more)


@pytest.mark.parametrize("name", ["out.jsonl", "out.json"])
def test_both_orders_are_written(data: Path, server: Any, name: str) -> None:
    """Lines and columns have the same keys and are valid; one answer is left out."""
    done = judged(data, "in.jsonl", "-o", name, server=server)
    if name == "out.json":
        written = json.loads((data / name).read_bytes())
        results, metas = written["results"], written["meta"]
        assert validate(data / name, format="haystack-results").ok
    else:
        metas = jsonl_rows(data / name)
        results = [row.pop("result") for row in metas]

    assert done.returncode == 0
    assert [meta["order"] for meta in metas] == [1, 2] * 3
    assert [meta["models"] for meta in metas] == [["a", "b"], ["b", "a"]] * 3
    assert [result["win"] for result in results] == [1, 0, 0, 1, 0.5, 0.5]
    assert [result["consistent"] for result in results] == [True] * 4 + [False] * 2
    assert [result["first_position"] for result in results] == [0.5] * 4 + [1] * 2
    assert [result["winner"] for result in results[4:]] == ["a", "b"]
    assert {tuple(sorted(meta)) for meta in metas} == {tuple(sorted(metas[0]))}
    assert b"6 rows: 6 judged; 6 requests" in done.stderr
    assert done.stderr.endswith(
        b"1 answer is left out: the other model has none in a record with the same id, "
        b"prompt and references\n"
    )
    assert validate(data / name).ok


def test_dry_run_asks_nothing(data: Path, server: Any) -> None:
    """It shows a prompt for each order, and counts what is left out."""
    done = judged(data, "a.jsonl", "b.jsonl", "--dry-run", server=server)

    assert (done.returncode, server.total) == (0, 0)
    assert done.stdout.count(b"  | Instructions:\n") == 6
    assert b"row 2, record 1, model b, order 2, models b and a\n" in done.stdout
    assert b"6 rows: 0 answered in the cache" in done.stderr
    assert b"1 answer is left out" in done.stderr


def test_votes_of_both_orders_are_paired_by_their_numbers(data: Path) -> None:
    """Each vote is a row with a win; the last one has the majority of its order."""
    verdicts = iter("first second tie second second tie".split())

    def answer(*_: Any) -> Any:
        return stub.completion(json.dumps({"verdict": next(verdicts), "score": 1}))

    (data / "a.jsonl").write_bytes(answers_as_lines("a", ["A"]))
    with stub.JudgeServer(answer) as server:
        words = ("a.jsonl", "b.jsonl", "-o", "out.jsonl", "--concurrency", "1")
        done = judged(data, *words, "--votes", "3", server=server)
    found = jsonl_rows(data / "out.jsonl")
    results = [line["result"] for line in found]

    assert done.returncode == 0
    assert [(line["row"], line["vote"]) for line in found] == [
        (row, vote) for row in (1, 2) for vote in (1, 2, 3)
    ]
    assert [result["winner"] for result in results] == [
        "a",
        "b",
        "tie",
        "a",
        "a",
        "tie",
    ]
    assert [result["win"] for result in results] == [1, 0.5, 0.5, 0, 0.5, 0.5]
    assert [result["first_position"] for result in results] == [0.5, 0, 0.5] * 2
    assert [line.get("majority", {}).get("verdict") for line in found] == [
        *(None, None, {"value": None, "votes": 1, "of": 3}),
        *(None, None, {"value": "second", "votes": 2, "of": 3}),
    ]
    assert validate(data / "out.jsonl").ok


def test_a_stopped_run_goes_on_from_the_cache(data: Path, server: Any) -> None:
    """A pair of which one order was asked has a winner, and no win until it goes on."""
    words = ("in.jsonl", "-o", "out.jsonl", "--concurrency", "1")
    stopped = judged(data, *words, "--max-requests", "3", server=server)
    before = jsonl_rows(data / "out.jsonl")
    partly = score(data / "out.jsonl", missing="skip")
    rest = judged(data, *words, "--overwrite", server=server)
    after = jsonl_rows(data / "out.jsonl")

    assert (stopped.returncode, rest.returncode, server.total) == (1, 0, 6)
    assert [row["status"] for row in before] == ["ok"] * 3 + ["unasked"] * 3
    assert before[2]["result"] == {"verdict": "second", "score": 1, "winner": "b"}
    assert [one.count for one in partly.systems[0].scores if one.name == "win"] == [1]
    assert after[2]["result"]["win"] == 0
    assert [row["cached"] for row in after] == [True] * 3 + [False] * 3


def test_an_input_may_be_standard_input(data: Path, server: Any) -> None:
    """It is one of two inputs, or has the answers of both models."""
    both = (data / "in.jsonl").read_bytes()
    one = judged(data, "-o", "one.jsonl", server=server, standard_input=both)
    words = ("b.jsonl", "-", "-o", "two.jsonl")
    alone = (data / "a.jsonl").read_bytes()
    two = judged(data, *words, server=server, standard_input=alone)

    assert (one.returncode, two.returncode) == (0, 0)
    assert [row["model"] for row in jsonl_rows(data / "one.jsonl")] == ["a", "b"] * 3
    assert [row["model"] for row in jsonl_rows(data / "two.jsonl")] == ["b", "a"] * 3


def test_one_of_two_inputs_without_a_name(data: Path, server: Any) -> None:
    """Standard input is called by its place if both inputs have the same model."""
    words = ("b.jsonl", "-", "-o", "out.jsonl")
    same = (data / "b.jsonl").read_bytes()
    judged(data, *words, server=server, standard_input=same)

    assert jsonl_rows(data / "out.jsonl")[0]["models"] == ["b.jsonl", "input 2"]


@pytest.mark.parametrize("component", ["one", "two"])
def test_a_component_of_several_is_one_of_pairs(
    data: Path, server: Any, component: str
) -> None:
    """A component of Haystack has outputs without choices, so it is refused."""
    evaluator = {
        "type": "haystack.components.evaluators.llm_evaluator.LLMEvaluator",
        "init_parameters": {
            "instructions": "Which?",
            "inputs": [["first", "list[str]"], ["second", "list[str]"]],
            "outputs": ["verdict"],
            "examples": [],
        },
    }
    several = {"components": {"one": evaluator, "two": evaluator}}
    (data / "pairs.yaml").write_text(json.dumps(several))
    words = ("in.jsonl", "--dry-run", "--component", component)
    done = judged(data, *words, server=server)

    assert done.returncode == 2
    assert b"needs one output with the choices first, second and tie" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("in.jsonl", "--model", "a"), "give `--model` twice"),
        (("in.jsonl", "--model", "a", "--model", "a"), "give `--model` twice"),
        (("in.jsonl", "--model", "a", "--model", "c"), "of the model 'c' (there are"),
        (("a.jsonl",), "pairs need the answers of two models"),
        (("in.jsonl", "--bind", "first=prompt"), "first must be a field of an answer"),
        (("in.jsonl", "--bind", "third=prompt"), "has no input 'third'"),
        (("a.jsonl", "none.jsonl"), "none.jsonl"),
    ],
)
def test_what_is_no_pair_is_refused(
    data: Path, server: Any, words: tuple[str, ...], message: str
) -> None:
    """The exit code is 2, nothing was asked, and there is no output."""
    done = judged(data, *words, "-o", "out.jsonl", server=server)

    assert (done.returncode, server.total) == (2, 0)
    assert message in done.stderr.decode()
    assert not (data / "out.jsonl").exists()


def test_model_is_an_option_of_pairs(data: Path) -> None:
    """Without --pairwise it would choose nothing."""
    words = ("judge", "in.jsonl", "-d", "pairs.yaml", "--model", "a", "--model", "b")
    done = run(data, *words)

    assert (done.returncode, done.stderr.decode()) == (
        2,
        "error: `--model` is for `--pairwise`\n",
    )


def test_nothing_of_records_is_shown_if_redacted(data: Path) -> None:
    """Neither a failure nor an error about the models shows a value."""

    def answer(request: Any, _: Any) -> Any:
        return stub.completion(request["messages"][0]["content"])

    for name in ("a", "b"):
        rows = answers_as_lines(f"{name}{MARK}", [MARK, f"{MARK} {name}", MARK])
        (data / f"{name}.jsonl").write_bytes(rows)
    words = ("a.jsonl", "--redact", "--no-raise-on-failure", "-o")
    with stub.JudgeServer(answer) as server:
        failed = judged(data, "b.jsonl", *words, "out.jsonl", server=server)
        alone = judged(data, *words, "alone.jsonl", server=server)
    shown = (failed.stderr + alone.stderr).decode()

    assert (failed.returncode, alone.returncode) == (1, 2)
    assert "... and 6 more rows without a verdict" in shown
    assert "the reason is shown only without `--redact`" in shown
    assert marks_in(shown) == []


def test_score_shows_the_win_rates(data: Path, server: Any) -> None:
    """`score` has a win rate for each model, and `score compare` their difference."""
    (data / "a.jsonl").write_bytes(answers_as_lines("a", ["long"] * 9 + ["x"] * 3))
    (data / "b.jsonl").write_bytes(
        answers_as_lines("b", ["x"] * 9 + ["long"] * 2 + ["y"])
    )
    judged(data, "a.jsonl", "b.jsonl", "-o", "out.jsonl", server=server)
    words = ("out.jsonl", "--output-format", "json")
    scores = json.loads(run(data, "score", *words).stdout)
    compared = run(data, "score", "compare", *words)
    (win,) = (
        metric
        for metric in json.loads(compared.stdout)["compared"]
        if metric["name"] == "win"
    )
    rates = [
        (system["key"]["model"], one["value"], one["answers"])
        for system in scores["systems"]
        for one in system["scores"]
        if one["name"] == "win"
    ]

    assert compared.returncode == 0
    assert rates == [
        ("a", pytest.approx(9.5 / 12), 12),
        ("b", pytest.approx(2.5 / 12), 12),
    ]
    assert win["difference"] == pytest.approx(7 / 12)
    assert win["p_value"] == pytest.approx(0.0654296875)
    alone = run(data, "score", "compare", "--stored", "--metrics", "win", *words)
    (stored,) = json.loads(alone.stdout)["compared"]
    assert stored["p_value"] == win["p_value"]
    assert stored["detectable"] == win["detectable"]
