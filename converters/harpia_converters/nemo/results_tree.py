"""Walk the tree of tasks, groups, metrics and scores in results and configurations."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.problem import Path

#: The path of an object in the document, and the object.
Placed = tuple[Path, Mapping[str, Any]]


def members_of(owner: Mapping[str, Any], path: Path, key: str) -> Iterator[Placed]:
    """Yield the objects in the object at `key` of `owner`, which is at `path`."""
    inner = owner.get(key)
    for name, member in inner.items() if isinstance(inner, Mapping) else ():
        if isinstance(member, Mapping):
            yield (*path, key, name), member


def groups_of(owner: Mapping[str, Any], path: Path = ()) -> Iterator[Placed]:
    """Yield the groups of `owner`, which is at `path`, each before its own groups."""
    for place, group in members_of(owner, path, "groups"):
        yield place, group
        yield from groups_of(group, place)


def metrics_of(document: Mapping[str, Any]) -> Iterator[Placed]:
    """Yield the metrics of every task and group of `document`."""
    for holders in (members_of(document, (), "tasks"), groups_of(document)):
        for place, holder in holders:
            yield from members_of(holder, place, "metrics")


def scores_of(document: Mapping[str, Any]) -> Iterator[Placed]:
    """Yield the scores of every metric of `document`."""
    for place, metric in metrics_of(document):
        yield from members_of(metric, place, "scores")
