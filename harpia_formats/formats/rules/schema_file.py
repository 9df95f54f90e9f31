"""S4: rules on a schema that the user gives with --schema."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

RULES = (
    Rule(
        "S401",
        "misspelt-keyword",
        Severity.WARNING,
        "An unknown keyword of a schema must not be spelled almost like a known one.",
        "Validators ignore unknown keywords, so a misspelt one checks nothing. "
        'Keywords that begin with "x-" are not reported.',
        b'{"requird": ["name"]}\n',
        b'{"required": ["name"]}\n',
        is_about_schema=True,
    ),
    Rule(
        "S402",
        "empty-enum",
        Severity.WARNING,
        "The list of an `enum` must not be empty.",
        "No value is in it, so the schema refuses every value.",
        b'{"properties": {"kind": {"enum": []}}}\n',
        b'{"properties": {"kind": {"enum": ["chat"]}}}\n',
        is_about_schema=True,
    ),
    Rule(
        "S403",
        "ignored-keyword",
        Severity.WARNING,
        "A schema must not have keywords that only other drafts do not ignore.",
        "They are keywords of other drafts, and keywords beside `$ref`. Without "
        "`$schema`, keywords of other drafts are refused, because the schema is "
        "probably written in another draft.",
        b'{"$schema": "http://json-schema.org/draft-07/schema#", '
        b'"dependentRequired": {"card": ["address"]}}\n',
        b'{"$schema": "http://json-schema.org/draft-07/schema#", '
        b'"dependencies": {"card": ["address"]}}\n',
        is_about_schema=True,
    ),
)
