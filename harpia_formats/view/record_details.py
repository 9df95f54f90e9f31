"""A record as the page shows it: as a row of the table, and with everything it has."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from harpia_formats.formats.rules import rule_url
from harpia_formats.model.exact_json import ExactFloat, encode
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Record, as_dict
from harpia_formats.validation.options import Options
from harpia_formats.validation.run import Validation
from harpia_formats.view.answers import (
    answer_of,
    means_of,
    prompt_of,
    reference_of,
    verdict_of,
)
from harpia_formats.view.record_scan import FoundRule
from harpia_formats.view.row_index import FoundFile, joined

#: Characters of a text in the table, and of one in a record.
SHORT, LONG = 300, 200_000
#: Objects and lists in each other, beyond which they are shown as text.
DEEPEST = 100
#: Numbers beyond this are not exact in a browser.
EXACT = 2**53


def row_of(record: Record) -> dict[str, Any]:
    """Return what the table shows of a record."""
    models = [o.model for o in record.outputs if o.model is not UNSET]
    return {
        "id": None if record.id is UNSET else str(record.id)[:SHORT],
        "prompt": short(prompt_of(record)),
        "answer": short(answer_of(record.outputs[0])) if record.outputs else None,
        "reference": short(reference_of(record)),
        "models": list(dict.fromkeys(models)),
        "answers": len(record.outputs),
        "scores": means_of(record),
        "correct": verdict_of(record),
    }


def short(text: str | None, length: int = SHORT) -> str | None:
    """Return the beginning of a text, None without one."""
    return None if text is None else text[:length]


class CutTexts:
    """Prepares values of records for a browser: short, flat and exact."""

    def __init__(self) -> None:
        #: The lengths of the texts that were cut, by their paths.
        self.cut: dict[str, int] = {}

    def shown(self, value: Any, path: str = "", depth: int = 0) -> Any:
        """Return a value with long texts cut; too exact or deep values become texts."""
        if depth > DEEPEST and isinstance(value, dict | list):
            try:
                value = encode(value).decode()
            except RecursionError:
                value = "(nested too deep to be shown here: see the row)"
        if isinstance(value, str):
            if len(value) > LONG:
                self.cut[path] = len(value)
            return value[:LONG]
        if isinstance(value, dict):
            return {
                key: self.shown(member, f"{path}.{key}" if path else key, depth + 1)
                for key, member in value.items()
            }
        if isinstance(value, list):
            return [
                self.shown(item, f"{path}.{at}", depth + 1)
                for at, item in enumerate(value)
            ]
        if isinstance(value, ExactFloat):
            return str(value)
        return str(value) if type(value) is int and abs(value) > EXACT else value


def fields_of_record(record: Record) -> dict[str, Any]:
    """Return all fields of a record, and `cut`, the lengths of texts that were cut."""
    texts = CutTexts()
    fields = texts.shown(as_dict(record))
    if "id" in fields:
        del fields["id"]
    return {**fields, "cut": texts.cut}


#: An offset in a message, which counts from the beginning of the file.
_offset = re.compile(r"(?<= that starts at byte )\d+")


@dataclass(frozen=True, slots=True)
class RowFindings:
    """Validates single rows of a file."""

    found: FoundFile
    after: bytes
    max_row_bytes: int
    hides_values: bool

    def of(self, row: bytes, rules: Iterable[FoundRule]) -> list[dict[str, Any]]:
        """Return the findings in a row, each with its place in the text of the row.

        `rules` are those that the row breaks by the scan of the whole file: what they
        found by other rows has no place.
        """
        problems = [] if self.found.rows_of == "records" else self._problems(row)
        start = len(self._front)
        shown = [self._shown(problem, row, start) for problem in problems]
        known = {problem.code for problem in problems}
        shown += [
            {
                "code": rule.code,
                "name": rule.name,
                "severity": rule.severity,
                "message": "found by looking at the whole file; `validate` says more",
                "because": [],
                "help": "",
                "pointer": "",
                "begin": None,
                "end": None,
                "url": rule_url(rule.code),
            }
            for rule in rules
            if rule.code not in known
        ]
        return shown

    @property
    def _front(self) -> bytes:
        """What stands in front of a row that is validated by itself.

        A line has another one in front, since alone it may look like another kind of
        file.
        """
        if self.found.kind == "lines":
            return b"{}\n"
        return self.found.before if self.found.kind in {"array", "table"} else b""

    def _problems(self, row: bytes) -> Sequence[Problem]:
        """Return the problems of a row by itself."""
        before, after = [self.found.before], filter(None, [self.after])
        file = b"".join(joined([row], self.found, before, after))
        number = 1
        if self.found.kind == "lines":
            file, number = self._front + file, 2
        validation = Validation(
            [file],
            Options(
                format=self.found.format or None,
                delimiter=self.found.delimiter or None,
                max_row_bytes=self.max_row_bytes,
                examples=0,
                max_problems=0,
                jobs=1,
                redact=self.hides_values,
            ),
        )
        return [problem for problem in validation if problem.place.record == number]

    def _shown(self, problem: Problem, row: bytes, start: int) -> dict[str, Any]:
        """Return a problem, with its place in the text of the row."""
        place = problem.place
        at = place.byte_offset - start
        begin = end = None
        if 0 <= at <= len(row) and not self.hides_values:
            begin = len(row[:at].decode("utf-8", "replace"))
            end = begin + max(0, place.end_column - place.column)
        return {
            "code": problem.code,
            "name": problem.name,
            "severity": problem.severity.value,
            "message": _offset.sub(
                lambda found: str(int(found[0]) - start), problem.message
            ),
            "because": [
                {"pointer": one.pointer, "value": one.value} for one in problem.because
            ],
            "help": problem.help,
            "pointer": place.pointer,
            "begin": begin,
            "end": end,
            "url": rule_url(problem.code),
        }


def raw_of(row: bytes) -> Mapping[str, Any]:
    """Return the text of a row, its bytes, and whether the text is cut."""
    text = row[: 4 * LONG].decode("utf-8", "replace")
    return {
        "raw": text[:LONG],
        "raw_bytes": len(row),
        "raw_cut": len(text) > LONG or len(row) > 4 * LONG,
    }
