"""One record of several rows, out of core."""
