"""Remote files: reading, writing, listing, and their errors."""
