"""Known findings: the file of a baseline, and the files of a run as it names them."""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from harpia_formats.files.io.file_sink import NO_FOLDER, write_file
from harpia_formats.files.io.reader import error_reason, read_side_input
from harpia_formats.files.io.sink import check_folder
from harpia_formats.files.io.source import STANDARD_INPUT
from harpia_formats.files.io.urls import is_url
from harpia_formats.model.problem import HarpiaFormatsError, Severity
from harpia_formats.model.report import TOO_FEW_RECORDS, BaselineUse, FileCount, Report
from harpia_formats.model.safe_text import UNSAFE
from harpia_formats.validation.baselines import DESCRIBED

#: The name and the version of the files that are written and read.
NAME, VERSION = "harpia-formats/baseline/", 1
SCHEMA = f"{NAME}{VERSION}"
#: Rules on records that got no verdict, or are missing. They say nothing about the
#: data that is there, so that no baseline holds them.
NEVER_KNOWN = frozenset({TOO_FEW_RECORDS, "J307", "S301", "V901", "V902"})

#: The code, pointer and cause of equal findings of one file.
FindingKey = tuple[str, str, str]
#: How many findings of each kind are known of each file.
Counts = Mapping[str, Mapping[FindingKey, int]]
#: The codes of the rules that were checked in each file.
RulesSeen = Mapping[str, Collection[str]]


class BaselineError(HarpiaFormatsError):
    """A baseline that cannot be used or written: its path, and the reason."""

    hides_values = True

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"baseline {self.path}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings: the count of each kind in each file, none of them 0.

    Files are named relative to the folder of the baseline, with slashes.
    """

    counts: Counts = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The number of all findings."""
        return sum(sum(of_file.values()) for of_file in self.counts.values())

    def no_more_than(self, found: "Baseline", seen: RulesSeen) -> "Baseline":
        """Return the baseline without findings that are not `found` in `seen` files.

        What it has of other files is kept, and what it has of rules that were not
        checked in a file.
        """
        counts = {}
        for path, of_file in self.counts.items():
            limits, rules = found.counts.get(path, {}), seen.get(path, ())
            counts[path] = {
                key: min(count, limits.get(key, 0)) if key[0] in rules else count
                for key, count in of_file.items()
            }
        return Baseline(
            {
                path: {key: count for key, count in of_file.items() if count}
                for path, of_file in counts.items()
                if any(of_file.values())
            }
        )


def baseline_text(baseline: Baseline) -> str:
    """Return the text of a baseline: sorted, with one line for each kind of finding."""
    lines = ",\n".join(map(_as_json, _entries(baseline)))
    return f'{{"schema": "{SCHEMA}", "findings": [\n{lines}\n]}}\n'


def parse_baseline(data: bytes, path: str) -> Baseline:
    """Return the baseline in the bytes of a file. Raises `BaselineError`."""
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BaselineError(path, f"is not UTF-8 (byte {error.start:,})") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise BaselineError(path, f"is not JSON: {error.msg} ({place})") from error
    except (RecursionError, ValueError) as error:  # nested too deeply, or a huge number
        raise BaselineError(path, f"is not JSON: {error}") from error
    _check_version(document, path)
    findings = document.get("findings")
    if not isinstance(findings, list) or document.keys() != {"schema", "findings"}:
        reason = 'it must have "schema" and "findings", an array, and nothing else'
        raise BaselineError(path, reason)
    counts: dict[str, dict[FindingKey, int]] = {}
    for number, entry in enumerate(findings, 1):
        reason = _mistake_in(entry)
        if reason:
            raise BaselineError(path, f"finding {number:,} {reason}")
        key = (entry["code"], entry["pointer"], entry.get("cause", ""))
        of_file = counts.setdefault(entry["path"], {})
        if key in of_file:
            reason = "repeats an earlier one; was the file merged by hand?"
            raise BaselineError(path, f"finding {number:,} {reason}")
        of_file[key] = entry["count"]
    return Baseline(counts)


def _entries(baseline: Baseline) -> Iterator[dict[str, Any]]:
    """Yield the findings as JSON objects, sorted."""
    for path, of_file in sorted(baseline.counts.items()):
        for (code, pointer, cause), count in sorted(of_file.items()):
            if code not in NEVER_KNOWN:
                entry = {"path": path, "code": code, "pointer": pointer}
                more = {"cause": cause} if cause else {}
                yield {**entry, **more, "count": count}


def _as_json(entry: dict[str, Any]) -> str:
    """Return an entry as text that can be encoded and is safe on a terminal."""
    text = json.dumps(entry, ensure_ascii=False)
    return json.dumps(entry) if UNSAFE.search(text) else text


def _check_version(document: Any, path: str) -> None:
    """Raise `BaselineError` unless a document is a baseline of this version."""
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema == SCHEMA:
        return
    if isinstance(schema, str) and schema.startswith(NAME):
        reason = (
            f"has version {schema.removeprefix(NAME)}, and this version of "
            f"harpia-formats reads {VERSION}; write it anew with `--write-baseline`"
        )
        raise BaselineError(path, reason)
    reason = f'is no baseline: it has no "schema": "{SCHEMA}"'
    raise BaselineError(path, f"{reason}; write one with `--write-baseline`")


def _mistake_in(entry: Any) -> str:
    """Return what is wrong with an entry, "" if nothing is."""
    if not isinstance(entry, dict):
        return "is no object"
    for name in ("path", "code", "pointer", "cause"):
        if not isinstance(entry.get(name, "" if name == "cause" else None), str):
            return f'must have "{name}", a text'
    count = entry.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        return 'must have "count", a whole number above 0'
    others = entry.keys() - {"path", "code", "pointer", "cause", "count"}
    return f'has an unknown key "{min(others)}"' if others else ""


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
        reason = "does not exist; write it with `--write-baseline`"
        raise BaselineError(path, reason) from error
    except OSError as error:
        raise BaselineError(path, error_reason(error)) from error
    return parse_baseline(data, path)


def check_replaceable(path: str) -> None:
    """Raise `BaselineError` for standard output, and for a file that is no baseline.

    Raises `SinkError` if none may be made there.
    """
    if path == "-":
        reason = "only findings go to standard output (./- is a file of that name)"
        raise BaselineError(path, reason)
    try:
        with Path(path).open("rb") as file:
            beginning = file.read(_BEGINNING)
    except FileNotFoundError:
        folder = Path(path).parent
        if not folder.is_dir():
            raise BaselineError(path, NO_FOLDER) from None
        check_folder(Path(path))
        return
    except (OSError, ValueError) as error:
        raise BaselineError(path, error_reason(error)) from error
    if NAME.encode() not in beginning:
        raise BaselineError(path, "is no baseline, and is not replaced by one")
    check_folder(Path(path))


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
    """Return the files of a report with records or errors that no baseline holds.

    A run with the baseline would not be `ok`.
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


#: A byte that is no UTF-8 in the name of a file, as `key_of` writes it.
_escaped_byte = re.compile(r"\\u(dc[89a-f][0-9a-f])")


def _is_gone(key: str, baseline: str) -> bool:
    """Return whether the file of this name in a baseline does not exist."""
    if is_url(key) or key.startswith("<"):
        return False
    folder = Path(baseline).absolute().parent
    as_bytes = _escaped_byte.sub(lambda found: chr(int(found[1], 16)), key)
    return not any((folder / name).exists() for name in (key, as_bytes))
