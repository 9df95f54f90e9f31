"""S, C and V: rules on the format of a file, and on what its schema requires."""

from typing import Any

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_tag_row = (
    b'{"schema_version": "0.2.0", "evaluation_id": "e", "model_id": "org/m", '
    b'"evaluation_name": "n", "sample_id": "1", "interaction_type": "single_turn", '
    b'"input": {"raw": "2+2?", "reference": ["4"]}, "output": {"raw": ["4"]}, '
    b'"interactions": null, "answer_attribution": [], '
    b'"evaluation": {"score": 1, "is_correct": true}}\n'
)
_seed_row = _tag_row.replace(b'["4"]', b'"4"')
_other_row = _tag_row.replace(b'"interactions": null', b'"messages": null').replace(
    b'_id": "1"', b'_id": "2"'
)

FORMAT_RULES = (
    Rule(
        "S201",
        "other-shape",
        Severity.ERROR,
        "A file must be in the version of the format that --from names.",
        "The whole file is in another version, so nearly every record would be invalid "
        "for the same reason. Name that version with --from, or leave --from out "
        "to detect it. Every record is validated in the version that was named.",
        _tag_row,
        _seed_row,
        "eee@0.2.0",
    ),
    Rule(
        "S202",
        "shape-taken",
        Severity.NOTE,
        "A file was validated against the version that its records match.",
        "The version string in the records does not decide: several versions carry "
        "the same string. Name a version with --from to validate against it.",
        _tag_row,
        _seed_row,
        "eee",
    ),
    Rule(
        "S203",
        "other-format",
        Severity.ERROR,
        "All records of a file must be in one format.",
        "The record looks like another format than the rest of the file and is not "
        "valid in the format of the file. Its errors in that format are not listed. "
        "A record that is not valid in another version of that format either has its "
        "errors listed instead, and so has every record if --from names the format.",
        _other_row + _seed_row + _seed_row.replace(b'_id": "1"', b'_id": "3"'),
        _seed_row + _seed_row.replace(b'_id": "1"', b'_id": "3"'),
        "eee",
    ),
    Rule(
        "S204",
        "ambiguous-format",
        Severity.WARNING,
        "A file must not match several formats.",
        "Its records match each of them. Name the right one with --from.",
        _seed_row.replace(
            b"}}", b'}, "groups": {"g": {"metrics": {"f1": {"scores": {}}}}}}'
        ),
        _seed_row,
        "",
    ),
    Rule(
        "S205",
        "shared-format",
        Severity.NOTE,
        "Another tool writes records that look the same.",
        "No record has a key that only the format has which the file is validated as. "
        "Name that format with --from if it is right; if not, another tool wrote the "
        "file, and `valid` says nothing of it.",
        b'{"messages": [{"role": "user", "content": "2+2?"}]}\n',
        b'{"messages": [{"role": "user", "content": "2+2?"}], "ref_answer": "4"}\n',
        "",
    ),
    Rule(
        "S206",
        "unread-answer",
        Severity.NOTE,
        "A record has an answer under a key that its format does not know.",
        "The format has no answers, so there is nothing to score. Read the key as the "
        "answer with --map response=KEY.",
        b'{"messages": [{"role": "user", "content": "2+2?"}], "ref_answer": "4", '
        b'"model_response": "4"}\n',
        b'{"messages": [{"role": "user", "content": "2+2?"}], "ref_answer": "4"}\n',
        "",
    ),
    Rule(
        "S210",
        "other-rows",
        Severity.NOTE,
        "The records of a file should look like the format that --from names.",
        "Some of the first 1,000 records are not valid in that format and look like "
        "another one. Every record is validated by the format that was named. Put each "
        "format in its own file, or name the right one with --from.",
        _seed_row + _seed_row.replace(b'_id": "1"', b'_id": "3"') + _other_row,
        _seed_row + _seed_row.replace(b'_id": "1"', b'_id": "3"'),
        "eee@0.2.0",
    ),
    Rule(
        "S211",
        "other-label",
        Severity.ERROR,
        "A record must have the version label of its shape, if --strict is given.",
        "The version is detected by the keys, and files with the label of another "
        "version are frequent. A reader that goes by the label reads such a record "
        "wrongly. Without --strict the lint of the vendor says so, such as E101.",
        _seed_row.replace(b'"0.2.0"', b'"0.3.0"'),
        _seed_row,
        "eee@0.2.0",
        arguments=("--strict",),
    ),
    Rule(
        "S301",
        "unknown-format",
        Severity.ERROR,
        "A file must be in a known format.",
        "None of its first records matches a known format, so only text and JSON were "
        "checked. Name the format with --from, or give a schema with --schema.",
        b'{"question": "2+2?"}\n',
        _seed_row,
        "eee",
    ),
)


_E = Severity.ERROR


def _on(**node: Any) -> dict[str, object]:
    """Return a schema whose property `value` has the keywords `node`."""
    return {"properties": {"value": node}}


_person: dict[str, object] = {
    "required": ["name"],
    "properties": {"name": {"type": "string"}},
}

RECORD_RULES = (
    Rule(
        "S101",
        "missing-key",
        _E,
        "A required key must be present.",
        "The place is the object that lacks the key. A key whose value is null is "
        "present.",
        b'{"age": 4}\n',
        b'{"age": 4, "name": "Ana"}\n',
        _person,
    ),
    Rule(
        "S102",
        "wrong-type",
        _E,
        "A value must have a type that the schema allows.",
        'A string that looks like a number ("1.0") is a string. If an optional key '
        "does not allow null, leave the key out.",
        b'{"name": 4}\n',
        b'{"name": "Ana"}\n',
        _person,
    ),
    Rule(
        "S103",
        "misspelt-key",
        _E,
        "A required key is missing, and the object has an unknown key spelled almost "
        "the same.",
        "This is one mistake, so it is reported as one error: rename the key. It is "
        "reported only if exactly one unknown key has a similar name.",
        b'{"nmae": "Ana"}\n',
        b'{"name": "Ana"}\n',
        _person,
    ),
    Rule(
        "S104",
        "unknown-key",
        _E,
        "An object must not have keys that its schema does not allow.",
        "The key may be misspelt, or belong to another version of the format.",
        b'{"name": "Ana", "age": 4}\n',
        b'{"name": "Ana"}\n',
        _person | {"additionalProperties": False},
    ),
    Rule(
        "S105",
        "too-many-items",
        _E,
        "An array must not have more items than its schema lists.",
        "The schema defines each position of the array, and there are more values.",
        b'{"value": [1, 2]}\n',
        b'{"value": [1]}\n',
        _on(items=[{}], additionalItems=False),
    ),
    Rule(
        "S106",
        "more-errors",
        _E,
        "A record must not have more than 1,000 schema errors.",
        "1,000 errors of one record are reported and counted. A record with more is "
        "not searched to its end, so that no record takes all memory, and this is "
        "reported once behind the others. Errors that concern a very large array or "
        "object as a whole may be among those that are left out.",
        b"",
        b"",
    ),
    Rule(
        "S107",
        "more-findings",
        _E,
        "A record must not have more than 1,000 repeated keys, nor more than 1,000 "
        "findings of its format.",
        "1,000 of each are reported and counted. A record with more is not searched "
        "to its end, and this is reported once behind the others.",
        b"",
        b"",
    ),
    Rule(
        "C101",
        "condition",
        _E,
        "One value can require something of another value.",
        "The message names the value that triggered the condition and what the "
        "condition requires.",
        b'{"kind": "tool"}\n',
        b'{"kind": "tool", "call": "c1"}\n',
        {
            "if": {"properties": {"kind": {"const": "tool"}}, "required": ["kind"]},
            "then": {"required": ["call"]},
        },
    ),
    Rule(
        "V101",
        "value-not-listed",
        _E,
        "A value must be one of the values that the schema lists.",
        "Spelling and case must match exactly.",
        b'{"value": "Chat"}\n',
        b'{"value": "chat"}\n',
        _on(enum=["chat", "tool"]),
    ),
    Rule(
        "V102",
        "out-of-range",
        _E,
        "A number must lie within its bounds.",
        "The message names the bound.",
        b'{"value": -1}\n',
        b'{"value": 0}\n',
        _on(minimum=0),
    ),
    Rule(
        "V103",
        "wrong-length",
        _E,
        "A string must be neither shorter nor longer than the schema allows.",
        "Length is counted in Unicode code points.",
        b'{"value": ""}\n',
        b'{"value": "a"}\n',
        _on(minLength=1),
    ),
    Rule(
        "V104",
        "wrong-pattern",
        _E,
        "A string must match its pattern.",
        "The pattern is an ECMAScript regular expression.",
        b'{"value": "a1"}\n',
        b'{"value": "11"}\n',
        _on(pattern="^[0-9]+$"),
    ),
    Rule(
        "V105",
        "wrong-format",
        _E,
        "A string must have the format that the schema names, such as a date.",
        "Formats are checked only with --assert-formats.",
        b'{"value": "31.12.2025"}\n',
        b'{"value": "2025-12-31"}\n',
        _on(format="date"),
        ("--assert-formats",),
    ),
    Rule(
        "V106",
        "wrong-count",
        _E,
        "An array or object must have neither fewer nor more members than the schema "
        "allows.",
        "The message names the bound.",
        b'{"value": []}\n',
        b'{"value": [1]}\n',
        _on(minItems=1),
    ),
    Rule(
        "V107",
        "repeated-items",
        _E,
        "The items of an array must all be different.",
        "1 and 1.0 are the same number.",
        b'{"value": [1, 1.0]}\n',
        b'{"value": [1, 2]}\n',
        _on(uniqueItems=True),
    ),
    Rule(
        "V108",
        "not-a-multiple",
        _E,
        "A number must be a multiple of the number that the schema names.",
        "The message names that number.",
        b'{"value": 3}\n',
        b'{"value": 4}\n',
        _on(multipleOf=2),
    ),
    Rule(
        "V109",
        "no-alternative",
        _E,
        "A value must match at least one of several alternatives.",
        "If the alternatives differ in type only, wrong-type (S102) is reported "
        "instead.",
        b'{"value": {"a": 1}}\n',
        b'{"value": {"b": 1}}\n',
        _on(anyOf=[{"required": ["b"]}, {"required": ["c"]}]),
    ),
    Rule(
        "V110",
        "several-alternatives",
        _E,
        "A value must match exactly one of several alternatives.",
        "The value matches more than one of them.",
        b'{"value": {"b": 1, "c": 1}}\n',
        b'{"value": {"b": 1}}\n',
        _on(oneOf=[{"required": ["b"]}, {"required": ["c"]}]),
    ),
    Rule(
        "V111",
        "refused-value",
        _E,
        "A value must not match a schema that is excluded by `not`.",
        "The message names the excluded values.",
        b'{"value": ""}\n',
        b'{"value": "a"}\n',
        _on(**{"not": {"const": ""}}),
    ),
    Rule(
        "V112",
        "missing-item",
        _E,
        "An array must contain an item of a certain kind.",
        "None of the items matches the schema of `contains`.",
        b'{"value": [1]}\n',
        b'{"value": [1, "a"]}\n',
        _on(contains={"type": "string"}),
    ),
    Rule(
        "V113",
        "wrong-content",
        _E,
        "A string must have the encoding or content type that the schema names.",
        "Examples are base64, and JSON inside a string.",
        b'{"value": "%%"}\n',
        b'{"value": "YQ=="}\n',
        _on(contentEncoding="base64"),
    ),
    Rule(
        "V114",
        "wrong-key-name",
        _E,
        "The keys of an object must have the form that the schema requires.",
        "The message names the key.",
        b'{"value": {"a b": 1}}\n',
        b'{"value": {"ab": 1}}\n',
        _on(propertyNames={"pattern": "^[a-z]+$"}),
    ),
    Rule(
        "V901",
        "undetermined",
        _E,
        "The schema validator must be able to decide whether a record is valid.",
        "It gave up on a pattern that takes too long on this value, or on a schema of "
        "the user that takes longer than --row-timeout on this row. The record is "
        "counted as undetermined, not as invalid. Simplify the pattern or the schema. "
        "Rows on which a worker process died twice are also undetermined, and the "
        "message names them.",
        b'{"value": "' + b"a" * 40 + b'!"}\n',
        b'{"value": "b"}\n',
        _on(pattern=r"^(?:(\w+\s?)*b|a*!)(?<!x)$"),
    ),
    Rule(
        "V902",
        "internal-error",
        _E,
        "harpia-formats must not fail on a record.",
        "An error in harpia-formats itself, which no data should cause. The record is "
        "counted as undetermined, all other records are validated, and the exit code "
        "is 3. Please report it as a bug, with the record. With --cross-check it is "
        "also a record on which the two schema validators differ. It is reported even "
        "if it is not selected.",
        b"",
        b"",
    ),
)
