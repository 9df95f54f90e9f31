"""Writing verdicts to a file: one JSON object, or a line for each row."""

import math
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from harpia_formats.conversion.containers.row_writer import copy_spooled, spool
from harpia_formats.evaluation.llm_judge.errors import JudgeError
from harpia_formats.evaluation.llm_judge.run.verdicts import Verdict
from harpia_formats.files.io.compressed_output import suffix_of
from harpia_formats.model.exact_json import encode
from harpia_formats.model.text.sanitize import escaped
from harpia_formats.model.text.spelling import nearest


class VerdictFormat(StrEnum):
    """The output formats of verdicts."""

    #: `{"results": [...], "meta": [...]}`, as Haystack's evaluators return them.
    JSON = "json"
    #: One object in each line, with the record, result and status of a row.
    JSONL = "jsonl"


def verdict_format(name: str | None, output: str) -> VerdictFormat:
    """Return the format with this name; without a name that of the file extension.

    Raises `JudgeError` for an unknown name.
    """
    if name is None:
        is_lines = suffix_of(output) in {".jsonl", ".ndjson"}
        return VerdictFormat.JSONL if is_lines else VerdictFormat.JSON
    try:
        return VerdictFormat(name)
    except ValueError:
        near = nearest(name, VerdictFormat)
        hint = f"; did you mean {near}?" if near else ""
        raise JudgeError(f"--to {name}: write json or jsonl{hint}") from None


class VerdictWriter:
    """Writes verdicts one by one; `close` writes the end of the file.

    In a JSON object the entries of `meta` follow all results, so until then they are in
    a temporary file, which `drop` deletes.
    """

    def __init__(
        self, write: Callable[[bytes], None], shape: VerdictFormat, signature: str
    ) -> None:
        self._write = write
        #: How the verdicts are made, which is written with each of them.
        self._signature = signature
        self._shape = shape
        self._metas = spool()

    def add(self, verdict: Verdict) -> None:
        """Write one verdict."""
        result, is_whole = _in_json(verdict.result)
        meta, _ = _in_json({**verdict.meta, "signature": self._signature})
        if not is_whole:
            meta["note"] = "a number that JSON does not have is null in the result"
        if self._shape is VerdictFormat.JSONL:
            self._write(encode({**meta, "result": result}) + b"\n")
            return
        is_first = not self._metas
        self._write(b'{"results": [\n' if is_first else b",\n")
        self._write(encode(result))
        self._metas.extend_bytes((b"" if is_first else b",\n") + encode(meta))

    def close(self) -> None:
        """Write the end of the file."""
        if self._shape is VerdictFormat.JSONL:
            return
        if not self._metas:
            self._write(b'{"results": [], "meta": null}\n')
            return
        self._write(b'\n], "meta": [\n')
        copy_spooled(self._metas, self._write)
        self._write(b"\n]}\n")

    def drop(self) -> None:
        """Delete the temporary file."""
        self._metas.close()


def _in_json(value: Any) -> tuple[Any, bool]:
    """Return a value that JSON can represent, and whether it is unchanged."""
    if isinstance(value, float) and not math.isfinite(value):
        return None, False
    if isinstance(value, str):
        # Half of a surrogate pair cannot be encoded.
        return _whole(value), True
    if isinstance(value, dict):
        parts = {_whole(str(key)): _in_json(member) for key, member in value.items()}
        found = {key: member for key, (member, _) in parts.items()}
        return found, all(is_whole for _, is_whole in parts.values())
    if isinstance(value, list | tuple):
        items = [_in_json(item) for item in value]
        return [item for item, _ in items], all(is_whole for _, is_whole in items)
    return value, True


def _whole(text: str) -> str:
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def indented_for_terminal(text: str) -> str:
    """Return a text with `  | ` before each line and control characters escaped."""
    return "".join(f"  | {escaped(line)}\n" for line in text.split("\n"))
