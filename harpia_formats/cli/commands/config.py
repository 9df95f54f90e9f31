"""`harpia-formats config`."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harpia_formats.api.run_settings import Chosen, RunSettings, chosen_by
from harpia_formats.api.settings_file import CONFIG, SETTINGS, Setting
from harpia_formats.cli.command_options import Given
from harpia_formats.cli.streams_and_exit_codes import (
    ExitCode,
    UsageError,
    text_writer,
    write_table,
)
from harpia_formats.files.io.source import Source
from harpia_formats.reporters.tables.table import table_of

SCHEMA = "harpia-formats/config/1"
COLUMNS = ("Setting", "Value", "From")
DEFAULT = "default"


def config(given: Given) -> ExitCode:
    """Show the settings that `validate` uses for a file, and where each comes from.

    They are those of the closest harpia-formats.toml above it, or pyproject.toml with
    the table tool.harpia-formats. What holds for a whole run is taken from the working
    folder.

    For example:
    - harpia-formats config
    - harpia-formats config data/rows.jsonl
    - harpia-formats config --config lint=true
    """
    if not os.path.lexists(given.path):
        raise UsageError(f"there is no file or folder {given.path}")
    settings = given.settings()
    # Patterns are about files; a folder has the settings of the files in it.
    is_folder = os.path.isdir(given.path)  # noqa: PTH112 - raises nothing
    source = Source(
        given.path, Path(given.path) / "file" if is_folder else Path(given.path)
    )
    rows = [(each, *_value(each, settings, source)) for each in SETTINGS]
    own = settings.of_source(source)
    chosen: Chosen = (None, ())
    if own is not None and not is_folder:
        chosen = chosen_by(own, source, ())
    if given.output_format == "json":
        _write_json(given.path, rows, chosen, is_folder=is_folder)
        return ExitCode.OK
    cells = [(one.name, _text(value), origin) for one, value, origin in rows]
    if not is_folder:
        cells += _of_file(chosen)
    write_table(table_of("Settings", COLUMNS, cells))
    return ExitCode.OK


def _value(setting: Setting, settings: RunSettings, source: Source) -> tuple[Any, str]:
    """Return the value of a setting for a file, and the file that it is from."""
    found = settings.run if setting.of_run else settings.of_source(source)
    if found is None or setting.name not in found.values:
        return setting.default, DEFAULT
    is_of_line = setting.name in found.of_lines
    return found.values[setting.name], CONFIG if is_of_line else found.path


def _text(value: Any) -> str:
    """Return a value as TOML writes it, "" if there is none."""
    if value is None:
        return ""
    if isinstance(value, dict):
        members = (f"{_text(key)} = {_text(member)}" for key, member in value.items())
        return f"{{ {', '.join(members)} }}" if value else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_text, value))}]"
    from harpia_formats.model.describe import short_json  # noqa: PLC0415 - for this only

    return short_json(value)


def _of_file(chosen: Chosen) -> Iterator[tuple[str, str, str]]:
    """Yield rows with what the patterns choose for the file."""
    if chosen is None:
        yield "this file", "left out", "exclude"
        return
    format_, ignored = chosen
    if format_ is not None:
        yield "this file", f"format {format_}", "formats"
    if ignored:
        yield "this file", f"without {', '.join(ignored)}", "per-file-ignores"


def _write_json(
    path: str, rows: list[tuple[Setting, Any, str]], chosen: Chosen, *, is_folder: bool
) -> None:
    """Write the settings as one JSON object to standard output."""
    from harpia_formats.model.safe_text import json_text  # noqa: PLC0415 - the table needs no orjson

    whole: dict[str, Any] = {
        "schema": SCHEMA,
        "path": path,
        "settings": [
            {
                "name": one.name,
                "value": value,
                "from": None if origin == DEFAULT else origin,
            }
            for one, value, origin in rows
        ],
    }
    if not is_folder:
        format_, ignored = chosen or (None, ())
        whole["file"] = {
            "excluded": chosen is None,
            "format": format_,
            "ignored": list(ignored),
        }
    text_writer(sys.stdout)(json_text(whole, indent=True) + "\n")
