"""Text for metrics: tokens, and the numbers and choices that answers name."""
