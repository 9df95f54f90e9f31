"""Acme's rules."""

from harpia_formats.plugins import Rule, Severity

RULES = (
    Rule(
        code="AC101",
        name="acme-empty-answer",
        severity=Severity.WARNING,
        summary="An answer must not be empty.",
        explanation="An empty answer is a failed request. Ask the model again.",
        bad=b'{"question": "2+2?", "answer": ""}\n',
        good=b'{"question": "2+2?", "answer": "4"}\n',
        validated_as="acme-chat",
    ),
)
