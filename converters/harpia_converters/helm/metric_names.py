"""Which of HELM's metrics say how good an answer is."""

from typing import Any

#: Statistics that HELM records of every run and that do not judge an answer: counts,
#: times, costs, why a completion ended, and probabilities.
BOOKKEEPING = frozenset(
    {
        "batch_size",
        "bits_per_byte",
        "finish_reason_endoftext",
        "finish_reason_length",
        "finish_reason_stop",
        "finish_reason_unknown",
        "inference_denoised_runtime",
        "inference_idealized_runtime",
        "inference_runtime",
        "inference_runtime_discrepancy",
        "logprob",
        "logprob_per_byte",
        "max_prob",
        "num_bytes",
        "num_completion_tokens",
        "num_instances",
        "num_output_tokens",
        "num_perplexity_tokens",
        "num_prompt_tokens",
        "num_references",
        "num_train_instances",
        "num_train_trials",
        "perplexity",
        "predicted_index",
        "prompt_truncated",
        "training_co2_cost",
        "training_energy_cost",
    }
)
#: Metrics of which 1 says that the first completion is right, and 0 that it is wrong.
RIGHT_OR_WRONG = frozenset(
    {
        "exact_match",
        "quasi_exact_match",
        "prefix_exact_match",
        "quasi_prefix_exact_match",
    }
)


def is_bookkeeping(stat: dict[str, Any]) -> bool:
    """Tell whether a statistic does not judge an answer."""
    return stat["name"]["name"] in BOOKKEEPING
