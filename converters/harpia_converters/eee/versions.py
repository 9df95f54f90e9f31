"""How rows of the three versions differ, and how the version of a row is detected."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.model.exact_json import encode
from harpia_formats.model.format import Advice
from harpia_formats.model.problem import Path

#: The types of values that are all text. `issuperset` asks for all of them in C.
TEXT_ONLY = frozenset({str})
#: The key of the signature of a score in the metadata of a row.
SIGNATURE = "score_signature"
#: What some versions put before their label.
_prefix = "instance_level_eval_"


@dataclass(frozen=True, slots=True)
class Version:
    """How rows of one version are written."""

    #: The key of the list of turns.
    turns: str
    #: The `schema_version` that a row gets.
    label: str
    #: Further values of `schema_version` for the same version, without prefix.
    other_labels: tuple[str, ...] = ()
    #: Whether references and answers are lists.
    has_lists: bool = True
    #: Whether values of free objects are text, unknown keys are refused, and optional
    #: keys may be null.
    is_closed: bool = False
    #: The values of `schema_version` that a row may keep.
    labels: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        known = (self.label, *self.other_labels)
        labels = frozenset((*known, *(_prefix + label for label in known)))
        object.__setattr__(self, "labels", labels)

    @property
    def other_label(self) -> str:
        """A value of `schema_version` that a row may keep and does not get."""
        return _prefix + self.label


V0_2_0 = Version("interactions", "0.2.0", has_lists=False)
#: Labels of the first schemas: their rows are those of eee@0.2.0.
FIRST_LABELS = frozenset({"0.0.1", "instance_level_eval_0.0.1"})
V0_2_0_TAG = Version("interactions", "0.2.0")
V0_3_0 = Version("messages", "0.3.0", ("0.2.1", "0.2.2", "0.2.3"), is_closed=True)


def as_text(value: Any) -> str:
    """Return `value` itself if it is text, else as JSON text."""
    return value if type(value) is str else encode(value).decode()


def is_count(value: Any, least: int = 0) -> bool:
    """Tell whether `value` is an integer from `least`; 1.0 is one in a schema."""
    if type(value) is int:
        return value >= least
    return is_whole_float(value) and value >= least


def is_whole_float(value: Any) -> bool:
    """Tell whether `value` is a float that a schema takes for an integer, as 1.0."""
    return isinstance(value, float) and value.is_integer()


def is_amount(value: Any) -> bool:
    """Tell whether `value` is a number of 0 or more."""
    is_number = type(value) is int or isinstance(value, float)
    return is_number and value >= 0


def is_texts(value: Any) -> bool:
    """Tell whether `value` is a list of text."""
    return type(value) is list and TEXT_ONLY.issuperset(map(type, value))


VENDOR = "EvalEval"
ID_0_2_0, ID_0_2_0_TAG, ID_0_3_0 = "eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0"

#: The key with the version of a row.
LABEL_KEY = "schema_version"
#: Paths that tell rows of one sample apart.
IDENTITY_PATHS = (
    ("evaluation_id",),
    ("evaluation_name",),
    ("evaluation_result_id",),
    ("metadata", "epoch"),
)
#: Keys that every version requires.
_required = frozenset(
    "schema_version evaluation_id model_id evaluation_name sample_id "
    "interaction_type input answer_attribution evaluation".split()
)
#: How many of them an EvalEval row must have to be detected.
_minimum = 5
#: All required keys but four, so that five of them are not without one of these.
ROW_KEYS = frozenset(
    "sample_id interaction_type input answer_attribution evaluation".split()
)


def is_record(row: Mapping[str, Any]) -> bool:
    """Tell whether `row` looks like an instance-level record of any version."""
    return len(_required.intersection(row)) >= _minimum


def version_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the format id of a row's version, and what it is detected by."""
    if "messages" in row:
        return ID_0_3_0, "`messages`"
    lists = list_field(row)
    if not lists:
        return ID_0_2_0, "references and outputs that are text"
    if "interactions" in row:
        return ID_0_2_0_TAG, f"`interactions` and lists in `{lists}`"
    if str(row.get("schema_version", "")).endswith("0.2.0"):
        return ID_0_2_0_TAG, f"lists in `{lists}` under the label 0.2.0"
    if row.get("evaluation_result_id") is not None:
        return ID_0_3_0, f"`evaluation_result_id` and lists in `{lists}`"
    return ID_0_3_0, f"lists in `{lists}`"


def list_field(row: Mapping[str, Any]) -> str:
    """Return the first field that holds a list where 0.2.0 has text, or ""."""
    for part, key in (
        ("input", "reference"),
        ("output", "raw"),
        ("output", "reasoning_trace"),
    ):
        owner = row.get(part)
        if isinstance(owner, dict) and isinstance(owner.get(key), list):
            return f"{part}.{key}"
    return ""


def sign_of(row: Mapping[str, Any], version: str) -> str:
    """Return by which keys `row` is of `version`, or "" if it is not."""
    if not is_record(row):
        return ""
    found, sign = version_of(row)
    return sign if found == version else ""


TURNS, METRICS = "C201", "C202"


def advise(branch: str, path: Path, record: Any, turns: str) -> Advice | None:
    """Return the rule and the help for the branch that `record` breaks at `path`.

    `turns` is the key of the list of turns. The first branch of the schema's allOf is
    the condition for single_turn, the second for multi_turn and agentic.
    """
    if path[:1] == ("metrics",):
        help_ = "move num_turns to evaluation.num_turns, and remove metrics"
        return Advice(METRICS, help_)
    if branch == "/allOf/0/then":
        return Advice(TURNS, _single_turn(path, record, turns))
    if branch == "/allOf/1/then":
        return Advice(TURNS, _several_turns(path, record, turns))
    return None


def _single_turn(path: Path, record: Any, turns: str) -> str:
    has_turns = bool(record.get(turns))
    if path != (turns,):
        how = f"move the answer from {turns} to output" if has_turns else _give_answer
    elif has_turns and isinstance(record.get("output"), dict):
        how = f"remove {turns} or set it to null, if the whole answer is in output"
    else:
        how = f"remove {turns} or set it to null"
    if not has_turns:
        return how
    return (
        f'{how}; or set interaction_type to "multi_turn" or "agentic" and output to '
        "null, if the record has several turns"
    )


def _several_turns(path: Path, record: Any, turns: str) -> str:
    has_turns, output = bool(record.get(turns)), record.get("output")
    if has_turns:
        if path == ("output",):
            return f"set output to null: the answer stands in {turns}"
        return f"give {turns} as a list of turns"
    how = f"give the turns in {turns}"
    if not isinstance(output, dict):
        return how
    return f'{how} and set output to null, or set interaction_type to "single_turn"'


_give_answer = "give the answer in output"
