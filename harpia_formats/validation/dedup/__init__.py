"""Find duplicate records by ids and digests, in bounded memory.

To read in this order: `identity`, `digests`, `repeated_digests`, `item_partitions`.
"""
