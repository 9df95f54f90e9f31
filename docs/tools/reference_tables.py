"""Write the pages of reference that repeat tables of the program."""

import json
import subprocess
from collections.abc import Iterable
from typing import Any

from limit_table import LIMITS
from page_examples import ROOT, environment

from harpia_formats.api.option_values import help_of
from harpia_formats.api.options import (
    FUNCTIONS,
    REQUIRED,
    Option,
    arguments_of,
    options_of,
)
from harpia_formats.api.settings_file import SETTINGS, Setting
from harpia_formats.cli.command_table import all_commands, docstring_of
from harpia_formats.evaluation.metrics import GROUPS, METRICS
from harpia_formats.formats.registry import all_formats, all_rules
from harpia_formats.formats.rules import Rule

NOTICE = "<!-- Written by `python docs/tools/update.py`. Do not edit. -->\n"
#: What the first letter of a rule's code means.
LETTERS = {
    "J": "Text: JSON and CSV",
    "S": "Structure",
    "C": "Conditions",
    "V": "Values",
    "X": "Across records",
    "L": "Losses of a conversion",
    "M": "Scoring",
    "P": "Preflight",
    "E": "EvalEval",
    "H": "HarpIA Lab",
    "N": "NVIDIA NeMo Evaluator",
    "T": "Tencent TI",
    "K": "Haystack",
    "A": "lm-evaluation-harness",
    "I": "Inspect AI",
    "O": "OpenAI, and its evals",
    "R": "HELM",
    "B": "MT-Bench",
    "G": "ShareGPT and Alpaca",
    "D": "RAGAS, DeepEval and promptfoo",
}
RULES = """\
# Rules

This page lists every rule that harpia-formats can report: its code, its name, its
severity, whether it is checked always or only with `--lint` or by `--select`, and
what it demands. `harpia-formats rule CODE` explains one rule with an
example that breaks it and one that does not. `--select` and `--ignore` of
`harpia-formats validate` take codes, prefixes of codes, and names. A code and a name
are never used again for another rule.
"""
METRIC_PAGE = """\
# Metrics

This page lists every metric of `harpia-formats score --metrics`: its definition, and
its parameters with their defaults. `--param METRIC.NAME=VALUE` changes a parameter.
`harpia-formats score --list-metrics` prints a line on each, and what profiles have.
Which metrics a vendor means by its names is on the vendor's page, and
[how to score](../how-to/score.md) shows how to choose. `sas` and `bertscore` are
[a plug-in](../how-to/score.md#models-on-this-machine).
"""
GROUP_PAGE = """
A group is a name for several metrics:
"""
OPTIONS = """\
# Commands and options

This page lists every command of `harpia-formats` and its options, as `--help` prints
them, and the keyword argument of the Python function that does the same.
"""
SETTINGS_PAGE = """\
# Settings

This page lists what `harpia-formats.toml`, or the table `[tool.harpia-formats]` of
`pyproject.toml`, can hold. [How to adopt harpia-formats on existing
data](../how-to/existing-data.md) shows how to use it. In `harpia-formats.toml` the
keys stand at the top; a table is `[formats]`, not `[tool.harpia-formats.formats]`.

- A file has the settings of the closest folder above it that has some, or else those of
  the working folder; two files are never merged. In one folder `harpia-formats.toml`
  comes first. Standard input and remote files have the settings of the working folder.
- What holds for a whole run comes from the working folder, or the closest one above it.
- Options of the command line win. `--select` replaces `select`, `ignore` and `lint`,
  while `--ignore` adds to `ignore`; `per-file-ignores` and `severity` hold in any case.
  `--no-` before the name of a flag, as in `--no-strict`, turns it off.
- `--config FILE` names the settings of all files, and `--isolated` uses none.
  `--config KEY=VALUE` replaces one setting, such as `lint=true`; keys of a table, such
  as `severity.J2="note"`, are given one by one, and together replace the table of a
  file.
- `baseline` is not used with `--write-baseline`.
- Patterns and paths start from the folder of the settings, with `--config` from the
  working folder. A pattern without a slash is matched against the name of the file and
  of each folder below that one; `*` matches no slash, `**` any number of folders. Of a
  file outside of that folder only the name is matched.
- Unknown keys, values of a wrong type, and unknown rules, formats and reporters are
  errors (exit code 2) that name the file and the key.
- A file of more than 1 MiB, with more than 10,000 keys, or with keys and arrays nested
  more than 20 deep is an error, too, before it is parsed. The same limits hold for
  [preflight files](../how-to/preflight.md) and plans.

`harpia-formats config [PATH]` shows all values with the file that each is from.
`harpia-formats validate` obeys the settings, with `--fix`, too. Other commands do not,
and neither do the functions of the Python package: they take options from their caller.
"""
LIMITS_PAGE = """\
# Limits

This page lists what harpia-formats bounds, so that no data takes memory or time out of
proportion to its size: each limit with its number, what is reported beyond it, and the
reason. Most are constants; those with an option can be changed. A test holds each of
them, at the limit and beyond it. A file may have any number of rows and bytes, since
memory does not grow with them.

[Security](https://github.com/harpia-formats/harpia-formats/blob/main/SECURITY.md) says
what of all that a run is given is trusted.
"""
FORMATS = """\
# Formats

This page lists every format that harpia-formats knows, by vendor, with its dialects. A
dialect is another way in which files of the same format are written. A family is a name
that stands for several formats; which of them a file is in is detected.

Every format that is read converts into every one that is written, and so does a table
with any columns, whose columns `--map` names. `validate --schema` takes any
draft-07 schema.
"""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    names = list(head)
    lines = [names, ["---"] * len(names), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def code(text: str) -> str:
    """Return text as code for the cell of a table, or nothing for no text."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def cell(text: str) -> str:
    """Return text for the cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def printed(*arguments: str) -> str:
    """Return what `harpia-formats` prints with these arguments."""
    done = subprocess.run(  # noqa: S603 - our own command
        ["harpia-formats", *arguments],  # noqa: S607 - that of this environment
        env=environment(),
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode()


def rules_page() -> str:
    """Return the page of all rules."""
    families: dict[str, list[Rule]] = {letter: [] for letter in LETTERS}
    for rule in all_rules().values():
        families.setdefault(rule.code[0], []).append(rule)
    parts = [NOTICE, RULES]
    for letter, rules in families.items():
        rows = [
            (
                rule.code,
                f"`{rule.name}`",
                rule.severity.value,
                "with `--lint`" if rule.lint else "always",
                cell(rule.summary),
            )
            for rule in rules
        ]
        head = ("code", "name", "severity", "checked", "what it demands")
        title = LETTERS.get(letter) or _vendor_of(rules)
        parts.append(f"## {letter}: {title}\n\n{table(head, rows)}")
    return "\n".join(parts)


def _vendor_of(rules: list[Rule]) -> str:
    """Return the vendor of the first format that an example of `rules` is in."""
    ids = [rule.validated_as for rule in rules if isinstance(rule.validated_as, str)]
    return next(all_formats()[each].vendor for each in ids if each in all_formats())


def metrics_page() -> str:
    """Return the page of all metrics."""
    rows = [
        (
            f"`{metric.name}`",
            cell(metric.summary),
            "<br>".join(
                f"`{name}={json.dumps(default)}`"
                for name, default in metric.parameters.items()
            ),
        )
        for metric in METRICS.values()
    ]
    head = ("metric", "definition", "parameters")
    groups = [
        (f"`{name}`", ", ".join(f"`{one}`" for one in members))
        for name, members in GROUPS.items()
    ]
    of_groups = table(("group", "metrics"), groups)
    return "\n".join([NOTICE, METRIC_PAGE, table(head, rows), GROUP_PAGE, of_groups])


def options_page() -> str:
    """Return the page of all commands and their options."""
    parts = [NOTICE, OPTIONS]
    for name, module in all_commands():
        known = _arguments(module)
        parts.append(f"## `{name}`\n\n{docstring_of(module).strip()}\n")
        rows = [
            (
                " ".join(f"`{word}`" for word in option.all_words())
                + (f" {code(option.noun)}" if option.noun else ""),
                cell(help_of(option)),
                _default(option),
                *([code(_argument(option, known))] if known else []),
            )
            for option in options_of(module)
            if option.words
        ]
        head = ("option", "what it does", "default", "in Python")
        parts.append(table(head if known else head[:3], rows))
    return "\n".join(parts)


def _arguments(command: str) -> set[str]:
    """Return the keyword arguments of the Python function of a command."""
    function, *_ = FUNCTIONS.get(command, command).split()
    return {option.field for option in arguments_of(function)}


def _argument(option: Option, known: set[str]) -> str:
    """Return the keyword argument for an option, "" if there is none."""
    argument = option.field
    return argument if argument.partition("=")[0] in known else ""


def _default(option: Option) -> str:
    if option.default is REQUIRED:
        return "required"
    is_shown = option.default is not None and not isinstance(option.default, bool)
    return code(str(option.default)) if is_shown else ""


def formats_page() -> str:
    """Return the page of all formats and their dialects."""
    found = json.loads(printed("formats", "--output-format", "json"))
    parts = [NOTICE, FORMATS, from_to(found["formats"])]
    vendors = dict.fromkeys(each["vendor"] for each in found["formats"])
    for vendor in vendors:
        rows = [
            _format_row(each, dialect)
            for each in found["formats"]
            if each["vendor"] == vendor
            for dialect in each["dialects"]
        ]
        head = ("format", "dialect", "container", "documented", "contents", "other ids")
        parts.append(f"## {vendor}\n\n{table(head, rows)}")
    families = [
        (code(name), " ".join(map(code, members)))
        for name, members in found["families"].items()
    ]
    parts.append(f"## Families\n\n{table(('family', 'formats'), families)}")
    return "\n".join(parts)


def from_to(formats: list[dict[str, Any]]) -> str:
    """Return the table of all formats, by vendor or tool and by what is done with them.

    Every format that is read converts into every one that is written.
    """
    head = ("of", "read and written", "read", "documents: validated, results written")
    rows = []
    for vendor in dict.fromkeys(each["vendor"] for each in formats):
        mine = [each for each in formats if each["vendor"] == vendor]
        # Documents are not read as records.
        of_records = [each for each in mine if each["records"]]
        both = [each for each in of_records if not each.get("read_only")]
        read = [each for each in of_records if each.get("read_only")]
        documents = [each for each in mine if not each["records"]]
        rows.append((cell(vendor), _ids(both), _ids(read), _ids(documents)))
    return table(head, rows)


def _ids(formats: Iterable[dict[str, Any]]) -> str:
    return " ".join(code(each["id"]) for each in formats)


def _format_row(described: dict[str, Any], dialect: dict[str, Any]) -> tuple[str, ...]:
    container, member = dialect["container"], dialect["records_at"]
    if "around" in container:
        container += f", `{member}`"
    documented = "yes" if dialect["documented"] else "no"
    if dialect["name"]:
        return "", code(dialect["name"]), container, documented, "", ""
    aliases = " ".join(map(code, described["aliases"]))
    title = cell(described["title"])
    return code(described["id"]), "", container, documented, title, aliases


def limits_page() -> str:
    """Return the page of all limits."""
    parts = [NOTICE, LIMITS_PAGE]
    head = ("what is bounded", "limit", "option", "reported beyond it", "why")
    for title, limits in LIMITS.items():
        rows = [
            (
                cell(limit.title),
                limit.value,
                code(limit.option),
                cell(limit.finding),
                cell(limit.why),
            )
            for limit in limits.values()
        ]
        parts.append(f"## {title}\n\n{table(head, rows)}")
    return "\n".join(parts)


def settings_page() -> str:
    """Return the page of all settings."""
    parts = [NOTICE, SETTINGS_PAGE]
    head = ("setting", "what it holds", "what it does", "default")
    for title, of_run in (("Settings of files", False), ("Settings of a run", True)):
        rows = [
            (
                code(setting.name),
                setting.kind.value,
                cell(setting.summary),
                code("" if setting.default is None else json.dumps(setting.default)),
            )
            for setting in SETTINGS
            if setting.of_run == of_run
        ]
        parts.append(f"## {title}\n\n{table(head, rows)}")
    examples = "\n\n".join(setting.example for setting in _tables_last())
    text = f"[tool.harpia-formats]\n{examples}"
    parts.append(f"## All of them\n\n```toml\n{text}\n```\n")
    return "\n".join(parts)


def _tables_last() -> list[Setting]:
    """Return the settings in the order of a file: tables follow the other values."""
    return sorted(SETTINGS, key=lambda setting: setting.example.startswith("["))


#: Each page that repeats a table, by its path below `docs/reference/`.
PAGES = {
    "rules.md": rules_page,
    "metrics.md": metrics_page,
    "options.md": options_page,
    "formats/index.md": formats_page,
    "settings.md": settings_page,
    "limits.md": limits_page,
}
