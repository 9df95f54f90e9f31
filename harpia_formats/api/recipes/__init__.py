"""Recipes: the options of `score` and `score compare` in a file."""
