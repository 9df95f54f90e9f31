"""Text for metrics: tokenizers, normalisation, n-gram overlap and subsequences."""
