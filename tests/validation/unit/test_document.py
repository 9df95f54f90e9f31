"""What stands around the rows of a document, which is validated as a record is."""

import json
from typing import Any

from cases import for_each_case
from harpia_formats import validate

INSTANCE = '{"id": "1", "input": "?", "actual-output": "!"}'
COLUMNS = {name: ["a"] * 3 for name in ("questions", "predicted_answers")}


def found(text: str, **options: Any) -> list[tuple[str, str]]:
    """Return the codes and the pointers of what is wrong with a document."""
    report = validate(text.encode(), **options)
    return [(each.code, each.place.pointer) for each in report.problems]


@for_each_case(
    "text, expected",
    [
        (f'{{"instances": [{INSTANCE}], "metrics": []}}', []),
        (f'{{"instances": [{INSTANCE}], "metrics": 1}}', [("S102", "/metrics")]),
        (f'{{"instances": [{INSTANCE}], "metrics": [{{}}]}}', [("S101", "/metrics/0")]),
        (
            f'{{"metrics": [], "instances": [{INSTANCE}], "metrics": []}}',
            [("J105", "/metrics")],
        ),
        (f'{{"metrics": [], "instances": [{INSTANCE}], }}', [("J101", "")]),
        (f'{{"metrics": [], "instances": [{INSTANCE}]', [("J102", "")]),
    ],
)
def test_header_is_validated_as_a_record(
    text: str, expected: list[tuple[str, str]]
) -> None:
    """Text, JSON and schema of a document without its records are validated."""
    assert found(text, format="harpia") == expected


def test_lengths_of_columns_are_remarked_on() -> None:
    """Columns that are not as long as the first are errors, next to all else."""
    document = json.dumps({**COLUMNS, "predicted_answers": ["a"] * 2})
    wrong = json.dumps({**COLUMNS, "predicted_answers": ["a"] * 2, "more": 1})

    assert found(document, format="haystack") == [("K101", "/predicted_answers")]
    assert found(wrong, format="haystack") == [
        ("K101", "/predicted_answers"),
        ("S102", "/more"),
    ]
    (problem,) = validate(document.encode(), format="haystack").problems
    assert problem.message == (
        'the column "predicted_answers" has 2 items, but "questions" has 3'
    )
    # With a header that is no JSON, only its syntax error is reported.
    assert [each for each, _ in found(document[:-1], format="haystack")] == ["J102"]


def test_documents_in_lines_are_validated_as_wholes() -> None:
    """What is remarked on a record is not asked of documents that have such records."""
    document = {**COLUMNS, "contexts": ["text"] * 3}
    line = json.dumps(document) + "\n"

    assert found(line * 2, format="haystack") == [("S201", "")]
    assert ("K102", "/contexts") in found(json.dumps(document), format="haystack")
