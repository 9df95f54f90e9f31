"""OpenAI evals: samples of an eval."""

from harpia_converters.openai_evals import samples

__all__ = ["samples"]
