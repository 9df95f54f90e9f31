"""An LLM as a judge of data, defined like Haystack's LLMEvaluator.

What comes in: a definition and rows or files. What goes out: a verdict for each row. To
read in this order: `judge_definition` (what a judge is), `verdicts` (what it answers),
`judge` (the class and its runs), `endpoint` and `reply_cache` (requests), `judged_rows`
and `judge_files` (files).
"""

from harpia_formats.evaluation.llm_judge.judge import LLMJudge
from harpia_formats.evaluation.llm_judge.verdicts import (
    CacheError,
    DefinitionError,
    InputError,
    JudgeError,
    RowError,
)

__all__ = [
    "CacheError",
    "DefinitionError",
    "InputError",
    "JudgeError",
    "LLMJudge",
    "RowError",
]
