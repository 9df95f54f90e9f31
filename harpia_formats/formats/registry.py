"""The formats and the rules: the built-in ones, and those of plug-ins.

A plug-in is looked for only by a name that is not built in, or for a full list.
"""

from collections.abc import Collection, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

import harpia_converters
from harpia_formats.formats import extensions
from harpia_formats.formats.extensions import (
    OF_PLUGINS,
    imported,
    plugin_adapter,
    plugin_format,
    plugin_rules,
)
from harpia_formats.formats.rules import Rule, UnknownRule, rules_matching
from harpia_formats.formats.rules.json_rules import (
    CSV_RULES,
    DOUBTFUL_TEXT_RULES,
    TEXT_RULES,
)
from harpia_formats.formats.rules.loss_rules import LOSS_RULES
from harpia_formats.formats.rules.preflight_rules import PREFLIGHT_RULES
from harpia_formats.formats.rules.sample_rules import CROSS_RECORD_RULES, SAMPLE_RULES
from harpia_formats.formats.rules.schema_rules import (
    SCHEMA_CHECK_RULES,
    SCHEMA_FILE_RULES,
)
from harpia_formats.formats.rules.scoring_rules import SCORING_RULES
from harpia_formats.formats.rules.structure_rules import FORMAT_RULES, RECORD_RULES
from harpia_formats.model.format import Dialect, Format, UnreadFiles
from harpia_formats.model.problem import HarpiaFormatsError

if TYPE_CHECKING:  # only conversions load the adapters' types
    from harpia_formats.files.io.file_kinds import Unpacker
    from harpia_formats.model.adapter import FormatAdapter
    from harpia_formats.model.lint import Lints
    from harpia_formats.model.vendor_metrics import MetricProfile

#: The ids of the versions of each family of formats, the default first.
FAMILIES: dict[str, tuple[str, ...]] = {}
for _format in harpia_converters.FORMATS:
    if _format.family:
        FAMILIES[_format.family] = (*FAMILIES.get(_format.family, ()), _format.id)


class UnknownFormat(HarpiaFormatsError):  # noqa: N818 - part of the public API by this name
    """An unknown format id; has the id, the known ids and the kind of format."""

    hides_values = True

    def __init__(self, asked: str, names: tuple[str, ...] = (), kind: str = "") -> None:
        super().__init__(asked, names, kind)
        self.asked = asked
        self.names = names
        self.kind = kind

    def __str__(self) -> str:
        from difflib import get_close_matches  # noqa: PLC0415 - for mistakes only

        from harpia_formats.model.spelling import hint_on  # noqa: PLC0415 - for mistakes only

        names = self.names or [*FAMILIES, *all_formats(), *plugin_format_names()]
        near = get_close_matches(self.asked.lower(), names, 1)
        # Ids of other versions are near here: formats are named by their versions.
        hint = f"; did you mean {near[0]}?" if near else hint_on(self.asked, names)
        return f"no format {self.kind}is called {self.asked!r}{hint}"


@cache
def all_formats() -> dict[str, Format]:
    """Return every built-in format by its id, in the order of their table."""
    return {format_.id: format_ for format_ in harpia_converters.FORMATS}


def formats_named(name: str) -> tuple[Format, ...]:
    """Return the format with this id or alias, or all versions of a family.

    Raises `UnknownFormat`, and `PluginError` for a plug-in that cannot be used.
    """
    formats = all_formats()
    if name in formats:
        return (formats[name],)
    named = [format_ for format_ in formats.values() if name in format_.aliases]
    if named:
        return tuple(named)
    if name in FAMILIES:
        return tuple(formats[member] for member in FAMILIES[name])
    found = _plugin_format(name)
    if found is None:
        raise UnknownFormat(name)
    return (found,)


def format_of(identifier: str) -> Format:
    """Return the format with this id, built in or of a plug-in.

    Raises `UnknownFormat`, and `PluginError` for a plug-in that cannot be used.
    """
    formats = all_formats()
    if identifier in formats:
        return formats[identifier]
    (found,) = formats_named(identifier)
    return found


def all_unpackers() -> "tuple[Unpacker, ...]":
    """Return what makes text of files and folders that are not read as they are.

    The last one stands for those of plug-ins.
    """
    return (*harpia_converters.UNPACKERS, OF_PLUGINS)


def plugin_format_names() -> tuple[str, ...]:
    """Return the names of the formats of plug-ins; loads none of them."""
    return extensions.plugin_names(extensions.FORMATS)


def installed_formats() -> dict[str, Format]:
    """Return every format by its id, the built-in ones first, then those of plug-ins.

    Raises `PluginError` for a plug-in that cannot be used.
    """
    found = dict(all_formats())
    for name in plugin_format_names():
        format_ = _plugin_format(name)
        if format_ is not None:
            found.setdefault(format_.id, format_)
    return found


@cache
def _plugin_format(name: str) -> Format | None:
    """Return the format that plug-ins call `name`; raises `PluginError`."""
    return plugin_format(name, _names_taken())


def _names_taken() -> set[str]:
    """Return the ids, aliases and families of the built-in formats."""
    formats = all_formats()
    aliases = (name for format_ in formats.values() for name in format_.aliases)
    return {*FAMILIES, *formats, *aliases}


def readable_formats() -> dict[str, Format]:
    """Return the built-in formats that are read as records, by their ids."""
    return {key: format_ for key, format_ in all_formats().items() if format_.adapter}


def writable_formats() -> dict[str, Format]:
    """Return the built-in formats that records are written to, by their ids."""
    readable = readable_formats()
    return {key: format_ for key, format_ in readable.items() if not format_.read_only}


def adapter_of(format_: Format) -> "FormatAdapter":
    """Return the adapter of a record format.

    Raises `PluginError` if a plug-in's format has none that can be used.
    """
    if format_.id not in all_formats():
        return plugin_adapter(format_)
    adapter: FormatAdapter = imported(format_.adapter)
    return adapter


def unread_files() -> tuple[UnreadFiles, ...]:
    """Return the kinds of files that are recognised, but not read."""
    return harpia_converters.UNREAD


def dialect_lints(dialect: Dialect) -> "Lints":
    """Return the lints of a dialect; none if it has no table of them."""
    from harpia_formats.model.lint import Lints  # noqa: PLC0415 - only if a lint is selected

    if not dialect.lints:
        return Lints()
    lints: Lints = imported(dialect.lints)
    return lints


def definitions_in(document: Any) -> dict[str, dict[str, Any]]:
    """Return the arguments of each judge that a vendor's document defines, by its name.

    The name of one that stands alone is empty. Raises `ValueError` for a definition
    that cannot be followed.
    """
    found: dict[str, dict[str, Any]] = {}
    for reader in harpia_converters.DEFINITIONS:
        found |= imported(reader)(document)
    return found


def included_definitions() -> tuple[str, ...]:
    """Return the names of the definitions of LLM judges that are included."""
    return tuple(harpia_converters.JUDGES)


def included_definition(name: str) -> dict[str, Any] | None:
    """Return an included definition of an LLM judge, None for any other name."""
    place = harpia_converters.JUDGES.get(name)
    if place is None:
        return None
    definition: dict[str, Any] = imported(place)
    return definition


def vendor_profiles() -> tuple[str, ...]:
    """Return the names of the profiles of vendors."""
    return tuple(harpia_converters.PROFILES)


def vendor_profile(name: str) -> "MetricProfile":
    """Return the metric profile of a vendor by its name."""
    profile: MetricProfile = imported(harpia_converters.PROFILES[name])
    return profile


def result_formats() -> dict[str, str]:
    """Return the import path `module:name` of each result format, by its id."""
    formats = all_formats()
    return {key: one.results for key, one in formats.items() if one.results}


@cache
def all_rules() -> dict[str, Rule]:
    """Return every built-in rule by its code, those of vendors last."""
    tables = (
        TEXT_RULES,
        DOUBTFUL_TEXT_RULES,
        CSV_RULES,
        RECORD_RULES,
        SCHEMA_FILE_RULES,
        SCHEMA_CHECK_RULES,
        FORMAT_RULES,
        SAMPLE_RULES,
        CROSS_RECORD_RULES,
        LOSS_RULES,
        SCORING_RULES,
        PREFLIGHT_RULES,
        harpia_converters.RULES,
    )
    return {rule.code: rule for table in tables for rule in table}


def installed_rules() -> dict[str, Rule]:
    """Return every rule by its code, the built-in ones first, then those of plug-ins.

    Raises `PluginError` for a plug-in that cannot be used.
    """
    return {**all_rules(), **_plugin_rules()}


def rules_of(codes: Collection[str]) -> dict[str, Rule]:
    """Return the rules with these codes, built in or of plug-ins.

    Raises `KeyError`, and `PluginError` for a plug-in that cannot be used.
    """
    built_in = all_rules()
    known = built_in if built_in.keys() >= set(codes) else installed_rules()
    return {code: known[code] for code in codes}


def rules_for(
    formats: Iterable[Format] = (), asked: Iterable[str] = ()
) -> dict[str, Rule]:
    """Return the rules for files in `formats`, and those that the user asks for.

    They are the built-in ones, and those of plug-ins if one of `formats` or a code,
    prefix or name in `asked` is not built in. Raises `PluginError` for a plug-in that
    cannot be used.
    """
    built_in = all_rules()
    if any(format_.id not in all_formats() for format_ in formats):
        return installed_rules()
    try:
        for name in asked:
            rules_matching(name, built_in)
    except UnknownRule:
        return installed_rules()
    return built_in


@cache
def _plugin_rules() -> dict[str, Rule]:
    """Return the rules of plug-ins by their codes; raises `PluginError`."""
    return plugin_rules(all_rules().values())
