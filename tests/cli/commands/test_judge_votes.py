"""`harpia-formats judge --votes`: requests, cache, majorities, and scores of votes."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import judge_server as stub
from cases import for_each_case
from command_runs import Result
from harpia_formats import (
    HarpiaFormatsError,
    LLMJudge,
    score,
    score_agreement,
    validate,
)
from in_process import completed_in
from json_lines import jsonl_rows

pytest.importorskip("openai", reason="the extra judge is not installed")

DEFINITION = """\
instructions: Is this answer problematic for children?
inputs: [responses]
outputs:
- {name: score, type: number, minimum: 0, maximum: 1}
- {name: verdict, choices: [good, bad]}
- reason
examples: []
api_params: {max_retries: 0}
"""

#: What each judge in Python is made of.
QUESTION: dict[str, Any] = {
    "instructions": "Is it right?",
    "inputs": [("responses", list[str])],
    "examples": [],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with four rows, two with equal prompts, and a definition."""
    rows = [
        {
            "input": {"prompt": f"q{at}", "ideal_response": "r"},
            "response": answer,
            "llm_name": "m",
        }
        for at, answer in enumerate(["same", "same", "tie", "lost"])
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "in.jsonl").write_text(text)
    (tmp_path / "judge.yaml").write_text(DEFINITION)
    return tmp_path


@pytest.fixture
def server() -> Iterator[Any]:
    """Serve 1, 0, 1 and 0 for the votes on a row, or no verdict as the last of two."""

    def answer(request: Any, _: dict[str, str]) -> Any:
        prompt, seed = request["messages"][0]["content"], request["seed"]
        value = (seed - 41) % 2
        if "\nlost\n" in prompt and seed > 42:
            return stub.completion("no")
        if "\nsame\n" in prompt and seed == 45:
            value = 1
        verdict = "good" if value else "bad"
        reply = {"score": value, "verdict": verdict, "reason": "because"}
        return stub.completion(json.dumps(reply))

    with stub.JudgeServer(answer) as running:
        yield running


def run(folder: Path, *arguments: str, server: Any) -> Result:
    """Run `judge` on the rows in a folder, in this process."""
    words = ["judge", "in.jsonl", "-d", "judge.yaml", *arguments]
    own = {"OPENAI_API_KEY": "sk-test-000000000", "NO_COLOR": "1"}
    own["OPENAI_BASE_URL"] = server.url
    return completed_in(folder, *words, variables=own)


FOUR = ("--votes", "4", "--no-raise-on-failure")


def test_each_vote_is_a_row_of_the_output(data: Path, server: Any) -> None:
    """Votes on a row are next to each other, counted from 1, and a valid format."""
    done = run(data, "-o", "out.jsonl", *FOUR, server=server)
    found = jsonl_rows(data / "out.jsonl")

    assert done.returncode == 1
    assert [row["vote"] for row in found] == [1, 2, 3, 4] * 4
    assert [row["row"] for row in found] == [1] * 4 + [2] * 4 + [3] * 4 + [4] * 4
    assert [row["result"]["score"] for row in found[:4]] == [1, 0, 1, 1]
    assert len({row["signature"] for row in found}) == 1
    assert validate(data / "out.jsonl").ok


def test_votes_have_seeds_of_their_own(data: Path, server: Any) -> None:
    """Each vote has another seed; equal prompts are merged within a vote only."""
    run(data, "-o", "out.jsonl", *FOUR, server=server)
    seeds = [request["seed"] for request in server.requests]

    assert sorted(seeds) == [42] * 3 + [43] * 3 + [44] * 3 + [45] * 3


def test_the_last_vote_has_the_majority_of_its_row(data: Path, server: Any) -> None:
    """It has the value, its votes and all votes; a tie has no value, and is counted.

    Texts without choices, and fields with one vote, have no majority.
    """
    done = run(data, "-o", "out.json", *FOUR, server=server)
    metas = json.loads((data / "out.json").read_bytes())["meta"]
    found = [meta["majority"] for meta in metas if "majority" in meta]
    same, _, tie, lost = found
    printed = done.stderr.decode()

    assert [meta["vote"] for meta in metas if "majority" in meta] == [4] * 4
    assert same == {
        "score": {"value": 1, "votes": 3, "of": 4},
        "verdict": {"value": "good", "votes": 3, "of": 4},
    }
    assert tie["verdict"] == {"value": None, "votes": 2, "of": 4}
    assert lost == {}
    assert "16 votes: 13 judged, 4 from the cache, 3 failed; 12 requests" in printed
    summary = "a majority in 2 of 3 rows, 1 tie; 6 of 12 votes are that of a majority"
    assert f"score: {summary}\nverdict: {summary}\n" in printed
    assert validate(data / "out.json", format="haystack-results").ok
    assert validate(data / "out.json").ok


def test_more_votes_take_what_is_cached(data: Path, server: Any) -> None:
    """Replies of a run without votes are its first votes; others are asked once."""
    options = ["-o", "out.jsonl", "--overwrite", "--no-raise-on-failure"]
    run(data, *options, server=server)
    assert server.total == 3
    run(data, *options, "--votes", "2", server=server)
    assert server.total == 6
    run(data, *options, "--votes", "4", "--max-requests", "2", server=server)
    assert server.total == 8
    dry = run(data, *options, "--votes", "4", "--dry-run", server=server)
    run(data, *options, "--votes", "4", server=server)

    assert server.total == 12
    assert b"4 rows, 4 votes each: " in dry.stderr
    assert b"0 lack an input; 4 prompts to send" in dry.stderr
    assert dry.stdout.count(b"  | Instructions:\n") == 4


def test_one_vote_changes_nothing(data: Path, server: Any) -> None:
    """One vote has the request, the cache and the output of a run without votes."""
    plain = ["--plain", "--concurrency", "1", "--no-raise-on-failure"]
    run(data, "-o", "a.jsonl", *plain, server=server)
    requests = list(server.requests)
    run(data, "-o", "b.jsonl", *plain, "--votes", "1", server=server)
    (row, *_) = jsonl_rows(data / "b.jsonl")

    assert server.requests[len(requests) :] == requests
    assert (data / "a.jsonl").read_bytes() == (data / "b.jsonl").read_bytes()
    assert "vote" not in row
    assert "majority" not in row


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"seed": 7}, [7, 8]),
        ({"seed": None}, []),
        ({"seed": "x"}, ["x", "x"]),
        ({"seed": True}, [True, True]),
    ],
)
def test_seed_of_a_vote(given: dict[str, Any], sent: list[Any]) -> None:
    """A given seed is raised by the vote; without one, none is sent."""
    made = {**QUESTION, "outputs": ["score"], "votes": 2}
    with stub.JudgeServer(lambda *_: stub.completion('{"score": 1}')) as server:
        params = {"api_base_url": server.url, "generation_kwargs": given}
        judge = LLMJudge(**made, api_params=params, api_key="k", progress_bar=False)
        judge.run(responses=["x"])
        judge.close()

    found = [request["seed"] for request in server.requests if "seed" in request]
    assert (sorted(found), server.total) == (sent, 2)


@for_each_case(
    "values, value, votes",
    [
        ([1], 1, 1),
        ([1, 0], None, 1),
        ("aab", "a", 2),
        ("aabbc", None, 2),
        ("abca", "a", 2),
    ],
)
def test_majority(values: Sequence[Any], value: Any, votes: int) -> None:
    """The value with the most votes is the majority; of two there is none."""
    field = {"name": "verdict", "choices": [*"abc"]}
    output = field if isinstance(values, str) else "score"
    name = "verdict" if isinstance(values, str) else "score"

    def answer(request: Any, _: dict[str, str]) -> Any:
        return stub.completion(json.dumps({name: values[request["seed"] - 42]}))

    made = {**QUESTION, "outputs": [output], "votes": len(values)}
    with stub.JudgeServer(answer) as server:
        params = {"api_base_url": server.url}
        judge = LLMJudge(**made, api_params=params, api_key="k", progress_bar=False)
        found = judge.run(responses=["x"])["meta"][-1].get("majority")
        judge.close()

    majority = {name: {"value": value, "votes": votes, "of": len(values)}}
    assert found == (majority if len(values) > 1 else None)


def test_votes_are_answers_to_one_question(data: Path, server: Any) -> None:
    """`score` has the mean over votes, by question; agreement pairs vote by vote."""
    for name in ("a.jsonl", "b.jsonl"):
        run(data, "-o", name, *FOUR, server=server)
    (system,) = score(data / "a.jsonl", missing="skip").systems
    found = {one.name: one for one in system.scores}["score"]
    pairs = score_agreement(data / "a.jsonl", data / "b.jsonl", fields=["verdict"])
    agreement = {one.name: one for one in pairs.systems[0].scores}["agreement"]

    # 3 of 4 twice, 2 of 4, and 1 of 1, whose other votes are without a verdict.
    assert found.value == pytest.approx((3 / 4 + 3 / 4 + 2 / 4 + 1) / 4)
    assert (found.count, found.questions, found.unscored) == (13, 4, 3)
    assert (agreement.value, agreement.count, agreement.questions) == (1, 13, 4)


def test_votes_in_python(server: Any) -> None:
    """`LLMJudge` has a result for each vote, and takes no function as the endpoint."""
    made = {**QUESTION, "outputs": ["score", "verdict", "reason"], "votes": 2}
    params = {"api_base_url": server.url}
    judge = LLMJudge(**made, api_params=params, api_key="k", progress_bar=False)
    found = judge.run(responses=["x", "y"])
    judge.close()

    assert [result["score"] for result in found["results"]] == [1, 0, 1, 0]
    assert [(meta["row"], meta["vote"]) for meta in found["meta"]] == [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
    ]
    assert judge.majorities.counts["score"]["ties"] == 2
    with pytest.raises(HarpiaFormatsError, match="gets no seed"):
        LLMJudge(**made, ask=lambda *_: None)  # type: ignore[arg-type]
    with pytest.raises(HarpiaFormatsError, match="votes must be 1 or more"):
        LLMJudge(**{**made, "votes": 0})
