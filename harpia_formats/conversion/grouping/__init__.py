"""Merge several rows to one record, with temporary files on disk."""
