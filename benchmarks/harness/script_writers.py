"""How scripts by hand write each format: the row, and which fields it must have."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Writer:
    """How a script writes the rows of a format."""

    #: A row, or its columns, of which texts in braces are fields. What has a field that
    #: the source lacks is left out.
    row: Mapping[str, object]
    #: Fields that a row must have and that `--set` gives where the source lacks them.
    needed: tuple[str, ...] = ()
    #: The expressions of other fields that a row must have, if the source lacks them.
    defaults: Mapping[str, str] = field(default_factory=dict)


_QUESTION = {
    "prompt": "{prompt}",
    "ideal_response": "{references}",
    "category": "{category}",
    "source": "{source}",
}
_CHAT = {
    "id": "{id}",
    "messages": [{"role": "'user'", "content": "{prompt}"}],
    "ref_answer": "{references}",
}
_SCORE = ("score", "is_correct", "evaluation_id", "evaluation_name")
_EEE_NEEDS = ("response", "model", *_SCORE)
_NUMBER = {"id": "str(number)"}
_EMPTY = {"category": "''", "source": "''"}
_EEE_ROW = {
    "schema_version": "'0.2.0'",
    "evaluation_id": "{evaluation_id}",
    "model_id": "{model}",
    "evaluation_name": "{evaluation_name}",
    "sample_id": "{id}",
    "interaction_type": "'single_turn'",
    "input": {"raw": "{prompt}", "reference": "{references}"},
    "output": {"raw": "{response}"},
    "answer_attribution": "[]",
    "evaluation": {"score": "{score}", "is_correct": "{is_correct}"},
}
_EEE_LISTS_ROW = {
    **_EEE_ROW,
    "input": {"raw": "{prompt}", "reference": ["{references}"]},
    "output": {"raw": ["{response}"]},
}
_EEE_NEW_ROW = {**_EEE_LISTS_ROW, "schema_version": "'0.3.0'"}
WRITERS: Mapping[str, Writer] = {
    "eee@0.2.0": Writer(_EEE_ROW, _EEE_NEEDS, _NUMBER),
    "eee@0.2.0-tag": Writer(_EEE_LISTS_ROW, _EEE_NEEDS, _NUMBER),
    "eee@0.3.0": Writer(_EEE_NEW_ROW, _EEE_NEEDS, _NUMBER),
    "harpia": Writer(
        {
            "id": "{id}",
            "input": "{prompt}",
            "expected-output": ["{references}"],
            "actual-output": "{response}",
        },
        ("response",),
        _NUMBER,
    ),
    "nemo-input": Writer(_QUESTION, defaults=_EMPTY),
    "nemo-output": Writer(
        {"input": _QUESTION, "response": "{response}", "llm_name": "{model}"},
        ("response",),
        {**_EMPTY, "model": "'offline'"},
    ),
    "tencent-messages": Writer(_CHAT),
    "tencent-outputs": Writer(
        {
            **_CHAT,
            "model_outputs": [
                {"model_name": "{model}", "responses": [{"content": "{response}"}]}
            ],
        },
        ("response", "model"),
    ),
    "tencent-manual": Writer(
        {"conversation": [{"prompt": "{prompt}", "response": "{references}"}]}
    ),
    "tencent-csv": Writer(
        {"system": "''", "prompt": "{prompt}", "response": "{references}"}
    ),
    "haystack": Writer(
        {
            "query_id": "{id}",
            "questions": "{prompt}",
            "ground_truth_answers": "{references}",
            "predicted_answers": "{response}",
        }
    ),
    "record": Writer(
        {
            "id": "{id}",
            "prompt": "{prompt}",
            "references": ["{references}"],
            "category": "{category}",
            "source": "{source}",
            "outputs": [
                {
                    "model": "{model}",
                    "text": "{response}",
                    "scores": [
                        {
                            "value": "{score}",
                            "is_correct": "{is_correct}",
                            "evaluation_id": "{evaluation_id}",
                            "evaluation_name": "{evaluation_name}",
                        }
                    ],
                }
            ],
        }
    ),
    "csv": Writer(
        {
            name: f"{{{name}}}"
            for name in (
                *("id", "prompt", "references", "category", "source", "model"),
                *("response", *_SCORE),
            )
        }
    ),
}
