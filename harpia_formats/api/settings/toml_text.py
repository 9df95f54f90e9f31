"""Read TOML, and write its keys and values in messages."""

import tomllib
from typing import Any

from harpia_formats.api.settings.error import SettingsError
from harpia_formats.api.settings.toml_statements import (
    LARGEST,
    TomlLimitError,
    statements,
)
from harpia_formats.model.text.describe import short_json

#: Characters of a value in a message.
_SHOWN = 60


def toml_document(data: bytes, path: str) -> dict[str, Any]:
    """Return a TOML document; a byte order mark is passed over.

    Raises `SettingsError` for text that is no TOML, and for more of it than the limits
    allow, before it is parsed.
    """
    if len(data) > LARGEST:
        reason = f"has {len(data):,} bytes, more than the {LARGEST:,} that are read"
        raise SettingsError(path, "", reason)
    try:
        text = data.decode("utf-8-sig")
        for _ in statements(text):
            pass
        return tomllib.loads(text)
    except TomlLimitError as error:
        raise SettingsError(path, f"line {error.line}", error.reason) from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(path, f"line {line}", "is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(path, "", f"is not TOML: {error}") from error
    except (RecursionError, ValueError) as error:  # nested too deeply, a huge number
        raise SettingsError(path, "", f"is not TOML: {error}") from error


def described_value(value: Any) -> str:
    """Return what a value is, in few words."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an array" if all(isinstance(one, str) for one in value) else "a mixture"
    if isinstance(value, str):
        return short_json(value)
    return str(value).lower() if isinstance(value, bool) else str(value)[:_SHOWN]


def toml_key(name: str) -> str:
    """Return a key as TOML writes it."""
    is_bare = name and all(
        one.isascii() and (one.isalnum() or one in "-_") for one in name
    )
    return name if is_bare else short_json(name)
