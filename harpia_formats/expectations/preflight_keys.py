"""The table of the keys of a preflight file: what they hold, and what they state."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from shlex import split

from harpia_formats.files.io.discovery import parts_of
from harpia_formats.files.parsing.csv_delimiter import delimiter_named
from harpia_formats.files.toml import toml_value
from harpia_formats.formats.registry import formats_named, rules_for
from harpia_formats.formats.rules import rules_matching
from harpia_formats.model.column_map import check_field_names


class Kind(Enum):
    """What the value of a key is, as messages and documents call it."""

    FLAG = "true or false"
    COUNT = "a whole number"
    TEXT = "a text"
    TEXTS = "a text or an array of texts"
    TABLE = "a table of texts"
    LIMIT = 'a whole number or a share such as "1 %"'
    LIMITS = "a table of limits"
    VALUES = "a table of arrays"
    #: One data set or several, by their names.
    DATA_SETS = "the name of a data set or an array of names"
    #: Likewise, or with how they are compared.
    COMPARED = (
        "the name of a data set, an array of names, or a table of names with exact, "
        "normalised or near"
    )
    NUMBERS = "a table of numbers"
    AGE = 'a text such as "7 days"'
    #: Values of any type, by the names of expectations of other packages.
    OWN = "a table of values"


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a data set in a preflight file."""

    name: str
    kind: Kind
    summary: str
    #: A line of TOML.
    example: str
    #: Raises an exception with the reason for a text that cannot be a value, an item of
    #: an array, or a value of a table.
    check: Callable[[str], object] | None = None
    #: The same for the keys of a table.
    check_key: Callable[[str], object] | None = None
    #: The least number.
    least: int = 0
    #: The fields of records that a format must have, to check what it states: one of
    #: each group.
    needs: tuple[tuple[str, ...], ...] = ()
    #: Whether it is about records, which are read for it.
    of_records: bool = False
    #: Whether its value names fields.
    of_fields: bool = False

    @property
    def has_members(self) -> bool:
        """Whether there is an expectation for each member of its value."""
        kinds = {Kind.LIMITS, Kind.OWN, Kind.DATA_SETS, Kind.COMPARED}
        return self.of_fields or self.kind in kinds or self.name == "checksums"


def _rule(name: str) -> None:
    rules_matching(name, rules_for(asked=[name]))


def _pattern(pattern: str) -> None:
    if not parts_of(pattern):
        raise ValueError(f"the pattern {pattern!r} names no file")


def _field(name: str) -> None:
    check_field_names({name: ""})


def _regex(pattern: str) -> None:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"the pattern {pattern!r} is not valid: {error}") from error


def _checksum(text: str) -> None:
    algorithm, _, digest = text.partition(":")
    size = CHECKSUMS.get(algorithm)
    if size is None:
        known = ", ".join(CHECKSUMS)
        raise ValueError(
            f"{text!r} is no checksum; write it as sha256:DIGEST (known: {known})"
        )
    if not re.fullmatch(f"[0-9A-Fa-f]{{{size}}}", digest):
        raise ValueError(f"a {algorithm} checksum has {size} digits from 0 to f")


def _path(path: str) -> None:
    if not path.strip():
        raise ValueError("must not be empty")
    if path == "-":
        raise ValueError("standard input cannot be named here")


#: The algorithms of checksums, with how many hexadecimal digits they have.
CHECKSUMS = {"sha256": 64, "sha512": 128, "sha1": 40, "md5": 32}
_ID = (("id",),)
_PROMPT = (("prompt", "messages"),)
_ANSWER = (("outputs.text", "outputs.turns"),)
_MODEL = (("outputs.model",),)

#: The keys that say which files are read, and how they are validated.
SOURCE_KEYS = (
    Key(
        "files",
        Kind.TEXTS,
        "The files, folders or patterns of the data set, from the folder of this file; "
        "URLs, too. A pattern that matches nothing is an error.",
        'files = "answers/*.jsonl"',
        _path,
    ),
    Key(
        "format",
        Kind.TEXT,
        "The format of the files; it is detected if it is not given.",
        'format = "nemo-output"',
        formats_named,
    ),
    Key(
        "schema",
        Kind.TEXT,
        "A JSON Schema instead of a format: a path from the folder of this file.",
        'schema = "answer.schema.json"',
        _path,
    ),
    Key(
        "with",
        Kind.TEXT,
        "The file that belongs to the files, such as lm-eval's results for its "
        "samples: a path from the folder of this file.",
        'with = "results.json"',
        _path,
    ),
    Key(
        "exclude",
        Kind.TEXTS,
        "Files and folders that are left out.",
        'exclude = ["logs", "old/**/*.json"]',
        _pattern,
    ),
    Key(
        "delimiter",
        Kind.TEXT,
        "The character between the fields of tables, or its name.",
        'delimiter = "tab"',
        delimiter_named,
    ),
    Key(
        "map",
        Kind.TABLE,
        "The column or key of each field, where a format leaves them open.",
        'map = { prompt = "question" }',
        None,
        _field,
    ),
    Key(
        "strict",
        Kind.FLAG,
        "Whether only what the vendor's document describes is accepted.",
        "strict = true",
    ),
    Key(
        "lint",
        Kind.FLAG,
        "Whether the optional rules are checked, too.",
        "lint = true",
    ),
    Key(
        "select",
        Kind.TEXTS,
        "The only rules that are checked: codes, prefixes or names.",
        'select = ["J", "S", "C", "V", "X101"]',
        _rule,
    ),
    Key(
        "ignore",
        Kind.TEXTS,
        "Rules that are not checked.",
        'ignore = ["J202"]',
        _rule,
    ),
)

#: The keys that state what is expected of a data set, in the order of the check list.
LIMIT_KEYS = (
    Key(
        "min-records",
        Kind.COUNT,
        "The data set has at least so many records; 1 if the key is not given.",
        "min-records = 1000",
    ),
    Key(
        "max-records",
        Kind.COUNT,
        "The data set has at most so many records.",
        "max-records = 5000",
    ),
    Key(
        "max-records-change",
        Kind.LIMIT,
        "The number of records differs by at most so many, or such a share, from that "
        "of the last run that succeeded, which the file named by `state` keeps. The "
        "first run meets it.",
        'max-records-change = "10 %"',
    ),
    Key(
        "min-records-per-file",
        Kind.COUNT,
        "Each file has at least so many records.",
        "min-records-per-file = 100",
    ),
    Key(
        "max-records-per-file",
        Kind.COUNT,
        "Each file has at most so many records.",
        "max-records-per-file = 500",
    ),
    Key(
        "max-invalid",
        Kind.LIMIT,
        "At most so many records, or such a share of them, have errors; 0 if the key "
        "is not given. An error of a whole file is never allowed.",
        'max-invalid = "0.5 %"',
    ),
    Key(
        "max-warnings",
        Kind.LIMIT,
        "There are at most so many warnings, or such a share of the number of records. "
        "A record with two warnings counts twice.",
        'max-warnings = "1 %"',
    ),
    Key(
        "max-findings",
        Kind.LIMITS,
        "There are at most so many findings of a rule, or such a share of the number "
        "of records: codes, prefixes or names of rules that are checked.",
        'max-findings = { J202 = 0, X101 = "0.1 %" }',
        None,
        _rule,
    ),
    Key(
        "max-age",
        Kind.AGE,
        "No file was changed longer ago: minutes, hours, days or weeks. That of a URL "
        "is not known.",
        'max-age = "7 days"',
    ),
    Key(
        "checksums",
        Kind.TABLE,
        "The checksum of each of these files as it is stored, from the folder of this "
        "file: sha256, sha512, sha1 or md5.",
        f'checksums = {{ "answers.jsonl" = "sha256:{"0" * 64}" }}',
        _checksum,
        _path,
    ),
    Key(
        "models",
        Kind.TEXTS,
        "Each of these models has answers, and no other model has.",
        'models = ["org/small", "org/large"]',
        needs=_MODEL,
        of_records=True,
    ),
    Key(
        "required-models",
        Kind.TEXTS,
        "Each of these models has answers.",
        'required-models = ["org/small"]',
        needs=_MODEL,
        of_records=True,
    ),
    Key(
        "allowed-models",
        Kind.TEXTS,
        "No other models than these have answers.",
        'allowed-models = ["org/small", "org/large"]',
        needs=_MODEL,
        of_records=True,
    ),
    Key(
        "answers-per-question",
        Kind.COUNT,
        "Each question has exactly so many answers of each model of the data set.",
        "answers-per-question = 1",
        least=1,
        needs=_ANSWER,
        of_records=True,
    ),
    Key(
        "max-missing-answers",
        Kind.LIMIT,
        "At most so many answers, or such a share of them, are missing: there is no "
        "text, one that is empty or only white space, or an error in place of it.",
        'max-missing-answers = "1 %"',
        needs=_ANSWER,
        of_records=True,
    ),
    Key(
        "max-prompt-characters",
        Kind.COUNT,
        "No prompt is longer: the text of the prompt, or of the messages before the "
        "answer, with the system message and the contexts.",
        "max-prompt-characters = 20000",
        needs=_PROMPT,
        of_records=True,
    ),
    Key(
        "max-prompt-bytes",
        Kind.COUNT,
        "No prompt is longer in bytes of UTF-8.",
        "max-prompt-bytes = 65536",
        needs=_PROMPT,
        of_records=True,
    ),
    Key(
        "allowed-values",
        Kind.VALUES,
        "Each record has one of these values in the field.",
        'allowed-values = { category = ["math", "code"] }',
        of_records=True,
        of_fields=True,
    ),
    Key(
        "required-values",
        Kind.VALUES,
        "Each of these values is in the field of some record.",
        'required-values = { category = ["math", "code"] }',
        of_records=True,
        of_fields=True,
    ),
    Key(
        "min-values",
        Kind.NUMBERS,
        "Each value of the field is a number that is not less; a record without one is "
        "passed over.",
        'min-values = { "outputs.scores.value" = 0 }',
        of_records=True,
        of_fields=True,
    ),
    Key(
        "max-values",
        Kind.NUMBERS,
        "Each value of the field is a number that is not greater; a record without one "
        "is passed over.",
        'max-values = { "outputs.scores.value" = 1 }',
        of_records=True,
        of_fields=True,
    ),
    Key(
        "patterns",
        Kind.TABLE,
        "Each value of the field is a text that matches the regular expression of "
        "Python from its beginning to its end; a record without one is passed over.",
        'patterns = { id = "[a-z]+-[0-9]+" }',
        _regex,
        of_records=True,
        of_fields=True,
    ),
    Key(
        "unique-values",
        Kind.TEXTS,
        "No two values of the field are equal; a record without one is passed over.",
        'unique-values = ["id"]',
        of_records=True,
        of_fields=True,
    ),
    Key(
        "max-missing-values",
        Kind.LIMITS,
        "At most so many values of the field, or such a share of them, are missing: "
        "absent, null, an empty array, or a text that is empty or only white space. "
        "Those of answers are counted by answer, others by record.",
        'max-missing-values = { category = "5 %" }',
        of_records=True,
        of_fields=True,
    ),
    Key(
        "ids-in",
        Kind.DATA_SETS,
        "The id of each record is one of the other data set.",
        'ids-in = "questions"',
        needs=_ID,
        of_records=True,
    ),
    Key(
        "same-ids-as",
        Kind.DATA_SETS,
        "Both data sets have the same ids.",
        'same-ids-as = "questions"',
        needs=_ID,
        of_records=True,
    ),
    Key(
        "same-prompts-as",
        Kind.DATA_SETS,
        "Records of both data sets with the same id have the same prompt.",
        'same-prompts-as = "questions"',
        needs=_ID + _PROMPT,
        of_records=True,
    ),
    Key(
        "prompts-in",
        Kind.DATA_SETS,
        "The prompt of each record is one of the other data set.",
        'prompts-in = "questions"',
        needs=_PROMPT,
        of_records=True,
    ),
    Key(
        "no-prompts-of",
        Kind.COMPARED,
        "No prompt is one of the other data set, such as the training data: exact, or "
        "as a table normalised (but for case, white space and punctuation; of chats "
        "the user turns) or near (likewise, with the same characters in any order).",
        'no-prompts-of = { training = "normalised" }',
        needs=_PROMPT,
        of_records=True,
    ),
    Key(
        "own",
        Kind.OWN,
        "Expectations that other packages add, by their names, with their values.",
        'own = { balanced-labels = "10 %" }',
        of_records=True,
    ),
    Key(
        "warn",
        Kind.TEXTS,
        "Expectations of this data set that only warn when they are not met: their "
        "keys, or KEY.NAME for one member of a table.",
        'warn = ["max-records"]',
    ),
)
KEYS = (*SOURCE_KEYS, *LIMIT_KEYS)
#: The keys of a data set by their names.
BY_NAME = {key.name: key for key in KEYS}
#: The relations between two data sets.
RELATIONS = tuple(
    key.name for key in LIMIT_KEYS if key.kind in {Kind.DATA_SETS, Kind.COMPARED}
)
#: The keys apart from the data sets.
DATA_SETS, VARIABLES, REPORTS, STATE = "datasets", "variables", "reports", "state"
TOP = (VARIABLES, REPORTS, STATE, DATA_SETS)


#: Options in messages of validation, and the keys that say the same.
_key_of = {f"--{key}": key for key in ("map", "delimiter", "schema", "with", "select")}
_key_of["--from"] = "format"
_span = re.compile(r"`(--[a-z][^`]*)`")


def with_keys(text: str) -> str:
    """Return a text with keys of preflight files in place of options in backquotes."""
    return _span.sub(lambda found: f"`{_as_keys(found[1]) or found[1]}`", text)


def _as_keys(options: str) -> str:
    """Return options as TOML, or "" if a preflight file has no keys for them."""
    stated = []
    try:
        for option in re.split(r" (?=--)", options):
            word, *values = split(option)
            key = _key_of[word]
            value: str | dict[str, str] = "".join(values)
            if values and key == "map":
                value = dict(one.split("=") for one in values[0].split(","))
            stated.append(f"{key} = {toml_value(value)}" if values else key)
    except (LookupError, ValueError):  # no key, or no value of it
        return ""
    return "`, `".join(stated)
