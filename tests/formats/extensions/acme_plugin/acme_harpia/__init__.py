"""Acme's formats, rules, metric and reporter for harpia-formats."""
