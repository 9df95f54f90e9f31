"""Rows that break no rule, to make the examples of rules from."""

_single = """{"schema_version": "0.2.0", "evaluation_id": "gsm8k/org_m/1770681600", \
"model_id": "org/m", "evaluation_name": "gsm8k", "sample_id": "1", "sample_hash": \
"5407035ffb3059b2e83b1abc227b6c4a5e3f6c3861b694d04f94ef3e2ea7eb65", \
"interaction_type": "single_turn", \
"input": {"raw": "2+2?", "reference": "4", "choices": ["3", "4"]}, \
"output": {"raw": "It is 4."}, "answer_attribution": [{"turn_idx": 0, \
"source": "output.raw", "extracted_value": "4", "extraction_method": "regex", \
"is_terminal": true}], "evaluation": {"score": 1, "is_correct": true}, \
"token_usage": {"input_tokens": 9, "output_tokens": 5, "total_tokens": 14}, \
"performance": {"latency_ms": 900, "generation_time_ms": 800}}
"""
_agentic = """{"schema_version": "0.2.0", "evaluation_id": "gsm8k/org_m/1770681600", \
"model_id": "org/m", "evaluation_name": "gsm8k", "sample_id": "1", \
"interaction_type": "agentic", "input": {"raw": "2+2?", "reference": "4"}, \
"interactions": [{"turn_idx": 0, "role": "user", "content": "2+2?"}, \
{"turn_idx": 1, "role": "assistant", "content": null, "tool_calls": [{"id": "c1", \
"name": "add"}]}, {"turn_idx": 2, "role": "tool", "content": "4", \
"tool_call_id": "c1"}, {"turn_idx": 3, "role": "assistant", \
"content": "It is 4."}], "answer_attribution": [{"turn_idx": 3, \
"source": "interactions[3].content", "extracted_value": "4", \
"extraction_method": "regex", "is_terminal": true}], \
"evaluation": {"score": 1, "is_correct": true, "num_turns": 4, \
"tool_calls_count": 1}}
"""
#: The sample_hash of `SINGLE` by recipe C, and what it is by recipe A.
HASH_C = b"5407035ffb3059b2e83b1abc227b6c4a5e3f6c3861b694d04f94ef3e2ea7eb65"
HASH_A = b"34b29cbbb2879843088ab28a1315a88a9bdc91b1edd0251be34ee0f96a7eabab"
#: A row with an output, and one with turns, of eee@0.2.0.
SINGLE, AGENTIC = _single.encode(), _agentic.encode()


def single(before: bytes, after: bytes) -> bytes:
    """Return `SINGLE` with one piece of its text changed."""
    return SINGLE.replace(before, after)


def agentic(before: bytes, after: bytes) -> bytes:
    """Return `AGENTIC` with one piece of its text changed."""
    return AGENTIC.replace(before, after)
