"""Metrics for harpia-formats by a model on this disk: `sas` and `bertscore`."""
