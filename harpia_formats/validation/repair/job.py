"""Settle by what files are repaired, from the options of a run."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from harpia_formats.formats.registry import all_formats, formats_named, rules_for
from harpia_formats.formats.rules import Rule, selected_rules
from harpia_formats.formats.schema.load import Schema
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Severity
from harpia_formats.validation.options import Options
from harpia_formats.validation.plan.run_plan import RunPlan, run_plan_of
from harpia_formats.validation.repair.proposals import RepairSettings

#: Rules across records, of which nothing is repaired.
_across = "X"


class Job(msgspec.Struct, frozen=True):
    """By what files of equal options are repaired."""

    plan: RunPlan
    settings: RepairSettings
    #: All rules by code.
    rules: Mapping[str, Rule]
    #: The codes of the rules by which a document follows the repairs of other files.
    following: frozenset[str]
    #: Whether files in no known format are passed over, and so left as they are.
    skips_unrecognised: bool


def job_for(
    options: Options, schema: tuple[str, Schema] | None, *, unsafe: bool
) -> Job:
    """Return by what files with these options are repaired.

    Raises `UnknownRule`, `NoRuleLeft` and `UnknownFormat`.
    """
    formats = _formats_of(options.format)
    rules = rules_for(formats, [*options.select, *options.ignore])
    selected = selected_rules(
        rules, list(options.select), list(options.ignore), lint=unsafe
    )
    # All rules on single rows are active, whichever may be repaired: what is wrong
    # with a row decides whether it can be.
    active = {
        code: rule
        for code, rule in rules.items()
        if not (rule.lint or code.startswith(_across))
    }
    plain = replace(options, select=(), ignore=(), lint=False, examples=1)
    plan = run_plan_of(plain, active, schema, formats, for_reading=True)
    errors = [code for code, rule in active.items() if rule.severity is Severity.ERROR]
    settings = RepairSettings(selected, unsafe, frozenset(errors))
    skips_unrecognised = options.skip_unrecognised and schema is None
    return Job(plan, settings, rules, selected, skips_unrecognised)


def name_and_schema(given: Any) -> tuple[str, Schema] | None:
    """Return the name and content of the user's schema, None without one."""
    if given is None:
        return None
    from harpia_formats.validation.unit.given_schema import given_schema  # noqa: PLC0415 - only with a schema of the user

    checked = given_schema(given)
    return Path(checked.name).name, checked.schema


def _formats_of(name: str | None) -> tuple[Format, ...]:
    """Return the formats called `name`, all without a name. Raises `UnknownFormat`."""
    return tuple(all_formats().values()) if name is None else formats_named(name)
