"""Read and write the file of a baseline, and name the files of a run as it does."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.side_input import read_side_input
from harpia_formats.files.io.source import STANDARD_INPUT
from harpia_formats.files.io.urls import is_url
from harpia_formats.files.io.write_file import write_file
from harpia_formats.model.problem import Severity
from harpia_formats.model.report import BaselineUse, FileCount, Report
from harpia_formats.validation.baselines import DESCRIBED
from harpia_formats.validation.baselines.baseline import (
    NAME,
    NEVER_KNOWN,
    Baseline,
    BaselineError,
    FindingKey,
    RulesSeen,
    baseline_text,
    parse_baseline,
)

#: Bytes of a file in which its schema is looked for before it is replaced.
_BEGINNING = 200


class KnownFindings:
    """The findings that a baseline has of the files of a run."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Read the baseline at `path`. Raises `BaselineError`."""
        self.path = os.fspath(path)
        self.baseline = read_baseline(self.path)
        counts = [
            count
            for of_file in self.baseline.counts.values()
            for count in of_file.values()
        ]
        #: How many more findings of one kind are described because of the known ones.
        self.most = max((one for one in counts if one <= DESCRIBED), default=0)

    def of(self, name: str) -> Mapping[FindingKey, int]:
        """Return what is known of the file `name`, as reports name it."""
        known = self.baseline.counts.get(key_of(name, self.path), {})
        return {key: count for key, count in known.items() if key[0] not in NEVER_KNOWN}

    def still_found(self, found: Baseline, seen: RulesSeen, path: str) -> Baseline:
        """Return the baseline without what is no longer found, for a file at `path`.

        `found` is the baseline of a run at that path, and `seen` are the rules that it
        checked in each of its files.
        """
        counts = {
            key_of(self._path_of(key), path): of_file
            for key, of_file in self.baseline.counts.items()
            if not _is_gone(key, self.path)
        }
        return Baseline(counts).no_more_than(found, seen)

    def _path_of(self, key: str) -> str:
        """Return the path of the file that the baseline calls `key`."""
        if is_url(key) or key.startswith("<"):
            return key
        return os.path.join(os.path.dirname(self.path), key)  # noqa: PTH118, PTH120 - as in `key_of`

    def use(
        self, held: int, unused: Mapping[str, int], names: Iterable[str]
    ) -> BaselineUse:
        """Return how a run used the baseline.

        `held` findings are in it, and it has `unused` ones beyond those of the file
        of that name; `names` are those of all files of the run.
        """
        left = {key_of(name, self.path): count for name, count in unused.items()}
        seen = {key_of(name, self.path) for name in names}
        for key, of_file in self.baseline.counts.items():
            if key not in seen and _is_gone(key, self.path):
                left[key] = sum(of_file.values())
        left = {key: count for key, count in left.items() if count}
        return BaselineUse(self.path, held, sum(left.values()), tuple(sorted(left)))


def read_baseline(path: str) -> Baseline:
    """Return the baseline in the file at `path`. Raises `BaselineError`."""
    try:
        data = read_side_input(Path(path))
    except FileNotFoundError as error:
        reason = "does not exist; write it with --write-baseline"
        raise BaselineError(path, reason) from error
    except OSError as error:
        raise BaselineError(path, error_reason(error)) from error
    return parse_baseline(data, path)


def check_replaceable(path: str) -> None:
    """Raise `BaselineError` if at `path` there is a file that is no baseline."""
    try:
        with Path(path).open("rb") as file:
            beginning = file.read(_BEGINNING)
    except FileNotFoundError:
        folder = Path(path).parent
        if not folder.is_dir():
            reason = f"there is no folder {folder}"
            raise BaselineError(path, reason) from None
        return
    except OSError as error:
        raise BaselineError(path, error_reason(error)) from error
    if NAME.encode() not in beginning:
        raise BaselineError(path, "is no baseline, and is not replaced by one")


def write_baseline(path: str, baseline: Baseline) -> None:
    """Write a baseline; its file appears whole or not at all.

    Raises `BaselineError` if there is another file, and `SinkError`.
    """
    check_replaceable(path)
    write_file(path, [baseline_text(baseline).encode()], overwrite=True)


def found_baseline(
    files: Iterable[tuple[FileCount, Mapping[FindingKey, int]]],
    path: str,
) -> Baseline:
    """Return the findings of files as a baseline at `path`."""
    counts: dict[str, dict[FindingKey, int]] = {}
    for count, findings in files:
        of_file = {
            key: times for key, times in findings.items() if key[0] not in NEVER_KNOWN
        }
        if of_file:
            counts[key_of(count.path, path)] = of_file
    return Baseline(counts)


def unheld_files(report: Report) -> tuple[str, ...]:
    """Return the files of a report that have records or errors which no baseline holds.

    These have no verdict, so that a run with the baseline would not be `ok`.
    """
    files = [file.path for file in report.files if file.undetermined]
    errors = [
        group.path
        for group in report.groups
        if group.code in NEVER_KNOWN and group.severity is Severity.ERROR
    ]
    return tuple(dict.fromkeys([*files, *errors]))


def key_of(name: str, baseline: str) -> str:
    """Return the name of a file in a baseline: relative to its folder, with slashes.

    URLs, and names of what is no file, stay as they are.
    """
    if is_url(name) or name == STANDARD_INPUT or name.startswith("<"):
        return name
    folder = os.path.dirname(os.path.abspath(baseline))  # noqa: PTH100, PTH120 - links are not resolved
    try:
        relative = os.path.relpath(name, folder)
    except ValueError:  # another drive
        relative = os.path.abspath(name)  # noqa: PTH100 - see above
    # Names that are no UTF-8 are written as their escapes.
    text = PurePath(relative).as_posix()
    return text.encode(errors="backslashreplace").decode()


def _is_gone(key: str, baseline: str) -> bool:
    """Return whether the file of this name in a baseline does not exist."""
    if is_url(key) or key.startswith("<"):
        return False
    return not (Path(baseline).absolute().parent / key).exists()
