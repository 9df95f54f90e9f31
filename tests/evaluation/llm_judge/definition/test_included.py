"""The definitions that are included, and scores of rows that follow from lists."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import harpia_converters
import harpia_formats
import judge_server as stub
from cases import for_each_case
from harpia_formats import HarpiaFormatsError, LLMJudge
from in_process import InProcess

pytest.importorskip("openai", reason="the extra judge is not installed")

ROOT = Path(__file__).parents[4]
FAITHFUL: dict[str, list[Any]] = {
    "questions": ["q"] * 4,
    "contexts": [["c"], ["c", "d"], [], ["c"]],
    "predicted_answers": ["a"] * 4,
}
FIRST = {name: values[:1] for name, values in FAITHFUL.items()}
COLUMNS = set(FAITHFUL)
#: Replies of a judge, with the score that Haystack's evaluator gives them.
FAITHFUL_REPLIES: list[tuple[dict[str, Any], float]] = [
    ({"statements": ["s", "t"], "statement_scores": [1, 0]}, 0.5),
    ({"statements": ["s", "t", "u"], "statement_scores": [1, 1, 0]}, 2 / 3),
    ({"statements": [], "statement_scores": []}, 0),
    ({"statements": ["s"], "statement_scores": [0.25]}, 0.25),
]
RELEVANT_REPLIES: list[tuple[dict[str, Any], float]] = [
    ({"relevant_statements": ["s"]}, 1),
    ({"relevant_statements": []}, 0),
    ({"relevant_statements": ["s", "t"]}, 1),
    ({"relevant_statements": [""]}, 1),
]


def judged(name: str, replies: Iterable[Any], /, **given: Any) -> Any:
    """Return what a judge by an included definition finds, with replies in turn."""
    texts = iter([json.dumps(reply) for reply in replies])
    columns = {key: given.pop(key) for key in list(given) if key in COLUMNS}
    with stub.JudgeServer(lambda *_: stub.completion(next(texts))) as server:
        judge = LLMJudge.from_definition(
            name,
            api_params={"api_base_url": server.url, "max_retries": 0},
            api_key="k",
            progress_bar=False,
            **given,
        )
        try:
            return judge.run(**columns)
        finally:
            judge.close()


@pytest.mark.parametrize("guarded", [True, False])
def test_faithfulness_is_the_mean_over_statements(guarded: bool) -> None:
    """A row scores the share of supported statements, and 0 without statements."""
    replies = [reply for reply, _ in FAITHFUL_REPLIES]
    found = judged("faithfulness", replies, guarded=guarded, **FAITHFUL)

    assert found["results"] == [
        {**reply, "score": score} for reply, score in FAITHFUL_REPLIES
    ]


def test_contexts_are_relevant_if_any_statement_is() -> None:
    """A row scores 1 with a relevant statement, and 0 without one."""
    replies = [reply for reply, _ in RELEVANT_REPLIES]
    columns: dict[str, Any] = {"questions": ["q"] * 4, "contexts": [["c"]] * 4}
    found = judged("context-relevance", replies, guarded=True, **columns)

    scores = [result["score"] for result in found["results"]]
    assert scores == [score for _, score in RELEVANT_REPLIES]
    assert all(type(score) is int for score in scores)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"statements": ["s"], "statement_scores": [2]}, "not a number from 0 to 1"),
        ({"statements": ["s"], "statement_scores": ["1"]}, "not a number from 0 to 1"),
        ({"statements": ["s"], "statement_scores": []}, "one number for each member"),
        ({"statements": "s", "statement_scores": [1]}, "statements is not an array"),
        ({"statements": ["s"], "statement_scores": 1}, "is not an array"),
    ],
)
def test_lists_that_give_no_score_fail_the_row(reply: Any, reason: str) -> None:
    """A reply whose lists cannot be scored is no verdict."""
    with pytest.raises(HarpiaFormatsError, match=reason):
        judged("faithfulness", [reply], guarded=True, **FIRST)


def test_plain_takes_fewer_scores_than_statements() -> None:
    """Without marks replies are read as leniently as Haystack reads them."""
    reply = {"statements": ["s", "t"], "statement_scores": [1]}
    found = judged("faithfulness", [reply], **FIRST)

    assert found["results"][0]["score"] == 1


def test_signature_says_the_rule_and_the_scale() -> None:
    """Verdicts by a rule are from 0 to 1, and differ from those without it."""
    made = LLMJudge.from_definition("faithfulness")
    without = LLMJudge.from_definition("faithfulness", score=None).signature

    assert "|scale:score=0-1|guarded:no" in made.signature
    assert made.signature.split("|")[3] != without.split("|")[3]
    assert "scale:" not in without


@pytest.mark.parametrize("name", harpia_converters.JUDGES)
def test_included_definitions_are_documented(name: str, run: InProcess) -> None:
    """Help and documentation name every included definition."""
    page = (ROOT / "docs/how-to/judge.md").read_text(encoding="utf-8")

    assert f"`{name}`" in page
    assert name in " ".join(run("judge", "--help-all").out.split())
    assert LLMJudge.from_definition(name).instructions


def test_a_misspelled_name_is_reported() -> None:
    """A name that is neither a file nor included says which is meant."""
    with pytest.raises(HarpiaFormatsError, match="did you mean faithfulness, which is"):
        LLMJudge.from_definition("faithfullness")


@pytest.mark.parametrize("is_pipeline", [True, False])
def test_a_dump_without_instructions_names_the_included_one(is_pipeline: bool) -> None:
    """A dumped FaithfulnessEvaluator holds no instructions, which the error says."""
    dump = {
        "type": "haystack.components.evaluators.faithfulness.FaithfulnessEvaluator",
        "init_parameters": {"examples": []},
    }
    document = {"components": {"faithful": dump}} if is_pipeline else dump

    with pytest.raises(HarpiaFormatsError, match="--definition faithfulness` has some"):
        LLMJudge.from_definition(document)


@for_each_case(
    "score, message",
    [
        ({}, "with mean_of or any_of"),
        ("statements", "with mean_of or any_of"),
        ({"mean_of": "a", "any_of": "a"}, "with mean_of or any_of"),
        ({"mean_of": "c"}, "mean_of of the score must be one of the outputs, a, b"),
        ({"mean_of": "a", "each_of": "c"}, "each_of of the score must be one of"),
        ({"any_of": "a", "each_of": "b"}, "the score has no 'each_of'"),
    ],
)
def test_wrong_rules_are_refused(score: Any, message: str) -> None:
    """A rule names outputs of the definition, and one way to score them."""
    with pytest.raises(HarpiaFormatsError, match=message):
        LLMJudge("i", [("x", list[str])], ["a", "b"], [], score=score)


def test_a_score_is_not_given_twice() -> None:
    """An output called score and a rule for it exclude each other."""
    with pytest.raises(HarpiaFormatsError, match="an output called score and a rule"):
        LLMJudge("i", [("x", list[str])], ["a", "score"], [], score={"any_of": "a"})


@pytest.mark.filterwarnings("default")  # what Haystack's own packages say
@pytest.mark.parametrize(
    ("name", "replies"),
    [("faithfulness", FAITHFUL_REPLIES), ("context-relevance", RELEVANT_REPLIES)],
)
def test_scores_are_those_of_haystack(name: str, replies: Any) -> None:
    """Equal replies give equal scores in Haystack's evaluators."""
    haystack = pytest.importorskip(
        "haystack.components.evaluators", reason="haystack-ai is not installed"
    )
    from haystack.dataclasses import ChatMessage  # noqa: PLC0415 - installed

    texts = iter(json.dumps(reply) for reply, _ in replies)

    class Generator:
        def run(self, **_: Any) -> dict[str, Any]:
            return {"replies": [ChatMessage.from_assistant(next(texts))]}

    kinds = {
        "faithfulness": haystack.FaithfulnessEvaluator,
        "context-relevance": haystack.ContextRelevanceEvaluator,
    }
    columns = dict(FAITHFUL)
    if name == "context-relevance":
        del columns["predicted_answers"]
    theirs = kinds[name](chat_generator=Generator(), progress_bar=False).run(**columns)
    ours = judged(name, [reply for reply, _ in replies], **columns)

    assert [result["score"] for result in ours["results"]] == pytest.approx(
        theirs["individual_scores"], abs=1e-9
    )
    assert [
        {key: value for key, value in result.items() if key not in ("status", "score")}
        for result in theirs["results"]
    ] == [reply for reply, _ in replies]


def test_verdicts_are_scored_with_their_mean(tmp_path: Path) -> None:
    """The scores of rows have a mean with Wilson's interval, like any verdict."""
    replies = [reply for reply, _ in FAITHFUL_REPLIES]
    found = judged("faithfulness", replies, guarded=True, **FAITHFUL)
    judge = LLMJudge.from_definition("faithfulness", guarded=True)
    for meta in found["meta"]:
        meta |= {"record": meta["row"], "signature": judge.signature}
    path = tmp_path / "verdicts.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    scores = harpia_formats.score(path)

    assert scores["score"].value == pytest.approx((0.5 + 2 / 3 + 0.25) / 4)
    assert scores["score"].scale == "0-1"
    assert scores["score"].method.startswith("wilson|")
