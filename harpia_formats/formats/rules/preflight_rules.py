"""P: rules on data sets that do not meet the expectations of a preflight."""

import json

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

RECORD_COUNT, TOO_MANY_INVALID, TOO_MANY_FINDINGS = "P101", "P102", "P103"
OTHER_FILE = "P104"
MISSING_MODEL, OTHER_MODEL, ANSWER_COUNT, MISSING_ANSWER = (
    "P201",
    "P202",
    "P203",
    "P204",
)
PROMPT_LENGTH, OTHER_VALUE, MISSING_VALUE = "P301", "P302", "P303"
OUT_OF_RANGE, WRONG_PATTERN, REPEATED_VALUE, MISSING_FIELD = (
    "P304",
    "P305",
    "P306",
    "P307",
)
UNKNOWN_ID, OTHER_PROMPT, UNKNOWN_PROMPT, SHARED_PROMPT = "P401", "P402", "P403", "P404"
OWN_EXPECTATION = "P501"

#: Of the rules on records, those whose messages hold no value of a record.
WITHOUT_VALUES = frozenset(
    {PROMPT_LENGTH, UNKNOWN_PROMPT, SHARED_PROMPT, MISSING_FIELD}
)


def _record(**fields: object) -> bytes:
    """Return a record as a line."""
    return json.dumps({"outputs": [], **fields}).encode() + b"\n"


def _answered(prompt: str, *models: str, text: str | None = "4") -> bytes:
    """Return a record with an answer of each model, as a line."""
    outputs = [{"model": model, "text": text} for model in models]
    return _record(prompt=prompt, outputs=outputs)


_one, _two = _record(id="1", prompt="2+2?"), _record(id="2", prompt="3+3?")
_SHA256_OF_ONE = (
    "sha256:b01a8392a3dda900cc8a7fa4b6b47added0c79e664b161c28700b632409a3018"
)
_both = _answered("2+2?", "small", "large")

PREFLIGHT_RULES = (
    Rule(
        RECORD_COUNT,
        "record-count",
        Severity.ERROR,
        "A data set must have as many records as its preflight file says.",
        "Too few usually mean that a step before was cut short or wrote to another "
        "place; too many that files of another run are among them. It is placed at the "
        "file for limits on each file, else at the line that states the limit.",
        _one,
        _one + _two,
        "record",
        ("min-records = 2",),
        command="preflight",
    ),
    Rule(
        TOO_MANY_INVALID,
        "invalid-share",
        Severity.ERROR,
        "No more records may be invalid than the preflight file allows.",
        "Only with max-invalid: without it no record may be invalid, and each is "
        "reported by itself.",
        b'{"question": 1}\n' * 2,
        b'{"question": "2+2?"}\n' * 2,
        {"properties": {"question": {"type": "string"}}},
        ("max-invalid = 1",),
        command="preflight",
    ),
    Rule(
        TOO_MANY_FINDINGS,
        "finding-share",
        Severity.ERROR,
        "There may be no more warnings, or findings of a rule, than the preflight file "
        "allows.",
        "The findings themselves are reported, too, as by validate.",
        _one + b"\n",
        _one,
        "record",
        ("max-findings = { J202 = 0 }",),
        command="preflight",
    ),
    Rule(
        OTHER_FILE,
        "file-version",
        Severity.ERROR,
        "A file must be as new, and have the checksum, as the preflight file says.",
        "An old file is often what a step before did not write anew; another checksum "
        "is that of another version of the data.",
        _two,
        _one,
        "record",
        (f'checksums = {{ "data.jsonl" = "{_SHA256_OF_ONE}" }}',),
        command="preflight",
    ),
    Rule(
        MISSING_MODEL,
        "model-without-answers",
        Severity.ERROR,
        "Each model that the preflight file requires must have an answer.",
        "A model that did not run is not seen in the answers of the others. Names are "
        "compared exactly.",
        _answered("2+2?", "small"),
        _both,
        "record",
        ('models = ["small", "large"]',),
        command="preflight",
    ),
    Rule(
        OTHER_MODEL,
        "model-not-expected",
        Severity.ERROR,
        "No other models may have answers than the preflight file allows.",
        "Another spelling of a model's name counts as another model, and its answers "
        "are then scored apart.",
        _answered("2+2?", "small", "Large"),
        _both,
        "record",
        ('allowed-models = ["small", "large"]',),
        command="preflight",
    ),
    Rule(
        ANSWER_COUNT,
        "answers-per-question",
        Severity.ERROR,
        "Each question must have exactly as many answers of each model as the "
        "preflight file says.",
        "Models that answered different questions cannot be compared. A question is "
        "identified by its id, its prompt and its references, as far as it has them. "
        "The place is the first record of the question.",
        _both + _answered("3+3?", "small"),
        _both + _answered("3+3?", "small", "large"),
        "record",
        ("answers-per-question = 1",),
        command="preflight",
    ),
    Rule(
        MISSING_ANSWER,
        "missing-answers",
        Severity.ERROR,
        "No more answers may be missing or empty than the preflight file allows.",
        "An answer is missing if it has neither a text nor turns, or an error in place "
        "of them. A text that is empty or only white space counts as missing, too. "
        "Records without any answer count as one.",
        _answered("2+2?", "small", text=None),
        _answered("2+2?", "small"),
        "record",
        ("max-missing-answers = 0",),
        command="preflight",
    ),
    Rule(
        PROMPT_LENGTH,
        "prompt-length",
        Severity.ERROR,
        "No prompt may be longer than the preflight file allows.",
        "A prompt that does not fit the context of a model is cut or refused. Counted "
        "are the texts of the prompt or its messages, of the system message and of the "
        "contexts, and not what a chat template adds. Data in which no record has a "
        "prompt break the rule, too.",
        _record(prompt="How much is 2+2?"),
        _record(prompt="2+2?"),
        "record",
        ("max-prompt-characters = 8",),
        command="preflight",
    ),
    Rule(
        OTHER_VALUE,
        "value-not-allowed",
        Severity.ERROR,
        "Each record must have a value that the preflight file allows in a field.",
        "Scores by category or language are wrong if some have another spelling. A "
        "record without the field breaks the rule, too.",
        _record(prompt="2+2?", category="Math"),
        _record(prompt="2+2?", category="math"),
        "record",
        ('allowed-values = { category = ["math", "code"] }',),
        command="preflight",
    ),
    Rule(
        MISSING_VALUE,
        "value-without-records",
        Severity.ERROR,
        "Some record must have each value that the preflight file requires in a field.",
        "A category or language without records has no score.",
        _record(prompt="2+2?", category="math"),
        _record(prompt="2+2?", category="math")
        + _record(prompt="Sort.", category="code"),
        "record",
        ('required-values = { category = ["math", "code"] }',),
        command="preflight",
    ),
    Rule(
        OUT_OF_RANGE,
        "value-range",
        Severity.ERROR,
        "Each value of a field must be a number in the range that the preflight file "
        "states.",
        "Scores in percent among shares, or -1 for a failure, make means wrong. A text "
        'such as "0.5" breaks the rule, too; an absent value or null does not.',
        _record(prompt="2+2?", metadata={"level": 12}),
        _record(prompt="2+2?", metadata={"level": 10}),
        "record",
        ("max-values = { metadata.level = 10 }",),
        command="preflight",
    ),
    Rule(
        WRONG_PATTERN,
        "value-pattern",
        Severity.ERROR,
        "Each value of a field must match the pattern that the preflight file states.",
        "The pattern is a regular expression of Python that must match the whole text. "
        "A number breaks the rule, too; an absent value or null does not.",
        _record(id="q1", prompt="2+2?"),
        _record(id="q-1", prompt="2+2?"),
        "record",
        ("patterns = { id = 'q-[0-9]+' }",),
        command="preflight",
    ),
    Rule(
        REPEATED_VALUE,
        "value-repeated",
        Severity.ERROR,
        "No two values of a field may be equal, as the preflight file says.",
        "The place is the second record; the message names the first one. Absent "
        "values and null are equal to nothing.",
        _record(prompt="2+2?") * 2,
        _record(prompt="2+2?") + _record(prompt="3+3?"),
        "record",
        ('unique-values = ["prompt"]',),
        command="preflight",
    ),
    Rule(
        MISSING_FIELD,
        "values-missing",
        Severity.ERROR,
        "No more values of a field may be missing than the preflight file allows.",
        "A value is missing if it is absent or null, an empty array, or a text that is "
        "empty or only white space.",
        _record(prompt="2+2?", category=" "),
        _record(prompt="2+2?", category="math"),
        "record",
        ("max-missing-values = { category = 0 }",),
        command="preflight",
    ),
    Rule(
        UNKNOWN_ID,
        "id-in-one-data-set",
        Severity.ERROR,
        "The id of a record must be in the other data set, as the preflight file says.",
        "Answers to questions that there are not, or questions without an answer, "
        "usually come from another run or an older version of the questions. A record "
        "without an id breaks the rule, too.",
        _one + _record(id="3", prompt="3+3?"),
        _one + _two,
        "record",
        ('ids-in = "other"',),
        command="preflight",
        companion=_one + _two,
    ),
    Rule(
        OTHER_PROMPT,
        "prompt-of-id",
        Severity.ERROR,
        "Records with the same id must have the same prompt in both data sets, as the "
        "preflight file says.",
        "The questions were changed after the answers were made, or numbered anew.",
        _one + _record(id="2", prompt="4+4?"),
        _one + _two,
        "record",
        ('same-prompts-as = "other"',),
        command="preflight",
        companion=_one + _two,
    ),
    Rule(
        UNKNOWN_PROMPT,
        "prompt-in-one-data-set",
        Severity.ERROR,
        "The prompt of a record must be in the other data set, as the preflight file "
        "says.",
        "For data whose records have no ids. A record without a prompt breaks the "
        "rule, too.",
        _record(prompt="4+4?"),
        _record(prompt="3+3?"),
        "record",
        ('prompts-in = "other"',),
        command="preflight",
        companion=_one + _two,
    ),
    Rule(
        SHARED_PROMPT,
        "shared-prompt",
        Severity.ERROR,
        "No prompt may be in both data sets, as the preflight file says.",
        "Questions that a model was trained on do not measure what it can do. Prompts "
        "are compared exactly, unless the file says normalised or near.",
        _record(prompt="3+3?"),
        _record(prompt="4+4?"),
        "record",
        ('no-prompts-of = "other"',),
        command="preflight",
        companion=_one + _two,
    ),
    Rule(
        OWN_EXPECTATION,
        "own-expectation",
        Severity.ERROR,
        "An expectation that another package adds must be met.",
        "What it requires is given as help; the package documents it.",
        _one,
        _one,
        "record",
        command="preflight",
    ),
)
CODES = frozenset(rule.code for rule in PREFLIGHT_RULES)
