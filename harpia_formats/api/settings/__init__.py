"""Settings: options that a team keeps in a file beside its data."""
