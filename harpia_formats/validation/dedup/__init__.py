"""Find records that are there twice, by ids and digests, in bounded memory."""
