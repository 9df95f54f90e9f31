"""The plans of a run: one for all of its files, or one for each kind of options."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.source import Source
from harpia_formats.formats.registry import all_formats, formats_named, rules_for
from harpia_formats.formats.rules import (
    NoRuleLeft,
    changed_severities,
    rules_matching,
    selected_rules,
)
from harpia_formats.formats.rules.sample_rules import (
    EMPTY_ANSWER,
    EMPTY_QUESTION,
    EMPTY_REFERENCE,
)
from harpia_formats.model.format import Format
from harpia_formats.validation.options import Options
from harpia_formats.validation.plan.file_plan import RunPlan, run_plan_of

if TYPE_CHECKING:  # imported only with a schema of the user: start-up time
    from harpia_formats.validation.unit.given_schema import GivenSchema

#: The rules on texts of mapped columns that are blank.
_OF_BLANK = frozenset({EMPTY_ANSWER, EMPTY_QUESTION, EMPTY_REFERENCE})
#: Returns the options of one file of a run, None if the file is left out. It returns
#: the same object for files of the same options.
FileOptions = Callable[[Source], Options | None]


class RunPlans:
    """The plan of each file of a run.

    Raises `UnknownFormat`, `UnknownRule`, `NoRuleLeft` or `SchemaError` when it is made
    with options that cannot be met.
    """

    def __init__(
        self,
        options: Options,
        file_options: FileOptions | None = None,
        more_examples: int = 0,
    ) -> None:
        """Take the options of the run, and what returns those of one file.

        So many `more_examples` of each group are described than the options ask for.
        """
        self._file_options = file_options
        self._more_examples = more_examples
        #: The schema of the user, None without one.
        self.schema = _given_schema(options.schema)
        #: The plan of the run, and of each file without options of its own.
        self.run = self._made(options, options.ignore)
        #: The plans of further options, by the identity of these.
        self._plans = {id(options): (options, self.run)}
        self._last: tuple[Source, Options | None] | None = None

    @property
    def exclusion(self) -> Exclusion:
        """What leaves files of the run out; each has counts of its own."""
        is_left_out = None if self._file_options is None else self._is_left_out
        options = self.run.options
        return Exclusion(
            options.exclude, is_left_out, may_leave_none=options.allow_no_files
        )

    def of(self, source: Source) -> RunPlan:
        """Return the plan of a file. Raises as the making of the plans does."""
        if self._file_options is None:
            return self.run
        options = self._options_of(source)
        if options is None:
            return self.run
        found = self._plans.get(id(options))
        if found is None:
            try:
                plan = self._made(options, options.ignore)
            except NoRuleLeft:
                # All rules may be ignored in some files.
                plan = self._made(options, None)
            # The options are held, so that no others get their identity.
            found = self._plans[id(options)] = (options, plan)
        return found[1]

    def _is_left_out(self, source: Source) -> bool:
        return self._options_of(source) is None

    def _options_of(self, source: Source) -> Options | None:
        """Return the options of a file; those of the last one are remembered."""
        if self._last is None or self._last[0] is not source:
            assert self._file_options is not None  # noqa: S101 - only then it is asked
            self._last = (source, self._file_options(source))
        return self._last[1]

    def _made(self, options: Options, ignore: tuple[str, ...] | None) -> RunPlan:
        """Return the plan of `options`, without any rules if `ignore` is None."""
        formats = _formats_asked(options.format)
        asked = [*options.select, *(ignore or ()), *options.severity]
        rules = rules_for(formats, asked)
        active: frozenset[str] = frozenset()
        if ignore is not None:
            active = selected_rules(
                rules, list(options.select), list(ignore), lint=options.lint
            )
            if options.columns and not options.select:
                # The user says that these columns hold something.
                left_out = [rules_matching(name, rules) for name in ignore]
                active |= _OF_BLANK.difference(*left_out)
        given = self.schema
        examples = options.examples
        if examples:
            examples += self._more_examples
        return run_plan_of(
            replace(options, examples=examples),
            {code: rules[code] for code in active},
            None if given is None else (Path(given.name).name, given.schema),
            formats,
            severities=changed_severities(rules, options.severity),
        )


def _given_schema(given: Any) -> "GivenSchema | None":
    """Return the user's schema, None without one. Raises `SchemaError`."""
    if given is None:
        return None
    from harpia_formats.validation.unit.given_schema import given_schema  # noqa: PLC0415 - only with a schema of the user: start-up time

    return given_schema(given)


def _formats_asked(name: str | None) -> tuple[Format, ...]:
    """Return the formats called `name`, all without a name. Raises `UnknownFormat`."""
    return tuple(all_formats().values()) if name is None else formats_named(name)
