"""Recognize which format and dialect a file is in, by its first records."""
