"""What is compared before work: the code of workers, and the files that they see."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harpia_formats.files.workers.worker_checks import (
    code_digest,
    difference_from,
    difference_of_code,
    fingerprint_of,
)

ROOT = Path(__file__).parents[3]
#: What is in no distribution.
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*")


def installed(folder: Path) -> None:
    """Lay out the code as a wheel does."""
    shutil.copytree(ROOT / "harpia_formats", folder / "harpia_formats", ignore=LEFT_OUT)
    converters = ROOT / "converters" / "harpia_converters"
    shutil.copytree(converters, folder / "harpia_converters", ignore=LEFT_OUT)
    schemas = folder / "harpia_formats" / "_schemas"
    shutil.copytree(ROOT / "schemas", schemas, ignore=LEFT_OUT)


def digest_of(place: Path) -> str:
    """Return the digest that a process with the code at `place` computes."""
    code = (
        f"import sys; sys.path.insert(0, {str(place)!r})\n"
        "from harpia_formats.files.workers import worker_checks as module\n"
        f"assert module.__file__.startswith({str(place)!r}), module.__file__\n"
        "print(module.code_digest())"
    )
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-B", "-c", code], capture_output=True, check=True
    )
    return done.stdout.decode().strip()


@pytest.mark.long
def test_digest_is_of_the_code_and_not_of_its_place(tmp_path: Path) -> None:
    """A checkout, a wheel and a zip file have one digest; any change has another."""
    wheel = tmp_path / "site"
    installed(wheel)
    (wheel / "harpia_formats" / "__pycache__").mkdir()
    (wheel / "harpia_formats" / "__pycache__" / "x.pyc").write_bytes(b"x")
    archive = Path(shutil.make_archive(str(tmp_path / "code"), "zip", wheel))
    ours = code_digest()

    assert len(ours) == 32
    assert digest_of(wheel) == ours
    assert digest_of(archive) == ours
    schema = next((wheel / "harpia_formats" / "_schemas").glob("*/*.json"))
    schema.write_bytes(schema.read_bytes() + b" ")
    other = digest_of(wheel)
    assert other != ours
    assert other[:12] in difference_of_code(other, ours)
    assert difference_of_code(ours, ours) == ""


def test_a_file_is_known_by_its_size_and_beginning(tmp_path: Path) -> None:
    """Another size, another beginning and a missing file are different reasons."""
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    fingerprint = fingerprint_of(path)
    found = [difference_from(fingerprint)]
    path.write_bytes(b"abd")
    found.append(difference_from(fingerprint))
    path.write_bytes(b"ab")
    found.append(difference_from(fingerprint))
    path.unlink()
    found.append(difference_from(fingerprint))

    assert found == [
        "",
        f"{path} begins with other bytes there than here",
        f"{path} has 2 bytes there, but 3 here",
        f"{path} no such file or directory",
    ]
