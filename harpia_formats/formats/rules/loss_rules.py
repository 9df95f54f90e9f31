"""L: rules on fields that a conversion drops, changes or adds."""

import json

from harpia_formats.formats.rules import Rule
from harpia_formats.model.field_outcomes import Outcome
from harpia_formats.model.problem import Severity

#: The codes of the rules on a record that cannot be converted, on equal ids, and on
#: rows of one group that ask different things.
UNCONVERTIBLE, COLLISION, OTHER_QUESTION = "L201", "L202", "L203"


def _record(**fields: object) -> bytes:
    """Return a record as a line."""
    return json.dumps({**fields, "outputs": fields.get("outputs", [])}).encode() + b"\n"


_question = {"prompt": "2+2?", "references": ["4"], "category": "", "source": ""}
_answer = {"prompt": "2+2?", "outputs": [{"text": "4"}]}
_to_input = ("--to", "nemo-input")

LOSS_RULES = (
    Rule(
        Outcome.DROPPED.value,
        "dropped",
        Severity.WARNING,
        "The output format has no field for this value.",
        "The value is not in the output. --keep-extra keeps it if the output format "
        "can hold extra fields, and --on-loss fail stops the conversion instead.",
        _record(**_question, system="Be brief."),
        _record(**_question),
        "record",
        command="convert",
        arguments=_to_input,
    ),
    Rule(
        Outcome.CHANGED.value,
        "changed",
        Severity.WARNING,
        "A field is written with a changed value.",
        "The output format represents the value in another way, or holds less of it. "
        "The table of losses lists the change.",
        _record(id=7, prompt="2+2?"),
        _record(id="7", prompt="2+2?"),
        "record",
        command="convert",
        arguments=("--to", "csv"),
    ),
    Rule(
        Outcome.DEFAULTED.value,
        "defaulted",
        Severity.NOTE,
        "A field that the input lacks is written with a default value.",
        "The output format requires the field. The value is a documented default, the "
        "number of the record, the value of --set or --score, or that of another "
        "field.",
        _record(prompt="2+2?", references=["4"], category=""),
        _record(**_question),
        "record",
        command="convert",
        arguments=_to_input,
    ),
    Rule(
        Outcome.SPLIT.value,
        "split",
        Severity.NOTE,
        "A record becomes several rows.",
        "The output format holds one value in a row where the record has several. The "
        "ids of the rows get # and a number; --group id joins them into one record "
        "again.",
        _record(prompt="2+2?", outputs=[{"text": "4"}, {"text": "5"}]),
        _record(**_answer),
        "record",
        command="convert",
        arguments=("--to", "haystack"),
    ),
    Rule(
        Outcome.MERGED.value,
        "merged",
        Severity.WARNING,
        "A field becomes part of another field, or several records become one.",
        "The value is in the output, but converting back does not restore the separate "
        "field. An example is a chat and its answer that become one conversation.",
        _record(id="1", **_answer) + _record(id="1", prompt="2+2?"),
        _record(id="1", **_answer) + _record(id="2", prompt="2+2?"),
        "record",
        command="convert",
        arguments=("--to", "record", "--group", "id"),
    ),
    Rule(
        Outcome.NULL.value,
        "null-left-out",
        Severity.NOTE,
        "The output format has no field for this value, which is null.",
        "A null says that there is no value, so nothing but the key is missing in the "
        "output, and --on-loss fail does not stop at it.",
        _record(**_question, metadata={"grade": None}),
        _record(**_question),
        "record",
        command="convert",
        arguments=_to_input,
    ),
    Rule(
        UNCONVERTIBLE,
        "unconvertible",
        Severity.ERROR,
        "A record lacks a field that the output format requires.",
        "Give the field a value with --set, or leave such records out with "
        "--on-invalid skip or quarantine.",
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
        "Several inputs may use the same ids; --prefix-ids adds the name of its file "
        "to the front of each id. --ids number or --ids hash gives other ids, and "
        "--group id makes one record of the rows that have one id and ask the same.",
        _record(id="1", **_answer) * 2,
        _record(id="1", **_answer) + _record(id="2", **_answer),
        "record",
        command="convert",
        arguments=("--to", "harpia"),
    ),
    Rule(
        OTHER_QUESTION,
        "other-question",
        Severity.ERROR,
        "Rows that --group would combine do not ask the same.",
        "Rows become one record if they have the same prompt, system prompt, messages, "
        "references, gt, choices and contexts; otherwise an answer would belong to "
        "a question that it does not answer. --ids hash gives one id to the rows that "
        "ask the same.",
        _record(id="1", **_answer) + _record(id="1", prompt="3+3?"),
        _record(id="1", **_answer) + _record(id="2", prompt="3+3?"),
        "record",
        command="convert",
        arguments=("--to", "record", "--group", "id"),
    ),
)
