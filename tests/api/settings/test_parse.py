"""Settings files are checked as a whole, and mistakes are named with their place."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats.api.options import fields_of
from harpia_formats.api.run_settings import SettingsFinder
from harpia_formats.api.settings_file import (
    OPTION_FIELDS,
    SETTINGS,
    Kind,
    Setting,
    parse_settings,
)
from harpia_formats.model.problem import TomlError

#: Settings that are no options of a validation, but of the command line.
OF_COMMAND_LINE = {
    "formats",
    "per_file_ignores",
    "error_on_warning",
    "output_format",
    "report",
    "statistics",
}


def parsed(
    text: str | bytes, *, is_pyproject: bool = False
) -> Mapping[str, Any] | None:
    """Return the settings in a text."""
    data = text if isinstance(text, bytes) else text.encode()
    found = parse_settings(data, "f.toml", "/proj", is_pyproject=is_pyproject)
    return None if found is None else found.values


@for_each_case("setting", SETTINGS, ids=lambda one: one.name)
def test_the_example_of_each_setting_is_valid(setting: Setting) -> None:
    """The example of the documents sets the setting, in both kinds of file."""
    example = setting.example
    if not example.startswith("["):
        example = f"[tool.harpia-formats]\n{example}"
    table = tomllib.loads(example)["tool"]["harpia-formats"]
    own = setting.example.replace("[tool.harpia-formats.", "[")

    found = parsed(example, is_pyproject=True)

    assert found is not None
    assert found.keys() == table.keys() == {setting.name}
    assert parsed(own) == found


def test_settings_are_options_of_a_validation() -> None:
    """A setting has the name and the default of an option, but for those listed."""
    fields = {setting.field for setting in SETTINGS}

    assert fields - OPTION_FIELDS == OF_COMMAND_LINE
    assert fields - OF_COMMAND_LINE <= fields_of("validate")
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    for setting in SETTINGS:
        is_flag = isinstance(setting.default, bool)
        assert is_flag == (setting.kind is Kind.FLAG)


def test_a_pyproject_without_settings_has_none() -> None:
    """Other tools' tables are not looked at; an empty table is settings."""
    assert parsed("[tool.ruff]\nselect = 1", is_pyproject=True) is None
    assert parsed("tool = 1", is_pyproject=True) is None
    assert parsed("[tool.harpia-formats]", is_pyproject=True) == {}
    assert parsed("") == {}


def test_a_byte_order_mark_is_passed_over() -> None:
    """Editors on Windows write one; line ends may be CRLF."""
    assert parsed(b"\xef\xbb\xbflint = true\r\njobs = 2\r\n") == {
        "lint": True,
        "jobs": 2,
    }


@for_each_case(
    "text, message",
    [
        ("igore = []", "igore: there is no such setting; did you mean ignore?"),
        ("Max_Row_Bytes = 1", "did you mean max-row-bytes?"),
        ("xyz = 1", "xyz: there is no such setting \\(known: formats, exclude"),
        ("[tool.harpia-formats]\nlint = true", "tool: .*stand at its top"),
        ("lint = 1", "lint: must be true or false, not 1"),
        ("examples = true", "examples: must be a whole number, not true"),
        ("examples = -1", "examples: must be at least 0, not -1"),
        ("examples = 1.5", "examples: must be a whole number, not 1.5"),
        ("row-timeout = nan", "row-timeout: must be at least 0.001, not nan"),
        ("max-row-bytes = 0", "max-row-bytes: must be at least 1, not 0"),
        ('ignore = "J"', 'ignore: must be an array of texts, not "J"'),
        ("ignore = [1]", "ignore: must be an array of texts"),
        ('formats = ["nemo"]', "formats: must be a table of texts, not an array"),
        ("per-file-ignores = 1", "must be a table of arrays of texts, not 1"),
        ('per-file-ignores.x = "S"', "per-file-ignores.x: must be an array of texts"),
        ("severity.S101 = 1", "severity.S101: must be a text, not 1"),
        ('severity.S101 = "off"', "severity.S101: .*to skip a rule, ignore it"),
        ('severity.missing-kye = "note"', "missing-kye: .*did you mean missing-key"),
        ('ignore = ["S999"]', "ignore: no rule is called 'S999'"),
        ('select = ["S"]\nignore = ["S"]', "ignore: no rule is left to check"),
        ('per-file-ignores."a/*" = ["nope"]', 'per-file-ignores."a/.": no rule'),
        ('formats."a/*" = "nemo-inptu"', 'formats."a/.": no format is called'),
        ('formats."/" = "nemo"', 'formats."/": the pattern .* names no file'),
        ('exclude = [""]', "exclude: the pattern '' names no file"),
        ('delimiter = "ab"', "delimiter: "),
        ('output-format = "ful"', "output-format: .*did you mean full"),
        ('report = ["json=-"]', "report: a report is written to a file, and - is"),
        ("baseline = []", "baseline: must be a text, not an array"),
        ("lint = ", "is not TOML: .*(line 1|end of document)"),
        ("lint = true\nlint = false", "is not TOML: .*(line 2|end of document)"),
        ("x = " + "[" * 100_000, "line 1: has keys that are nested more than 20 deep"),
        ("examples = " + "9" * 5000, "is not TOML"),
        (b"lint = true\n# \xff", "line 2: is not UTF-8"),
    ],
)
def test_mistakes_are_named_with_their_place(text: str | bytes, message: str) -> None:
    """A mistake is an error with the file, the key, the reason and a suggestion."""
    with pytest.raises(TomlError, match=f"(?s)^f.toml: .*{message}"):
        parsed(text)


@pytest.mark.parametrize("value", ["1", "[]", '"x"', "[{ lint = true }]"])
def test_settings_of_a_pyproject_are_a_table(value: str) -> None:
    """A list or a number where the table is wanted is an error."""
    with pytest.raises(TomlError, match=r"tool\.harpia-formats: must be a table"):
        parsed(f"tool.harpia-formats = {value}", is_pyproject=True)


@pytest.mark.parametrize("steps", [("x",) * 2000, ("x" * 300, "\0")])
def test_a_path_that_cannot_be_is_walked(
    tmp_path: Path, steps: tuple[str, ...]
) -> None:
    """A path of many steps is no deeper than the call stack, and a long name no error.

    There is no such folder, so `config` cannot be asked for its settings.
    """
    assert SettingsFinder().of_folder(str(tmp_path.joinpath(*steps))) is None
