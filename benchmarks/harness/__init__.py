"""Running commands by turns: wall time, processor time, memory, and limits."""
