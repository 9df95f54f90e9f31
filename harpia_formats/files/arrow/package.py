"""Import pyarrow, which the extra `arrow` installs."""

from importlib.util import find_spec
from typing import Any

from harpia_formats.model.errors import HarpiaFormatsError

#: What a user without pyarrow is told, as the end of a sentence.
MISSING = 'needs the extra "arrow": pip install "harpia-formats[arrow]"'
#: The oldest release that reads and writes what the tests read and write.
OLDEST = (17, 0)


class MissingPyarrow(HarpiaFormatsError):  # noqa: N818 - it is no mistake of the data
    """pyarrow is not installed, or older than what is needed; its text says which."""

    hides_values = True


def require_pyarrow() -> None:
    """Raise `MissingPyarrow` if it is not installed; it is not imported."""
    if find_spec("pyarrow") is None:
        raise MissingPyarrow(MISSING)


def load_pyarrow() -> Any:
    """Return the module pyarrow; raises `MissingPyarrow`."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - the extra may be missing
    except ImportError as error:
        raise MissingPyarrow(MISSING) from error
    if tuple(int(part) for part in pa.__version__.split(".")[:2]) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise MissingPyarrow(
            f"needs pyarrow {wanted} or newer, and {pa.__version__} is installed"
        )
    return pa
