"""What all files of a run are validated with, as plain data."""

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import msgspec

from harpia_formats.files.io.reader import BLOCK
from harpia_formats.formats.registry import format_of, rules_of
from harpia_formats.formats.rules import Rule
from harpia_formats.formats.schema.load import Schema
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Severity
from harpia_formats.model.report import INTERNAL_ERROR
from harpia_formats.validation.options import Options

#: Selections of rules and formats that are remembered: each file of a run asks for
#: its own.
_REMEMBERED = 16
#: The size of the blocks in which a file is read with lints.
LINTED_BLOCK = 4 * BLOCK


class RunPlan(msgspec.Struct, frozen=True):
    """The options, rules, schema and formats of a run; it can be sent to a worker."""

    #: Identifies the run in the caches of workers: 1 and true are equal in schemas.
    key: str
    #: The options without what cannot be sent to another process.
    options: Options
    #: The codes of the selected rules.
    rules: tuple[str, ...]
    #: The user's schema and its name, or None to validate files by their formats.
    schema: tuple[str, Schema] | None
    #: The ids of the formats that a file may be in.
    formats: tuple[str, ...]
    #: Whether valid rows are read as records, and what is doubtful is not reported.
    for_reading: bool = False
    #: Whether rows are validated in a process that can be killed, since the time that
    #: the user's schema takes is not bounded by the data.
    guards_rows: bool = False
    #: Other severities of rules, by their codes.
    severities: tuple[tuple[str, Severity], ...] = ()

    @property
    def is_pinned(self) -> bool:
        """Whether the user named a format, or a family of which one is chosen a file.

        Every record of a file is then validated by it.
        """
        return self.options.format is not None

    def active_rules(self) -> Mapping[str, Rule]:
        """Return the selected rules and V902, by their codes.

        V902 is not optional: without it, a record on which harpia-formats fails would
        be counted as valid. Its severity is not changed either.
        """
        return _active_rules(self.rules, self.severities)

    def block_bytes(self) -> int:
        """Return the size of the blocks in which a file is read.

        They are larger with lints, which look at the rows of a block at once.
        """
        return LINTED_BLOCK if _have_lints(self.rules) else BLOCK

    def candidates(self) -> tuple[Format, ...]:
        """Return the formats that a file may be in."""
        return _formats_of(self.formats)


@lru_cache(_REMEMBERED)
def _active_rules(
    codes: tuple[str, ...], severities: tuple[tuple[str, Severity], ...]
) -> Mapping[str, Rule]:
    found = rules_of({*codes, INTERNAL_ERROR})
    for code, severity in severities:
        if code in found and code != INTERNAL_ERROR:
            found[code] = replace(found[code], severity=severity)
    return found


@lru_cache(_REMEMBERED)
def _have_lints(codes: tuple[str, ...]) -> bool:
    return any(rule.lint for rule in rules_of(set(codes)).values())


@lru_cache(_REMEMBERED)
def _formats_of(ids: tuple[str, ...]) -> tuple[Format, ...]:
    return tuple(map(format_of, ids))


def run_plan_of(  # noqa: PLR0913 - a plan has so many parts
    options: Options,
    rules: Mapping[str, Rule],
    schema: tuple[str, Schema] | None,
    formats: tuple[Format, ...],
    *,
    for_reading: bool = False,
    severities: Mapping[str, Severity] | None = None,
) -> RunPlan:
    """Return the plan of a run with `options`; only `rules` are checked.

    `severities` has those of rules that are not their own, by codes.
    """
    return RunPlan(
        new_key(),
        plain_options(options),
        tuple(rules),
        schema,
        tuple(format_.id for format_ in formats),
        for_reading,
        guards_rows=schema is not None and is_guarded(schema[1]),
        severities=tuple(sorted((severities or {}).items())),
    )


def is_guarded(schema: Schema) -> bool:
    """Return whether a user's schema is used only in a process that can be killed."""
    from harpia_formats.formats.schema.bounded import is_bounded  # noqa: PLC0415 - only with a schema of the user: start-up time

    # Without POSIX there are no such processes.
    return os.name == "posix" and not is_bounded(schema)


def new_key() -> str:
    """Return a text that no other plan has, in any process."""
    return os.urandom(16).hex()


def plain_options(options: Options) -> Options:
    """Return `options` without what cannot be sent or is not used in a worker."""
    columns = None if options.columns is None else dict(options.columns)
    return replace(
        options,
        columns=columns,
        severity={},
        schema=None,
        companion=None,
        baseline=None,
        write_baseline=None,
        progress=None,
        executor=None,
        engine=None,
        jobs=1,
    )
