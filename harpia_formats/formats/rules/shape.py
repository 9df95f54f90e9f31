"""S2 and S3: rules on the format of a file, and on the version of that format."""

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

RULES = (
    Rule(
        "S201",
        "other-shape",
        Severity.ERROR,
        "A file must be in the version of the format that --format names.",
        "The whole file is in another version, so nearly every record would be invalid "
        "for the same reason. Name that version with --format, or leave --format out "
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
        "the same string. Name a version with --format to validate against it.",
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
        "errors listed instead, and so has every record if --format names the format.",
        _other_row + _seed_row + _seed_row.replace(b'_id": "1"', b'_id": "3"'),
        _seed_row + _seed_row.replace(b'_id": "1"', b'_id": "3"'),
        "eee",
    ),
    Rule(
        "S204",
        "ambiguous-format",
        Severity.WARNING,
        "A file must not match several formats.",
        "Its records match each of them. Name the right one with --format.",
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
        "Name that format with --format if it is right; if not, another tool wrote the "
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
        "The records of a file should look like the format that --format names.",
        "Some of the first 1,000 records are not valid in that format and look like "
        "another one. Every record is validated by the format that was named. Put each "
        "format in its own file, or name the right one with --format.",
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
        "checked. Name the format with --format, or give a schema with --schema.",
        b'{"question": "2+2?"}\n',
        _seed_row,
        "eee",
    ),
)
