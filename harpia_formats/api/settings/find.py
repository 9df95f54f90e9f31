"""Find the settings of a file: those of the closest folder above it.

What parses them is imported only if there are some: start-up time.
"""

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from harpia_formats.api.settings import OWN_FILE, PYPROJECT
from harpia_formats.model.errors import TomlError

if TYPE_CHECKING:  # most runs have no settings
    from harpia_formats.api.settings.parse import Settings

#: What a `pyproject.toml` without settings seldom contains: the name of their table, or
#: one that is near it, or the table `tool` by itself. Importing the TOML parser takes
#: as long as a small run.
_SIGN = (
    rb"""tool["' \t]*+\.["' \t]*+harpia|^[ \t]*+\[?[ \t]*+["']?tool["']?[ \t]*+[]=]"""
    rb"""|^[ \t]*+\[[ \t]*+["']?(tools["' \t]*+\.["' \t]*+)?harpia"""
)


class SettingsFinder:
    """Finds settings, and reads each file of them once.

    Links are not resolved: the folder of a file is the one of the path by which it is
    named.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._folders: dict[str, Settings | None] = {}

    def of_folder(self, folder: str) -> "Settings | None":
        """Return the settings of a folder or the closest one above, None without any.

        `folder` is an absolute path. Raises `TomlError`.
        """
        passed = []
        found: Settings | None = None
        while folder not in self._folders:
            passed.append(folder)
            found = _settings_in(folder)
            above = os.path.dirname(folder)  # noqa: PTH120 - each start-up does this
            if found is not None or above == folder:
                break
            folder = above
        else:
            found = self._folders[folder]
        self._folders.update(dict.fromkeys(passed, found))
        return found


def given_settings(path: str) -> "Settings":
    """Return the settings in the file that the user names.

    The paths in it are relative to the working folder. Raises `TomlError`.
    """
    name = os.path.basename(path)  # noqa: PTH119 - as below
    root = working_folder() or os.sep
    found = _parsed(path, root, is_pyproject=name == PYPROJECT)
    if found is None:
        raise TomlError(path, "", "has no table [tool.harpia-formats]")
    return found


def _settings_in(folder: str) -> "Settings | None":
    """Return the settings that a folder has, None without any.

    What is no regular file, or cannot be seen, is no file of settings.
    """
    for name in (OWN_FILE, PYPROJECT):
        path = os.path.join(folder, name)  # noqa: PTH118 - each start-up does this for each folder above
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116 - for each folder above
        except (OSError, ValueError):
            continue
        if not stat.S_ISREG(mode):
            continue
        found = _parsed(path, folder, is_pyproject=name == PYPROJECT)
        if found is not None:
            return found
    return None


def _parsed(path: str, root: str, *, is_pyproject: bool) -> "Settings | None":
    """Return the settings in a file, None if a `pyproject.toml` has none."""
    from harpia_formats.files.io.reader import error_reason  # noqa: PLC0415 - most folders have no settings
    from harpia_formats.files.io.side_input import read_side_input  # noqa: PLC0415 - most folders have no settings

    shown = shown_path(path)
    try:
        data = read_side_input(Path(path))
    except OSError as error:
        raise TomlError(shown, "", error_reason(error)) from error
    if is_pyproject and not (
        re.search(b"harpia", data, re.IGNORECASE)
        and re.search(_SIGN, data, re.MULTILINE | re.IGNORECASE)
    ):
        return None
    from harpia_formats.api.settings.parse import parse_settings  # noqa: PLC0415 - most folders have no settings

    return parse_settings(data, shown, root, is_pyproject=is_pyproject)


def shown_path(path: str) -> str:
    """Return a path from the working folder, as messages show it."""
    try:
        return os.path.relpath(path)
    except (OSError, ValueError):  # the working folder is gone, or on another drive
        return path


def working_folder() -> str | None:
    """Return the absolute path of the working folder, None if it is gone."""
    try:
        return os.getcwd()  # noqa: PTH109 - each start-up does this
    except OSError:
        return None
