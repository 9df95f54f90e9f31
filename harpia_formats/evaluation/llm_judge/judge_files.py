"""Judging the records of files, and writing the verdicts into one output file."""

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from harpia_formats.conversion.containers.row_writer import copy_spooled, spool
from harpia_formats.conversion.output_files import check_output
from harpia_formats.conversion.reading.reading_options import ReadingOptions
from harpia_formats.conversion.reading.records import records_in
from harpia_formats.evaluation.llm_judge.judge import LLMJudge, kept_verdict
from harpia_formats.evaluation.llm_judge.judged_rows import (
    FIRST,
    SECOND,
    SIGNATURE,
    Binding,
    Pairing,
    PairRows,
    bindings_for,
    rows_of,
    verdict_field,
)
from harpia_formats.evaluation.llm_judge.reply_cache import ReplyCache, request_key
from harpia_formats.evaluation.llm_judge.verdicts import (
    JudgeError,
    JudgeRow,
    Verdict,
    rows_with_votes,
)
from harpia_formats.evaluation.scoring.answers import source_name
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
    """Return the format with this name, or without a name that of the file extension.

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


def written(
    verdicts: Iterable[Verdict],
    write: Callable[[bytes], None],
    shape: VerdictFormat,
    signature: str,
) -> Iterator[Verdict]:
    """Write verdicts, and yield each that is written; then write the end of the file.

    `signature` tells how verdicts are made, and is written with each. In a JSON object
    the entries of `meta` follow all results: until then they are in a temporary file.
    """
    with closing(spool()) as metas:
        for verdict in verdicts:
            meta = _in_json({**verdict.meta, "signature": signature})
            result = _in_json(verdict.result)
            if not _has_json_numbers(verdict.result):
                meta["note"] = "a number that JSON does not have is null in the result"
            if shape is VerdictFormat.JSONL:
                write(encode({**meta, "result": result}) + b"\n")
            else:
                start = b",\n" if metas else b""
                write((start or b'{"results": [\n') + encode(result))
                metas.extend_bytes(start + encode(meta))
            yield verdict
        if metas:
            write(b'\n], "meta": [\n')
            copy_spooled(metas, write)
            write(b"\n]}\n")
        elif shape is VerdictFormat.JSON:
            write(b'{"results": [], "meta": null}\n')


def _in_json(value: Any) -> Any:
    """Return a value that JSON can represent: null for NaN, escapes for half pairs."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, dict):
        return {_whole(str(key)): _in_json(member) for key, member in value.items()}
    is_list = isinstance(value, list | tuple)
    return [_in_json(item) for item in value] if is_list else value


def _has_json_numbers(value: Any) -> bool:
    """Tell whether JSON has all numbers in a value."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _whole(text: str) -> str:
    """Return a text in which halves of surrogate pairs are escaped."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


STANDARD = "-"
#: The fields of the two answers of a pair.
_answers = dict.fromkeys((FIRST, SECOND), "outputs.text")


@dataclass(slots=True)
class FileJob:
    """The job to judge the rows of some files and to write the verdicts to one file.

    Raises `JudgeError` for inputs of the judge that are not bound to fields.
    """

    judge: LLMJudge
    paths: Sequence[str]
    output: str
    #: Bindings of inputs, such as `responses=outputs.text`.
    binds: Iterable[str]
    #: The two models whose answers are pairs, none for the only two that there are;
    #: None if each answer is judged.
    models: Sequence[str] | None = None
    shape: VerdictFormat = VerdictFormat.JSON
    overwrite: bool = False
    cache: Path | None = None
    #: Options of the reading of the files.
    reading: Mapping[str, Any] = field(default_factory=dict)
    #: How pairs of answers are judged, None if each answer is judged.
    pairing: Pairing | None = field(default=None, init=False)
    bindings: tuple[Binding, ...] = field(init=False)

    def __post_init__(self) -> None:
        given: dict[str, str] = {}
        for bind in self.binds:
            name, _, path = bind.partition("=")
            if not name or not path:
                raise JudgeError(f"`--bind` {bind}: write it as NAME=PATH")
            if name in given:
                raise JudgeError(f"`--bind` {bind}: {name} is bound already")
            given[name] = path
        definition, votes = self.judge.definition, self.judge.votes
        required_names = definition.template().required_names
        if self.models is None:
            self.bindings = bindings_for(required_names, given)
            return
        self.pairing = Pairing(verdict_field(definition), votes, tuple(self.models))
        self.bindings = bindings_for(required_names, {**_answers, **given})
        for binding in self.bindings:
            name = binding.name
            if binding.is_of_answer != (name in _answers):
                which = "must" if name in _answers else "cannot"
                raise JudgeError(
                    f"with `--pairwise` the input {name} {which} be a field of an "
                    f"answer, such as outputs.text: {FIRST} and {SECOND} are the "
                    "answers"
                )

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
        rows: Iterable[JudgeRow]
        if self.pairing is None:
            read = self._reading(self.paths)
            count = sum(1 for _ in rows_of(read(), self.bindings))
            rows = rows_of(read(), self.bindings)
            without = "there is nothing to judge: the input has no records"
        else:
            # Two inputs may be the systems; several other ones are one.
            are_two = len(self.paths) == 2  # noqa: PLR2004 - a pair
            parts = [[path] for path in self.paths] if are_two else [self.paths]
            sources = [
                (source_name(part[0], at), self._reading(part))
                for at, part in enumerate(parts)
            ]
            rows = pairs = PairRows(sources, self.bindings, self.pairing.models)
            count, self.pairing.unpaired = pairs.count, pairs.unpaired
            without = (
                "there is no pair: no question has answers of both models, in records "
                "with the same id, prompt and references"
            )
        if not count:
            raise JudgeError(without)
        votes = self.judge.votes
        return rows_with_votes(rows, votes), count * votes

    def _reading(self, paths: Sequence[str]) -> Callable[[], Iterable[Record]]:
        """Return what reads the records of inputs again and again."""
        options = ReadingOptions(**self.reading)
        if all(path != STANDARD and os.path.isfile(path) for path in paths):  # noqa: PTH113 - `Path.is_file` raises for a name that is too long
            return lambda: records_in(paths, options)
        held = list(records_in(paths, options))
        return lambda: held

    def check(self) -> None:
        """Check that the output does not exist, and that the cache is another file.

        Raises `SinkError` and `JudgeError`.
        """
        check_output(self.output, overwrite=self.overwrite)
        reads = FilesRead(self.paths, unpackers=all_unpackers())
        if self.output != STANDARD:
            reads.check(self.output)
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
            sink = open_sink(self.output, overwrite=self.overwrite)
        signature = self.judge.signature + (SIGNATURE if self.pairing else "")
        try:
            with closing(self.judge.verdicts(rows, total=total)) as verdicts:
                mapped = self.pairing.mapped(verdicts) if self.pairing else verdicts
                yield from written(mapped, sink.write, self.shape, signature)
            sink.commit()
        except BaseException:  # an interrupt, too, leaves no half of an output
            sink.discard()
            raise

    def dry_run(self, rows: Iterable[JudgeRow], write: Callable[[str], None]) -> str:
        """Write the prompt of each row; return a summary of the requests to send.

        Nothing is sent, no API key is needed, and no cache is created.
        """
        endpoint, votes = self.judge.definition.endpoint, self.judge.votes
        seen: set[bytes] = set()
        counts: Counter[str] = Counter()
        with ExitStack() as stack:
            cache = None
            if self.cache is not None and os.path.exists(self.cache):  # noqa: PTH110 - `Path.exists` raises for a name that is too long
                cache = stack.enter_context(ReplyCache(self.cache))
            secret = self.judge.guard_secret(cache)
            template = self.judge.definition.template(secret)
            for row in rows:
                text = f": {safe(row.problem)}\n"
                if not row.problem:
                    prompt = template.prompt(row.values)
                    key = request_key(endpoint, prompt, row.vote)
                    known = None if cache is None else cache.get(key)
                    if kept_verdict(self.judge, row, known) is not None:
                        counts["cached"] += 1
                    elif self.cache is None or key not in seen:
                        counts["prompts"] += 1
                        counts["characters"] += len(prompt)
                        seen.add(key)
                    lines = map(escaped, prompt.split("\n"))
                    text = "\n" + "".join(f"  | {line}\n" for line in lines)
                if not row.vote:  # the prompts of further votes are equal
                    counts["rows"] += 1
                    counts["lacking"] += bool(row.problem)
                    write(safe(row.place) + text)
        each = f", {votes:,} votes each" if votes > 1 else ""
        return (
            f"{counts['rows']:,} rows{each}: {counts['cached']:,} answered in the "
            f"cache, {counts['lacking']:,} lack an input; {counts['prompts']:,} "
            f"prompts to send, {counts['characters']:,} characters. Nothing was sent."
        )
