"""MT-Bench (FastChat's LLM judge): questions, answers and judgements."""

from harpia_converters.mt_bench import answers, judgements, questions, rules

__all__ = ["answers", "judgements", "questions", "rules"]
