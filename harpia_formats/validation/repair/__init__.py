"""Repairs of files: which there are, what they change, and how a file is rewritten."""
