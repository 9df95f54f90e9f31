"""Which options the user gave, and the settings of the others."""

import typer

from harpia_formats.api.settings.apply import RunSettings
from harpia_formats.cli.exit_codes import UsageError

#: What typer knows of a command and its options when it calls it.
Context = typer.Context


def given_options(context: Context) -> frozenset[str]:
    """Return the names of the options that the user gave, such as `max-problems`."""
    found = set()
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            found.add(name.rstrip("_").replace("_", "-"))
    return frozenset(found)


def run_settings(config: str | None, *, isolated: bool) -> RunSettings:
    """Return the settings of a run. Raises `UsageError` or `TomlError`."""
    if config is not None and isolated:
        raise UsageError("--config and --isolated cannot be combined; use one of them")
    return RunSettings(config, isolated=isolated)
