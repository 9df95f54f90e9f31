"""An LLM as a judge of data, defined like Haystack's LLMEvaluator."""

from harpia_formats.evaluation.llm_judge.errors import (
    CacheError,
    DefinitionError,
    InputError,
    JudgeError,
    RowError,
)
from harpia_formats.evaluation.llm_judge.run.llm_judge import LLMJudge

__all__ = [
    "CacheError",
    "DefinitionError",
    "InputError",
    "JudgeError",
    "LLMJudge",
    "RowError",
]
