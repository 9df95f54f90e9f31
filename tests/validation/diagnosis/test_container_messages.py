import re
from pathlib import Path

from cases import for_each_case
from harpia_formats.files.framing.chunk import Cursor, FramingFault
from harpia_formats.formats.registry import all_rules
from harpia_formats.validation.unit.collector import container_message

PACKAGE = Path(__file__).parents[3] / "harpia_formats"
KINDS = sorted(
    {
        kind
        for path in PACKAGE.rglob("*.py")
        for kind in re.findall(r'\bFramingFault\("([a-z-]+)"', path.read_text("utf-8"))
    }
)


@for_each_case("kind", KINDS)
def test_every_fault_has_a_message(kind: str) -> None:
    """Every framing fault in the code has a known rule, a message and a help."""
    code, message, help_ = container_message(FramingFault(kind, Cursor()), 100)

    assert code in all_rules()
    assert message
    assert help_


def test_message_on_a_long_row_has_its_size() -> None:
    """The message on a row beyond the limit has its size and the limit."""
    code, message, help_ = container_message(
        FramingFault("oversize", Cursor(), 12_345), 1_024
    )

    assert code == "J110"
    assert message == "a row of 12,345 bytes is longer than the limit of 1,024"
    assert "--max-row-bytes" in help_
