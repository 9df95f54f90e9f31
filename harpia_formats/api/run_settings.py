"""Find the settings of files, and apply them to the options of a run.

The settings of a file are those of the closest folder above it.
"""

import os
import re
import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harpia_formats.api.options import OWN_FILE, PYPROJECT
from harpia_formats.files.io.source import Source
from harpia_formats.files.io.urls import is_url
from harpia_formats.model.problem import TomlError
from harpia_formats.validation.options import Options

if TYPE_CHECKING:  # most runs have no settings
    from harpia_formats.api.settings_file import Settings


#: What a `pyproject.toml` without settings seldom contains: the name of their table, or
#: one that is near it, or the table `tool` by itself. Importing the TOML parser takes
#: as long as a small run.
_SIGN = (
    rb"""tool["' \t]*+\.["' \t]*+harpia|^[ \t]*+\[?[ \t]*+["']?tool["']?[ \t]*+[]=]"""
    rb"""|^[ \t]*+\[[ \t]*+["']?(tools["' \t]*+\.["' \t]*+)?harpia"""
)


class SettingsFinder:
    """Finds settings, and reads each file of settings once.

    Links are not resolved: the folder of a file is the one of the path by which it is
    named.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._folders: dict[str, Settings | None] = {}

    def of_folder(self, folder: str) -> "Settings | None":
        """Return the settings of a folder or its closest parent, or None.

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
    from harpia_formats.files.io.reader import error_reason, read_side_input  # noqa: PLC0415 - most folders have no settings

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
    from harpia_formats.api.settings_file import parse_settings  # noqa: PLC0415 - most folders have no settings

    return parse_settings(data, shown, root, is_pyproject=is_pyproject)


def shown_path(path: str) -> str:
    """Return a path relative to the working folder, as messages show it."""
    try:
        return os.path.relpath(path)
    except (OSError, ValueError):  # the working folder is gone, or on another drive
        return path


def working_folder() -> str | None:
    """Return the absolute path of the working folder, None if it no longer exists."""
    try:
        return os.getcwd()  # noqa: PTH109 - each start-up does this
    except OSError:
        return None


#: What the patterns of settings choose for one file: its format, None if no pattern
#: matches, and rules that are ignored; None as a whole if the file is left out.
Chosen = tuple[str | None, tuple[str, ...]] | None


class RunSettings:
    """The settings of one run and of each of its files.

    Settings of a whole run are those of the working folder. Each file has those of the
    closest file above it, one without any those of the working folder.
    """

    def __init__(
        self,
        path: str | None = None,
        *,
        isolated: bool = False,
        lines: Sequence[str] = (),
    ) -> None:
        """Read the settings of the run; `path` names a file that all have.

        There is none of any file if it is `isolated`. Those in `lines`, such as
        `lint=true`, replace what files say. Raises `TomlError`.
        """
        self._line_settings: Settings | None = None
        if lines:
            from harpia_formats.api.settings_file import settings_of_lines  # noqa: PLC0415 - most runs have no settings

            root = working_folder() or os.sep
            self._line_settings = settings_of_lines(lines, root)
        self._finder = SettingsFinder()
        self._is_searched = path is None and not isolated
        #: The settings of the run, None without any.
        self.run: Settings | None = None
        if path is not None:
            self.run = given_settings(path)
        elif not isolated and (folder := working_folder()) is not None:
            self.run = self._finder.of_folder(folder)
        self._run_file = self.run
        self.run = self._with_lines(self.run)
        #: The settings of files that hold others for a whole run, by their paths.
        self.unused: dict[str, list[str]] = {}
        #: The options and the names of those that the user gave, set by `apply`.
        self._base = Options()
        self._given: Collection[str] = ()
        #: The settings of files by the folder in their names.
        self._folders: dict[str, Settings | None] = {}
        self._options: dict[tuple[Settings | None, Chosen], Options] = {}

    def _with_lines(self, settings: "Settings | None") -> "Settings | None":
        """Return settings of a file with those that were given as lines."""
        lines = self._line_settings
        if lines is None or settings is None:
            return settings or lines
        return settings.with_lines(lines)

    def value(self, name: str, otherwise: Any, given: Collection[str]) -> Any:
        """Return a setting of the run, or `otherwise` if it is `given` or not set."""
        if self.run is None or name in given:
            return otherwise
        return self.run.values.get(name, otherwise)

    def paths(
        self, name: str, otherwise: Sequence[str] | None, given: Collection[str]
    ) -> list[str]:
        """Return a setting of the run whose items are `FILE` or `NAME=FILE`.

        Paths start from the folder of the settings. It is `otherwise` if that is
        `given` or the setting is not set.
        """
        if self.run is None or name in given or name not in self.run.values:
            return list(otherwise or ())
        from harpia_formats.reporters.report_file import report_file  # noqa: PLC0415 - most runs have no settings

        files = map(report_file, self.run.values[name])
        return [
            f"{file.reporter.name}={self._from_folder(name, file.place)}"
            for file in files
        ]

    def _from_folder(self, name: str, place: str) -> str:
        """Return a path that starts from the folder of the run's settings, or a URL."""
        assert self.run is not None  # noqa: S101 - asked for only with settings
        if is_url(place) or name in self.run.of_lines:
            return place
        return shown_path(os.path.join(self.run.root, place))  # noqa: PTH118 - links are not resolved

    def apply(self, options: Options, given: Collection[str]) -> Options:
        """Return the options of the run: those of the user with the settings.

        `given` are the names of options that the user gave, which stay as they are.
        Raises `TomlError` if they cannot be combined with the settings.
        """
        self._base, self._given = options, given
        if self.run is None:
            return options
        values = _values(self.run, given, of_run=True)
        if "write-baseline" in given:
            values.pop("baseline", None)
        if "baseline" in values:
            if options.fail_fast:
                reason = "cannot be combined with `--fail-fast`: it counts all findings"
                raise TomlError(self.run.path, "baseline", reason)
            values["baseline"] = self._from_folder("baseline", values["baseline"])
        self._base = replace(options, **values)
        return self._of(self.run, (None, ()))

    def file_options(self, source: Source) -> Options | None:
        """Return the options of a file, or None for one that its settings exclude.

        It is the same object for files of the same options. Raises `TomlError`.
        """
        settings = self.of_source(source)
        if settings is None:
            return self._base
        chosen = chosen_by(settings, source, self._given)
        return None if chosen is None else self._of(settings, chosen)

    def leaves_out(self, source: Source, given: Collection[str]) -> bool:
        """Tell whether the settings of a file exclude it. Raises `TomlError`.

        `given` are the names of options that the user gave.
        """
        settings = self.of_source(source)
        return settings is not None and chosen_by(settings, source, given) is None

    def _of(
        self, settings: "Settings", chosen: tuple[str | None, tuple[str, ...]]
    ) -> Options:
        """Return the options of files for which settings choose the same."""
        key = (settings, chosen)
        found = self._options.get(key)
        if found is None:
            found = _options_of(self._base, settings, chosen, self._given)
            self._options[key] = found
        return found

    def of_source(self, source: Source) -> "Settings | None":
        """Return the settings of a file. Raises `TomlError`."""
        if not self._is_searched or not isinstance(source.origin, Path):
            return self.run
        # As it is named: making paths absolute takes time where files are many.
        folder = os.path.dirname(os.fspath(source.origin))  # noqa: PTH120 - slow for many files
        if folder in self._folders:
            return self._folders[folder]
        found = self._finder.of_folder(os.path.abspath(folder))  # noqa: PTH100 - links are not resolved
        if found is None or found is self._run_file:
            self._folders[folder] = self.run
            return self.run
        from harpia_formats.api.settings_file import BY_NAME  # noqa: PLC0415 - most runs have no settings

        names = [name for name in found.values if BY_NAME[name].of_run]
        self.unused[found.path] = names
        self._folders[folder] = found = self._with_lines(found)
        return found


def chosen_by(settings: "Settings", source: Source, given: Collection[str]) -> Chosen:
    """Return what the patterns of settings choose for a file."""
    from harpia_formats.files.io.discovery import matches, parts_of  # noqa: PLC0415 - most runs have no settings

    values = settings.values

    def matching(name: str) -> list[str]:
        patterns = values.get(name)
        if not patterns:
            return []
        parts = _parts_below(source, settings.root_of(name))
        return [one for one in patterns if matches(parts, parts_of(one))]

    if "exclude" not in given and matching("exclude"):
        return None
    ignores: Mapping[str, tuple[str, ...]] = values.get("per-file-ignores", {})
    ignored = [rule for one in matching("per-file-ignores") for rule in ignores[one]]
    named = matching("formats")
    format_ = values["formats"][named[-1]] if named else None
    return format_, tuple(dict.fromkeys(ignored))


def _options_of(
    run: Options,
    settings: "Settings",
    chosen: tuple[str | None, tuple[str, ...]],
    given: Collection[str],
) -> Options:
    """Return the options of a file by its settings and what their patterns choose."""
    values = _values(settings, given, of_run=False)
    for name in ("select", "ignore", "lint", "exclude"):
        values.pop(name, None)
    format_, ignored = chosen
    ignore = run.ignore
    if "select" not in given:
        values["select"] = settings.values.get("select", ())
        if "lint" not in given:
            values["lint"] = settings.values.get("lint", False)
        ignore = (*settings.values.get("ignore", ()), *ignore)
    values["ignore"] = (*ignore, *ignored)
    if run.schema is not None:
        # They are about formats.
        values.pop("strict", None)
    elif run.format is None:
        values["format"] = format_
    return replace(run, **values)


def _values(
    settings: "Settings", given: Collection[str], *, of_run: bool
) -> dict[str, Any]:
    """Return the settings that are options of a validation and not `given`."""
    from harpia_formats.api.settings_file import OPTION_FIELDS, SETTINGS  # noqa: PLC0415 - most runs have no settings

    return {
        setting.field: settings.values[setting.name]
        for setting in SETTINGS
        if setting.of_run == of_run
        and setting.field in OPTION_FIELDS
        and setting.name in settings.values
        and setting.name not in given
    }


def _parts_below(source: Source, root: str) -> tuple[str, ...]:
    """Return the steps from a folder to a file; its name if it is not below the folder.

    What is no local file has the steps of its name, such as a URL.
    """
    if not isinstance(source.origin, Path):
        return tuple(filter(None, source.name.split("/")))
    path = os.path.abspath(source.origin)  # noqa: PTH100 - many small files
    below = root.rstrip(os.sep) + os.sep
    if not path.startswith(below):
        return (os.path.basename(path),)  # noqa: PTH119 - many small files
    return Path(path[len(below) :]).parts
