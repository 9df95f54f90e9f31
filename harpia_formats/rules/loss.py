"""L: what a conversion does to the fields of records."""

import json

from harpia_formats.model.field_fates import Fate
from harpia_formats.model.problem import Severity
from harpia_formats.rules import Rule

#: The rules on a record that cannot be converted, and on ids that meet.
UNCONVERTIBLE, COLLISION = "L201", "L202"


def _record(**fields: object) -> bytes:
    """Return a record as a line."""
    return json.dumps({**fields, "outputs": fields.get("outputs", [])}).encode() + b"\n"


_question = {"prompt": "2+2?", "references": ["4"], "category": "", "source": ""}
_answer = {"prompt": "2+2?", "outputs": [{"text": "4"}]}
_to_input = ("--to", "nemo-input")

RULES = (
    Rule(
        Fate.DROPPED.value,
        "dropped",
        Severity.WARNING,
        "A field has no place in the format that is written.",
        "The value is not in the output. --keep-extra keeps it where the format has "
        "room for it, and --on-loss fail stops the conversion instead.",
        _record(**_question, system="Be brief."),
        _record(**_question),
        "record",
        command="convert",
        arguments=_to_input,
    ),
    Rule(
        Fate.CHANGED.value,
        "changed",
        Severity.WARNING,
        "A field is written as another value.",
        "The format that is written says the same in another way, or less of it. The "
        "table of losses says what was done.",
        _record(id=7, prompt="2+2?"),
        _record(id="7", prompt="2+2?"),
        "record",
        command="convert",
        arguments=("--to", "csv"),
    ),
    Rule(
        Fate.DEFAULTED.value,
        "defaulted",
        Severity.NOTE,
        "A field that the source lacks is written with a value of ours.",
        "The format that is written asks for it. The value is a documented default, "
        "the number of the record, what --set or --score gives, or what another field "
        "says.",
        _record(prompt="2+2?", references=["4"], category=""),
        _record(**_question),
        "record",
        command="convert",
        arguments=_to_input,
    ),
    Rule(
        Fate.SPLIT.value,
        "split",
        Severity.NOTE,
        "A record becomes several rows.",
        "The format that is written holds one of what the record has several of. Their "
        "ids get # and a number, and --group id puts them together again.",
        _record(prompt="2+2?", outputs=[{"text": "4"}, {"text": "5"}]),
        _record(**_answer),
        "record",
        command="convert",
        arguments=("--to", "haystack"),
    ),
    Rule(
        Fate.MERGED.value,
        "merged",
        Severity.WARNING,
        "A field is written as a part of another one, or several records as one.",
        "The value is in the output, but does not come back as the field that it was. "
        "A chat and its answer that become one conversation are an example.",
        _record(id="1", **_answer) + _record(id="1", prompt="2+2?"),
        _record(id="1", **_answer) + _record(id="2", prompt="2+2?"),
        "record",
        command="convert",
        arguments=("--to", "record", "--group", "id"),
    ),
    Rule(
        UNCONVERTIBLE,
        "unconvertible",
        Severity.ERROR,
        "A record lacks what the format that is written must have.",
        "Give it with --set, or leave such records out with --on-invalid skip or "
        "quarantine.",
        _record(prompt="2+2?", category="", source=""),
        _record(**_question),
        "record",
        command="convert",
        arguments=_to_input,
    ),
    Rule(
        COLLISION,
        "id-collision",
        Severity.ERROR,
        "Two rows of the output have the same id.",
        "Several inputs may use the same ids; --prefix-ids puts the name of its file "
        "in front of each.",
        _record(id="1", **_answer) * 2,
        _record(id="1", **_answer) + _record(id="2", **_answer),
        "record",
        command="convert",
        arguments=("--to", "harpia"),
    ),
)
