"""Samples of lm-evaluation-harness: which record each row is."""

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora import CORPORA
from harpia_formats import Record, read, validate
from json_lines import jsonl, jsonl_rows

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures" / "lm-eval-samples" / "valid"
FILES = CORPORA / "neighbours" / "lm-eval"


def file(pattern: str) -> list[Record]:
    """Return the records of a file that the tool wrote."""
    (path,) = FILES.glob(pattern)
    return list(read(path))


def scores_of(record: Record) -> dict[str, Any]:
    """Return the value of each score of the first answer, by its metric."""
    scores: Any = record.outputs[0].scores
    return {score.metric: score.value for score in scores}


def extractions_of(record: Record) -> dict[str, str]:
    """Return what each filter kept of the first answer, by its name."""
    attribution: Any = record.outputs[0].attribution
    return {step["extraction_method"]: step["extracted_value"] for step in attribution}


@pytest.mark.corpora
def test_real_samples_of_a_generation() -> None:
    """Assertion 1: ids 0-9; row 0 has its target, prompt, answer and score."""
    records = file("real/samples_math*.jsonl")
    first = records[0]
    prompt = (
        "Problem: How many vertical asymptotes does the graph of "
        "$y=\\frac{2}{x^3-x}$ have?\n\nSolution:"
    )

    assert [record.id for record in records] == list(range(10))
    assert (first.references, first.prompt) == (["3"], prompt)
    assert len(first.outputs[0].text or "") == 1_216
    assert scores_of(first) == {"exact_match": 0.0}


@pytest.mark.corpora
def test_filters_and_repeats_of_the_tool() -> None:
    """Assertion 2: a record for each document; two answers; what each filter kept."""
    records = file("made/samples_demo_gen*.jsonl")
    first = records[0]

    assert [record.id for record in records] == [0, 1, 2]
    assert [output.text for output in first.outputs] == ["lol", "lol"]
    assert extractions_of(first) == {
        "strict-match": "[invalid]",
        "flexible-extract": "lol",
    }


@pytest.mark.corpora
def test_multiple_choice_of_the_tool() -> None:
    """Assertion 3: choices, the right one as the reference, likelihoods, accuracy."""
    first, second, _ = file("made/samples_demo_mc*.jsonl")
    extra: Any = first.extra
    likelihoods = [float(answer[0][0]) for answer in extra["lm-eval"]["resps"]]

    assert first.choices == ["1", "2", "3", "4"]
    assert first.references == ["4"]
    assert extra["lm-eval"]["target"] == "3"
    assert max(likelihoods) == likelihoods[1] == pytest.approx(-0.0824, abs=1e-4)
    assert scores_of(first)["acc"] == 0.0
    assert (scores_of(second)["acc"], second.references) == (1.0, ["6"])
    assert first.outputs[0].text is None


@pytest.mark.corpora
def test_chat_of_the_tool() -> None:
    """Assertion 4: messages and system prompt; the answer is not what was extracted."""
    first, second, *_ = file("made/samples_demo_chat*.jsonl")
    messages: Any = first.messages

    assert [message["role"] for message in messages] == [
        *("system", "user", "assistant", "user")
    ]
    assert first.system == "Be short."
    assert first.outputs[0].text == "The answer is 4."
    assert extractions_of(first) == {"strict-match": "4", "flexible-extract": "4"}
    assert second.outputs[0].text == "I think 6"
    assert extractions_of(second)["strict-match"] == "[invalid]"
    values = [
        (score.signature, score.value) for score in second.outputs[0].scores or ()
    ]
    assert values[0] == ("exact_match|impl:lm-eval-0.4.13|filter:strict-match", 0.0)


@pytest.mark.corpora
def test_samples_from_python() -> None:
    """Assertion 5: rows with lists have typed values, and the same records."""
    first, second = file("made/in-memory_demo_mc.json")
    extra: Any = first.extra

    assert extra["lm-eval"]["target"] == 3
    assert extra["lm-eval"]["resps"][0][0][0] == -0.23861592861522019
    assert (first.references, first.choices) == (["4"], ["1", "2", "3", "4"])
    assert second.id == 1


@pytest.mark.corpora
@pytest.mark.parametrize("pattern", ["made/samples_*.jsonl", "real/samples_*.jsonl"])
def test_model_and_task_are_those_of_the_results(pattern: str) -> None:
    """The model stands in the results only, and the task in the name of the file."""
    for path in FILES.glob(pattern):
        for record in read(path):
            output = record.outputs[0]
            assert output.model in {
                "demo/dummy",
                "demo/chat-1",
                "RylanSchaeffer/mem_Qwen3-93M_minerva_math_rep_0_sbst_1.0000_epch_1_ot_1",
            }
            for score in output.scores or ():
                assert f"samples_{score.evaluation_name}_" in path.name


def read_row(row: dict[str, Any]) -> Record:
    """Return the record of a row."""
    (record,) = read(jsonl(row), format="lm-eval-samples")
    return record


@pytest.mark.parametrize("name", ["choices.jsonl", "two-filters-and-repeats.jsonl"])
def test_lists_are_read_as_names_are(name: str) -> None:
    """The same requests as lists make the same record."""
    for row in jsonl_rows(FIXTURES / name):
        lists = [list(request.values()) for request in row["arguments"].values()]

        assert read_row({**row, "arguments": lists}) == read_row(row)


@given(st.integers(2, 40), st.randoms())
def test_requests_are_in_the_order_of_their_numbers(size: int, chance: Any) -> None:
    """The order of requests is that of their numbers, whatever that of the keys."""
    row = jsonl_rows(FIXTURES / "choices.jsonl")[0]
    numbers = list(range(size))
    chance.shuffle(numbers)
    arguments = {
        f"gen_args_{number}": {"arg_0": "q", "arg_1": str(number)} for number in numbers
    }
    answers = {"resps": [[["-1", "False"]]] * size, "target": "0"}

    found = read_row({**row, **answers, "arguments": arguments})

    assert found.choices == [str(number) for number in range(size)]


def test_requests_without_numbers_are_in_the_order_of_their_names() -> None:
    """A name may end with anything, such as more digits than a number can have."""
    row = jsonl_rows(FIXTURES / "choices.jsonl")[0]
    names = ["last", "first", f"more_{'1' * 5000}"]
    arguments = {name: {"arg_0": "q", "arg_1": name[:4]} for name in names}
    answers = {"resps": [[["-1", "False"]]] * 3, "target": "0"}

    found = read_row({**row, **answers, "arguments": arguments})

    assert found.choices == ["firs", "last", "more"]


@pytest.mark.parametrize(
    ("target", "references"),
    [(r"['\d', 'b']", [r"\d", "b"]), ("['a' 1and 2]", ["['a' 1and 2]"])],
)
def test_a_list_as_text_is_read_without_a_warning(
    target: str, references: list[str]
) -> None:
    """Python warns of the spelling of some literals in code, and this is data."""
    row = jsonl_rows(FIXTURES / "two-filters-and-repeats.jsonl")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_row({**row, "target": target})

    assert found.references == references


def test_a_metric_that_is_named_twice_is_one_score() -> None:
    """A name that `metrics` repeats says nothing more of the one value of its key."""
    row = jsonl_rows(FIXTURES / "choices.jsonl")[0]
    listed = {"acc": 1.0, "bits": [1], "metrics": ["acc", "bits", "acc", "bits"]}
    source = jsonl({**row, **listed})
    (record,) = read(source, format="lm-eval-samples")

    assert [score.metric for score in record.outputs[0].scores or ()] == ["acc"]
    report = validate(source, format="lm-eval-samples", lint=True, select=["A123"])
    assert report.files[0].notes == 1


def test_a_member_called_continuation_is_kept() -> None:
    """It stands next to the continuation of a log-likelihood, which has its name."""
    row = jsonl_rows(FIXTURES / "choices.jsonl")[0]
    asked = {"gen_args_0": {"arg_0": "2+2=", "arg_1": " 4"}}
    answer = {"resps": [[["-1", "True"]]], "filtered_resps": [["-1", "True"]]}

    found = read_row(
        {**row, **answer, "arguments": asked, "target": "four", "continuation": "own"}
    )

    assert (found.extra or {})["lm-eval"]["continuation"] == "own"
    assert (found.extra or {})["lm-eval"]["continuation_"] == " 4"


def test_type_of_other_results_is_not_believed() -> None:
    """A choice is read as one, whatever the results of another task say."""
    results = ROOT / "fixtures" / "lm-eval-results" / "valid" / "results.json"

    first, *_ = read(FIXTURES / "choices.jsonl", companion=results)

    assert first.choices == ["Lyon", "Paris", "Nice"]
    assert first.references == ["Paris"]
