"""The room formats."""
