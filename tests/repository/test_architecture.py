import os
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

import harpia_converters
import harpia_formats

ROOT = Path(__file__).parents[2]
# Where they are installed: the tests also run from another folder on the wheel.
HUB = Path(harpia_formats.__file__).parent
ADAPTERS = Path(harpia_converters.__file__).parent
VALID = ROOT / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl"
HEAVY = {"typer", "rich", "jsonschema", "orjson", "msgspec", "jsonschema_rs"}


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


def layers() -> tuple[set[str], set[str]]:
    """Return the packages that the contract `stages` has a layer for.

    The second set holds those in parentheses, which need not exist.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    stages = next(each for each in contracts if each["id"] == "stages")
    names = {name.strip() for layer in stages["layers"] for name in layer.split("|")}
    future = {name.strip("()") for name in names if name.startswith("(")}
    return {name for name in names if not name.startswith("(")}, future


def test_imports_keep_the_contracts() -> None:
    """The contracts of pyproject.toml hold, as `lint-imports` checks them."""
    settings = str(ROOT / "pyproject.toml")
    check = f"cli.lint_imports({settings!r}, no_cache=True)"
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", f"from importlinter import cli; exit({check})"],
        capture_output=True,
        check=False,
        text=True,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_every_package_has_a_layer() -> None:
    """Each module and package at the top has a layer; only future ones need none."""
    there = {each.stem for each in HUB.glob("*.py")} - {"__init__"}
    there |= {each.parent.name for each in HUB.glob("*/__init__.py")}
    present, future = layers()

    assert present == there
    assert future & there == set()


def test_the_top_holds_packages_and_few_modules() -> None:
    """A module is in the package of its stage, and not at the top."""
    assert {each.name for each in HUB.iterdir() if each.is_file()} == {
        "__init__.py",
        "__main__.py",
        "_version.py",
        "plugins.py",
        "py.typed",
        "registry.py",
    }


def test_only_the_registry_names_the_adapters() -> None:
    """No other module of the hub names them, not even in a text to import later."""
    named = [
        each for each in HUB.rglob("*.py") if b"harpia_converters" in each.read_bytes()
    ]

    assert named == [HUB / "registry.py"]


def test_adapters_do_not_reach_the_registry() -> None:
    """Neither do the hub's modules that they import; so they do not reach each other.

    What only a pipeline of Haystack loads, `haystack.component`, is no adapter.
    """
    graph = grimp.build_graph(
        "harpia_formats",
        "harpia_converters",
        exclude_type_checking_imports=True,
        cache_dir=None,
    )
    adapters = {
        module
        for module in graph.find_descendants("harpia_converters")
        if module != "harpia_converters.haystack.component"
    }
    assert adapters

    chains = {
        module: graph.find_shortest_chain(module, "harpia_formats.registry")
        for module in adapters
    }

    assert {module: chain for module, chain in chains.items() if chain} == {}


def test_schemas_are_data() -> None:
    """There is no code among the schemas: it would break the editable install."""
    files = [each for each in (ROOT / "schemas").rglob("*") if each.is_file()]

    assert {each.suffix for each in files} == {".json"}


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
