"""From every error of the schema engine to the root causes of one record.

The engine lists each keyword that failed. Several of them often have one cause: a
condition that holds only because the key it asks for is missing, two keywords that
say the same of one value, several demands of one condition, a misspelt key that is
both missing and unknown. Here they become one each.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harpia_formats.model.format import Advice, Advise
from harpia_formats.model.problem import Path, pointer_of
from harpia_formats.text.spelling import nearest
from harpia_formats.validation.diagnosis.engine_errors import (
    Branch,
    SchemaPaths,
    Violation,
    asked_paths,
    has,
    known_keys,
    schema_at,
    value_at,
    violation_of,
)

#: Unknown keys of one object among which a misspelt one is looked for.
MANY_KEYS = 100

_codes = {
    "required": "S101",
    "type": "S102",
    "additionalProperties": "S104",
    "additionalItems": "S105",
    "enum": "V101",
    "const": "V101",
    "minimum": "V102",
    "maximum": "V102",
    "exclusiveMinimum": "V102",
    "exclusiveMaximum": "V102",
    "minLength": "V103",
    "maxLength": "V103",
    "pattern": "V104",
    "format": "V105",
    "minItems": "V106",
    "maxItems": "V106",
    "minProperties": "V106",
    "maxProperties": "V106",
    "uniqueItems": "V107",
    "multipleOf": "V108",
    "anyOf": "V109",
    "oneOf": "V109",
    "severalOf": "V110",
    "not": "V111",
    "falseSchema": "V111",
    "contains": "V112",
    "contentEncoding": "V113",
    "contentMediaType": "V113",
    "propertyNames": "V114",
    "undetermined": "V901",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing to mend in a record."""

    code: str
    #: Where it is: the value, or the key if `at_key`.
    path: Path
    #: What the engine said, the leading one first.
    violations: tuple[Violation, ...]
    at_key: bool = False
    #: What the key should be called.
    intended: str = ""
    #: What the condition asked for, as paths in the record.
    because: tuple[Path, ...] = ()
    advice: Advice | None = None


@dataclass(frozen=True, slots=True)
class Conditional:
    """Demands of a condition, which are a cause together with what it asked for."""

    violations: tuple[Violation, ...]
    #: The condition, as a JSON pointer into the schema.
    branch: str
    #: What it asks for, as paths in the record.
    asked: tuple[Path, ...]
    #: Whether keys or types are demanded, and nothing of values.
    is_demand: bool

    def cause(self, record: Any, advise: Advise) -> Cause:
        """Return the cause that it is in `record`."""
        first = self.violations[0]
        because = tuple([each for each in self.asked if has(record, each)])
        advice = advise(self.branch, first.path, record)
        code = "C101" if self.is_demand else _code_of(first)
        if advice is not None:
            code = advice.code
        return Cause(code, first.path, self.violations, because=because, advice=advice)


@dataclass(frozen=True, slots=True)
class Draft:
    """The causes of a record, as far as its errors and the keys they speak of tell."""

    parts: tuple[Cause | Conditional, ...]
    #: What to say where no cause is left.
    otherwise: tuple[Cause, ...]
    #: Whether nothing else of the record matters.
    is_final: bool

    def causes(self, record: Any, advise: Advise) -> Sequence[Cause]:
        """Return the causes in a record that has these errors."""
        if self.is_final:
            return self.parts  # type: ignore[return-value]  # no conditional ones
        causes = [
            each if isinstance(each, Cause) else each.cause(record, advise)
            for each in self.parts
        ]
        # The engine's refusal stands, whatever was made of its reasons.
        return _without_misspelt_twice(causes) or self.otherwise


def root_causes(
    record: Any, errors: Iterable[Any], schema: Any, advise: Advise
) -> Sequence[Cause]:
    """Return the root causes behind the engine's `errors` on `record`."""
    return draft_of(record, errors, SchemaPaths(schema)).causes(record, advise)


def draft_of(record: Any, errors: Iterable[Any], paths: SchemaPaths) -> Draft:
    """Return what the engine's `errors` on `record` come to.

    Of the record only the objects that lack a key are looked at, for their keys, and
    what `violation_of` looks at.
    """
    schema = paths.schema
    # The engine tells errors in the order of its own walk, or of the record's keys.
    violations = [
        violation_of(each, record, paths) for each in sorted(errors, key=_place_of)
    ]
    violations = list(_chosen_alternatives(violations, record))
    violations = _without_vacuous(violations, schema)
    violations = _without_twins(_without_followers(violations))
    parts: list[Cause | Conditional] = []
    for group in _by_branch(violations, schema):
        parts += _parts_of(group, record, schema)
    is_final = parts != [] and all(
        isinstance(each, Cause) and each.code != "S103" for each in parts
    )
    otherwise = tuple(_of_record(each) for each in violations[:1])
    return Draft(tuple(parts), otherwise, is_final)


def _place_of(error: Any) -> tuple[Any, ...]:
    """Return what orders errors: by the schema, then by the record."""
    in_record = tuple([(type(each) is int, each) for each in error.instance_path])
    return tuple(map(str, error.evaluation_path)), in_record


def _of_record(violation: Violation) -> Cause:
    """Return what the engine refuses, as a cause that is about the whole record."""
    return Cause("V111", (), (replace(violation, keyword="not", path=()),))


def _chosen_alternatives(
    violations: Iterable[Violation], record: Any
) -> Iterator[Violation]:
    """Replace a choice that failed by its cause, where one alternative was meant."""
    for each in violations:
        if each.keyword not in {"anyOf", "oneOf"}:
            yield each
            continue
        options: list[list[Violation]] = each.detail
        mistyped = [
            option[0].detail if _is_only_type(option, each.path) else None
            for option in options
        ]
        meant = [
            option
            for option, types in zip(options, mistyped, strict=True)
            if types is None
        ]
        if not meant:
            types = sorted({name for option in mistyped for name in option or ()})
            yield replace(each, keyword="type", detail=types)
        elif len(meant := _most_meant(meant, each.path)) == 1:
            inner = (replace(one, branch=one.branch or each.branch) for one in meant[0])
            yield from _chosen_alternatives(inner, record)
        else:
            yield each


def _most_meant(options: list[list[Violation]], path: Path) -> list[list[Violation]]:
    """Leave out the alternatives that say by a fixed value that they are others."""
    open_ = [each for each in options if not any(_tells(one, path) for one in each)]
    return open_ or options


def _tells(violation: Violation, path: Path) -> bool:
    """Tell whether a key directly in the value at `path` has another fixed value."""
    return violation.keyword in {"const", "enum"} and violation.path[:-1] == path


def _is_only_type(option: list[Violation], path: Path) -> bool:
    return len(option) == 1 and option[0].keyword == "type" and option[0].path == path


def _without_vacuous(violations: list[Violation], schema: Any) -> list[Violation]:
    """Drop what a condition demands only because the key it asks for is missing.

    Such a condition holds without meaning it; that the key is missing is said by
    itself, so nothing is lost.
    """
    missing = {
        (*each.path, each.detail)
        for each in violations
        if each.keyword == "required" and each.branch is None
    }
    if not missing:
        return violations
    return [
        each
        for each in violations
        if each.branch is None
        or missing.isdisjoint(
            (*each.path[: each.branch.depth], *asked[: end + 1])
            for asked in asked_paths(each.branch, schema)
            for end in range(len(asked))
        )
    ]


def _without_followers(violations: list[Violation]) -> list[Violation]:
    """Drop what is said of the inside of a value that must go."""
    doomed = {
        each.path for each in violations if each.keyword in {"type", "falseSchema"}
    }
    unknown = {
        (*each.path, key)
        for each in violations
        if each.keyword == "additionalProperties" and isinstance(each.detail, list)
        for key in each.detail
    }
    if not doomed and not unknown:
        return violations
    gone = doomed | unknown
    return [each for each in violations if not _is_inside(each, doomed, unknown, gone)]


def _is_inside(
    violation: Violation, doomed: set[Path], unknown: set[Path], gone: set[Path]
) -> bool:
    path = violation.path
    if violation.keyword == "required" and path in doomed:
        return True
    above = {path[:end] for end in range(len(path))}
    return path in unknown or not above.isdisjoint(gone)


def _without_twins(violations: list[Violation]) -> list[Violation]:
    """Drop what says again of one value what another keyword says of it.

    Of several types the one that remains is what all of them allow together; a list
    of the values that are allowed says more than their type.
    """
    types = [each for each in violations if each.keyword == "type"]
    if not types:
        return violations
    plain = {each.path for each in types if each.branch is None}
    typed = {each.path for each in types}
    kept = [
        each
        for each in _with_one_type(violations)
        if each.keyword == "type"
        or (each.keyword != "not" and (each.branch is None or each.path not in plain))
        or each.path not in typed
    ]
    listed = {each.path for each in kept if each.keyword in {"enum", "const"}}
    return [each for each in kept if each.keyword != "type" or each.path not in listed]


def _with_one_type(violations: list[Violation]) -> list[Violation]:
    """Make one of the demands on the type of one value."""
    kept: list[Violation] = []
    leading: dict[Path, int] = {}
    for each in violations:
        if each.keyword != "type":
            kept.append(each)
        elif each.path in leading:
            first = kept[leading[each.path]]
            both = _types_in_both(first.detail, each.detail)
            leader = each if first.branch is not None and each.branch is None else first
            kept[leading[each.path]] = replace(leader, detail=both)
        else:
            leading[each.path] = len(kept)
            kept.append(each)
    return kept


def _types_in_both(one: list[str], other: list[str]) -> list[str]:
    both = [each for each in one if each in other]
    return both or list(one)


def _by_branch(
    violations: list[Violation], schema: Any
) -> Iterator[tuple[Violation, ...]]:
    """Group the demands of one condition on the keys of one object."""
    groups: dict[Any, list[Violation]] = {}
    for number, each in enumerate(violations):
        branch = each.branch
        if branch is not None and _is_demand(each, branch):
            key: Any = (branch.path, each.path[: branch.depth])
        else:
            key = number
        groups.setdefault(key, []).append(each)
    for group in groups.values():
        branch = group[0].branch
        if branch is not None and len(group) > 1:
            node = schema_at(schema, branch.path)
            wanted = node.get("required", ()) if isinstance(node, dict) else ()
            group.sort(key=lambda each: _key_demanded(each) not in wanted)
        yield tuple(group)


def _is_demand(violation: Violation, branch: Branch) -> bool:
    """Tell whether a condition asks for a key, or for the type of its value."""
    steps = len(violation.path) - branch.depth
    if violation.keyword == "required":
        return steps == 0
    if violation.keyword == "falseSchema":
        return steps <= 1
    return violation.keyword in {"type", "not"} and steps == 1


def _key_demanded(violation: Violation) -> Any:
    if violation.keyword == "required" or not violation.path:
        return violation.detail
    return violation.path[-1]


def _parts_of(
    group: tuple[Violation, ...], record: Any, schema: Any
) -> list[Cause | Conditional]:
    first = group[0]
    if first.keyword == "additionalProperties" and isinstance(first.detail, list):
        return [
            Cause("S104", (*first.path, key), group, at_key=True)
            for key in first.detail
        ]
    if first.keyword == "required":
        key = _misspelling(first, record, schema)
        if key:
            path = (*first.path, key)
            misspelt = Cause(
                "S103", path, group[:1], at_key=True, intended=first.detail
            )
            rest = group[1:]
            more = _parts_of(rest, record, schema) if rest else []
            return [misspelt, *more]
    if first.keyword == "propertyNames" and first.detail in value_at(
        record, first.path
    ):
        return [Cause("V114", (*first.path, first.detail), group, at_key=True)]
    if first.branch is None:
        return [Cause(_code_of(first), first.path, group)]
    return [_conditional(group, first.branch, schema)]


def _code_of(violation: Violation) -> str:
    return _codes.get(violation.keyword, "V111")


def _conditional(
    group: tuple[Violation, ...], branch: Branch, schema: Any
) -> Conditional:
    first = group[0]
    base = first.path[: branch.depth]
    asked = tuple((*base, *each) for each in asked_paths(branch, schema))
    return Conditional(group, pointer_of(branch.path), asked, _is_demand(first, branch))


def _misspelling(violation: Violation, record: Any, schema: Any) -> str:
    """Return the one unknown key that is nearly the missing one, if there is one."""
    owner = value_at(record, violation.path)
    known = known_keys(schema, violation)
    unknown = [each for each in owner if each not in known]
    # Among so many keys one is near by chance, and looking at all takes long.
    return nearest(violation.detail, unknown) if len(unknown) <= MANY_KEYS else ""


def _without_misspelt_twice(causes: list[Cause]) -> list[Cause]:
    """Drop an unknown key that is already said to be a misspelt one."""
    if not any(each.code == "S103" for each in causes):
        return causes
    misspelt = Counter(each.path for each in causes if each.code == "S103")
    kept = [each for each in causes if each.code != "S104" or not misspelt[each.path]]
    return [_unless_several(each, misspelt) for each in kept]


def _unless_several(cause: Cause, misspelt: Mapping[Path, int]) -> Cause:
    """Return a cause, a plain missing key if another is the same key misspelt."""
    if cause.code != "S103" or misspelt[cause.path] == 1:
        return cause
    return Cause("S101", cause.path[:-1], cause.violations)
