"""From records to scores, intervals and comparisons."""
