"""URLs of remote files: recognize them, and hide the secrets in them."""

import re
from os import PathLike, fspath
from os.path import expanduser, realpath
from pathlib import Path

_url = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
#: The beginning of the URL of a file of this machine.
_local = re.compile(r"(?:file|local)://", re.IGNORECASE)
#: A colon that ends a URL in a sentence is none of it. So few characters of a scheme
#: are looked for that a long text without a URL takes linear time.
_urls_within = re.compile(
    r"[a-z][a-z0-9+.-]{1,30}://(?:(?!:(?:\s|$))[^\s\"'<>)\]])+", re.IGNORECASE
)
#: The beginning of a web address that was taken for a path, which joins slashes.
_joined = re.compile(r"\b(https?):/(?=[^/\s])", re.IGNORECASE)
#: User and password. What follows a colon is a password with a slash if it is no port.
#: It ends before another URL, so that a text with many of them takes linear time.
_user = re.compile(r"(?<=://)(?:[^/\s]*|[^/\s:@\[?#]*:(?!\d*/)(?:(?!://)[^\s@])*)@")
#: The beginning of a URL that lacks slashes.
_mistyped = re.compile(
    r"(?<![\w.+/-])(https?|s3a?|gc?s|hf|az|abfss?|s?ftp):/?(?=[^/\s])", re.IGNORECASE
)
_mistyped_user = re.compile(_mistyped.pattern + r"[^/\s]*@", re.IGNORECASE)
#: Schemes whose URLs may have a query or a fragment, which may hold a signature.
_web = ("http", "https")
#: What the name of a secret contains in the query of another URL.
_secret = re.compile(r"sig|token|secret|credential|passw|pwd|key|auth", re.IGNORECASE)


def is_url(text: str) -> bool:
    """Tell whether `text` is the URL of a remote file; `C:/x` is none."""
    return _url.match(text) is not None


def is_mistyped_url(text: str) -> bool:
    """Tell whether `text` begins like a URL, but lacks a slash or both."""
    return _mistyped.match(text) is not None


def scheme_of(url: str) -> str:
    """Return the part of a URL before `://`, in lower case."""
    return url.partition("://")[0].lower()


def masked(url: str) -> str:
    """Return `url` without password, signature or other secret, to be shown.

    The file name at its end is kept, so it still shows what the file holds.
    """
    if is_mistyped_url(url):
        shown = _mistyped_user.sub(r"\1:***@", url, count=1)
        is_web = url.lower().startswith("http")
    else:
        shown = _user.sub("***@", url, count=1)
        is_web = scheme_of(url) in _web
    if is_web:
        return re.split(r"[?#]", shown, maxsplit=1)[0]
    return _unsigned(shown) if is_url(url) else shown


def _unsigned(url: str) -> str:
    """Return the URL of a store without a query that has a secret.

    The key of a file may have a `?`, so that other queries are part of its name.
    """
    rest, _, query = url.partition("?")
    names = (part.partition("=") for part in re.split("[?&]", query))
    if any(
        equals and "/" not in name and _secret.search(name) for name, equals, _ in names
    ):
        return rest
    return url


def all_masked(text: str) -> str:
    """Return `text` with every URL in it masked."""
    whole = _mistyped_user.sub(r"\1:***@", _joined.sub(r"\1://", text))
    return _urls_within.sub(lambda found: masked(found[0]), whole)


def sibling_of(place: str, name: str) -> str:
    """Return the path or URL of `name` in the folder of `place`."""
    if is_url(place):
        return f"{place.rpartition('/')[0]}/{name}"
    return str(Path(place).parent / name)


def file_name_of(place: str) -> str:
    """Return the name of the file at a path or URL."""
    if is_url(place):
        return masked(place).rstrip("/").rpartition("/")[2]
    return Path(place).name


def local_path(place: str | PathLike[str]) -> str:
    """Return the path in a URL of this machine, as its file system reads it.

    Any other path or URL is returned as it is.
    """
    name = fspath(place)
    found = _local.match(name)
    return expanduser(name[found.end() :]) if found else name  # noqa: PTH111 - raises nothing without a home


def is_same_place(one: str | PathLike[str], other: str | PathLike[str]) -> bool:
    """Tell whether two paths are the same file, or two URLs are equal.

    A URL of this machine is the path in it.
    """
    places = [local_path(one), local_path(other)]
    if any(map(is_url, places)):
        return places[0] == places[1]
    first, second = map(real_path, places)
    return first == second


def real_path(path: str | PathLike[str]) -> str:
    """Return a path without links, the same if no file can have its name."""
    try:
        # A link that leads to itself stays as it is; `resolve` would raise.
        return realpath(path)
    except ValueError:  # a NUL, or a lone surrogate
        return fspath(path)
