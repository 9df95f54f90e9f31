"""E11 and E12: rules on attribution, scores, token counts and times."""

from harpia_converters.eee.lint.example_rows import AGENTIC, SINGLE, agentic, single
from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_shape = "eee@0.2.0"
_item = SINGLE[SINGLE.index(b'[{"turn_idx"') : SINGLE.index(b"}], ") + 2]

RULES = (
    Rule(
        "E111",
        "no-attribution",
        Severity.NOTE,
        "answer_attribution should say where the answer was found.",
        "The schema requires the list and takes an empty one. Inspect's converter "
        "always writes an empty one.",
        single(_item, b"[]"),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E112",
        "terminal-attribution",
        Severity.WARNING,
        "The last item of answer_attribution must be the only terminal one.",
        "It is the final answer, and readers look for it by is_terminal.",
        single(b'"is_terminal": true', b'"is_terminal": false'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E113",
        "attribution-turn",
        Severity.ERROR,
        "turn_idx in answer_attribution must be that of a turn that gives an answer.",
        "It is 0 in a row of single_turn, else the number of a turn of the assistant "
        "or of a tool.",
        single(b'[{"turn_idx": 0', b'[{"turn_idx": 1'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E114",
        "attribution-source",
        Severity.WARNING,
        "source in answer_attribution must be the place of a text of the row.",
        "It is output.raw or output.reasoning_trace, or that of turn N: "
        "interactions[N].content, interactions[N].reasoning_trace or "
        "interactions[N].tool_calls[K].arguments, with messages for interactions from "
        "0.2.1 on. N is the turn_idx of the item; [turn_idx] stands for it.",
        agentic(b'"interactions[3].content"', b'"interactions[1].content"'),
        AGENTIC,
        _shape,
        lint=True,
    ),
    Rule(
        "E115",
        "attribution-value",
        Severity.WARNING,
        "extracted_value must occur in the text that source names.",
        "White space, the case of letters and separators of thousands do not count. "
        "What a judge or a program made of the text is of extraction_method llm_judge "
        "or custom, and is not compared.",
        single(b'"extracted_value": "4"', b'"extracted_value": "5"'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E116",
        "score-correct",
        Severity.ERROR,
        "is_correct must go with the score.",
        "One of the two is wrong, and readers use either. It is an error if the score "
        "is true or false and is_correct is the other; if the aggregate is given and "
        "its metric_config says that the score is the best one, and is_correct is "
        "false, or the worst one, and is_correct is true. Without an aggregate that "
        "says so, numbers are judged by the file, for each result: where some are 0, "
        "some 1 and none outside of 0 to 1, one warning says in how many rows "
        "is_correct is not true for 1 and false for 0; where that is so in nine of ten "
        "rows or more, one note says that lower may be better.",
        single(
            b'"score": 1, "is_correct": true', b'"score": true, "is_correct": false'
        ),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E117",
        "graded-correct",
        Severity.NOTE,
        "is_correct should be false for a score between 0 and 1.",
        "What counts as correct is not known of a graded score. Inspect's converter "
        "calls any score above 0 correct. Scores of other scales, such as 8 of 10, are "
        "passed over.",
        single(b'"score": 1', b'"score": 0.5'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E118",
        "token-sum",
        Severity.WARNING,
        "The counts of tokens must add up.",
        "total_tokens is the sum of input_tokens and output_tokens, or of these and "
        "reasoning_tokens where reasoning is counted apart. Else reasoning_tokens is a "
        "part of output_tokens. Tokens that were written to a cache or read from it "
        "may be counted in input_tokens or beside it, in one way in all rows: one "
        "warning a file says how many rows differ from the others.",
        single(b'"total_tokens": 14', b'"total_tokens": 41'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E119",
        "latency-order",
        Severity.WARNING,
        "latency_ms must not be less than a part of it.",
        "It is at least generation_time_ms and time_to_first_token_ms, but for what "
        "rounding makes of them. Inspect's converter writes the time of waiting "
        "instead.",
        single(b'"latency_ms": 900', b'"latency_ms": 90'),
        SINGLE,
        _shape,
        lint=True,
    ),
    Rule(
        "E120",
        "error-with-score",
        Severity.WARNING,
        "An answer with an error must not be scored as correct.",
        "An error that is empty text is better left out.",
        single(b'"performance"', b'"error": "timed out", "performance"'),
        SINGLE,
        _shape,
        lint=True,
    ),
)
