"""The rules of `--lint` on rows of samples (E1) and across the rows of a file (E3)."""

from functools import partial

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_single = """{"schema_version": "0.2.0", "evaluation_id": "gsm8k/org_m/1770681600", \
"model_id": "org/m", "evaluation_name": "gsm8k", "sample_id": "1", "sample_hash": \
"5407035ffb3059b2e83b1abc227b6c4a5e3f6c3861b694d04f94ef3e2ea7eb65", \
"interaction_type": "single_turn", \
"input": {"raw": "2+2?", "reference": "4", "choices": ["3", "4"]}, \
"output": {"raw": "It is 4."}, "answer_attribution": [{"turn_idx": 0, \
"source": "output.raw", "extracted_value": "4", "extraction_method": "regex", \
"is_terminal": true}], "evaluation": {"score": 1, "is_correct": true}, \
"token_usage": {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14}, \
"performance": {"latency_ms": 900, "generation_time_ms": 800}}
"""
_agentic = """{"schema_version": "0.2.0", "evaluation_id": "gsm8k/org_m/1770681600", \
"model_id": "org/m", "evaluation_name": "gsm8k", "sample_id": "1", \
"interaction_type": "agentic", "input": {"raw": "2+2?", "reference": "4"}, \
"interactions": [{"turn_idx": 0, "role": "user", "content": "2+2?"}, \
{"turn_idx": 1, "role": "assistant", "content": null, "tool_calls": [{"id": "c1", \
"name": "add"}]}, {"turn_idx": 2, "role": "tool", "content": "4", \
"tool_call_id": "c1"}, {"turn_idx": 3, "role": "assistant", \
"content": "It is 4."}], "answer_attribution": [{"turn_idx": 3, \
"source": "interactions[3].content", "extracted_value": "4", \
"extraction_method": "regex", "is_terminal": true}], \
"evaluation": {"score": 1, "is_correct": true, "num_turns": 4, \
"tool_calls_count": 1}}
"""
#: The sample_hash of `SINGLE` by recipe C, and what it is by recipe A.
HASH_C = b"5407035ffb3059b2e83b1abc227b6c4a5e3f6c3861b694d04f94ef3e2ea7eb65"
HASH_A = b"34b29cbbb2879843088ab28a1315a88a9bdc91b1edd0251be34ee0f96a7eabab"
#: A row with an output, and one with turns, of eee@0.2.0.
SINGLE, AGENTIC = _single.encode(), _agentic.encode()


def single(before: bytes, after: bytes) -> bytes:
    """Return `SINGLE` with one piece of its text changed."""
    return SINGLE.replace(before, after)


def agentic(before: bytes, after: bytes) -> bytes:
    """Return `AGENTIC` with one piece of its text changed."""
    return AGENTIC.replace(before, after)


_second = single(b'"sample_id": "1"', b'"sample_id": "2"')
_good = SINGLE + _second
_lint = partial(Rule, validated_as="eee@0.2.0", lint=True)
#: Rules with an example of one row with an output, one with turns, or two rows.
_single_rule = partial(_lint, good=SINGLE)
_agentic_rule = partial(_lint, good=AGENTIC)
_rows_rule = partial(_lint, good=_good)

_item = SINGLE[SINGLE.index(b'[{"turn_idx"') : SINGLE.index(b"}], ") + 2]
_by_match = single(b'"regex"', b'"exact_match"')
#: A question and reference that are the same as `_second` where they are joined.
_joined = _second.replace(b'"2+2?", "reference": "4"', b'"2+2", "reference": "?4"')
_joined = _joined.replace(b'["3", "4"]', b'["3", "?4"]')
_second_id = b'"sample_id": "1-epoch-2"'


def _of_epoch(epoch: bytes) -> bytes:
    """Return a row that names its epoch."""
    return single(
        b'"answer_attribution"',
        b'"metadata": {"epoch": "%s"}, "answer_attribution"' % epoch,
    )


LINT_RULES = (
    _single_rule(
        "E101",
        "unknown-schema-version",
        Severity.WARNING,
        "schema_version must be a known label, of the shape that the row has.",
        "The labels are 0.2.0, 0.2.1, 0.2.2, 0.2.3 and 0.3.0, with or without "
        "instance_level_eval_ in front. Only 0.2.0 has interactions, and only the "
        "others have messages. The shape decides what a row is validated as.",
        single(b'"0.2.0"', b'"0.3.0"'),
    ),
    _single_rule(
        "E102",
        "model-id-form",
        Severity.WARNING,
        "model_id must have the form organisation/model.",
        "It has at least one slash, and neither an empty part nor white space around "
        "a part. Without the organisation, results of different models of one name "
        "are joined.",
        single(b'"org/m"', b'"m"'),
    ),
    _single_rule(
        "E103",
        "sample-hash",
        Severity.WARNING,
        "sample_hash must be the SHA-256 of the question and its references.",
        "Converters use four recipes, and any of them is accepted. A: compact JSON of "
        "raw and all references, keys sorted, ASCII escapes (documented). B: JSON with "
        "spaces, of raw and the first reference (lm_eval). C: raw and the first "
        "reference, joined (HELM, and the text of 0.2.0). D: raw and all references, "
        "joined (Inspect). A hash that none of them gives is of another text, so that "
        "samples of different runs are not recognised as the same.",
        single(b'"2+2?"', b'"2+3?"'),
    ),
    _single_rule(
        "E121",
        "choices",
        Severity.NOTE,
        "A reference must be one of the choices, or a letter or number of one.",
        "Otherwise no answer can be right. Of several references one is enough. "
        "Letters are A, B, ...; numbers count from 0 or 1. An empty list of choices is "
        "better left out.",
        single(b'["3", "4"]', b'["3", "5"]'),
    ),
    _single_rule(
        "E122",
        "empty-text",
        Severity.WARNING,
        "The texts and names of a row must not be empty.",
        "An empty question, reference or id is mostly a field that a converter did not "
        "find. Empty answers are reported by V304 and V305. Where there is nothing to "
        "compare with, the list of references is empty, or the text of 0.2.0, unless "
        "there are choices. Nothing need be extracted from an answer that is not "
        "correct.",
        single(b'"evaluation_name": "gsm8k"', b'"evaluation_name": ""'),
    ),
    _agentic_rule(
        "E124",
        "metrics-ghost",
        Severity.WARNING,
        "A row must have no metrics in its root.",
        "metrics is from a version of which only a condition is left (C202). Nothing "
        "reads it: num_turns belongs into evaluation.",
        agentic(b'"input":', b'"metrics": {"num_turns": 4}, "input":'),
    ),
    _single_rule(
        "E125",
        "other-key",
        Severity.WARNING,
        "Objects must have the keys that some version of the format knows.",
        "The shape of 0.2.0 allows any key in the root, and all shapes do so in nested "
        "objects, so that a misspelt optional key is not noticed. What is of your own "
        "belongs into metadata.",
        single(b'"choices"', b'"choises"'),
    ),
    _single_rule(
        "E128",
        "whole-number-as-fraction",
        Severity.WARNING,
        "Counts and indices must be written without a fraction.",
        "JSON Schema takes 3.0 for an integer, and many readers do not. An id of 3.0 "
        "is the text 3.0 in one tool and 3 in another.",
        single(b'"output_tokens": 5', b'"output_tokens": 5.0'),
    ),
    _agentic_rule(
        "E104",
        "turn-index",
        Severity.ERROR,
        "turn_idx must be the place of the turn, counted from 0 without gaps.",
        "answer_attribution names turns by it. The first wrong turn is reported, with "
        "the number of others.",
        agentic(b'"turn_idx": 2', b'"turn_idx": 5'),
    ),
    _agentic_rule(
        "E105",
        "unknown-turn-role",
        Severity.WARNING,
        "The role of a turn must be system, user, assistant or tool.",
        "The schema takes any text. developer and function are reported as notes "
        "(E129).",
        agentic(b'"role": "user"', b'"role": "human"'),
    ),
    _agentic_rule(
        "E106",
        "dangling-tool-reference",
        Severity.ERROR,
        "tool_call_id must name a tool call of an earlier turn.",
        "Otherwise nobody can tell which call the turn answers.",
        agentic(b'"tool_call_id": "c1"', b'"tool_call_id": "c2"'),
    ),
    _agentic_rule(
        "E107",
        "tool-call-answer",
        Severity.WARNING,
        "Tool calls must have different ids and an answer each, by tool_call_id.",
        "A turn of role tool names the call that it answers. A call without an answer "
        "is one that did not run, or the conversation was cut off.",
        agentic(b', "tool_call_id": "c1"', b""),
    ),
    _agentic_rule(
        "E108",
        "type-consistency",
        Severity.WARNING,
        "interaction_type must be that of the turns.",
        "agentic: a turn calls a tool or is of role tool. multi_turn: none does, and "
        "the user or the assistant has more than one turn. single_turn: all others, "
        "with the answer in output.",
        agentic(b'"agentic"', b'"multi_turn"'),
    ),
    _agentic_rule(
        "E109",
        "num-turns",
        Severity.WARNING,
        "num_turns must be the number of all turns.",
        "Turns of the system and of tools count, too. A row with turns must have it: "
        "the schema means to require it and does not. In a row of single_turn it is 1 "
        "or absent.",
        agentic(b'"num_turns": 4', b'"num_turns": 2'),
    ),
    _agentic_rule(
        "E110",
        "tool-calls-count",
        Severity.WARNING,
        "tool_calls_count must be the number of tool calls in all turns.",
        "A turn can have several. In a row of single_turn it is 0 or absent.",
        agentic(b'"tool_calls_count": 1', b'"tool_calls_count": 2'),
    ),
    _agentic_rule(
        "E129",
        "other-turn-role",
        Severity.NOTE,
        "The role of a turn should not be developer or function.",
        "Some providers' interfaces have them for system and tool. Readers of rows "
        "know system, user, assistant and tool.",
        agentic(
            b'"interactions": [{"turn_idx": 0, "role": "user"',
            b'"interactions": [{"turn_idx": 0, "role": "developer"',
        ),
    ),
    _single_rule(
        "E111",
        "no-attribution",
        Severity.NOTE,
        "answer_attribution should say where the answer was found.",
        "The schema requires the list and takes an empty one. Inspect's converter "
        "always writes an empty one.",
        single(_item, b"[]"),
    ),
    _single_rule(
        "E112",
        "terminal-attribution",
        Severity.WARNING,
        "The last item of answer_attribution must be the only terminal one.",
        "It is the final answer, and readers look for it by is_terminal.",
        single(b'"is_terminal": true', b'"is_terminal": false'),
    ),
    _single_rule(
        "E113",
        "attribution-turn",
        Severity.ERROR,
        "turn_idx in answer_attribution must be that of a turn that gives an answer.",
        "It is 0 in a row of single_turn, else the number of a turn of the assistant "
        "or of a tool.",
        single(b'[{"turn_idx": 0', b'[{"turn_idx": 1'),
    ),
    _agentic_rule(
        "E114",
        "attribution-source",
        Severity.WARNING,
        "source in answer_attribution must be the place of a text of the row.",
        "It is output.raw or output.reasoning_trace, or that of turn N: "
        "interactions[N].content, interactions[N].reasoning_trace or "
        "interactions[N].tool_calls[K].arguments, with messages for interactions from "
        "0.2.1 on. N is the turn_idx of the item; [turn_idx] stands for it.",
        agentic(b'"interactions[3].content"', b'"interactions[1].content"'),
    ),
    _single_rule(
        "E115",
        "attribution-value",
        Severity.WARNING,
        "extracted_value must occur in the text that source names.",
        "White space, the case of letters and separators of thousands do not count. "
        "What a judge or a program made of the text is of extraction_method llm_judge "
        "or custom, and is not compared.",
        single(b'"extracted_value": "4"', b'"extracted_value": "5"'),
    ),
    _single_rule(
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
    ),
    _single_rule(
        "E117",
        "graded-correct",
        Severity.NOTE,
        "is_correct should be false for a score between 0 and 1.",
        "What counts as correct is not known of a graded score. Inspect's converter "
        "calls any score above 0 correct. Scores of other scales, such as 8 of 10, are "
        "passed over.",
        single(b'"score": 1', b'"score": 0.5'),
    ),
    _single_rule(
        "E118",
        "token-sum",
        Severity.WARNING,
        "The counts of tokens must add up.",
        "total_tokens is the sum of input_tokens and output_tokens, or of these and "
        "reasoning_tokens where reasoning is counted apart. Else reasoning_tokens is a "
        "part of output_tokens. Tokens that were written to a cache or read from it "
        "may be counted in input_tokens or apart from it, in one way in all rows: one "
        "warning a file says how many rows differ from the others.",
        single(b'"total_tokens": 14', b'"total_tokens": 41'),
    ),
    _single_rule(
        "E119",
        "latency-order",
        Severity.WARNING,
        "latency_ms must not be less than a part of it.",
        "It is at least generation_time_ms and time_to_first_token_ms, but for what "
        "rounding makes of them. Inspect's converter writes the time of waiting "
        "instead.",
        single(b'"latency_ms": 900', b'"latency_ms": 90'),
    ),
    _single_rule(
        "E120",
        "error-with-score",
        Severity.WARNING,
        "An answer with an error must not be scored as correct.",
        "An error that is empty text is better left out.",
        single(b'"performance"', b'"error": "timed out", "performance"'),
    ),
    _single_rule(
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
        good=_by_match,
    ),
    _agentic_rule(
        "E131",
        "turns-without-input",
        Severity.WARNING,
        "The turns must begin with the input of the row.",
        "They are the whole conversation, so that the text of input.raw or "
        "input.formatted is in those before the first answer. If not, the turns are "
        "those of another sample, or the first of them are missing. Half of the words "
        "is enough: prompts are often written in another form.",
        agentic(b'"user", "content": "2+2?"', b'"user", "content": "Who was Ada?"'),
    ),
    _single_rule(
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
    ),
    _rows_rule(
        "E301",
        "evaluation-ids-differ",
        Severity.ERROR,
        "All rows of a file must have the same evaluation_id.",
        "A file of samples belongs to one aggregate, which has one evaluation_id "
        "(E201 compares the two).",
        SINGLE + _second.replace(b"1770681600", b"1770681601"),
    ),
    _rows_rule(
        "E302",
        "model-ids-differ",
        Severity.WARNING,
        "All rows of a file must have the same model_id.",
        "A file of samples belongs to one aggregate, which speaks of one model (E202 "
        "compares the two).",
        SINGLE + _second.replace(b'"org/m"', b'"org/n"'),
    ),
    _rows_rule(
        "E303",
        "sample-id-types",
        Severity.NOTE,
        "An id must not be a number in one row and text in another.",
        '1 and "1" are different ids here and the same in other tools. From 0.2.1 on '
        "ids are text.",
        SINGLE + single(b'"sample_id": "1"', b'"sample_id": 1'),
    ),
    _rows_rule(
        "E304",
        "hash-collision",
        Severity.WARNING,
        "Rows must have the same sample_hash if their question and reference are the "
        "same, and only then.",
        "One hash of two questions matches samples that differ. Two hashes of one "
        "sample_id of an evaluation, as of different models, mean that they were asked "
        "different questions.",
        SINGLE + _joined,
    ),
    _rows_rule(
        "E305",
        "evaluation-name-varies",
        Severity.WARNING,
        "All rows of one result must have the same evaluation_name.",
        "The result is the one of evaluation_result_id. Without it, names that differ "
        "in case, spaces, hyphens or underscores only are taken for one result, unless "
        "these part two numbers.",
        SINGLE + _second.replace(b'"gsm8k", "sample', b'"GSM-8K", "sample'),
    ),
    _rows_rule(
        "E306",
        "hash-recipes-mixed",
        Severity.NOTE,
        "The hashes of a file should be by one recipe.",
        "Four recipes are in use (see E103), and hashes of different ones never match, "
        "even of the same question. Files that were joined have several.",
        SINGLE + _second.replace(HASH_C, HASH_A),
    ),
    _rows_rule(
        "E307",
        "repeated-sample",
        Severity.ERROR,
        "The rows of a result must not differ in metadata.epoch alone.",
        "Scores, answers and other runs are joined by sample_id: with several epochs "
        "of one sample the join is ambiguous. Inspect's converter writes a row for "
        "each epoch, all with the sample_id and the reduced score of the sample. "
        "Rows with the same metadata.epoch, or with none, break X101.",
        _of_epoch(b"1") + _of_epoch(b"2"),
        good=_of_epoch(b"1") + _of_epoch(b"2").replace(b'"sample_id": "1"', _second_id),
    ),
)
