"""The limits of the program: what each bounds, how much, and what comes behind it.

Every number is the constant, or the default of the option, that the program itself
obeys. The page `docs/reference/limits.md` and the tests are made of this table.
"""

from dataclasses import dataclass

from harpia_converters.hub import table_metadata
from harpia_converters.inspect_ai import archive_text
from harpia_formats.api.options import OPTIONS
from harpia_formats.conversion import output_files
from harpia_formats.conversion.mapping import answer_groups
from harpia_formats.conversion.subsets import merge
from harpia_formats.evaluation.llm_judge import endpoint, judge_definition
from harpia_formats.evaluation.metrics import (
    error_rates,
    label_counts,
    metric,
    question_metrics,
)
from harpia_formats.evaluation.scoring import options as score_options
from harpia_formats.expectations import relations
from harpia_formats.files import toml
from harpia_formats.files.io import discovery, reader, remote_file, zip_archive
from harpia_formats.files.parsing import csv_blocks, json_syntax
from harpia_formats.formats.registry import all_rules
from harpia_formats.formats.schema import user_schema
from harpia_formats.reporters import sarif
from harpia_formats.validation import inferred_schema, schema_inference
from harpia_formats.validation import options as validate_options
from harpia_formats.validation.unit import findings, guarded_rows
from harpia_formats.view import access, notes, record_scan, systems, text_search

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Limit:
    """One limit: its title, number and unit, what reports it, and the reason for it."""

    title: str
    number: float
    unit: str
    #: The code of a rule, or words of a message.
    reported: str
    why: str
    #: The option that changes it, "" if none does.
    option: str = ""
    #: Whether nothing is reported, but `reported` says what is left.
    is_silent: bool = False

    @property
    def value(self) -> str:
        """The number with its unit, as a page shows it."""
        if self.unit == "bytes" and not self.number % MEGABYTE:
            return f"{self.number // MEGABYTE:,} MiB"
        return f"{shown(self.number)} {self.unit}".rstrip()

    @property
    def finding(self) -> str:
        """What is reported, with the name of a rule."""
        rule = all_rules().get(self.reported)
        words = self.reported.format(shown(self.number))
        if rule is not None:
            return f"`{rule.code}` {rule.name}"
        return words if self.is_silent else f"“{words}”"


def shown(number: float) -> str:
    """Return a number as messages have it."""
    return f"{int(number):,}" if number == int(number) else f"{number:g}"


def default_of(words: str) -> float:
    """Return the default of the option with these words, which must have one."""
    option = next(each for each in OPTIONS if words in each.all_words())
    assert isinstance(option.default, (int, float))
    return option.default


def most_of(words: str) -> float:
    """Return the largest value of the option with these words, which must have one."""
    option = next(each for each in OPTIONS if words in each.all_words())
    assert option.most is not None
    return option.most


_HELD = "it is held in memory"
_TOML = "a parser of TOML takes long for some texts, so it gets no larger ones"
_BOMB = "text seldom becomes 50 times as long: more is a decompression bomb"
_FILES = "each has a file that is open"

#: All limits by their names, under the titles of their groups.
LIMITS: dict[str, dict[str, Limit]] = {
    "Rows": {
        "row bytes": Limit(
            "a row",
            reader.ROW_LIMIT,
            "bytes",
            "J110",
            f"{_HELD}; a longer one is usually a file without line ends",
            "--max-row-bytes",
        ),
        "depth": Limit(
            "arrays and objects inside each other",
            reader.DEPTH_LIMIT,
            "levels",
            "J108",
            "parsers stop at different depths, and some crash",
        ),
        "digits": Limit(
            "an integer",
            json_syntax.INTEGER_LIMIT,
            "characters",
            "J107",
            "Python takes long for more digits, and refuses them",
        ),
        "columns": Limit(
            "fields of a row of CSV",
            csv_blocks.FIELD_LIMIT,
            "fields",
            "J110",
            "a longer row is one whose quote or delimiter is wrong",
        ),
        "schema errors": Limit(
            "schema errors of a row",
            findings.FINDINGS,
            "errors",
            findings.MORE_ERRORS,
            "a short row can break a schema in millions of places",
        ),
        "other findings": Limit(
            "repeated keys, and other findings of one kind, of a row",
            findings.FINDINGS,
            "findings",
            findings.MORE_FINDINGS,
            "a row can hold millions of them",
        ),
    },
    "Files": {
        "files": Limit(
            "files that folders and patterns stand for",
            discovery.MOST_FILES,
            "files",
            "more than {} files; name fewer at once",
            "their names are sorted in memory",
        ),
        "side file": Limit(
            "a schema, settings, a plan, a baseline",
            reader.LARGEST,
            "bytes",
            "is too large: it has more than {} bytes",
            _HELD,
        ),
        "members": Limit(
            "members of an archive, as a log of Inspect AI (`.eval`) is one",
            zip_archive.MOST_MEMBERS,
            "members",
            "members, more than the {} that are read",
            "their directory is held in memory",
        ),
        "expansion": Limit(
            "bytes of a member of an archive, or of all of them, for each byte in it, "
            f"beyond {zip_archive.LARGEST // MEGABYTE} MiB",
            zip_archive.RATIO,
            "times as many",
            "is a decompression bomb",
            _BOMB,
        ),
        "header": Limit(
            "the header of a log of Inspect AI",
            archive_text.LARGEST,
            "bytes",
            "header.json is too large",
            f"{_HELD}, and has no samples",
        ),
        "table text": Limit(
            "bytes of text of a table for each byte of its file, beyond "
            f"{table_metadata.LARGEST // MEGABYTE} MiB",
            table_metadata.RATIO,
            "times as many",
            "decompression bomb",
            _BOMB,
        ),
        "footer": Limit(
            "the footer of Parquet, and the metadata of a message of Arrow",
            table_metadata.DESCRIBED,
            "bytes",
            "which is too long",
            _HELD,
        ),
        "open pages": Limit(
            "the largest pages of all columns of a row group of Parquet, together",
            2 * table_metadata.HELD,
            "bytes",
            "has open pages of",
            _HELD,
        ),
        "dictionaries": Limit(
            "the dictionaries of all columns of a row group of Parquet, together",
            table_metadata.DICTIONARIES,
            "bytes",
            "has dictionaries of",
            _HELD,
        ),
        "table record": Limit(
            "a record of a table",
            table_metadata.LONGEST_RECORD,
            "bytes",
            "has a record of",
            _HELD,
        ),
    },
    "Remote files": {
        "server": Limit(
            "the wait for a connection, and for the next bytes of a server, in each of "
            f"{len(remote_file.PAUSES) + 1} attempts",
            remote_file.TIMEOUT,
            "seconds",
            "the server did not answer in time",
            "a server may never answer",
        ),
    },
    "Settings, preflight files and plans": {
        "settings bytes": Limit(
            "the file", toml.LARGEST, "bytes", "more than the {} that are read", _TOML
        ),
        "settings keys": Limit(
            "keys", toml.MAX_KEYS, "keys", "has more than {} keys", _TOML
        ),
        "settings depth": Limit(
            "keys and arrays inside each other",
            toml.MAX_DEPTH,
            "levels",
            "nested more than {} deep",
            _TOML,
        ),
    },
    "Schemas": {
        "schema depth": Limit(
            "objects and arrays of a schema inside each other",
            user_schema.NESTING_LIMIT,
            "levels",
            "is nested deeper than {} levels",
            "the engine cannot compile more",
        ),
        "schema check": Limit(
            "the check of a schema that is not simple",
            guarded_rows.CHECK_SECONDS,
            "seconds",
            "checking it takes longer than {} s",
            "it runs in a process that is ended then",
        ),
        "row time": Limit(
            "the check of one row by a schema that is not simple",
            validate_options.ROW_TIMEOUT,
            "seconds",
            "V901",
            "a pattern, or a comparison of all items, may never end; the row is "
            "undetermined then, and not invalid",
            "--row-timeout",
        ),
        "inferred keys": Limit(
            "different keys of an object of a schema that is inferred",
            inferred_schema.KEY_LIMIT,
            "keys",
            "a map: more than {} different keys",
            "more are taken as values, so that one schema describes all members",
        ),
        "inferred places": Limit(
            "different keys of a schema that is inferred, by their places",
            schema_inference.PLACES,
            "keys",
            "more than {} different keys",
            "keys that are values make a schema as long as the data",
        ),
    },
    "What is written and printed": {
        "output files": Limit(
            "files of `{model}` and `{value}` in the name of an output",
            output_files.MAX_FILES,
            "files",
            "there are more than {}",
            _FILES,
        ),
        "repeated ids": Limit(
            "different ids that stand in more than one row of `merge`",
            merge.MOST_REPEATED - 1,
            "ids",
            "and more different ids stand in several rows",
            "they are distinguished in memory",
        ),
        "examples": Limit(
            "findings of the same kind that are printed",
            default_of("--examples"),
            "findings",
            "in all, {} shown",
            "the first ones show what is wrong; all are counted",
            "--examples",
        ),
        "problems": Limit(
            "findings that are printed",
            default_of("--max-problems"),
            "findings",
            "in all, {} shown",
            "nobody reads more; all are counted",
            "--max-problems",
        ),
        "sarif": Limit(
            "kinds of findings in SARIF",
            sarif.MOST,
            "kinds",
            "more kinds of findings are left out",
            "GitHub shows no more",
        ),
    },
    "Scores and the judge": {
        "groups": Limit(
            "groups of `--by`",
            answer_groups.MOST,
            "groups",
            "there are more than {} groups",
            "each has scores of its own, in memory",
        ),
        "replicates": Limit(
            "replicates of intervals",
            score_options.MOST_REPLICATES,
            "replicates",
            "replicates must be from 0 to {}",
            "they take memory, and more do not change the intervals",
            "--replicates",
        ),
        "metric parameter": Limit(
            "a whole number that is a parameter of a metric",
            metric.MOST,
            "",
            "a whole number from 0 to",
            "the time that a metric takes grows with it",
        ),
        "labels": Limit(
            "labels of a metric of labels",
            label_counts.MOST_LABELS,
            "labels",
            "finds more than {} labels",
            "more are texts, and all pairs of them are counted",
        ),
        "words": Limit(
            "words of a text for `ter`",
            error_rates.MOST_WORDS,
            "words",
            "words is longer than {}",
            "the edits of longer ones take seconds and memory",
        ),
        "majority": Limit(
            "k times the answers of a question for `maj@k`",
            question_metrics.MOST,
            "",
            "k times the answers must be at most {}",
            "the time that it takes grows with their product",
        ),
        "models of preflight": Limit(
            "models of one data set in a preflight file",
            relations.MOST_MODELS,
            "models",
            "there are more than {} models",
            "more are a sign that the field holds something else",
        ),
        "definition bytes": Limit(
            "the definition of a judge",
            judge_definition.MAX_BYTES,
            "bytes",
            "is too large: it has more than {} bytes",
            _HELD,
        ),
        "definition values": Limit(
            "values in the definition of a judge",
            judge_definition.MAX_VALUES,
            "values",
            "has far too many values for a definition",
            "aliases of YAML can stand for billions",
        ),
        "votes": Limit(
            "replies to each row",
            most_of("--votes"),
            "votes",
            "is more than {}",
            "each is paid for",
            "--votes",
        ),
        "requests": Limit(
            "requests of `judge` at the same time",
            most_of("--concurrency"),
            "requests",
            "is more than {}",
            "each has a thread and a connection",
            "--concurrency",
        ),
        "judge answer": Limit(
            "an answer of the endpoint of a judge, decompressed",
            endpoint.LONGEST_ANSWER,
            "bytes",
            "the endpoint's answer has more than {} bytes",
            f"{_HELD}, and an endpoint may send bytes without end",
        ),
    },
    "The page of view": {
        "request": Limit(
            "the body of a request",
            access.MOST_BYTES,
            "bytes",
            "a body has at most {} bytes",
            _HELD,
        ),
        "verdict": Limit(
            "a verdict in a note",
            notes.MOST_VERDICT,
            "characters",
            "a verdict has at most {} characters",
            "it is a label",
        ),
        "note": Limit(
            "the text of a note",
            notes.MOST_TEXT,
            "characters",
            "a text {}",
            _HELD,
        ),
        "search": Limit(
            "the search of a row by a regular expression",
            text_search.LIMIT,
            "seconds",
            "a row took more than {} seconds",
            "it runs in a process that is ended then",
        ),
        "view models": Limit(
            "models that have a column of their own",
            record_scan.MODELS - 1,
            "models",
            "one column for all further ones",
            "the models of a record are bits of one number",
            is_silent=True,
        ),
        "view categories": Limit(
            "categories that are told apart",
            record_scan.CATEGORIES,
            "categories",
            "records of further ones are not told apart",
            "their names are held in memory",
            is_silent=True,
        ),
        "view metrics": Limit(
            "metrics that have a column of their own",
            record_scan.METRICS,
            "metrics",
            "no column",
            "each column takes memory for each record",
            is_silent=True,
        ),
        "matched": Limit(
            "records of a file whose questions are compared",
            systems.MOST_MATCHED,
            "records",
            "more than {} records are not matched here",
            "the ids are compared in memory; `score compare` needs less",
        ),
    },
}


def all_limits() -> dict[str, Limit]:
    """Return all limits by their names."""
    return {name: one for group in LIMITS.values() for name, one in group.items()}
