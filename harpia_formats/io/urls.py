"""Addresses of remote files: how to tell them, and what may be shown of them."""

import re
from os import PathLike, fspath
from pathlib import Path

_url = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_urls_within = re.compile(r"[a-z][a-z0-9+.-]+://[^\s\"'<>)\]]+", re.IGNORECASE)
_user = re.compile(r"(?<=://)[^/\s]*@")
#: Where a query or a fragment begins, which may hold a signature.
_web = ("http", "https")


def is_url(text: str) -> bool:
    """Tell whether `text` is the address of a remote file; `C:/x` is none."""
    return _url.match(text) is not None


def scheme_of(url: str) -> str:
    """Return what stands in front of `://`, in lower case."""
    return url.partition("://")[0].lower()


def masked(url: str) -> str:
    """Return `url` as it may be shown: without password, signature or other secret.

    The name at its end stays what it is, so it still tells what the file holds.
    """
    shown = _user.sub("***@", url, count=1)
    if scheme_of(url) in _web:
        shown = re.split(r"[?#]", shown, maxsplit=1)[0]
    return shown


def all_masked(text: str) -> str:
    """Return `text` with every address in it as it may be shown."""
    return _urls_within.sub(lambda found: masked(found[0]), text)


def sibling_of(place: str, name: str) -> str:
    """Return where `name` is in the folder of `place`, an address or a path."""
    if is_url(place):
        return f"{place.rpartition('/')[0]}/{name}"
    return str(Path(place).parent / name)


def file_name_of(place: str) -> str:
    """Return the last part of an address or a path, the name of the file."""
    if is_url(place):
        return masked(place).rstrip("/").rpartition("/")[2]
    return Path(place).name


def is_same_place(one: str | PathLike[str], other: str | PathLike[str]) -> bool:
    """Tell whether two addresses or paths are of one file, as far as they tell."""
    places = [fspath(one), fspath(other)]
    if any(map(is_url, places)):
        return places[0] == places[1]
    return Path(one).resolve() == Path(other).resolve()
