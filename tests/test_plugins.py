"""The stable import for extensions: every name exists, and no other is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from harpia_formats import plugins

#: An extension with one of each kind, which imports nothing of ours but the plug-in
#: names.
EXTENSION = """
from harpia_formats.plugins import (
    UNSET,
    Dialect,
    FieldMapping,
    FieldTable,
    Format,
    FormatAdapter,
    Metric,
    Record,
    Reporter,
    Rule,
    Severity,
    mean_measure,
)

FORMAT = Format(
    id="notes",
    title="Notes",
    vendor="acme",
    dialects=(Dialect("notes", lambda row: "`note`" if "note" in row else ""),),
    adapter="extension:ADAPTER",
)
TABLE = FieldTable("acme", (FieldMapping(("note",), "prompt"),))
ADAPTER = FormatAdapter("acme", TABLE.fields, TABLE.read, TABLE.write)
RULE = Rule(
    "AC101", "empty-note", Severity.WARNING, "A note must not be empty.", "", b"", b""
)
METRIC = Metric(
    "length",
    "The length of the answer.",
    {},
    lambda given: mean_measure("length", "length", lambda answer, _: len(answer)),
)
REPORTER = Reporter("none", "nothing", lambda problems, finish, write, options: None)

assert ADAPTER.read({"note": "n"}) == Record(prompt="n")
assert ADAPTER.read({}).prompt is UNSET
assert METRIC.build({}).statistics("abc", ["a"]) == (3, 1)
"""


def test_every_name_can_be_imported() -> None:
    """Each public name is found, stands in the list once, and is not another's."""
    found = {name: getattr(plugins, name) for name in plugins.__all__}

    assert dir(plugins) == sorted(plugins.__all__)
    assert len(found) == len(plugins.__all__)
    # An alias of a type has no name, and options of a reporter have another one.
    for name, each in found.items():
        if isinstance(each, type) and name != "ReporterOptions":
            assert each.__name__ == name


def test_unknown_name_is_an_attribute_error() -> None:
    """A name that is not public is refused with its name."""
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        plugins.Nothing  # noqa: B018 - the access is the test


def test_extension_needs_no_other_module(tmp_path: Path) -> None:
    """A format, adapter, rule, metric and reporter are made from these names alone."""
    (tmp_path / "extension.py").write_text(EXTENSION)

    done = subprocess.run(
        [sys.executable, "-c", "import extension"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_a_format_loads_no_metric_and_no_test_support() -> None:
    """A name loads the module that defines it, and not those of other kinds."""
    code = "from harpia_formats.plugins import Format\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    loaded = set(done.stdout.split())

    assert "harpia_formats.model.format" in loaded
    assert loaded.isdisjoint(
        {
            "harpia_formats.evaluation.metrics",
            "harpia_formats.reporters",
            "hypothesis",
            "msgspec",
        }
    )
