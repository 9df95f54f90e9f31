"""How rows of the three versions differ, and checks of values that all of them use."""

from dataclasses import dataclass, field
from typing import Any

from harpia_formats.model.exact_json import encode

#: The types of values that are all text. `issuperset` asks for all of them in C.
TEXT_ONLY = frozenset({str})
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
