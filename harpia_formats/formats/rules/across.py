"""X: rules across the records of a file."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

#: The code of the rule against repeated ids.
REPEATED_ID = "X101"
#: The codes of the lints against records and ids that look the same.
NEAR_DUPLICATE, LOOK_ALIKE_ID = "X102", "X103"
#: The code of the lint against ids of several types.
ID_KIND = "X104"
#: The code of the lint against a question with several references.
OTHER_REFERENCE = "X105"
_row = (
    b'{"schema_version": "0.2.0", "evaluation_id": "e", "model_id": "org/m", '
    b'"evaluation_name": "n", "sample_id": "1", "interaction_type": "single_turn", '
    b'"input": {"raw": "2+2?", "reference": "4"}, "output": {"raw": "4"}, '
    b'"interactions": null, "answer_attribution": [], '
    b'"evaluation": {"score": 1, "is_correct": true}}\n'
)

RULES = (
    Rule(
        REPEATED_ID,
        "repeated-id",
        Severity.ERROR,
        "No two records of a file may have the same id.",
        "The id consists of all keys that identify a record in the format, such as the "
        "id of a sample together with that of its evaluation. Each record that repeats "
        "the id of an earlier record is an error.",
        _row + _row,
        _row + _row.replace(b'"sample_id": "1"', b'"sample_id": "2"'),
        "eee@0.2.0",
    ),
    Rule(
        NEAR_DUPLICATE,
        "near-duplicate",
        Severity.WARNING,
        "No two records should say the same.",
        "Records that ask the same and answer the same count twice in every score. "
        "The texts that are compared are the prompt, system and other messages, "
        "references, choices, contexts and answers, after NFKC and case folding and "
        "without white space and punctuation that carries no meaning: symbols, "
        "brackets, signs and points of numbers, and marks as in C# and 50% count, and "
        "so do the apostrophe of it's, the factorial of x! and the capitals of US. "
        "Model, evaluation, metric and category must be the same, ids need not. Each "
        "record that says what an earlier one says is reported.",
        b'{"id": 1, "prompt": "Add 2 to 2!", "references": ["Four"], "outputs": []}\n'
        b'{"id": 2, "prompt": "add 2 to 2", "references": ["four."], "outputs": []}\n',
        b'{"id": 1, "prompt": "Add 2 to 2!", "references": ["Four"], "outputs": []}\n'
        b'{"id": 2, "prompt": "Add 2 to 3!", "references": ["Five"], "outputs": []}\n',
        "record",
        lint=True,
    ),
    Rule(
        LOOK_ALIKE_ID,
        "look-alike-id",
        Severity.WARNING,
        "No two ids should differ only in what nobody sees.",
        "That is the Unicode form (a letter with an accent, such as \\u00e9, or a "
        "letter and an accent, such as e\\u0301), the width of letters, invisible "
        "characters such as \\u200b, white space, and Cyrillic or Greek letters that "
        "look like Latin ones. Mostly one id was meant, and joins by it lose records. "
        "Upper and lower case are a difference that is seen, and so are x2 and "
        "x\\u00b2. The examples have such letters as escapes.",
        b'{"id": "caf\\u00e9", "prompt": "2 + 2?", "outputs": []}\n'
        b'{"id": "cafe\\u0301", "prompt": "2 + 3?", "outputs": []}\n',
        b'{"id": "caf\\u00e9", "prompt": "2 + 2?", "outputs": []}\n'
        b'{"id": "tea", "prompt": "2 + 3?", "outputs": []}\n',
        "record",
        lint=True,
    ),
    Rule(
        ID_KIND,
        "id-type",
        Severity.NOTE,
        "An id should not be a number in one record and text in another.",
        '1 and "1" are different ids here, so that X101 is silent, and the same in '
        "many other tools. Reported are whole numbers only. Write all ids as text. "
        "For EvalEval the rule is E303.",
        b'{"id": 1, "prompt": "2 + 2?", "outputs": []}\n'
        b'{"id": "1", "prompt": "2 + 3?", "outputs": []}\n',
        b'{"id": "1", "prompt": "2 + 2?", "outputs": []}\n'
        b'{"id": "2", "prompt": "2 + 3?", "outputs": []}\n',
        "record",
        lint=True,
    ),
    Rule(
        OTHER_REFERENCE,
        "other-reference",
        Severity.WARNING,
        "A question should not have another reference in another record.",
        "One of the two is wrong, or each lacks an answer that is right: the same "
        "answer then counts as right in one record and as wrong in the other. The "
        "prompt, messages, choices, contexts and category are compared as they are, "
        "references but for case and their order. If the question depends on a field "
        "that the format does not know, such as a picture, ignore the rule.",
        b'{"id": 1, "prompt": "2 + 2?", "references": ["4"], "outputs": []}\n'
        b'{"id": 2, "prompt": "2 + 2?", "references": ["5"], "outputs": []}\n',
        b'{"id": 1, "prompt": "2 + 2?", "references": ["4"], "outputs": []}\n'
        b'{"id": 2, "prompt": "2 + 3?", "references": ["5"], "outputs": []}\n',
        "record",
        lint=True,
    ),
)
