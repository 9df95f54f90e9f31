"""Tables of fields: which contradict themselves, and what their members return."""

import re
from typing import Any

import pytest
from msgspec import UNSET

from cases import for_each_case
from harpia_formats import Output, Record, Score, read
from harpia_formats.plugins import (
    ChangedValue,
    FieldMapping,
    FieldOutcomes,
    FieldTable,
    Outcome,
    Unconvertible,
    ValueCodec,
)
from known_formats import WRITABLE, adapter_named
from table_steps import without_nulls

VALUE, METRIC = "outputs.scores.value", "outputs.scores.metric"
TEXT = "outputs.text"


def field(path: str, record_path: str, **more: Any) -> FieldMapping:
    """Return a field, whose path is given as a text."""
    return FieldMapping(tuple(path.split(".")), record_path, **more)


def by_key(path: str, value: str = VALUE, key: str = METRIC) -> FieldMapping:
    """Return the field of scores by keys that are data."""
    return field(path, value, key_record_path=key)


def read_nothing(*_: Any) -> dict[str, Any]:
    """Return that a row has no fields."""
    return {}


PROMPT, ANSWER = field("question", "prompt"), field("answer", TEXT)
BY_KEY = by_key("scores.*")
ALONE = "next to scores by key there is no place for another"
TOGETHER = "'*' and `key_record_path` go together"
OF_SCORES = "a.*: keys that are data are fields of scores"
SEVERAL = "a: one key is several fields by `own_keys` only"
OWN_OBJECT = "keys that are data need their own object"
NO_READER = "`own_keys`, `removes_own` and `run_of` need `read_own`"
ANY_ALONE = "any key as an own one needs `in_order` alone"
OF_OTHERS = "`read_own` returns the outputs, and fields are of others"
ANY: dict[str, Any] = {"own_keys": ("*",), "read_own": read_nothing}


@for_each_case(
    "reason, fields, more",
    [
        (ALONE, [BY_KEY, field("score", VALUE)], {}),
        (ALONE, [BY_KEY, field("why", "outputs.scores.signature")], {}),
        (f"a.*: {TOGETHER}", [field("a.*", VALUE)], {}),
        (f"a.b: {TOGETHER}", [by_key("a.b", key="outputs.scores.x")], {}),
        ("a: a record has no field 'none'", [field("a", "none")], {}),
        (OF_SCORES, [by_key("a.*", TEXT)], {}),
        (OF_SCORES, [by_key("a.*", key="outputs.model")], {}),
        ("a.b: a is a field itself", [field("a", "prompt"), field("a.b", TEXT)], {}),
        (SEVERAL, [field("a", "prompt"), field("a", TEXT)], {}),
        (SEVERAL, [field("a.b", TEXT), field("a", "prompt")], {}),
        (f"scores.x: {OWN_OBJECT}", [BY_KEY, field("scores.x", "prompt")], {}),
        (f"scores.*: {OWN_OBJECT}", [field("scores.x", "prompt"), BY_KEY], {}),
        (f"*: {OWN_OBJECT}", [by_key("*")], {}),
        (NO_READER, [PROMPT], {"own_keys": ("question",)}),
        (NO_READER, [PROMPT], {"removes_own": True}),
        (NO_READER, [PROMPT], {"run_of": dict}),
        (ANY_ALONE, [PROMPT], ANY),
        (ANY_ALONE, [PROMPT], {**ANY, "in_order": True, "removes_own": True}),
        (
            OF_OTHERS,
            [field("answers.text", TEXT), field("model", "outputs.model")],
            {"own_keys": ("answers",), "read_own": read_nothing},
        ),
    ],
)
def test_a_table_that_contradicts_itself(
    reason: str, fields: list[FieldMapping], more: dict[str, Any]
) -> None:
    """The field that has no place of its own is named, or what needs a function."""
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        FieldTable("own", tuple(fields), **more)


def test_tables_that_do_not() -> None:
    """Plain fields of all levels, and scores by key alone, are good tables."""
    levels = (PROMPT, ANSWER, field("a", VALUE), field("b", METRIC))
    table, scored = FieldTable("own", levels), FieldTable("own", (BY_KEY, PROMPT))
    score = Score(metric="em", value=1)
    rows: list[tuple[Any, dict[str, Any]]] = [
        ([], {"question": "q"}),
        ([Output(text="x")], {"question": "q", "answer": "x"}),
        ([Output(scores=[score])], {"question": "q", "a": 1, "b": "em"}),
    ]

    for outputs, row in rows:
        record = Record(prompt="q", outputs=outputs)
        assert table.read(row) == record
        assert table.write(record, FieldOutcomes()) == row
    assert scored.read({"question": "q", "scores": {"em": 1}}) == record
    first = Record(prompt="q", outputs=[Output(text="x"), Output(text="y")])
    assert table.write(first, FieldOutcomes()) == rows[1][1]


def test_the_first_of_several_keys_is_one_field() -> None:
    """A value that the field cannot hold is none; others stay, and one is written."""
    table = FieldTable(
        "own", (field("a", "prompt"), field("id", "id"), field("b", "prompt"))
    )
    rows: list[Any] = [{"b": "y", "a": "x"}, {"b": "y", "a": 1}, {"b": "y"}, {"b": 2}]

    assert [table.read(row) for row in rows] == [
        Record(prompt="x", extra={"own": {"b": "y"}}),
        Record(prompt="y", extra={"own": {"a": 1}}),
        Record(prompt="y"),
        Record(extra={"own": {"b": 2}}),
    ]
    row = table.write(Record(prompt="x", id="i"), FieldOutcomes())
    assert row == {"a": "x", "id": "i"}


def test_own_keys_are_those_of_all_fields_unless_given() -> None:
    """A function without keys reads every field; "*" is no key of a row."""
    fields = (PROMPT, field("chat.text", "references"), by_key("*"))
    table = FieldTable("own", fields, read_own=lambda row, _: {"prompt": row["chat"]})

    assert table.own_keys == ("question", "chat")
    assert table.read({"question": "q", "chat": "c", "*": 1}) == Record(
        prompt="c", extra={"own": {"*": 1}}
    )


def test_any_key_may_be_an_own_one() -> None:
    """A function that reads whole rows keeps what it does not read itself."""

    def read_own(row: Any, kept: dict[str, Any]) -> dict[str, Any]:
        kept["z"] = dict(kept)
        kept["b"] = row["by"]
        return {"prompt": row["question"]}

    fields = (PROMPT, field("count", "outputs.index"))
    table = FieldTable("own", fields, in_order=True, own_keys=("*",), read_own=read_own)
    record = table.read({"by": 1, "question": "q", "a": 2})

    assert record == Record(prompt="q", extra={"own": {"z": {}, "b": 1}})
    assert [*(record.extra or {})["own"]] == ["z", "b"]


def test_rows_are_read_with_what_stands_around_them() -> None:
    """A function is given what is made of that once a file, or of nothing."""
    made = []

    def run_of(around: Any) -> Any:
        made.append(around)
        return around.get("model", "none")

    def read_own(run: str, row: Any, _: Any) -> dict[str, Any]:
        return {"prompt": row["question"], "source": run}

    table = FieldTable("own", (PROMPT,), run_of=run_of, read_own=read_own)
    adapter = table.adapter(is_read_only=True)
    row = {"question": "q", "more": 1}
    own = {"own": {"more": 1}}

    assert adapter.reader_in is not None
    read = adapter.reader_in({"model": "m"})
    assert [read(row), read(row)] == [Record(prompt="q", source="m", extra=own)] * 2
    assert made == [{"model": "m"}]
    assert adapter.read(row) == Record(prompt="q", source="none", extra=own)
    assert FieldTable("own", (PROMPT,)).adapter().reader_in is None


def test_own_keys_that_are_not_removed_stay_where_they_stood() -> None:
    """A function that removes its keys leaves others in the order of the row."""

    def read_own(_: Any, kept: dict[str, Any]) -> dict[str, Any]:
        return {"source": kept.pop("from")}

    fields = (PROMPT, field("from", "source"), field("by", "source"))
    table = FieldTable(
        "own",
        fields,
        own_keys=("from", "by"),
        read_own=read_own,
        in_order=True,
        removes_own=True,
    )
    record = table.read({"z": 1, "by": "b", "question": "q", "from": "f", "a": 2})

    assert record == Record(
        prompt="q", source="f", extra={"own": {"z": 1, "by": "b", "a": 2}}
    )
    assert [*(record.extra or {})["own"]] == ["z", "by", "a"]


def test_rows_that_are_normalized() -> None:
    """The row that a function returns is read in place of the given one."""
    table = FieldTable("own", (PROMPT,), normalize=without_nulls)
    row = {"question": None, "more": None, "other": 1}

    assert table.read(row) == Record(extra={"own": {"other": 1}})
    assert row == {"question": None, "more": None, "other": 1}


def test_adapters_compile_what_is_used_first() -> None:
    """An adapter's functions are those of the table; a read-only one does not write."""
    table = FieldTable("own", (PROMPT,))
    adapter, reader = table.adapter(), table.adapter(is_read_only=True)
    outcomes = FieldOutcomes()

    assert adapter.write is not None
    assert reader.write is None
    assert adapter.read({"question": "q"}) == Record(prompt="q")
    assert adapter.write(Record(prompt="q"), outcomes) == {"question": "q"}


def test_rows_are_not_read_by_fields_where_more_decides() -> None:
    """Functions, and several keys for one field, are not passed over."""
    tables = (
        FieldTable("own", (PROMPT, field("b", "prompt"))),
        FieldTable("own", (PROMPT,), normalize=without_nulls),
        FieldTable("own", (PROMPT,), read_own=lambda row, _: {"prompt": row["a"]}),
    )
    for table in tables:
        with pytest.raises(ValueError, match=r"^`reads_by_fields` needs a key"):
            table.adapter(reads_by_fields=True)
        assert not table.adapter(is_read_only=True).reads_by_fields
    plain = FieldTable("own", (PROMPT,))
    assert plain.adapter(reads_by_fields=True).reads_by_fields


def test_fields_that_are_read_and_not_written() -> None:
    """An adapter that writes needs a function for what a function reads."""
    table = FieldTable("own", (PROMPT,), read_own=read_nothing)

    with pytest.raises(
        ValueError, match=r"^`read_own` needs `write_own`, or `is_read_only`$"
    ):
        table.adapter()
    assert table.adapter(is_read_only=True).write is None


def test_a_function_for_any_key() -> None:
    """It reads a table of no other fields, and writes it though nothing is kept."""
    table = FieldTable(
        "own",
        (by_key("*"),),
        read_own=lambda row, _: {"prompt": row["q"]},
        write_own=lambda record, _, __: {"q": record.prompt},
        removes_own=True,
    )

    assert table.read({"q": "x"}).prompt == "x"
    assert table.write(Record(prompt="x"), FieldOutcomes()) == {"q": "x"}


def test_a_function_that_writes_what_is_kept() -> None:
    """Without own keys it is asked only for records of which something is kept."""
    asked: list[dict[str, Any]] = []

    def write_own(_: Record, kept: dict[str, Any], __: FieldOutcomes) -> dict[str, Any]:
        asked.append({**kept})
        return {"first": kept.pop("more")}

    table = FieldTable("own", (PROMPT,), write_own=write_own)
    plain, kept = Record(prompt="q"), Record(prompt="q", extra={"own": {"more": 1}})

    assert table.write(plain, FieldOutcomes()) == {"question": "q"}
    assert asked == []
    assert table.write(kept, FieldOutcomes()) == {"first": 1, "question": "q"}
    assert asked == [{"more": 1}]


def test_all_fields_that_are_missing_are_named() -> None:
    """A field that becomes nothing is missing, and the others with it."""
    nothing = ValueCodec(lambda value: value, lambda _: UNSET, "writes nothing")
    fields = (
        field("question", "prompt", required=True, codec=nothing),
        field("answer", "outputs.text", required=True),
        field("model", "outputs.model"),
    )
    with pytest.raises(Unconvertible) as failed:
        FieldTable("own", fields).write(Record(prompt="q"), FieldOutcomes())

    assert failed.value.path == "prompt"
    assert failed.value.reason == ("the record has nothing for `question` and `answer`")


def test_rows_of_some_keys() -> None:
    """Rows without the other keys are read as by the whole table."""
    table = FieldTable("own", (PROMPT, field("answer", "outputs.text")))

    assert table.read_of(["question"])({"question": "q"}) == Record(prompt="q")
    assert table.read_of([])({"question": "q"}) == Record(
        extra={"own": {"question": "q"}}
    )


@for_each_case(
    "row, rest, whole, taken",
    [
        ({}, {"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 1}, {"a": 1}, ["a"]),
        ({"a": None}, {"a": 1}, {"a": None}, ["a"]),
        ({"a": {}}, {"a": 1}, {"a": {}}, ["a"]),
        ({"a": 1}, {"a": {}}, {"a": 1}, ["a"]),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}, []),
        ({"a": {"b": 1}}, {"a": {"b": 2, "c": 3}}, {"a": {"b": 1, "c": 3}}, ["a"]),
        (
            {"a": 1, "b": 0},
            {"a": 2, "b": 1, "c": 3},
            {"a": 1, "b": 0, "c": 3},
            ["a", "b"],
        ),
    ],
)
def test_what_a_row_lacks_is_merged(
    row: dict[str, Any], rest: dict[str, Any], whole: dict[str, Any], taken: list[str]
) -> None:
    """Members are added where the row has none, and the others are named."""
    outcomes = FieldOutcomes()

    assert FieldTable("own", (PROMPT,)).finish(row, rest, outcomes) == whole
    assert outcomes_of(outcomes) == [
        (Outcome.DROPPED, f"extra.own.{key}", "its place is taken") for key in taken
    ]


def outcomes_of(outcomes: FieldOutcomes) -> list[tuple[Outcome, str, str]]:
    """Return what was noted, as plain tuples."""
    return [(each.outcome, each.path, each.how) for each in outcomes.entries]


def test_members_that_stand_in_order() -> None:
    """They follow in their order as they are; what has no place is named."""
    ordered = FieldOutcomes()
    kept = {"a": {"x": 1, "y": 2}, "b": 1, "c": 3}
    fields = (field("c", "prompt"),)
    table = FieldTable("own", fields, read_own=read_nothing, in_order=True)
    row = table.finish({"b": 0}, kept, ordered)

    assert table.own_keys == ("c",)
    assert row == {"b": 0, "a": {"x": 1, "y": 2}}
    assert outcomes_of(ordered) == [
        (Outcome.DROPPED, "extra.own.b", "the key belongs to another field"),
        (Outcome.DROPPED, "extra.own.c", "the key belongs to another field"),
    ]


def written_scores(
    scores: list[Score] | None, path: str = "scores.*", **more: Any
) -> tuple[dict[str, Any], list[tuple[Outcome, str, str]]]:
    """Return the row that scores by key become, and what was noted."""
    given = field(path, VALUE, key_record_path=METRIC, **more)
    outcomes = FieldOutcomes()
    record = Record() if scores is None else Record(outputs=[Output(scores=scores)])
    row = FieldTable("own", (given,)).write(record, outcomes)
    return row, outcomes_of(outcomes)


def test_each_key_is_the_metric_of_a_score() -> None:
    """A row has a score for each key, and gets a key for each score, in order.

    A key whose value no score can have stays in `extra`, and comes back.
    """
    table, outcomes = FieldTable("own", (PROMPT, BY_KEY)), FieldOutcomes()
    scores = [Score(metric="em", value=1), Score(metric="f1", value=0.5)]
    row: dict[str, Any] = {"question": "q", "scores": {"em": 1, "f1": 0.5}}
    record = Record(prompt="q", outputs=[Output(scores=scores)])

    assert table.read(row) == record
    assert table.write(record, outcomes) == row
    row["scores"]["judge"] = {"verdict": "good"}
    kept = table.read(row)
    assert kept.outputs == record.outputs
    assert kept.extra == {"own": {"scores": {"judge": {"verdict": "good"}}}}
    assert table.write(kept, outcomes) == row
    assert outcomes.entries == []


def test_scores_by_key() -> None:
    """Each score stands under its key; one without a key of its own is dropped."""
    em, f1 = Score(metric="em", value=1), Score(metric="f1", value=0.5)
    lost = (Outcome.DROPPED, "outputs.scores", "those without a key of their own")

    assert written_scores([em, f1]) == ({"scores": {"em": 1, "f1": 0.5}}, [])
    assert written_scores([em], "a.b.*") == ({"a": {"b": {"em": 1}}}, [])
    for bare in (Score(value=2), Score(metric="em")):
        assert written_scores([bare]) == ({}, [lost])
    several = [em, Score(metric="em", value=2)], [Score(metric="x"), em]
    for scores in (*several, [em, Score(signature="x")]):
        assert written_scores(scores) == ({"scores": {"em": 1}}, [lost])
    # What holds neither is another field, of which others tell.
    assert written_scores([Score(signature="x")]) == ({}, [])
    assert written_scores(None) == written_scores([]) == ({}, [])


def test_scores_by_key_that_a_row_must_have() -> None:
    """Where there is none, a default is written, or the record cannot be."""
    with pytest.raises(Unconvertible, match="nothing for `scores"):
        written_scores(None, required=True)
    assert written_scores([Score(metric="em", value=1)], required=True)[1] == []
    assert written_scores(None, required=True, default={})[1] == [
        (Outcome.DEFAULTED, "outputs.scores.value", "is {}")
    ]


def test_scores_by_key_that_are_changed() -> None:
    """A codec may write another value, which is noted, or none."""
    how = "rounded"
    answers = {1: ChangedValue(2, how), 2: UNSET, 3: "three"}
    codec = ValueCodec(lambda value: value, answers.__getitem__, "as it wants")
    scores = [Score(metric=f"m{value}", value=value) for value in (1, 2, 3)]

    assert written_scores(scores, codec=codec) == (
        {"scores": {"m1": 2, "m3": "three"}},
        [
            (Outcome.CHANGED, "outputs.scores.value", how),
            (Outcome.DROPPED, "outputs.scores", "those without a key of their own"),
        ],
    )


#: Values of each type that a codec may leave unchanged.
USUAL_VALUES: dict[type, list[Any]] = {
    str: ["", "a", "1", "NaN", "null", " ", "[]"],
    int: [0, -1, 2**70],
    float: [0.0, -0.5, 1e300],
}
#: The type of numbers that keep how they are spelt.
(NUMBER,) = read(b'{"outputs":[],"metadata":{"n":1e2}}', format="record")
assert isinstance(NUMBER.metadata, dict)
USUAL_VALUES[type(NUMBER.metadata["n"])] = [NUMBER.metadata["n"]]


def test_codecs_leave_values_of_their_unchanged_types_alone() -> None:
    """What `unchanged` of a codec says is true of what it writes, for all formats."""
    codecs = {
        (format_id, mapping.name): mapping.codec
        for format_id in WRITABLE
        for mapping in adapter_named(format_id).fields
        if mapping.codec is not None and mapping.codec.unchanged
    }

    assert codecs
    for codec in codecs.values():
        values = [value for kind in codec.unchanged for value in USUAL_VALUES[kind]]
        assert all(codec.write(value) is value for value in values)
