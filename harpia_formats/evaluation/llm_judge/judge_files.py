"""Judging the records of files, and writing the verdicts into one output file."""

import math
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from harpia_formats.conversion.containers.row_writer import copy_spooled, spool
from harpia_formats.conversion.output_files import check_output
from harpia_formats.conversion.reading.records import records_in
from harpia_formats.evaluation.llm_judge.answer_pairs import (
    FIRST,
    SECOND,
    SIGNATURE,
    Pairing,
    PairRows,
    PairSource,
    verdict_field,
)
from harpia_formats.evaluation.llm_judge.input_bindings import (
    Binding,
    bindings_for,
    rows_of,
)
from harpia_formats.evaluation.llm_judge.judge import LLMJudge
from harpia_formats.evaluation.llm_judge.judge_errors import JudgeError
from harpia_formats.evaluation.llm_judge.reply_cache import ReplyCache, request_key
from harpia_formats.evaluation.llm_judge.row_verdicts import (
    JudgeRow,
    Verdict,
    rows_with_votes,
)
from harpia_formats.evaluation.scoring.answers.choose_systems import source_name
from harpia_formats.files.io.file_sink import open_sink
from harpia_formats.files.io.outputs import FilesRead
from harpia_formats.files.io.sink import Sink, StreamSink, suffix_of
from harpia_formats.files.io.urls import is_same_place
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.exact_json import encode
from harpia_formats.model.record import Record
from harpia_formats.model.safe_text import escaped, safe
from harpia_formats.model.spelling import nearest


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
        raise JudgeError(f"`--to {name}`: write json or jsonl{hint}") from None


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
    """Return a text in which halves of surrogate pairs are escaped."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def indented_for_terminal(text: str) -> str:
    """Return a text with `  | ` before each line and control characters escaped."""
    return "".join(f"  | {escaped(line)}\n" for line in text.split("\n"))


STANDARD = "-"
#: The fields of the two answers of a pair.
_answers = dict.fromkeys((FIRST, SECOND), "outputs.text")


@dataclass(frozen=True, slots=True)
class FileJob:
    """The job to judge the rows of some files and to write the verdicts to one file."""

    judge: LLMJudge
    paths: Sequence[str]
    output: str
    bindings: tuple[Binding, ...]
    shape: VerdictFormat = VerdictFormat.JSON
    overwrite: bool = False
    cache: Path | None = None
    #: Further arguments of `records_in`.
    reading: Mapping[str, Any] = field(default_factory=dict)
    #: How pairs of answers are judged, None if each answer is judged.
    pairing: Pairing | None = None

    @property
    def must_overwrite(self) -> bool:
        """Whether the same job, run again, must overwrite its output."""
        return self.output != STANDARD and not self.overwrite

    def rows(self) -> tuple[Iterable[JudgeRow], int]:
        """Return all rows, one for each vote, and their number.

        The whole input is read before the first request, so that nothing is paid for an
        invalid file. Records of regular files are read again instead of being held in
        memory. Raises what `records_in` raises, and `JudgeError` without rows.
        """
        pairing, votes = self.pairing, self.judge.votes
        if pairing is None:
            read = self._reading(self.paths)
            count = sum(1 for _ in rows_of(read(), self.bindings))
            if not count:
                raise JudgeError("there is nothing to judge: the input has no records")
            rows: Iterable[JudgeRow] = rows_of(read(), self.bindings)
        else:
            rows = pairs = PairRows(self._sources(), self.bindings, pairing.models)
            count = sum(1 for _ in pairs)
            if not count:
                raise JudgeError(
                    "there is no pair: no question has answers of both models, in "
                    "records with the same id, prompt and references"
                )
            pairing.unpaired = pairs.unpaired
        return rows_with_votes(rows, votes), count * votes

    def _sources(self) -> list[PairSource]:
        """Return each of two inputs, or all inputs as one."""
        are_two = len(self.paths) == 2  # noqa: PLR2004 - a pair
        parts = [[path] for path in self.paths] if are_two else [self.paths]
        return [
            (source_name(part[0], at), self._reading(part))
            for at, part in enumerate(parts)
        ]

    def _reading(self, paths: Sequence[str]) -> Callable[[], Iterable[Record]]:
        """Return what reads the records of inputs again and again."""
        if all(Path(path).is_file() for path in paths):
            return lambda: records_in(paths, **self.reading)
        held = list(records_in(paths, **self.reading))
        return lambda: held

    def check(self) -> None:
        """Check that the output does not exist, and that the cache is another file.

        Raises `SinkError` and `JudgeError`.
        """
        check_output(self.output, overwrite=self.overwrite)
        reads = FilesRead(self.paths, unpackers=all_unpackers())
        if str(self.output) != STANDARD:
            reads.check(str(self.output))
        if self.cache is not None:
            for path in (*self.paths, self.output):
                if is_same_place(self.cache, path):
                    what = f"the cache {self.cache}"
                    raise JudgeError(f"{what} is an input or the output as well")
            reads.check(str(self.cache))

    def run(
        self, rows: Iterable[JudgeRow], total: int, standard: Any
    ) -> Generator[Verdict, None, None]:
        """Yield the verdicts; the output appears when all of them are complete.

        `standard` is the binary stream of standard output. Raises what `LLMJudge.run`
        and the sink raise.
        """
        sink: Sink = StreamSink(standard)
        if self.output != STANDARD:
            sink = open_sink(str(self.output), overwrite=self.overwrite)
        pairing = self.pairing
        signature = self.judge.signature + (SIGNATURE if pairing else "")
        writer = VerdictWriter(sink.write, self.shape, signature)
        try:
            with closing(self.judge.verdicts(rows, total=total)) as verdicts:
                for verdict in pairing.mapped(verdicts) if pairing else verdicts:
                    writer.add(verdict)
                    yield verdict
            writer.close()
            sink.commit()
        except BaseException:  # an interrupt, too, leaves no half of an output
            sink.discard()
            raise
        finally:
            writer.drop()

    def dry_run(self, rows: Iterable[JudgeRow], write: Callable[[str], None]) -> str:
        """Write the prompt of each row; return a summary of the requests to send.

        Nothing is sent, no API key is needed, and no cache is created.
        """
        there = self.cache is not None and os.path.exists(self.cache)  # noqa: PTH110 - `Path.exists` raises for a name that is too long
        seen: set[bytes] = set()
        counts: Counter[str] = Counter()
        judge, endpoint = self.judge, self.judge.definition.endpoint
        with ExitStack() as stack:
            cache = None
            if self.cache is not None and there:
                cache = stack.enter_context(ReplyCache(self.cache))
            template = judge.definition.template(judge.guard_secret(cache))
            for row in rows:
                is_first = not row.vote  # the prompts of further votes are equal
                text = ""
                if row.problem:
                    counts["lacking"] += is_first
                    text = f": {safe(row.problem)}\n"
                else:
                    prompt = template.prompt(row.values)
                    key = request_key(endpoint, prompt, row.vote)
                    is_known = cache is not None and cache.get(key) is not None
                    counts["cached"] += is_known
                    if not is_known and key not in seen:
                        counts["characters"] += len(prompt)
                        seen.add(key)
                    text = f"\n{indented_for_terminal(prompt)}"
                if is_first:
                    counts["rows"] += 1
                    write(safe(row.place) + text)
        each = f", {judge.votes:,} votes each" if judge.votes > 1 else ""
        return (
            f"{counts['rows']:,} rows{each}: {counts['cached']:,} answered in the "
            f"cache, {counts['lacking']:,} lack an input; {len(seen):,} prompts to "
            f"send, {counts['characters']:,} characters. Nothing was sent."
        )


def file_job(
    judge: LLMJudge,
    paths: Sequence[str],
    output: str,
    binds: Iterable[str],
    models: Sequence[str] | None = None,
    **more: Any,
) -> FileJob:
    """Return a job; `binds` are bindings of inputs such as `responses=outputs.text`.

    The rows are pairs of answers of two `models`, unless it is None; no names stand for
    the only two that there are. Raises `JudgeError`.
    """
    given: dict[str, str] = {}
    for binding in binds:
        name, _, path = binding.partition("=")
        if not name or not path:
            raise JudgeError(f"`--bind` {binding}: write it as NAME=PATH")
        if name in given:
            raise JudgeError(f"`--bind` {binding}: {name} is bound already")
        given[name] = path
    required_names = judge.definition.template().required_names
    pairing = None
    if models is not None:
        pairing = Pairing(verdict_field(judge.definition), judge.votes, tuple(models))
        given = {**_answers, **given}
    bindings = bindings_for(required_names, given)
    if pairing is not None:
        _check_pair_bindings(bindings)
    return FileJob(judge, paths, output, bindings, pairing=pairing, **more)


def _check_pair_bindings(bindings: Iterable[Binding]) -> None:
    """Raise `JudgeError` unless two inputs are fields of answers, and no others."""
    for binding in bindings:
        if binding.is_of_answer != (binding.name in _answers):
            which = "must" if binding.name in _answers else "cannot"
            raise JudgeError(
                f"with `--pairwise` the input {binding.name} {which} be a field of an "
                f"answer, such as outputs.text: {FIRST} and {SECOND} are the answers"
            )
