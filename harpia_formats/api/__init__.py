"""The room api."""
