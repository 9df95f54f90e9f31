"""Files of every kind, what may happen to their bytes, and what a command does then."""
