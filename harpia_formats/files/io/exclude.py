"""Leave out files whose paths match patterns of the user."""

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import PurePath

from harpia_formats.files.io.source import Source
from harpia_formats.model.errors import OptionError


def check_patterns(patterns: Iterable[str]) -> None:
    """Raise `TypeError` if `patterns` is one text and not several.

    Raises `OptionError` for a pattern without a name, which would match nothing.
    """
    if isinstance(patterns, str):
        raise TypeError("exclude takes several patterns, such as ('logs', '*.old')")
    for pattern in patterns:
        if not parts_of(pattern):
            raise OptionError(
                f"--exclude {pattern!r} names no file: give a pattern such as '*.old'"
            )


class Exclusion:
    """Patterns of files that are left out, and how many files were left out so far.

    A pattern is matched against the path of a file below the folder that the user
    named, and against the folders on that path. One without a slash is matched against
    each name on it. `*` matches no slash, `**` any number of folders.
    """

    def __init__(
        self,
        patterns: Iterable[str] = (),
        is_left_out: Callable[[Source], bool] | None = None,
        *,
        may_leave_none: bool = False,
    ) -> None:
        """Take the patterns, and what says which further files are left out.

        Unless they `may_leave_none`, leaving out every file is an error.
        """
        self._is_left_out = is_left_out
        self.may_leave_none = may_leave_none
        self._patterns = {pattern: parts_of(pattern) for pattern in patterns}
        #: The patterns that matched no file so far.
        self._unmatched = dict.fromkeys(self._patterns)
        self.count = 0

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The patterns that matched no file so far."""
        return tuple(self._unmatched)

    @property
    def reason(self) -> str:
        """What leaves files out."""
        return "--exclude" if self._patterns else "the setting exclude"

    def left(self, sources: Iterable[Source], folder: str) -> Iterator[Source]:
        """Yield the sources, found below `folder`, that no pattern matches."""
        for source in sources:
            if self._leaves_out(source, folder):
                self.count += 1
            else:
                yield source

    def _leaves_out(self, source: Source, folder: str) -> bool:
        if self._patterns and self._matches(_below(source.name, folder)):
            return True
        return self._is_left_out is not None and self._is_left_out(source)

    def _matches(self, parts: tuple[str, ...]) -> bool:
        found = [
            given
            for given, pattern in self._patterns.items()
            if matches(parts, pattern)
        ]
        for given in found:
            self._unmatched.pop(given, None)
        return bool(found)


def matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Return whether a pattern matches a path or a folder on it; both are in steps."""
    if len(pattern) > 1:
        return _matches_path(parts, pattern)
    return any(fnmatchcase(part, *pattern) for part in parts)


def parts_of(pattern: str) -> tuple[str, ...]:
    """Return the steps of a pattern."""
    return tuple(part for part in pattern.split("/") if part not in {"", "."})


def _matches_path(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Return whether `pattern` matches a path, or one of the folders on it."""
    if not pattern:
        return True
    first, rest = pattern[0], pattern[1:]
    if first == "**":
        ends = range(len(parts) + 1)
        return any(_matches_path(parts[end:], rest) for end in ends)
    is_first = bool(parts) and fnmatchcase(parts[0], first)
    return is_first and _matches_path(parts[1:], rest)


def _below(name: str, folder: str) -> tuple[str, ...]:
    """Return the steps from `folder` to a file; of a file that was named, its path.

    The folders above an absolute path are not what the patterns are about.
    """
    for base in (folder.rstrip("/"), str(PurePath(folder))):
        if name.startswith(f"{base}/"):
            return tuple(filter(None, name[len(base) :].split("/")))
    path = PurePath(name)
    return (path.name,) if path.is_absolute() else path.parts
