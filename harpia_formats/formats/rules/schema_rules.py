"""S4: rules on schemas, of `--schema` and of `harpia-formats schema check`."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

SCHEMA_FILE_RULES = (
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
        "They are keywords of other drafts, and keywords next to `$ref`. From 2019-09 "
        "on, `dependencies` is one that some validators still apply. Without "
        "`$schema`, keywords of other drafts are refused, because the schema is "
        "probably written in another draft.",
        b'{"$schema": "http://json-schema.org/draft-07/schema#", '
        b'"dependentRequired": {"card": ["address"]}}\n',
        b'{"$schema": "http://json-schema.org/draft-07/schema#", '
        b'"dependencies": {"card": ["address"]}}\n',
        is_about_schema=True,
    ),
)


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE


def _rule(  # noqa: PLR0913, PLR0917 - a rule has so many parts
    code: str,
    name: str,
    severity: Severity,
    summary: str,
    explanation: str,
    bad: bytes,
    good: bytes,
    *,
    lint: bool = False,
) -> Rule:
    """Return a rule on schemas, whose examples are schemas."""
    return Rule(
        code,
        name,
        severity,
        summary,
        explanation,
        bad + b"\n",
        good + b"\n",
        command="schema check",
        lint=lint,
        is_about_schema=True,
    )


SCHEMA_CHECK_RULES = (
    _rule(
        "S404",
        "invalid-keyword",
        _E,
        "A keyword of a schema must have a value that its draft allows.",
        "Validators refuse the whole schema, or read the keyword as they like. Also "
        "found are the forms of old drafts, such as `required` and `exclusiveMinimum` "
        "with true or false, keywords that stand inside `properties`, and a name such "
        "as an `$id` that two parts of the schema have.",
        b'{"properties": {"turns": {"type": "int"}}}',
        b'{"properties": {"turns": {"type": "integer"}}}',
    ),
    _rule(
        "S405",
        "unresolved-reference",
        _E,
        "A reference must lead to a schema.",
        "Validators refuse the schema, or fail at the first value that needs it.",
        b'{"properties": {"turn": {"$ref": "#/definitions/trun"}}, '
        b'"definitions": {"other": {"$id": "#o"}}}',
        b'{"properties": {"turn": {"$ref": "#/definitions/turn"}}, '
        b'"definitions": {"turn": {"type": "object"}}}',
    ),
    _rule(
        "S406",
        "reference-loop",
        _E,
        "A reference must not lead back to itself without a step into the data.",
        "Validating by it never ends. A reference below `properties` or `items` may "
        "lead back: the data end somewhere.",
        b'{"$ref": "#/definitions/a", "definitions": '
        b'{"a": {"allOf": [{"$ref": "#/definitions/a"}]}}}',
        b'{"$ref": "#/definitions/a", "definitions": '
        b'{"a": {"properties": {"next": {"$ref": "#/definitions/a"}}}}}',
    ),
    _rule(
        "S407",
        "outside-reference",
        _W,
        "A reference should lead to a part of the same file.",
        "`harpia-formats validate` follows no other ones: nothing is downloaded, and "
        "a schema is one file.",
        b'{"properties": {"turn": {"$ref": "turn.schema.json"}}}',
        b'{"properties": {"turn": {"$ref": "#/definitions/turn"}}, '
        b'"definitions": {"turn": {"type": "object"}}}',
    ),
    _rule(
        "S408",
        "unused-definition",
        _N,
        "A definition should be referred to.",
        "It checks nothing. Usually the reference is missing, or the definition was "
        "left behind. A schema of definitions only has no such note: other files refer "
        "to it.",
        b'{"type": "object", "definitions": {"turn": {"type": "object"}}}',
        b'{"type": "object"}',
    ),
    _rule(
        "S409",
        "impossible-key",
        _E,
        "A required key must not be forbidden.",
        "With `additionalProperties` false, keys that `properties` does not name are "
        "forbidden; if one of them is required, no object is valid.",
        b'{"required": ["name"], "properties": {"title": {"type": "string"}}, '
        b'"additionalProperties": false}',
        b'{"required": ["title"], "properties": {"title": {"type": "string"}}, '
        b'"additionalProperties": false}',
    ),
    _rule(
        "S410",
        "undescribed-key",
        _W,
        "A required key should be described in properties.",
        "Its value is not checked, and mostly one of the two names is misspelt or is "
        "an old one. All schemas that apply to the object are looked at.",
        b'{"required": ["scores"], "properties": {"score": {"type": "number"}}}',
        b'{"required": ["score"], "properties": {"score": {"type": "number"}}}',
    ),
    _rule(
        "S411",
        "unreachable-requirement",
        _W,
        "A condition must not require something inside a key that no schema describes.",
        "Objects without the key are valid, so the requirement is never met with. "
        "Usually the key was renamed, and the condition was forgotten.",
        b'{"properties": {"kind": {"type": "string"}, "evaluation": {"properties": '
        b'{"turns": {"type": "integer"}}}}, "if": {"required": ["kind"]}, "then": '
        b'{"properties": {"metrics": {"required": ["turns"]}}}}',
        b'{"properties": {"kind": {"type": "string"}, "evaluation": {"properties": '
        b'{"turns": {"type": "integer"}}}}, "if": {"required": ["kind"]}, "then": '
        b'{"properties": {"evaluation": {"required": ["turns"]}}}}',
    ),
    _rule(
        "S412",
        "vacuous-condition",
        _W,
        "An if that tests a key should require it.",
        "`properties` says nothing about objects without the key, so the `if` holds "
        "for them, and `then` applies where nobody expects it.",
        b'{"properties": {"kind": {}, "turns": {}}, "if": {"properties": {"kind": '
        b'{"const": "chat"}}}, "then": {"required": ["turns"]}}',
        b'{"properties": {"kind": {}, "turns": {}}, "if": {"required": ["kind"], '
        b'"properties": {"kind": {"const": "chat"}}}, "then": {"required": ["turns"]}}',
    ),
    _rule(
        "S413",
        "condition-without-key",
        _N,
        "An if that tests a required key should require it, too.",
        "An object without the key is refused anyway. But the `if` holds for it, so "
        "it gets the errors of all branches in addition to the one that helps.",
        b'{"required": ["kind"], "properties": {"kind": {}, "turns": {}}, "if": '
        b'{"properties": {"kind": {"const": "chat"}}}, '
        b'"then": {"required": ["turns"]}}',
        b'{"required": ["kind"], "properties": {"kind": {}, "turns": {}}, "if": '
        b'{"required": ["kind"], "properties": {"kind": {"const": "chat"}}}, '
        b'"then": {"required": ["turns"]}}',
    ),
    _rule(
        "S414",
        "redundant-not",
        _W,
        "A not must not repeat what the type next to it says.",
        "A wrong value breaks both keywords, so that one mistake gives two errors.",
        b'{"properties": {"output": {"type": "object", "not": {"type": "null"}}}}',
        b'{"properties": {"output": {"type": "object"}}}',
    ),
    _rule(
        "S415",
        "impossible-bounds",
        _E,
        "The bounds of a schema must leave a value.",
        "A lower bound above the upper one refuses every value, and so does a `not` "
        "of the type next to it.",
        b'{"properties": {"score": {"minimum": 1, "maximum": 0}}}',
        b'{"properties": {"score": {"minimum": 0, "maximum": 1}}}',
    ),
    _rule(
        "S416",
        "refused-constant",
        _W,
        "The values of enum and const should be allowed by the keywords next to them.",
        "The value can never stand there: the type or the value is wrong.",
        b'{"properties": {"kind": {"type": "string", "enum": ["chat", null]}}}',
        b'{"properties": {"kind": {"type": ["string", "null"], '
        b'"enum": ["chat", null]}}}',
    ),
    _rule(
        "S417",
        "repeated-constant",
        _W,
        "The values of an enum should be there once.",
        "Usually one of them was to be another value. 1 and 1.0 are the same.",
        b'{"properties": {"kind": {"enum": ["chat", "chat"]}}}',
        b'{"properties": {"kind": {"enum": ["chat", "task"]}}}',
    ),
    _rule(
        "S418",
        "keyword-without-effect",
        _W,
        "A keyword must be about the types that its schema allows.",
        "Keywords are about values of one type and pass over all others: `minimum` "
        "checks no text. `then` and `else` need an `if`, `additionalItems` needs a "
        "list in `items`.",
        b'{"properties": {"name": {"type": "string", "minimum": 1}}}',
        b'{"properties": {"name": {"type": "string", "minLength": 1}}}',
    ),
    _rule(
        "S419",
        "unknown-format-name",
        _N,
        "The name of a format should be one of JSON Schema.",
        "Validators pass over other names, unless they are taught them.",
        b'{"properties": {"time": {"format": "datetime"}}}',
        b'{"properties": {"time": {"format": "date-time"}}}',
    ),
    _rule(
        "S420",
        "invalid-pattern",
        _E,
        "A pattern must be a regular expression.",
        "Validators refuse the schema, or fail at the first text.",
        b'{"properties": {"id": {"pattern": "^(a|b"}}}',
        b'{"properties": {"id": {"pattern": "^(a|b)"}}}',
    ),
    _rule(
        "S421",
        "engine-dependent-pattern",
        _W,
        "A pattern must be read alike by Python, Rust and ECMA-262.",
        "JSON Schema demands the regular expressions of ECMA-262, but validators use "
        "those of their language. What one of them lacks or reads otherwise makes "
        "texts valid here and invalid there.",
        b'{"properties": {"id": {"pattern": "^[a-z]+\\\\Z"}}}',
        b'{"properties": {"id": {"pattern": "^[a-z]+$"}}}',
    ),
    _rule(
        "S422",
        "unicode-class",
        _N,
        "A pattern should name the characters that it means.",
        "`\\d`, `\\w` and `\\b` are about all scripts in Python, where an Arabic digit "
        "is a digit, and about ASCII in ECMA-262.",
        b'{"properties": {"year": {"pattern": "^\\\\d{4}"}}}',
        b'{"properties": {"year": {"pattern": "^[0-9]{4}"}}}',
    ),
    _rule(
        "S423",
        "final-newline",
        _N,
        "A pattern should not depend on what $ does before a newline.",
        "In Python `$` also matches before a newline at the end of a text, in ECMA-262 "
        "only at the end.",
        b'{"properties": {"year": {"pattern": "^[0-9]{4}$"}}}',
        b'{"properties": {"year": {"pattern": "^[0-9]{4}"}}}',
        lint=True,
    ),
    _rule(
        "S424",
        "refused-example",
        _W,
        "Examples and defaults must be valid by their own schema.",
        "Either the example or the schema is wrong; readers believe the example.",
        b'{"properties": {"turns": {"type": "integer", "default": "1"}}}',
        b'{"properties": {"turns": {"type": "integer", "default": 1}}}',
    ),
    _rule(
        "S425",
        "other-draft",
        _N,
        "A schema should be written in draft-07.",
        "`harpia-formats validate --schema` takes no other draft. The schema is "
        "checked by the rules of the draft that it names.",
        b'{"$schema": "https://json-schema.org/draft/2020-12/schema"}',
        b'{"$schema": "http://json-schema.org/draft-07/schema#"}',
    ),
    _rule(
        "S426",
        "name-of-another-draft",
        _N,
        "A keyword that describes should have the name of the draft.",
        "The keyword restricts nothing. References to `$defs` are followed in all "
        "drafts; an `id` or `$id` of another draft names nothing.",
        b'{"properties": {"turn": {"$ref": "#/$defs/turn"}}, '
        b'"$defs": {"turn": {"type": "object"}}}',
        b'{"properties": {"turn": {"$ref": "#/definitions/turn"}}, '
        b'"definitions": {"turn": {"type": "object"}}}',
    ),
    _rule(
        "S427",
        "unknown-draft",
        _W,
        "The $schema of a schema must name a draft.",
        "Validators do not know how to read the schema. Drafts 04, 06, 07, 2019-09 and "
        "2020-12 are known here.",
        b'{"$schema": "http://json-schema.org/draft-7/schema#"}',
        b'{"$schema": "http://json-schema.org/draft-07/schema#"}',
    ),
    _rule(
        "S428",
        "document-without-keyword",
        _W,
        "A schema must have a keyword of JSON Schema.",
        "Validators pass over keys that they do not know, so that the schema allows "
        "any value. Usually the document is data, and no schema.",
        b'{"question": "What is 2 + 2?"}',
        b'{"required": ["question"], "properties": {"question": {"type": "string"}}}',
    ),
    _rule(
        "S429",
        "equal-branches",
        _W,
        "The branches of a oneOf should differ.",
        "A value must match exactly one of them: what matches one of two equal "
        "branches matches both, and is refused.",
        b'{"oneOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]}',
        b'{"oneOf": [{"type": "string"}, {"type": "null"}]}',
    ),
    _rule(
        "S430",
        "exclusive-types",
        _W,
        "The types of an allOf must leave a value.",
        "A value must match all of its branches and what stands next to them. If their "
        "types exclude each other, every value is refused.",
        b'{"allOf": [{"type": "string"}, {"type": ["integer", "null"]}]}',
        b'{"allOf": [{"type": ["string", "null"]}, {"type": ["integer", "null"]}]}',
    ),
    _rule(
        "S431",
        "schema-outside-of-properties",
        _W,
        "A schema must stand where a keyword expects it.",
        "Validators pass over keys that are no keywords, so a schema of a key of the "
        "data checks nothing unless it stands in properties.",
        b'{"type": "object", "question": {"type": "string"}}',
        b'{"type": "object", "properties": {"question": {"type": "string"}}}',
    ),
    _rule(
        "S432",
        "covered-branch",
        _W,
        "A branch of a oneOf must not match all values of another one.",
        "A value must match exactly one branch. Integers are numbers, so that with "
        "these two every integer matches both, and is refused.",
        b'{"oneOf": [{"type": "integer"}, {"type": "number"}]}',
        b'{"oneOf": [{"type": "integer"}, {"type": "string"}]}',
    ),
    _rule(
        "S433",
        "impossible-condition",
        _W,
        "The condition in an if must be possible.",
        "What the if tests for is refused by properties in any case, so that then "
        "never applies. Usually one of the values is misspelt.",
        b'{"properties": {"kind": {"enum": ["chat", "text"]}}, "if": {"required": '
        b'["kind"], "properties": {"kind": {"const": "dialog"}}}, "then": {}}',
        b'{"properties": {"kind": {"enum": ["chat", "text"]}}, "if": {"required": '
        b'["kind"], "properties": {"kind": {"const": "chat"}}}, "then": {}}',
    ),
    _rule(
        "S434",
        "empty-branch",
        _W,
        "The branches of an anyOf should not allow any value.",
        "A value must match one of them, and any value matches an empty one, so that "
        "the others check nothing.",
        b'{"anyOf": [{"type": "string"}, {}]}',
        b'{"anyOf": [{"type": "string"}, {"type": "null"}]}',
    ),
    _rule(
        "S435",
        "contradicting-pattern",
        _W,
        "The types of a property and of a pattern that matches its name must agree.",
        "Both apply to the property, so that no value of it is allowed.",
        b'{"properties": {"score_note": {"type": "string"}}, "patternProperties": '
        b'{"^score_": {"type": "number"}}}',
        b'{"properties": {"score_a": {"type": "integer"}}, "patternProperties": '
        b'{"^score_": {"type": "number"}}}',
    ),
)
