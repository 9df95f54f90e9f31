import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import harpia_converters
import harpia_formats

ROOT = Path(__file__).parents[2]
# Where they are installed: the tests also run from another folder on the wheel.
HUB = Path(harpia_formats.__file__).parent
ADAPTERS = Path(harpia_converters.__file__).parent
VALID = ROOT / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl"
#: The one arrow from the hub to the adapters.
ARROW = HUB / "registry.py"
HEAVY = {"typer", "rich", "jsonschema", "orjson", "msgspec", "jsonschema_rs"}


def imports_of(module: Path) -> Iterator[str]:
    """Yield the full names that a module imports anywhere in it, also lazily."""
    for node in ast.walk(ast.parse(module.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*package_of(module)[: 1 - node.level or None]] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{start}.{each.name}" for each in node.names)


def package_of(module: Path) -> tuple[str, ...]:
    """Return the names of the package that a module stands in."""
    root = HUB.parent if HUB in module.parents else ADAPTERS.parent
    return module.parent.relative_to(root).parts


def loaded_by(code: str) -> set[str]:
    """Return the top-level packages that are loaded once `code` has run."""
    show = "import sys; print(*{each.split('.')[0] for each in sys.modules})"
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", f"{code}\n{show}"],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    return set(done.stdout.splitlines()[-1].split())


def running(*arguments: str) -> str:
    """Return code that runs the command with `arguments` and goes on behind it."""
    return (
        f"import sys; sys.argv = ['harpia-formats', *{arguments!r}]\n"
        "from harpia_formats.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code"
    )


@pytest.mark.parametrize(
    "module", sorted(HUB.rglob("*.py")), ids=lambda each: each.relative_to(HUB)
)
def test_hub_knows_the_spokes_in_one_place_only(module: Path) -> None:
    """No module of the hub but the registry imports the adapters."""
    adapters = [each for each in imports_of(module) if "harpia_converters" in each]

    assert bool(adapters) == (module == ARROW)


@pytest.mark.parametrize(
    "module",
    sorted(ADAPTERS.rglob("*.py")),
    ids=lambda each: each.relative_to(ADAPTERS),
)
def test_no_spoke_knows_another(module: Path) -> None:
    """A vendor's module imports the hub and its own package, and no other vendor."""
    parts = package_of(module)
    own = ".".join(parts[:2])
    others = [
        each
        for each in imports_of(module)
        if each.startswith("harpia_converters") and not f"{each}.".startswith(f"{own}.")
    ]

    assert len(parts) == 1 or others == []


def test_lazy_and_relative_imports_are_seen(tmp_path: Path) -> None:
    """The rule above is not evaded by an import in a function, or a relative one."""
    module = tmp_path / "a.py"
    module.write_text("def f():\n    from harpia_converters import eee\n")

    assert list(imports_of(module)) == ["harpia_converters.eee"]


def test_schemas_are_data() -> None:
    """There is no code among the schemas: it would break the editable install."""
    assert {each.suffix for each in (ROOT / "schemas").rglob("*")} == {".json"}


def test_every_package_says_that_it_is_typed() -> None:
    """Type checkers see both packages."""
    assert (HUB / "py.typed").is_file()
    assert (ADAPTERS / "py.typed").is_file()


def test_importing_us_is_cheap() -> None:
    """The package itself imports no dependency until something is asked of it."""
    assert loaded_by("import harpia_formats") & HEAVY == set()


def test_showing_the_version_is_cheap() -> None:
    """`--version` loads no engine and no terminal library."""
    assert loaded_by(running("--version")) & HEAVY == set()


def test_validating_a_good_file_needs_no_reporter() -> None:
    """Where nothing is wrong, nothing is loaded that says what is wrong."""
    loaded = loaded_by(running("validate", str(VALID)))

    assert loaded & {"rich", "jsonschema", "orjson"} == set()


@pytest.mark.parametrize(
    ("arguments", "spared"),
    [
        (["formats"], {"orjson", "jsonschema_rs", "fastjsonschema"}),
        (["formats", "--output-format", "json"], {"jsonschema_rs", "fastjsonschema"}),
        (["schema", "nemo-output"], {"orjson", "jsonschema_rs", "fastjsonschema"}),
        (["schema", "nemo-output", "--as-python"], {"orjson", "jsonschema_rs"}),
        (["detect", str(VALID)], {"orjson", "fastjsonschema"}),
        (["detect", str(VALID), "--output-format", "json"], {"fastjsonschema"}),
        (["rule", "J101"], {"orjson", "jsonschema_rs", "fastjsonschema"}),
    ],
    ids=lambda each: " ".join(each[:2]) if isinstance(each, list) else "",
)
def test_command_loads_only_what_it_needs(
    arguments: list[str], spared: set[str]
) -> None:
    """In a pipe no command loads a terminal library, nor the engines of others."""
    loaded = loaded_by(running(*arguments))

    assert loaded & ({"rich", "jsonschema"} | spared) == set()


def test_the_public_names_are_there() -> None:
    """`__all__` holds what the package promises, each with a docstring."""
    import harpia_formats  # noqa: PLC0415 - other tests import it in processes of their own

    public = [getattr(harpia_formats, each) for each in harpia_formats.__all__]

    assert harpia_formats.__all__ == sorted(harpia_formats.__all__)
    assert all(each.__doc__ for each in public)
