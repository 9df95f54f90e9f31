"""Derive what each ordered pair of record formats loses from their adapters."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from harpia_formats.mapping.requirements import ConversionError, check_requirements
from harpia_formats.model.adapter import Cardinality, FormatAdapter
from harpia_formats.model.format import Format
from harpia_formats.registry import adapter_of, readable_formats, writable_formats

#: Names for keys of rows, and of answers, that are no field of a record.
OTHER_KEYS, REST_OF_ANSWERS = "other keys", "rest of answers"
_header = "header"
_several = frozenset({Cardinality.MANY, Cardinality.MANY_OF_ONE_MODEL})
_chats, _conversations = "messages", "outputs.turns"
#: What a conversation becomes in a row of chats, by whether the row holds answers.
_as_chat = {
    True: "conversations: a chat and the answer",
    False: "conversations: the chat before the answer",
}


class RowField(NamedTuple):
    """A place in rows or headers, and the path of its field in a record."""

    path: tuple[str, ...]
    record_path: str

    @property
    def name(self) -> str:
        """The keys of its path, joined by dots."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class PairLosses:
    """What is lost when records of one format are written in another."""

    source: str
    target: str
    #: Fields without a place in the target, by their names in the source.
    dropped: tuple[str, ...]
    #: The same fields as paths in a record.
    paths: tuple[str, ...]
    #: A short text for those in rows, and one for those in the header.
    summary: str
    header: str
    #: What is changed, shortened, or spread over several rows.
    changed: tuple[str, ...]
    #: Keys that the target requires and the source never has.
    needs: tuple[str, ...]
    #: A short text for them.
    needed: str
    #: Whether --keep-extra stores fields without a place.
    keeps_extra: bool

    @property
    def is_lossless(self) -> bool:
        """Whether every field of the source has its place in the target."""
        return not self.dropped and not self.changed


def all_pairs() -> Iterator[PairLosses]:
    """Yield each ordered pair of a format that can be read and one to be written."""
    for source, target in product(
        readable_formats().values(), writable_formats().values()
    ):
        if source != target:
            yield losses_of_pair(source, target)


def losses_of_pair(source: Format, target: Format) -> PairLosses:
    """Return what records of `source` lose as rows of `target`."""
    ours, theirs = adapter_of(source), adapter_of(target)
    changed = dict(_changes(ours, theirs))
    row_fields = row_fields_of(ours)
    lost = [
        field
        for field in row_fields
        if field.record_path not in changed and not _arrives(field, ours, theirs)
    ]
    labels = _labels(row_fields)
    words = {field: f"{labels[field]}{_part(field, theirs)}" for field in lost}
    needs = {field: field.name for field in _needed(source, target)}
    return PairLosses(
        source=source.id,
        target=target.id,
        dropped=tuple(words.values()),
        paths=tuple(field.record_path for field in lost),
        summary=_summary(_apart(row_fields, header=False), words),
        header=_summary(_apart(row_fields, header=True), words),
        changed=tuple(changed.values()),
        needs=tuple(needs.values()),
        needed=", ".join(_grouped(row_fields_of(theirs), needs)),
        keeps_extra=theirs.extras_path is not None,
    )


def row_fields_of(adapter: FormatAdapter) -> list[RowField]:
    """Return all places of a format: in rows, beside other fields, and in headers."""
    # A required key is read as one field, even if it is written for several.
    taken = {
        field.path: field.record_path
        for field in reversed(adapter.fields)
        if field.required
    }
    row_fields = [
        RowField(field.path, field.record_path)
        for field in adapter.fields
        if taken.get(field.path, field.record_path) == field.record_path
    ]
    row_fields += [
        RowField(field.path, field.key_record_path)
        for field in adapter.fields
        if field.key_record_path
    ]
    known = [field.record_path for field in row_fields]
    row_fields += [
        RowField((path,), path)
        for path in sorted(adapter.other_paths)
        if "extra" not in path
        and not any(record_path.startswith(path) for record_path in known)
    ]
    if not adapter.carries("extra"):
        row_fields.append(RowField((OTHER_KEYS,), f"extra.{adapter.vendor}"))
    of_answers = f"outputs.extra.{adapter.vendor}"
    if of_answers in adapter.other_paths:
        row_fields.append(RowField((REST_OF_ANSWERS,), of_answers))
    return row_fields + [
        RowField((_header, path.partition(".")[0]), f"{_header}.{path}")
        for path in adapter.header_fields
    ]


def _apart(row_fields: Sequence[RowField], *, header: bool) -> list[RowField]:
    """Return the places in headers, or those in rows."""
    return [field for field in row_fields if (field.path[0] == _header) is header]


def _arrives(row_field: RowField, source: FormatAdapter, target: FormatAdapter) -> bool:
    if row_field.path[0] != _header:
        return target.carries(row_field.record_path)
    asked = row_field.record_path.removeprefix(f"{_header}.")
    if asked == "extra":
        return "extra" in target.header_fields
    held = target.header_fields
    return asked in held or (asked == f"extra.{source.vendor}" and "extra" in held)


def _changes(source: FormatAdapter, target: FormatAdapter) -> Iterator[tuple[str, str]]:
    """Yield the path of each field that is changed, and how."""
    ours, theirs = source.capacity, target.capacity
    if ours.references is Cardinality.MANY and theirs.references is Cardinality.ONE:
        yield "references of several", "references: the first"
    if ours.outputs in _several and theirs.outputs in {
        Cardinality.ONE,
        Cardinality.MANY_OF_ONE_MODEL,
    }:
        yield "outputs of several", "answers: one row each"
    if ours.scores is Cardinality.MANY and theirs.scores is Cardinality.ONE:
        yield "scores of several", "scores: one row each"
    if source.carries(_chats) and not theirs.messages:
        how = "turns before the answer" if theirs.turns else "the last question"
        yield _chats, f"chats: {how}"
    if source.carries(_conversations) and not theirs.turns:
        has_answers = theirs.outputs is not Cardinality.NONE
        if theirs.messages:
            yield _conversations, _as_chat[has_answers]
        elif has_answers:
            yield _conversations, "conversations: the last answer"


def _needed(source: Format, target: Format) -> Iterator[RowField]:
    """Yield the places that the user has to fill before a conversion is possible."""
    ours, theirs = adapter_of(source), adapter_of(target)
    for field in theirs.fields:
        one = replace(theirs, fields=(field,))
        try:
            check_requirements(source, ours, target, one, (), scored=False)
        except ConversionError:
            yield RowField(field.path, field.record_path)


def _part(row_field: RowField, target: FormatAdapter) -> str:
    """Return a remark if the target has a place for some members of a field."""
    inner = f"{row_field.record_path}."
    is_partly = any(path.startswith(inner) for path in target.carried_paths)
    return " (in part)" if is_partly else ""


def _labels(row_fields: Sequence[RowField]) -> dict[RowField, str]:
    """Return a unique label for each place."""
    names = [field.name for field in row_fields]
    return {
        field: f"{field.name} ({field.record_path})"
        if names.count(field.name) > 1
        or any(name.startswith(f"{field.name}.") for name in names)
        else field.name
        for field in row_fields
    }


def _summary(row_fields: Sequence[RowField], words: Mapping[RowField, str]) -> str:
    """Return a short text for the places in `words`: a list, or all but the rest."""
    if not any(field in words for field in row_fields):
        return ""
    labels = _labels(row_fields)
    rest = {field: labels[field] for field in row_fields if field not in words}
    named = ", ".join(_grouped(row_fields, words))
    others = f"all but {', '.join(_grouped(row_fields, rest))}"
    return others if rest and len(others) < len(named) else named


def _grouped(
    row_fields: Iterable[RowField], words: Mapping[RowField, str], depth: int = 1
) -> Iterator[str]:
    """Yield the words of places, with one word for all places below the same key."""
    groups: dict[tuple[str, ...], list[RowField]] = {}
    for field in row_fields:
        groups.setdefault(field.path[:depth], []).append(field)
    for path, group in groups.items():
        named = [field for field in group if field in words]
        if len(named) == 1:
            yield words[named[0]]
        elif named and len(named) == len(group):
            is_one = any(field.path == path for field in group)
            yield ".".join(path) + ("" if is_one else ".*")
        elif named:
            yield from _at(path, named, words)
            below = (field for field in group if field.path != path)
            yield from _grouped(below, words, depth + 1)


def _at(
    path: tuple[str, ...], named: Sequence[RowField], words: Mapping[RowField, str]
) -> Iterator[str]:
    """Yield one word for the places that are at `path` itself."""
    here = [field for field in named if field.path == path]
    if len(here) == 1:
        yield words[here[0]]
    elif here:
        yield f"{here[0].name} ({', '.join(field.record_path for field in here)})"


def line_of(pair: PairLosses) -> str:
    """Return what a pair loses as one line of text."""
    parts = []
    if pair.summary:
        kept = " (not with --keep-extra)" if pair.keeps_extra else ""
        parts.append(f"drops {pair.summary}{kept}")
    if pair.header:
        parts.append(f"drops {pair.header}")
    parts += pair.changed
    if not parts:
        parts.append("no field")
    if pair.needs:
        parts.append(f"needs {pair.needed}")
    return "; ".join(parts)


def pair_as_dict(pair: PairLosses) -> dict[str, Any]:
    """Return a pair as a JSON object."""
    return {
        "source": pair.source,
        "target": pair.target,
        "dropped": list(pair.dropped),
        "dropped_paths": list(pair.paths),
        "changed": list(pair.changed),
        "needs": list(pair.needs),
        "keeps_extra": pair.keeps_extra,
    }
