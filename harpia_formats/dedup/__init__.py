"""Ids and digests: which records are there twice, in bounded memory."""
