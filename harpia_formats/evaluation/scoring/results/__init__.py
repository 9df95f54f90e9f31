"""Writing scores as result files in the formats of vendors."""
