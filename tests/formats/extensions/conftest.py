import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

#: Installs the package in a folder into another folder.
Install = Callable[[Path, Path], None]


def _install(project: Path, target: Path) -> None:
    """Install the packages next to a `pyproject.toml` into the folder `target`.

    `pip install --no-deps --target` takes seconds; all that Python needs are the
    packages, and their name, version and entry points in a folder next to them.
    """
    metadata = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    for folder in project.iterdir():
        if (folder / "__init__.py").is_file():
            shutil.copytree(folder, target / folder.name)
    name, version = metadata["name"], metadata["version"]
    info = target / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(head)
    lines = []
    for group, entries in metadata["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {at}" for key, at in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture(scope="session")
def install() -> Install:
    """Return the function that installs a package of plug-ins without an installer."""
    return _install
