"""Settings: options that a team keeps in a file beside its data."""

#: The names of files with settings; in one folder the first counts.
OWN_FILE, PYPROJECT = "harpia-formats.toml", "pyproject.toml"
