"""A record as the page shows it: as a row of the table, and with everything it has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from harpia_formats.formats.rules import rule_url
from harpia_formats.model.exact_json import ExactFloat
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Output, Record, as_dict
from harpia_formats.validation.options import Options
from harpia_formats.validation.run import Validation
from harpia_formats.view.record_scan import FoundRule, score_number
from harpia_formats.view.row_index import FoundFile, joined

#: Characters of a text in the table, and of one in a record.
SHORT, LONG = 300, 200_000
#: Numbers beyond this are not exact in a browser.
EXACT = 2**53


def row_of(record: Record) -> dict[str, Any]:
    """Return what the table shows of a record."""
    models = [o.model for o in record.outputs if o.model is not UNSET]
    scores: dict[str, list[float]] = {}
    verdicts = []
    for output in record.outputs:
        for score in output.scores or ():
            number = score_number(score.value)
            if number is not None:
                name = score.metric if score.metric is not UNSET else "score"
                scores.setdefault(name, []).append(number)
            if score.is_correct is not UNSET:
                verdicts.append(score.is_correct)
    return {
        "id": None if record.id is UNSET else str(record.id)[:SHORT],
        "prompt": _short(prompt_of(record)),
        "answer": _short(answer_of(record.outputs[0])) if record.outputs else None,
        "reference": _short(reference_of(record)),
        "models": list(dict.fromkeys(models)),
        "answers": len(record.outputs),
        "scores": {name: sum(all_) / len(all_) for name, all_ in scores.items()},
        "correct": all(verdicts) if verdicts else None,
    }


def _short(text: str | None) -> str | None:
    """Return the beginning of a text."""
    return None if text is None else text[:SHORT]


def prompt_of(record: Record) -> str | None:
    """Return what a record asks, of a chat its last message by a user."""
    if record.prompt is not UNSET:
        return record.prompt
    if record.messages is UNSET:
        return None
    asked = [one for one in record.messages if one.get("role") == "user"]
    return (
        text_of((asked or record.messages)[-1].get("content"))
        if record.messages
        else None
    )


def reference_of(record: Record) -> str | None:
    """Return the first expected answer of a record."""
    if record.references:
        return record.references[0]
    return None if record.gt is UNSET else record.gt


def answer_of(output: Output) -> str | None:
    """Return the text of an answer, of a conversation that of its last turn."""
    if output.text is not UNSET and output.text is not None:
        return output.text
    if output.turns is not UNSET and output.turns:
        return text_of(output.turns[-1].get("content"))
    return None


def text_of(content: Any) -> str | None:
    """Return the text of the content of a message, which may have parts."""
    if isinstance(content, list):
        parts = (p.get("text") if isinstance(p, dict) else p for p in content)
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


class CutTexts:
    """Makes values of records such that a browser shows them: short and exact."""

    def __init__(self) -> None:
        #: The lengths of the texts that were cut, by their paths.
        self.cut: dict[str, int] = {}

    def shown(self, value: Any, path: str = "") -> Any:
        """Return a value with long texts cut, and numbers as text that are too exact."""
        if isinstance(value, str):
            if len(value) <= LONG:
                return value
            self.cut[path] = len(value)
            return value[:LONG]
        if isinstance(value, dict):
            return {
                key: self.shown(member, f"{path}.{key}" if path else key)
                for key, member in value.items()
            }
        if isinstance(value, list):
            return [self.shown(item, f"{path}.{at}") for at, item in enumerate(value)]
        if isinstance(value, ExactFloat):
            return str(value)
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and abs(value) > EXACT
        ):
            return str(value)
        return value


def fields_of_record(record: Record) -> dict[str, Any]:
    """Return all fields of a record, and `cut`, the lengths of texts that were cut."""
    texts = CutTexts()
    fields = texts.shown(as_dict(record))
    if "id" in fields:
        del fields["id"]
    return {**fields, "cut": texts.cut}


@dataclass(frozen=True, slots=True)
class RowFindings:
    """Validates single rows of a file."""

    found: FoundFile
    after: bytes
    max_row_bytes: int
    hides_values: bool

    def of(self, row: bytes, rules: Iterable[FoundRule]) -> list[dict[str, Any]]:
        """Return what is found in a row, each with its place in the text of the row.

        `rules` are those that the row breaks by the scan of the whole file: what they
        found by other rows has no place.
        """
        problems = [] if self.found.rows_of == "records" else self._problems(row)
        start = len(self.found.before) if self.found.kind in {"array", "table"} else 0
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

    def _problems(self, row: bytes) -> Sequence[Problem]:
        """Return the problems of a row by itself."""
        file = b"".join(joined([row], self.found, self.after))
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
        return [problem for problem in validation if problem.place.record == 1]

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
            "message": problem.message,
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
