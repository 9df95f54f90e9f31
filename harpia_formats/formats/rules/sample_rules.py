"""V3 and X: rules on the texts of samples, and across the records of a file."""

import json

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

#: The codes of the rules.
LEAK, API_ERROR, TRUNCATED, SCORED_EMPTY = "V301", "V302", "V303", "V304"
EMPTY_ANSWER, EMPTY_QUESTION, EMPTY_REFERENCE = "V305", "V306", "V307"
REPEATED_PROMPT, TEMPLATE_MARK = "V308", "V309"
REPEATED_CHOICE, NULL_ANSWER = "V310", "V311"
STACK_TRACE, REASONING, PLACEHOLDER, LOOP = "V312", "V313", "V314", "V315"


def _record(answer: str = "Rio", **fields: object) -> bytes:
    """Return a record with one answer as a line."""
    output = {"text": answer, **fields.pop("output", {})}  # type: ignore[dict-item]  # an object
    record = {"prompt": _prompt, "references": ["Brasília"], **fields}
    return json.dumps({**record, "outputs": [output]}).encode() + b"\n"


_prompt = "Qual é a capital do Brasil?"
_good = _record()

SAMPLE_RULES = (
    Rule(
        LEAK,
        "reference-in-prompt",
        Severity.NOTE,
        "A prompt should not hold the reference.",
        "The model may copy what it should find. Looked for are references of more "
        "than three characters, as whole words, but for case and white space; not "
        "those that are among the choices. Where the prompts of more than half of the "
        "records of a file, and of four at least, hold the reference, it is meant, as "
        "for extraction or labels, and none is reported.",
        _record(prompt=f"{_prompt} (Brasília)"),
        _good,
        "record",
        lint=True,
    ),
    Rule(
        API_ERROR,
        "error-as-answer",
        Severity.WARNING,
        "An answer should be a model's, and not the error of an API or a proxy.",
        "A request that failed, such as for a rate limit, was taken for an answer, and "
        "is scored as one. Ask the model again. Not reported are answers to prompts "
        "about errors, and those that a reference expects, by its text or its number.",
        _record("Error code: 429 - {'error': {'message': 'Rate limit reached'}}"),
        _record("An API answers 429 where a rate limit is reached."),
        "record",
        lint=True,
    ),
    Rule(
        TRUNCATED,
        "truncated-answer",
        Severity.NOTE,
        "An answer should not be cut by the limit of tokens.",
        "The row gives a finish reason such as length or max_tokens: the model was not "
        "done. Raise the limit, unless it is meant, as for one letter.",
        _record(output={"extra": {"openai": {"finish_reason": "length"}}}),
        _record(output={"extra": {"openai": {"finish_reason": "stop"}}}),
        "record",
        lint=True,
    ),
    Rule(
        SCORED_EMPTY,
        "empty-answer-scored",
        Severity.WARNING,
        "An empty answer should not be scored as right.",
        "The score is that of another answer, or the answer was lost.",
        _record("", output={"scores": [{"metric": "em", "value": 1}]}),
        _record("Brasília", output={"scores": [{"metric": "em", "value": 1}]}),
        "record",
        lint=True,
    ),
    Rule(
        EMPTY_ANSWER,
        "empty-answer",
        Severity.NOTE,
        "An answer should not be empty.",
        "It is empty or only white space: the model said nothing, the request failed, "
        "or the answer was lost. A row with an error of the model is not reported.",
        _record(" "),
        _good,
        "record",
        lint=True,
    ),
    Rule(
        EMPTY_QUESTION,
        "empty-question",
        Severity.WARNING,
        "A prompt should not be empty.",
        "It is empty or only white space, so the model is asked nothing.",
        _record(prompt=""),
        _good,
        "record",
        lint=True,
    ),
    Rule(
        EMPTY_REFERENCE,
        "empty-reference",
        Severity.WARNING,
        "A reference should not be empty.",
        "It is empty or only white space. Metrics compare answers with it: most give "
        "0 for every answer, and some 1 for an empty one. Leave it out where there is "
        "no reference and the format allows that.",
        _record(references=[""]),
        _good,
        "record",
        lint=True,
    ),
    Rule(
        REPEATED_PROMPT,
        "prompt-in-answer",
        Severity.NOTE,
        "An answer should not begin with the whole prompt.",
        "Some programs return the prompt with what the model adds to it. A metric then "
        "compares both with the reference.",
        _record(f"{_prompt} Rio"),
        _good,
        "record",
        lint=True,
    ),
    Rule(
        TEMPLATE_MARK,
        "template-mark-in-answer",
        Severity.NOTE,
        "An answer should not hold marks of a chat template.",
        "Marks such as <|im_end|> separate turns for a model. In an answer they show "
        "that it was not cut where it ends, or that the template was not applied. Text "
        "that HTML strikes out, <s>such as this</s>, is none.",
        _record("Rio<|im_end|>"),
        _good,
        "record",
        lint=True,
    ),
    Rule(
        REPEATED_CHOICE,
        "repeated-choice",
        Severity.WARNING,
        "No choice of a question should be repeated.",
        "If it is right, two letters are right and one of them counts as wrong; if "
        "not, guessing is easier than the number of choices says. White space at the "
        "ends makes no difference, case does. Choices that are all references are not "
        "reported: some programs list the answers to a free question as choices. "
        "Replace one of the choices, or leave it out.",
        _record(choices=["Rio", "Brasília", "Rio "]),
        _record(choices=["Rio", "Brasília", "Recife"]),
        "record",
        lint=True,
    ),
    Rule(
        NULL_ANSWER,
        "null-as-answer",
        Severity.NOTE,
        "An answer should not be only a word that programs write for no value.",
        "These are null, None, NaN, nan, undefined and [object Object]: mostly a "
        "program turned a missing answer into text, and it is scored as one. A model "
        "may mean the word, so an answer is not reported if the prompt, a choice or a "
        "reference has it, in any case of letters.",
        _record("None"),
        _record("None of them."),
        "record",
        lint=True,
    ),
    Rule(
        STACK_TRACE,
        "stack-trace-as-answer",
        Severity.WARNING,
        "An answer should not hold the stack trace of a program that failed.",
        "A program around the model failed, and what it printed was stored as the "
        "answer. Known are those of Python, Java and JavaScript. Not reported are "
        "traces in blocks of code, and answers to prompts about programs or failures. "
        "Errors of an API are V302.",
        _record(
            "Traceback (most recent call last):\n"
            '  File "run.py", line 7, in <module>\nKeyError: 0'
        ),
        _good,
        "record",
        lint=True,
    ),
    Rule(
        REASONING,
        "reasoning-in-answer",
        Severity.WARNING,
        "An answer should not hold the marked reasoning of a model.",
        "Models mark it, as with <think> and </think>, and the program that serves "
        "them was to take it out. Metrics compare all of it with the reference. Many "
        "formats have a field of its own for it. Answers to prompts that name the mark "
        "are not reported.",
        _record("<think>The capital moved in 1960.</think>Brasília"),
        _good,
        "record",
        lint=True,
    ),
    Rule(
        PLACEHOLDER,
        "unfilled-placeholder",
        Severity.WARNING,
        "A prompt should not hold an open place of a template.",
        "The template was not filled with the row, such as {question} or "
        "{{ item.question }}: the model never saw the question. Looked for are names "
        "that templates of evaluations use. Lines of code and prompts about templates "
        "are not reported.",
        _record(prompt="Answer in one word: {question}"),
        _good,
        "record",
        lint=True,
    ),
    Rule(
        LOOP,
        "repeating-answer",
        Severity.NOTE,
        "An answer should not repeat a part of it to its end.",
        "A model that is caught in a loop repeats a word or a sentence until the limit "
        "of tokens. Reported are parts with letters that are there eight times, or "
        "four times if that is a long text, at the end of an answer, unless the prompt "
        "asks to repeat something.",
        _record("Brasília is the capital. " * 12),
        _good,
        "record",
        lint=True,
    ),
)


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

CROSS_RECORD_RULES = (
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
