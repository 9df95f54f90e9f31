import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp

import harpia_converters
import harpia_formats
from cases import for_each_case

ROOT = Path(__file__).parents[2]
# The installed packages: the tests also run on the wheel, from another folder.
HUB = Path(harpia_formats.__file__).parent
ADAPTERS = Path(harpia_converters.__file__).parent
VALID = ROOT / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl"
#: Packages that take long to import.
HEAVY = {"typer", "rich", "jsonschema", "orjson", "msgspec", "jsonschema_rs"}


def loaded_by(code: str) -> set[str]:
    """Return the top-level packages that are loaded once `code` has run."""
    show = "import sys; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", f"{code}\n{show}"],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    return set(done.stdout.splitlines()[-1].split())


def running(*arguments: str) -> str:
    """Return code that runs the command with `arguments`, and does not exit."""
    return (
        f"import sys; sys.argv = ['harpia-formats', *{arguments!r}]\n"
        "from harpia_formats.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code"
    )


def layers() -> set[str]:
    """Return the packages in the layers of the contract `rooms`."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    rooms = next(found for found in contracts if found["id"] == "rooms")
    return {name.strip() for layer in rooms["layers"] for name in layer.split("|")}


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
    """Each top-level package and module has a layer, and each layer exists."""
    existing = {path.stem for path in HUB.glob("*.py")} - {"__init__"}
    existing |= {path.parent.name for path in HUB.glob("*/__init__.py")}

    assert layers() == existing


def test_few_modules_are_outside_of_packages() -> None:
    """Each module is in a package, except for these."""
    assert {path.name for path in HUB.iterdir() if path.is_file()} == {
        "__init__.py",
        "__main__.py",
        "_version.py",
        "plugins.py",
        "__init__.pyi",
        "py.typed",
    }


def test_only_the_registry_names_the_adapters() -> None:
    """No other module of the hub contains their name, not even as a string.

    The digest of the code, by which workers are compared, is that of both packages.
    """
    named = [
        path for path in HUB.rglob("*.py") if b"harpia_converters" in path.read_bytes()
    ]

    assert set(named) == {
        HUB / "formats" / "registry.py",
        HUB / "files" / "workers" / "worker_checks.py",
    }


def test_adapters_do_not_reach_the_registry() -> None:
    """No adapter imports the registry, neither directly nor through other modules.

    `haystack.component` is not an adapter: only pipelines of Haystack load it.
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
        module: graph.find_shortest_chain(module, "harpia_formats.formats.registry")
        for module in adapters
    }

    assert {module: chain for module, chain in chains.items() if chain} == {}


def test_schemas_are_data() -> None:
    """All files in `schemas/` are JSON: a module would break the editable install."""
    files = [path for path in (ROOT / "schemas").rglob("*") if path.is_file()]

    assert {path.suffix for path in files} == {".json"}


def test_both_packages_are_typed() -> None:
    """Type checkers read the types of both packages."""
    assert (HUB / "py.typed").is_file()
    assert (ADAPTERS / "py.typed").is_file()


def test_import_loads_no_dependency() -> None:
    """`import harpia_formats` loads no dependency."""
    assert loaded_by("import harpia_formats") & HEAVY == set()


def test_version_loads_no_dependency() -> None:
    """`--version` loads no schema engine and no terminal library."""
    assert loaded_by(running("--version")) & HEAVY == set()


def test_ranges_of_large_files_load_no_openssl() -> None:
    """The module that decides about worker processes costs no 3 MB for OpenSSL."""
    loaded = loaded_by("import harpia_formats.validation.parallel.ranges")

    assert loaded & {"_hashlib", "secrets"} == set()


def test_valid_file_loads_no_library_of_reports() -> None:
    """The validation of a valid file loads no library that only reports need."""
    loaded = loaded_by(running("validate", str(VALID)))

    assert loaded & {"rich", "jsonschema", "orjson"} == set()


def test_lints_of_a_valid_file_load_no_openssl() -> None:
    """Lints that find nothing make no long digests and load nothing for them."""
    path = next((ROOT / "fixtures" / "nemo-input" / "valid").glob("*.jsonl"))
    loaded = loaded_by(running("validate", str(path), "--lint"))

    assert loaded & {"_hashlib", "rich", "orjson"} == set()


@for_each_case(
    "arguments, unwanted",
    [
        (["formats"], {"orjson", "jsonschema_rs", "fastjsonschema"}),
        (["formats", "--output-format", "json"], {"jsonschema_rs", "fastjsonschema"}),
        (["schema", "nemo-output"], {"orjson", "jsonschema_rs", "fastjsonschema"}),
        (["schema", "nemo-output", "--as-python"], {"orjson", "jsonschema_rs"}),
        (["detect", str(VALID)], {"orjson", "fastjsonschema"}),
        (["detect", str(VALID), "--output-format", "json"], {"fastjsonschema"}),
        (["rule", "J101"], {"orjson", "jsonschema_rs", "fastjsonschema"}),
    ],
    ids=lambda given: " ".join(given[:2]) if isinstance(given, list) else "",
)
def test_command_loads_only_what_it_needs(
    arguments: list[str], unwanted: set[str]
) -> None:
    """In a pipe a command loads no terminal library, and no engine of another one."""
    loaded = loaded_by(running(*arguments))

    assert loaded & ({"rich", "jsonschema"} | unwanted) == set()


def test_public_names_are_sorted_and_described() -> None:
    """Each name in `__all__` can be imported and has a docstring."""
    public = [getattr(harpia_formats, name) for name in harpia_formats.__all__]

    assert harpia_formats.__all__ == sorted(harpia_formats.__all__)
    assert all(value.__doc__ for value in public)


#: Packages of which the docstring says "the modules of" a kind for the rest.
KINDS = ("figures", "metrics", "reporters")
PACKAGES = sorted(
    path.parent
    for path in HUB.rglob("__init__.py")
    if "in this order" in " ".join(path.read_text(encoding="utf-8").split())
)


@for_each_case("package", PACKAGES, ids=lambda path: path.name)
def test_the_reading_order_names_the_modules(package: Path) -> None:
    """The docstring of a package names modules that it has, and all of them."""
    module = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    _, _, order = " ".join((ast.get_docstring(module) or "").split()).partition("order")
    named = set(re.findall(r"`([a-z_0-9]+)`", order)) - {"help"}
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in package.glob("*/__init__.py")}

    assert named - modules - packages == set()
    assert package.name in KINDS or modules | packages == named
