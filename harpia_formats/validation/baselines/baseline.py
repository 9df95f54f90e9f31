"""The findings of a baseline, and the text of its file."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.model.errors import HarpiaFormatsError
from harpia_formats.model.text.sanitize import UNSAFE

#: The name and the version of the files that are written and read.
NAME, VERSION = "harpia-formats/baseline/", 1
SCHEMA = f"{NAME}{VERSION}"
#: Rules on records that got no verdict. They say nothing about the data, so that no
#: baseline holds them.
NEVER_KNOWN = frozenset({"J307", "S301", "V901", "V902"})

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
            f"harpia-formats reads {VERSION}; write it anew with --write-baseline"
        )
        raise BaselineError(path, reason)
    reason = f'is no baseline: it has no "schema": "{SCHEMA}"'
    raise BaselineError(path, f"{reason}; write one with --write-baseline")


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
