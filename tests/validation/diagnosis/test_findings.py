"""Findings on rows, and causes that many rows share."""

from collections import Counter
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.formats.registry import all_rules
from harpia_formats.formats.schema.bundled_schemas import schema_validator_of
from harpia_formats.model.format import Advice, Remark, no_advice
from harpia_formats.model.problem import Path, Severity
from harpia_formats.validation.diagnosis.engine_errors import EngineError, SchemaPaths
from harpia_formats.validation.diagnosis.messages import problem_of, text_of_error
from harpia_formats.validation.diagnosis.root_causes import (
    Cause,
    ConditionalCause,
    Finding,
    RepeatedKey,
    SharedCauses,
    SharedFindings,
    find_json_fault,
    shared_causes,
)
from harpia_formats.validation.diagnosis.row_context import RowContext


def error_of(keyword: str, detail: Any = None, path: Path = ()) -> EngineError:
    """Return a schema error."""
    return EngineError(keyword, detail, path, ("properties", "a", keyword))


def cause_of(*errors: EngineError, **more: Any) -> Cause:
    """Return a cause of errors."""
    return Cause("S101", errors[0].path, errors, **more)


LACKS_NAME = error_of("required", "name", ("x",))
NULL = error_of("type", ["string"], ("a",))
LACKING = cause_of(LACKS_NAME, NULL)
VALUE: dict[str, Any] = {"a": None, "b": 1, "x": {}}


@for_each_case(
    "code, about, path, key, cause",
    [
        (
            "S101",
            LACKING,
            ("x",),
            "name",
            "/properties/a/required required name /properties/a/type type ['string']",
        ),
        (
            "S103",
            cause_of(LACKS_NAME, intended="name"),
            ("x",),
            "",
            "/properties/a/required required namename",
        ),
        (
            "S102",
            cause_of(NULL),
            ("a",),
            "",
            "/properties/a/type type ['string'] null",
        ),
        (
            "S102",
            cause_of(error_of("type", ["null"], ("b",))),
            ("b",),
            "",
            "/properties/a/type type ['null']",
        ),
        # Only a type is another fault for null.
        (
            "V101",
            cause_of(error_of("const", 5, ("a",))),
            ("a",),
            "",
            "/properties/a/const const",
        ),
        ("J105", RepeatedKey(("b",), 2), ("b",), "", ""),
        ("S203", Remark("S203", ("b",), "is another"), ("b",), "", "is another"),
        ("S106", Remark("S106", (), "has more"), (), "", ""),
        ("X1", Remark("X1", ("b",), "text"), ("b",), "", ""),
        (
            "X1",
            Remark("X1", ("b",), "text", severity=Severity.NOTE),
            ("b",),
            "",
            "note",
        ),
    ],
)
def test_what_findings_share(
    code: str, about: Any, path: Path, key: str, cause: str
) -> None:
    """Findings of one group have an equal code, path, missing key and cause."""
    finding = Finding(code, 3, about, VALUE)

    assert (finding.path, finding.missing_key, finding.cause) == (path, key, cause)
    assert not finding.is_fault
    is_refusal = isinstance(about, Cause) or code in {"S203", "S106"}
    assert finding.is_refusal is is_refusal


@for_each_case(
    "text, code, cause",
    [
        (b'{"a": 1', "J102", "the text ends inside an object that starts at byte …"),
        (b"@", "J101", "found … instead of a value"),
        (rb'"\q"', "J101", "a backslash before … is not an escape in JSON"),
        (b'"\\\xff"', "J101", "a backslash before … is not an escape in JSON"),
        (b'"\t"', "J109", "the control character … stands unescaped in a string"),
        (b'"\xff"', "J103", "the byte … is not valid UTF-… here"),
        (
            b"[" * 2_000,
            "J108",
            "arrays and objects are nested more than … levels deep",
        ),
    ],
)
def test_what_faults_share(text: bytes, code: str, cause: str) -> None:
    """Faults of one kind have one cause, without what is particular to each."""
    finding = find_json_fault(3, text)

    assert finding is not None
    assert (finding.code, finding.row, finding.path) == (code, 3, ())
    assert (finding.cause, finding.missing_key) == (cause, "")
    assert finding.is_fault
    assert not finding.is_refusal


def test_no_fault_in_json() -> None:
    """A row that is JSON has no fault."""
    assert find_json_fault(3, b'{"a": 1}') is None


def test_findings_of_rows_with_the_same_causes() -> None:
    """A row that shares its causes has a finding of each, and its own values."""
    causes = LACKING, cause_of(NULL), cause_of(error_of("type", [], ("b",)))
    shared = SharedFindings(3, causes, VALUE)

    assert shared.findings() == [Finding("S101", 3, each, VALUE) for each in causes]
    assert shared.typed_paths() == (("a",), ("b",))
    assert shared.nulls_at((("a",), ("b",))) == (True, False)
    # Many rows have them, so nobody can change them.
    for given, name in ((shared, "row"), (RepeatedKey(("a",), 0), "before")):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(given, name, 4)


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
    shared = SharedCauses((LACKING, *conditions), (), is_final=False)
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


@for_each_case(
    "schema, record, is_final",
    [
        ({"required": ["a"]}, {"b": 1}, True),
        # A key that looks like a misspelt one may be one of several.
        ({"required": ["name"]}, {"nmae": 1}, False),
        ({"if": {"required": ["a"]}, "then": False}, {"a": 1}, False),
    ],
)
def test_causes_that_do_not_depend_on_values(
    schema: Any, record: Any, is_final: bool
) -> None:
    """Causes are final unless a condition is among them, or a misspelt key."""
    errors = list(schema_validator_of(schema).iter_errors(record))

    assert shared_causes(record, errors, SchemaPaths(schema)).is_final is is_final


@for_each_case("count, is_near", [(100, True), (101, False)])
def test_misspelt_key_among_many(count: int, is_near: bool) -> None:
    """A misspelt key is looked for among a hundred unknown ones at most."""
    schema = {"required": ["name"], "properties": {"own": {}}}
    keys = [f"key {number}" for number in range(count - 1)]
    record = dict.fromkeys(["own", *keys, "nmae"], 1)
    errors = schema_validator_of(schema).iter_errors(record)
    causes = shared_causes(record, errors, SchemaPaths(schema)).causes(
        record, no_advice
    )

    assert [cause.code for cause in causes] == ["S103" if is_near else "S101"]


@for_each_case(
    "keyword, longest",
    [("pattern", 600), ("minimum", 600), ("contains", 100), ("not", 100)],
)
def test_parts_of_a_schema_are_cut(keyword: str, longest: int) -> None:
    """A message shows so many characters of a pattern, a bound or a schema."""
    for more in (0, 1):
        text = "p" * (longest - len('{"pattern":""}') + more)
        detail: Any = {"pattern": text}
        shown = f'{{"pattern":"{text}"}}'
        if keyword == "pattern":
            detail = "p" * (longest - 2 + more)
            shown = f'"{detail}"'
        if keyword == "minimum":
            detail = int("1" * (longest + more))
            shown = str(detail)
        message = text_of_error(error_of(keyword, detail), [1]).message
        if more:
            shown = shown[:longest] + "…"
        assert shown in message
        assert len(message) - len(shown) < 80


def test_remark_and_its_rule_make_a_problem() -> None:
    """The problem of a remark has its message and help, and no place in the schema."""
    remark = Remark("L101", ("a",), "message", "help", at_key=True)
    rule = next(iter(all_rules().values()))
    row = RowContext("f", b'{"a": null}', Cursor(), 1, VALUE)
    problem = problem_of(Finding(rule.code, 0, remark, VALUE), rule, row, {})

    assert (problem.message, problem.help) == ("message", "help")
    assert (problem.place.pointer, problem.place.column) == ("/a", 2)
    assert (problem.schema_pointer, problem.because, problem.fix) == ("", (), None)
