"""Signatures of scores that other tools stored."""

from harpia_formats.plugins import tool_signature


def test_a_signature_names_metric_tool_version_and_part() -> None:
    """The parts stand in their order, in the form of the signatures of our metrics."""
    found = tool_signature("acc", "lm-eval", "0.4.13", filter="none")

    assert found == "acc|impl:lm-eval-0.4.13|filter:none"


def test_a_value_cannot_end_its_part() -> None:
    """A bar in a name is written as %7C, so that the parts stay what they are."""
    found = tool_signature("a|b", "inspect-ai", scorer="x|y")

    assert found == "a%7Cb|impl:inspect-ai|scorer:x%7Cy"
