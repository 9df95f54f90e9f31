"""What the three shapes hold differently, for those who read and write their rows."""

from dataclasses import dataclass
from typing import Any

from harpia_formats.model.exact_json import encode

#: What some versions put before their label.
_prefix = "instance_level_eval_"


@dataclass(frozen=True, slots=True)
class Form:
    """How rows of one shape are written."""

    #: The key of the list of turns.
    turns: str
    #: The version label that a row gets.
    label: str
    #: Further labels without their prefix, under which rows of the shape go.
    other_labels: tuple[str, ...] = ()
    #: Whether references and answers are lists.
    has_lists: bool = True
    #: Whether values of free objects are text, the root is closed, and null is
    #: welcome where a key is optional.
    is_closed: bool = False

    @property
    def labels(self) -> frozenset[str]:
        """The labels that a row of the shape may keep."""
        known = (self.label, *self.other_labels)
        return frozenset((*known, *(_prefix + label for label in known)))


SEED = Form("interactions", "0.2.0", has_lists=False)
TAG = Form("interactions", "0.2.0")
CURRENT = Form("messages", "0.3.0", ("0.2.1", "0.2.2", "0.2.3"), is_closed=True)


def as_text(value: Any) -> str:
    """Return text as it is, and anything else as JSON text."""
    return value if type(value) is str else encode(value).decode()


def is_count(value: Any, least: int = 0) -> bool:
    """Tell whether `value` is an integer from `least`, which 1.0 is to a schema."""
    is_whole = type(value) is int or is_whole_float(value)
    return is_whole and value >= least


def is_whole_float(value: Any) -> bool:
    """Tell whether `value` is an integer that is spelled as another number."""
    return isinstance(value, float) and value.is_integer()


def is_amount(value: Any) -> bool:
    """Tell whether `value` is a number from 0."""
    is_number = type(value) is int or isinstance(value, float)
    return is_number and value >= 0


def is_texts(value: Any) -> bool:
    """Tell whether `value` is a list of text."""
    return type(value) is list and all(type(item) is str for item in value)
