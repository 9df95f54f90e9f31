"""E130 to E132: rules on what verdicts, turns and counts say of the texts of a row."""

from harpia_converters.eee.lint.example_rows import AGENTIC, SINGLE, agentic, single
from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_shape = "eee@0.2.0"
_by_match = single(b'"regex"', b'"exact_match"')

RULES = (
    Rule(
        "E130",
        "exact-match-verdict",
        Severity.WARNING,
        "is_correct must be that of an exact match where extraction_method names one.",
        "Reported are values that are a reference and not correct, and values that are "
        "correct and share no word with any reference. Either the score is that of "
        "another answer, or another method was used than the row says.",
        _by_match.replace(
            b'"score": 1, "is_correct": true', b'"score": 0, "is_correct": false'
        ),
        _by_match,
        _shape,
        lint=True,
    ),
    Rule(
        "E131",
        "turns-without-input",
        Severity.WARNING,
        "The turns must begin with the input of the row.",
        "They are the whole conversation, so that the text of input.raw or "
        "input.formatted is in those before the first answer. If not, the turns are "
        "those of another sample, or the first of them are missing. Half of the words "
        "is enough: prompts are often written in another form.",
        agentic(b'"user", "content": "2+2?"', b'"user", "content": "Who was Ada?"'),
        AGENTIC,
        _shape,
        lint=True,
    ),
    Rule(
        "E132",
        "zero-tokens",
        Severity.WARNING,
        "A count of tokens must not be 0 where there is a text.",
        "Converters write 0 for what a log does not have, and sums and costs are too "
        "low by it. Reported are texts of 20 characters and more; input_tokens may be "
        "0 where tokens come from a cache.",
        single(b'"It is 4."', b'"The sum of both is 4."').replace(
            b'"output_tokens": 5, "total_tokens": 14',
            b'"output_tokens": 0, "total_tokens": 9',
        ),
        SINGLE,
        _shape,
        lint=True,
    ),
)
