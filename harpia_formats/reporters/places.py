"""Where files are for the consumer of a report: paths from a root, and URIs."""

import os
from urllib.parse import quote

from harpia_formats.files.io.urls import is_url
from harpia_formats.reporters.reporter import Options


def path_from_root(path: str, options: Options) -> str | None:
    """Return the path of a local file below the root, from there, with slashes.

    It is None for other files, and for what is no file, such as standard input.
    """
    if not is_local(path):
        return None
    root = os.path.normpath(options.root or options.folder or os.curdir)
    full = absolute(path, options)
    if root == os.curdir:
        is_below = not full.startswith((os.sep, f"{os.pardir}{os.sep}"))
    else:
        start = root.rstrip(os.sep) + os.sep
        is_below = full.startswith(start)
        full = full.removeprefix(start)
    return full.replace(os.sep, "/") if is_below else None


def shown_path(path: str, options: Options) -> str:
    """Return the path from the root if the file is below it, else as it was named."""
    return path_from_root(path, options) or path


def is_local(path: str) -> bool:
    """Tell whether a name in a report is a path; `<stdin>` and URLs are none."""
    return not (is_url(path) or (path.startswith("<") and path.endswith(">")))


def absolute(path: str, options: Options) -> str:
    """Return the path without `.` and `..`, absolute if the working folder is known."""
    return os.path.normpath(os.path.join(options.folder, path))  # noqa: PTH118 - links are not resolved


def uri_path(path: str) -> str:
    """Return a path with slashes as the path of a URI.

    Names of files that are no UTF-8 are encoded byte by byte.
    """
    try:
        data = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        data = path.encode("utf-8", "surrogatepass")
    return quote(data, safe="/")
