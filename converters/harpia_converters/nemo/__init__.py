"""NVIDIA NeMo Evaluator: questions, answers, results and configurations."""

from harpia_converters.nemo import (
    config,
    input,  # noqa: A004 - the module is called what the format is
    output,
    results,
    rules,
)

__all__ = ["config", "input", "output", "results", "rules"]
