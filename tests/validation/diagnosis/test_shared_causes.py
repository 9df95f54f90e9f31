"""Causes that many rows share: what they share, and how much of that is remembered."""

from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import Severity
from harpia_formats.formats.schema.bundled_schemas import schema_validator_of
from harpia_formats.model.format import no_advice
from harpia_formats.plugins import Advice, Path, Remark
from harpia_formats.validation.diagnosis import cached_causes, engine_errors
from harpia_formats.validation.diagnosis.cached_causes import (
    CachedCauses,
    FailedKeyword,
    pattern_matcher,
)
from harpia_formats.validation.diagnosis.engine_errors import (
    AppliedCondition,
    EngineError,
    SchemaPaths,
    condition_of,
    engine_error_of,
    has_value,
    schema_object_at,
    value_at,
)
from harpia_formats.validation.diagnosis.root_causes import (
    Cause,
    ConditionalCause,
    Finding,
    RepeatedKey,
    SharedCauses,
    shared_causes,
)

#: A schema that refuses each member that is no text.
TEXTS: dict[str, Any] = {"additionalProperties": {"type": "string"}}
#: Records with equal errors after which they are found by a pattern.
ENOUGH = 8


class Remembering:
    """The causes of a schema's records, and the records whose causes were computed."""

    def __init__(self, schema: Any) -> None:
        self._errors_of = schema_validator_of(schema).iter_errors
        self._cached = CachedCauses(schema, no_advice)
        self.computed: list[Any] = []

    def find(self, *records: Any) -> None:
        """Find the causes of records, and note which of them are computed."""
        for record in records:
            self._cached.causes_of(record, self._errors_of(record))

    def learn(self, *records: Any) -> None:
        """Find the causes of records so often that their errors become a pattern."""
        for record in records:
            self.find(*[record] * ENOUGH)

    def by_pattern(self, record: Any) -> tuple[Cause, ...] | None:
        """Return the causes of a record that matches a pattern."""
        return self._cached.causes_by_pattern(record)

    def knows(self, *records: Any) -> list[bool]:
        """Return for each record whether its causes are found by a pattern."""
        return [bool(self.by_pattern(record)) for record in records]


@pytest.fixture
def remembering(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Remembering]:
    """Return what makes a memory of the causes of a schema's records."""
    made: list[Remembering] = []

    def noted(record: Any, errors: Any, paths: Any) -> Any:
        made[-1].computed.append(record)
        return shared_causes(record, errors, paths)

    def make(schema: Any) -> Remembering:
        made.append(Remembering(schema))
        return made[-1]

    monkeypatch.setattr(cached_causes, "shared_causes", noted)
    return make


def wrong(*keys: Any) -> dict[str, int]:
    """Return a record with a wrong value at each of some keys."""
    return dict.fromkeys(map(str, keys), 1)


def many(count: int) -> list[str]:
    """Return so many keys."""
    return [f"key {number}" for number in range(count)]


#: What causes depend on, up to a hundred of them: errors, keys of an object that lacks
#: one, unknown keys, refused ones, and errors of an alternative.
COUNTED: tuple[tuple[Any, str], ...] = (
    (TEXTS, ""),
    ({"required": ["a"]}, ""),
    ({"additionalProperties": False, "properties": {"a": {}}}, ""),
    ({"properties": {"a": False}}, "a"),
    ({"anyOf": [TEXTS, {"type": "null"}]}, ""),
)


@pytest.mark.parametrize(("schema", "key"), COUNTED)
def test_causes_of_very_many_things_are_not_remembered(
    remembering: Any, monkeypatch: pytest.MonkeyPatch, schema: Any, key: str
) -> None:
    """Causes are remembered if they depend on a hundred things at most."""
    monkeypatch.setattr(cached_causes, "LONGEST", 10**6)
    for count, times in ((100, 1), (101, 2)):
        memory = remembering(schema)
        record = wrong(*many(count))
        memory.find(*[{key: record} if key else record] * 2)
        assert len(memory.computed) == times, count


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_causes_of_very_many_alternatives_are_not_remembered(
    remembering: Any, monkeypatch: pytest.MonkeyPatch, keyword: str
) -> None:
    """Causes are remembered if there are a hundred alternatives at most."""
    monkeypatch.setattr(cached_causes, "LONGEST", 10**6)
    for count, times in ((100, 1), (101, 2)):
        alternatives = [{"const": number} for number in range(count)]
        memory = remembering({keyword: alternatives})
        memory.find("x", "y")
        assert len(memory.computed) == times
        several = remembering({"oneOf": [True] * count})
        several.find("x", "y")
        assert len(several.computed) == times


def test_memory_of_causes_is_emptied_when_it_is_full(remembering: Any) -> None:
    """The causes of 256 combinations of errors are remembered, then none of them."""
    memory = remembering(TEXTS)
    records = [wrong(key) for key in many(257)]
    memory.find(*records[:256], records[0], *records[255:], records[256], records[0])

    assert memory.computed == [*records, records[0]]


def test_causes_with_a_long_key_are_not_remembered(
    remembering: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Causes are not remembered if what tells them from others is a long text."""
    record = wrong("a", "b")
    for longer, times in ((0, 1), (-1, 2)):
        memory = remembering(TEXTS)
        errors = list(schema_validator_of(TEXTS).iter_errors(record))
        key = CachedCauses(TEXTS, no_advice)._cache_key(errors, record)  # noqa: SLF001 - its length is the bound
        monkeypatch.setattr(cached_causes, "LONGEST", len(repr(key)) + longer)
        memory.find(record, record)
        assert len(memory.computed) == times


def test_errors_become_a_pattern_after_eight_records(remembering: Any) -> None:
    """The errors of eight records are a pattern, if no other ones are between them."""
    memory = remembering(TEXTS)
    memory.find(*[wrong("a"), wrong("b")] * 7)

    assert memory.knows(wrong("a"), wrong("b")) == [False, False]
    memory.find(wrong("b"))
    assert memory.knows(wrong("a"), wrong("b")) == [False, True]
    assert memory.knows({"a": "x"}, wrong("a", "b")) == [False, False]


def test_records_are_compared_with_sixteen_patterns(remembering: Any) -> None:
    """A new pattern takes the place of the one that no record matched for longest."""
    memory = remembering(TEXTS)
    records = [wrong(key) for key in many(17)]
    memory.learn(*records[:16])
    # This one is the first again.
    assert memory.knows(records[0]) == [True]
    memory.learn(records[16])

    assert memory.knows(*records) == [True, False, *[True] * 15]
    # One more record with its errors makes it a pattern again.
    memory.find(records[1])
    assert memory.knows(records[1], records[0], records[2]) == [True, False, True]


def test_so_many_patterns_are_built(remembering: Any) -> None:
    """Sixty-four patterns are built for the records of a schema, and no more."""
    memory = remembering(TEXTS)
    records = [wrong(key) for key in many(65)]
    memory.learn(*records)

    assert memory.knows(*records[-3:]) == [True, True, False]


def test_combinations_of_errors_are_counted_up_to_a_number(
    remembering: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has come first is counted on, and what is new then is not counted."""
    monkeypatch.setattr(cached_causes, "COUNTED", 2)
    memory = remembering(TEXTS)
    records = [wrong(key) for key in many(4)]
    memory.find(*records[:3])
    memory.learn(records[3], records[2])

    assert memory.knows(records[3], records[2]) == [False, True]


def test_patterns_are_dropped_after_many_records_without_them(remembering: Any) -> None:
    """After 64 records in a row that match no pattern, no record is compared."""
    memory = remembering(TEXTS)
    memory.learn(wrong("a"))
    for times, is_known in ((64, True), (64, True), (65, False), (0, False)):
        assert not any(memory.knows(*[wrong("b")] * times))
        assert memory.knows(wrong("a")) == [is_known]
    # A new pattern begins the count anew.
    memory.find(wrong("a"))
    assert not any(memory.knows(*[wrong("b")] * 40))
    memory.learn(wrong("c"))
    assert not any(memory.knows(*[wrong("b")] * 40))
    assert memory.knows(wrong("a"), wrong("c")) == [True, True]


def test_causes_of_a_pattern_are_those_of_the_keys(
    remembering: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a pattern with a missing key, causes are known by the other keys there."""
    monkeypatch.setattr(cached_causes, "REMEMBERED", 2)
    memory = remembering({"properties": {"in": {"required": ["name", "id"]}}})
    records = [{"in": wrong(key), "x": key} for key in ("a", "nmae", "c")]
    memory.learn(records[0])
    assert memory.knows(*records) == [True, False, False]
    memory.find(*records[1:])

    assert memory.knows(*records) == [True, True, False]
    codes = [[cause.code for cause in memory.by_pattern(one)] for one in records[:2]]
    assert codes == [["S101", "S101"], ["S103", "S101"]]


def test_pattern_has_so_many_errors_at_most() -> None:
    """A schema is built for 32 errors of a record, and not for more."""
    keys = many(33)
    failed = [FailedKeyword(("required",), (), key) for key in keys]
    matches = pattern_matcher({"required": keys}, failed[:32], formats=False)

    assert matches is not None
    assert [matches({keys[32]: 1}), matches({}), matches(wrong(*keys[31:]))] == [
        *(True, False, False)
    ]
    assert pattern_matcher({"required": keys}, failed, formats=False) is None


def error_of(keyword: str, detail: Any = None, path: Path = ()) -> EngineError:
    """Return a schema error."""
    return EngineError(keyword, detail, path, ("properties", "a", keyword))


def cause_of(*errors: EngineError, **more: Any) -> Cause:
    """Return a cause of errors."""
    return Cause("S101", errors[0].path, errors, **more)


LACKS_NAME = error_of("required", "name", ("x",))
NULL = error_of("type", ["string"], ("a",))
VALUE: dict[str, Any] = {"a": None, "b": 1, "x": {}}


@for_each_case(
    "about, cause",
    [
        (RepeatedKey(("b",), 2), ""),
        (Remark("S203", ("b",), "is another"), "is another"),
        (Remark("S106", ("b",), "has more"), ""),
        (Remark("X1", ("b",), "text"), ""),
        (Remark("X1", ("b",), "text", severity=Severity.NOTE), "note"),
    ],
)
def test_what_remarks_share(about: Any, cause: str) -> None:
    """Remarks of one group have an equal path, and some of them one cause."""
    code = getattr(about, "code", "J105")
    finding = Finding(code, 3, about, VALUE)

    assert (finding.path, finding.missing_key, finding.cause) == (("b",), "", cause)
    assert (finding.is_fault, finding.is_refusal) == (False, code in {"S203", "S106"})


def test_cause_of_a_condition_is_made_once_for_equal_values() -> None:
    """Records with the same tested keys and the same advice have one cause."""
    asked: Counter[Any] = Counter()

    def advise(pointer: str, path: Path, record: Any) -> Advice | None:
        asked[pointer, path] += 1
        number = record.get("n")
        return None if number is None else Advice(f"X{number}", "help")

    errors = (error_of("minimum", 3, ("a",)), LACKS_NAME)
    found = ConditionalCause(errors, "/then", (("k",), ("l",)), is_demand=False)
    one, same, other = (found.cause(record, advise) for record in ({}, {}, {"l": 1}))
    numbered = [found.cause({"n": number}, advise) for number in range(63)]

    assert one is same
    assert one == Cause("V102", ("a",), errors)
    assert other == Cause("V102", ("a",), errors, because=(("l",),))
    advice = Advice("X5", "help")
    assert numbered[5] == Cause("X5", ("a",), errors, advice=advice)
    # There are sixty-four, and one more is made anew each time.
    assert found.cause({"n": 61}, advise) is numbered[61]
    assert found.cause({"n": 62}, advise) is not numbered[62]
    assert found.cause({"n": 62}, advise) == numbered[62]
    assert asked == {("/then", ("a",)): 69}
    demand = ConditionalCause(errors, "/then", (), is_demand=True)
    assert demand.cause({}, no_advice).code == "C101"


def test_causes_are_made_once_for_equal_conditions() -> None:
    """Records with the same causes share them, up to a number of different ones."""

    def advise(pointer: str, _path: Path, record: Any) -> Advice:
        return Advice(f"X{divmod(record, 13)[pointer == '/else']}", "help")

    conditions = [
        ConditionalCause((NULL,), pointer, (), is_demand=True)
        for pointer in ("/then", "/else")
    ]
    shared = SharedCauses((cause_of(LACKS_NAME, NULL), *conditions), (), is_final=False)
    made = [shared.causes(number, advise) for number in range(65)]
    again = [shared.causes(number, advise) for number in range(65)]

    assert [each.code for each in made[27]] == ["S101", "X2", "X1"]
    assert made == again
    assert [one is two for one, two in zip(made, again, strict=True)] == [
        *([True] * 64),
        False,
    ]


def test_refused_record_has_a_cause() -> None:
    """If no cause is left of those of a record, the record itself is refused."""
    fallback = (cause_of(NULL),)
    schema = {"required": ["a"], "minProperties": 1}
    errors = list(schema_validator_of(schema).iter_errors({}))
    found = shared_causes({}, errors, SchemaPaths(schema))
    (refused,) = found.fallback

    assert SharedCauses((), fallback, is_final=False).causes({}, no_advice) == fallback
    assert found.is_final
    assert found.causes({}, no_advice) is found.found
    assert (refused.code, refused.path) == ("V111", ())
    assert [(each.keyword, each.path) for each in refused.errors] == [("not", ())]
    assert refused.errors[0].detail == found.found[0].errors[0].detail
    assert not shared_causes({}, [], SchemaPaths(schema)).is_final


def test_so_many_paths_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each kind, 1,024 paths are remembered, then none of them."""
    looked_at: list[int] = []

    def noted(_schema: Any, path: Path) -> Any:
        looked_at.append(int(path[0]))
        return iter([path])

    monkeypatch.setattr(engine_errors, "matching_paths", noted)
    paths = SchemaPaths({})
    for number in (*range(1_024), 0, 1_024, 1_024, 0):
        assert paths.location((number,)) == (number,)

    assert looked_at == [*range(1_025), 0]


@for_each_case(
    "names, keyword",
    [
        ("Type Pattern", "anyOf"),
        ("BacktrackLimitExceeded", "undetermined"),
        ("Type RegexEngineFailure", "undetermined"),
    ],
)
def test_alternative_without_a_verdict(names: str, keyword: str) -> None:
    """A value is not refused if the engine gave up on one of the alternatives.

    The engine says so itself today. Here it reports that inside of the alternatives.
    """

    def error_of(name: str, keyword: str, **more: Any) -> Any:
        kind = type(name, (), {"name": keyword, "value": ["null"], **more})()
        return SimpleNamespace(
            kind=kind, instance_path=(), schema_path=(), evaluation_path=()
        )

    context = [[error_of(name, name.lower())] for name in names.split()]
    error = error_of("AnyOf", "anyOf", context=context)
    found = engine_error_of(error, "text", SchemaPaths({}))

    assert found.keyword == keyword
    assert [each.keyword for (each,) in found.detail] == [
        name.lower() if name in {"Type", "Pattern"} else "undetermined"
        for name in names.split()
    ]


TREE_OF_VALUES: dict[str, Any] = {"a": [{"b": None}, 5], "": {"c": "text"}, "0": 1}
TREE_OF_SCHEMAS: dict[str, Any] = {
    "properties": {"a": {"$ref": "#/definitions/d"}, "$ref": {"type": "null"}},
    "items": [True, {"type": "string"}],
    "definitions": {"d": {"properties": {"01": {"$ref": "#/definitions/e"}}}, "e": {}},
}


def test_paths_lead_to_values_or_nowhere() -> None:
    """A path of another kind than the value, or to nothing, is a lookup error."""
    found = (), ("a",), ("a", 0), ("a", 0, "b"), ("a", 1), ("", "c"), ("0",)
    values = [value_at(TREE_OF_VALUES, path) for path in found]
    first = TREE_OF_VALUES["a"]

    assert values == [TREE_OF_VALUES, first, first[0], None, 5, "text", 1]
    assert all(has_value(TREE_OF_VALUES, path) for path in found)
    nowhere: tuple[Path, ...] = (("b",), (0,), ("a", "0"), ("a", 2), ("a", 0, "c"))
    for path in (*nowhere, ("a", 1, 0), ("", "c", 0)):
        assert not has_value(TREE_OF_VALUES, path)
        with pytest.raises(LookupError):
            value_at(TREE_OF_VALUES, path)


def test_paths_lead_to_parts_of_schemas_or_nowhere() -> None:
    """They follow references, and name keys as the engine does."""
    definition = TREE_OF_SCHEMAS["definitions"]["d"]
    for path, part in (
        (("properties", "a"), {"$ref": "#/definitions/d"}),
        (("properties", "a", "$ref"), definition),
        (("properties", "a", "$ref", "properties", 1, "$ref"), {}),
        # A property that is called like the keyword is no reference.
        (("properties", "$ref"), {"type": "null"}),
        (("x",), {}),
        (("items", 2), {}),
        (("items", 0, "a"), {}),
        (("items", "a"), {}),
        (("items", 1, "type"), {}),
    ):
        assert schema_object_at(TREE_OF_SCHEMAS, path) == part


@pytest.mark.parametrize(
    ("path", "condition"),
    [
        (("dependencies",), None),
        (("items", "dependencies"), None),
        (("items", 0, "then"), AppliedCondition(("items", 0, "then"), 1)),
    ],
)
def test_a_path_that_ends_at_dependencies_has_no_condition(
    path: Path, condition: AppliedCondition | None
) -> None:
    """A condition is what stands behind the key of one of them."""
    assert condition_of(path) == condition
