"""Requests to an OpenAI-compatible endpoint: replies, their cache and the budget."""
