"""The tree of tasks and groups, with metrics and scores below, and what is in it."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.problem import Path

#: An object of the document, and where it is.
Placed = tuple[Path, Mapping[str, Any]]


def members_of(owner: Mapping[str, Any], path: Path, key: str) -> Iterator[Placed]:
    """Yield the objects that the object under `key` of `owner` holds."""
    inner = owner.get(key)
    for name, member in inner.items() if isinstance(inner, Mapping) else ():
        if isinstance(member, Mapping):
            yield (*path, key, name), member


def groups_of(owner: Mapping[str, Any], path: Path = ()) -> Iterator[Placed]:
    """Yield the groups of `owner`, each followed by the groups in it."""
    for place, group in members_of(owner, path, "groups"):
        yield place, group
        yield from groups_of(group, place)


def metrics_of(document: Mapping[str, Any]) -> Iterator[Placed]:
    """Yield the metrics of every task and group."""
    for holders in (members_of(document, (), "tasks"), groups_of(document)):
        for place, holder in holders:
            yield from members_of(holder, place, "metrics")


def scores_of(document: Mapping[str, Any]) -> Iterator[Placed]:
    """Yield the scores of every metric."""
    for place, metric in metrics_of(document):
        yield from members_of(metric, place, "scores")
