"""How scripts by hand read each format: the loop, and where each field is."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reader:
    """How a script reads the rows of a format."""

    #: The Python expression of each field, by its name.
    fields: Mapping[str, str]
    #: The lines of loops over answers.
    loops: tuple[str, ...] = ()
    #: What the loop over rows runs over, where that is no line of JSON.
    rows: str = "json.load(source)"
    #: The name of the loop's variable.
    row: str = "row"


_PROMPT_AND_REFERENCE = {
    "prompt": 'row["messages"][-1]["content"]',
    "references": 'row["ref_answer"]',
    "id": 'row["id"]',
}
_RUN = {
    "score": 'row["evaluation"]["score"]',
    "is_correct": 'row["evaluation"]["is_correct"]',
    "evaluation_id": 'row["evaluation_id"]',
    "evaluation_name": 'row["evaluation_name"]',
}
_EEE = {
    "id": 'row["sample_id"]',
    "prompt": 'row["input"]["raw"]',
    "references": 'row["input"]["reference"]',
    "response": 'row["output"]["raw"]',
    "model": 'row["model_id"]',
    **_RUN,
}
_EEE_LISTS = {
    **_EEE,
    "references": 'row["input"]["reference"][0]',
    "response": 'row["output"]["raw"][0]',
}
#: The columns of Haystack that hold a text in each row.
HAYSTACK = ("query_id", "questions", "ground_truth_answers", "predicted_answers")
READERS: Mapping[str, Reader] = {
    "eee@0.2.0": Reader(_EEE),
    "eee@0.2.0-tag": Reader(_EEE_LISTS),
    "eee@0.3.0": Reader(_EEE_LISTS),
    "harpia": Reader(
        {
            "id": 'row["id"]',
            "prompt": 'row["input"]',
            "references": 'row["expected-output"][0]',
            "response": 'row["actual-output"]',
        },
        rows='json.load(source)["instances"]',
    ),
    "nemo-input": Reader(
        {
            "prompt": 'row["prompt"]',
            "references": 'row["ideal_response"]',
            "category": 'row["category"]',
            "source": 'row["source"]',
        }
    ),
    "nemo-output": Reader(
        {
            "prompt": 'row["input"]["prompt"]',
            "references": 'row["input"]["ideal_response"]',
            "category": 'row["input"]["category"]',
            "source": 'row["input"]["source"]',
            "response": 'row["response"]',
            "model": 'row["llm_name"]',
        }
    ),
    "tencent-messages": Reader(_PROMPT_AND_REFERENCE),
    "tencent-outputs": Reader(
        {
            **_PROMPT_AND_REFERENCE,
            "response": 'response["content"]',
            "model": 'output["model_name"]',
        },
        loops=(
            'for output in row["model_outputs"]:',
            'for response in output["responses"]:',
        ),
    ),
    "tencent-manual": Reader(
        {
            "prompt": 'row["conversation"][-1]["prompt"]',
            "references": 'row["conversation"][-1]["response"]',
        }
    ),
    "tencent-csv": Reader(
        {"prompt": 'row["prompt"]', "references": 'row["response"]'},
        rows="csv.DictReader(source)",
    ),
    "haystack": Reader(
        {
            "id": "query",
            "prompt": "question",
            "references": "reference",
            "response": "answer",
        },
        rows=f"zip({', '.join(map('columns[{!r}]'.format, HAYSTACK))})",
        row="query, question, reference, answer",
    ),
    "record": Reader(
        {
            "id": 'row["id"]',
            "prompt": 'row["prompt"]',
            "references": 'row["references"][0]',
            "response": 'output["text"]',
            "model": 'output["model"]',
            "score": 'output["scores"][0]["value"]',
            "is_correct": 'output["scores"][0]["is_correct"]',
            "evaluation_id": 'output["scores"][0]["evaluation_id"]',
            "evaluation_name": 'output["scores"][0]["evaluation_name"]',
        },
        loops=('for output in row["outputs"]:',),
    ),
    "csv": Reader(
        {
            name: f'row["{name}"]'
            for name in ("id", "prompt", "references", "response", "model")
        }
        | {
            "score": 'float(row["score"])',
            "is_correct": 'row["is_correct"] == "true"',
            "evaluation_id": 'row["evaluation_id"]',
            "evaluation_name": 'row["evaluation_name"]',
        },
        rows="csv.DictReader(source)",
    ),
}
