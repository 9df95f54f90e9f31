"""A digest of the installed code, by which workers are known to have the same."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from harpia_formats.files.io.schema_folder import schema_folder

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_packages = ("harpia_formats", "harpia_converters")
#: Digits of a digest that are shown.
_shown = 12


class OtherCodeError(Exception):
    """A worker has other code than the process that sends it tasks."""


@cache
def code_digest() -> str:
    """Return a digest of all files of the packages and of the schemas.

    It does not depend on how they are installed: from a wheel, from a checkout or in a
    zip file. It is computed once in each process.
    """
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, too slow for start-up
    from importlib.resources import files  # noqa: PLC0415 - slow, and for clusters only

    whole = blake2b(digest_size=16)
    roots = [(name, files(name)) for name in _packages]
    for root, folder in (*roots, ("schemas", schema_folder())):
        for name, data in sorted(_files_in(root, folder)):
            whole.update(f"{len(name)} {len(data)} {name}".encode())
            whole.update(data)
    return whole.hexdigest()


def _files_in(name: str, folder: "Traversable") -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each file that is part of the code."""
    for child in folder.iterdir():
        path = f"{name}/{child.name}"
        if child.name.startswith((".", "__pycache__")) or path in _elsewhere:
            continue
        if child.is_dir():
            yield from _files_in(path, child)
        elif not child.name.endswith(".pyc"):
            yield path, child.read_bytes()


#: Where a wheel has the schemas, which are beside the packages in a checkout.
_elsewhere = {"harpia_formats/_schemas"}


def difference_of_code(theirs: str, ours: str) -> str:
    """Return how the code of a worker differs from ours, "" if it is the same."""
    if theirs == ours:
        return ""
    return (
        f"has other files of harpia-formats, digest {theirs[:_shown]}, not "
        f"{ours[:_shown]}: install the same there and here, and restart the workers"
    )


def run_with_same_code(digest: str, run: Callable[..., Any], *given: Any) -> Any:
    """Run a task in a worker that has our code; raises `OtherCodeError` in others."""
    difference = difference_of_code(code_digest(), digest)
    if difference:
        raise OtherCodeError(f"a worker {difference}")
    return run(*given)
