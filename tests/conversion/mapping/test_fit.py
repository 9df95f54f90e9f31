"""Records become rows that hold less, and what does not fit is a loss."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats import Record, Score, read
from harpia_formats.plugins import Outcome
from json_lines import jsonl
from required_values import REQUIRED
from unchecked import converted

#: A format whose rows hold one reference and one answer, with an id.
ONE = "haystack"
CHAT = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "q1"},
    {"role": "assistant", "content": "a1"},
    {"role": "user", "content": "q2"},
]
#: What formats require and records here lack.
GIVEN = {key: REQUIRED[key] for key in REQUIRED if key not in {"id", "prompt"}}
GIVEN = {key: each for key, each in GIVEN.items() if "text" not in key}
UNSCORED = {key: each for key, each in GIVEN.items() if "evaluation" in key}
UNSCORED["outputs.model"] = "org/model"


def parts_of(
    record: dict[str, Any], to: str = ONE, **options: Any
) -> tuple[list[Record], dict[str, set[Outcome]]]:
    """Return the records of the rows of a record, and what became of its paths."""
    data = jsonl({"outputs": [], **record})
    options = {"constants": GIVEN, **options}
    output, report = converted(data, to=to, from_="record", **options)
    assert report.written, report.report.problems
    outcomes: dict[str, set[Outcome]] = {}
    for each in report.losses[0].losses.counts:
        outcomes.setdefault(each.path, set()).add(each.outcome)
    return list(read(output, format=to)), outcomes


def answers(*texts: str, **more: Any) -> list[dict[str, Any]]:
    """Return answers with these texts."""
    return [{"text": text, **more} for text in texts]


def asked(*outputs: dict[str, Any]) -> dict[str, Any]:
    """Return a record of a question with these answers."""
    return {"id": "1", "prompt": "q", "references": ["r"], "outputs": [*outputs]}


def test_record_that_fits_is_unchanged() -> None:
    """A record that fits into a row is unchanged, without any loss."""
    record = {
        "id": "1",
        "messages": CHAT,
        "references": ["a", "b"],
        "outputs": [{"text": "x", "scores": [{"value": 1}, {"value": 2}]}, {}],
    }
    parts, outcomes = parts_of(record, "record", constants={})

    assert (parts, outcomes) == (list(read(jsonl(record), format="record")), {})


# References and answers


def test_the_first_reference_is_taken() -> None:
    """By default one reference is kept, and the rest is noted as dropped."""
    record = {"id": "x", "prompt": "q", "references": ["a", "b"]}
    (part,), outcomes = parts_of(record)

    assert (part.id, part.references) == ("x", ["a"])
    assert outcomes == {"references": {Outcome.DROPPED}}


def test_references_can_be_a_row_each() -> None:
    """With expand each reference has its row, with an id of its own."""
    record = {"id": "x", "prompt": "q", "references": ["a", "b"]}
    parts, outcomes = parts_of(record, references="expand")

    found = {each.id: each.references for each in parts}
    assert (len(parts), found) == (2, {"x#1": ["a"], "x#2": ["b"]})
    assert outcomes == {"references": {Outcome.SPLIT}, "id": {Outcome.CHANGED}}


@for_each_case(
    "record, options, help_",
    [
        ({"references": ["a", "b"]}, {"references": "fail"}, "choose with references"),
        ({"outputs": answers("x", "y")}, {"responses": "fail"}, "with responses"),
        ({"outputs": answers("x", "y")}, {"responses": "list"}, "with responses"),
        ({"messages": CHAT}, {"turns": "fail"}, "choose with turns"),
        ({"messages": CHAT[:1]}, {}, 'or take turns="transcript"'),
        ({"outputs": [{"turns": CHAT}]}, {"turns": "fail"}, "choose with turns"),
    ],
)
def test_forbidden_choice_is_an_error_with_help(
    record: dict[str, Any], options: dict[str, Any], help_: str
) -> None:
    """A choice that forbids a necessary change is an error at the field, with help."""
    data = jsonl({"outputs": [], **record})
    options = {"constants": GIVEN, **options}
    output, report = converted(data, to=ONE, from_="record", **options)
    (problem,) = report.report.problems

    assert (output, problem.code) == (b"", "L201")
    assert help_ in problem.help
    (group,), (field,) = report.report.groups, record
    assert group.pointer.startswith(f"/{field}")


def test_answers_are_a_row_each() -> None:
    """By default each answer has its row, and its number behind the id."""
    parts, outcomes = parts_of({"id": 7, "prompt": "q", "outputs": answers(*"xyz")})

    assert [(each.id, each.outputs[0].text) for each in parts] == [
        ("7#1", "x"),
        ("7#2", "y"),
        ("7#3", "z"),
    ]
    assert outcomes["outputs"] == {Outcome.SPLIT}


def test_answers_of_one_model_are_a_list_where_there_is_room() -> None:
    """With list each model has one row, with all of its answers."""
    outputs = [{"model": f"o/{each}", "text": "x"} for each in "mnm"]
    record = {"id": "1", "prompt": "q", "outputs": outputs}
    parts, _ = parts_of(record, "eee@0.3.0", responses="list")

    assert [[one.model for one in each.outputs] for each in parts] == [
        ["o/m", "o/m"],
        ["o/n"],
    ]


@pytest.mark.parametrize("model", ["m", None])
def test_answers_of_one_model_only(model: str | None) -> None:
    """A model that is asked for is the only one whose answers are left."""
    outputs = [{"model": each, "text": each} for each in "mn"] + answers("x")
    record = {"prompt": "q", "outputs": outputs}
    (part,), outcomes = parts_of(record, "tencent-outputs", model=model)

    assert [each.text for each in part.outputs] == (["m"] if model else ["m", "n", "x"])
    assert outcomes.get("outputs") == ({Outcome.DROPPED} if model else None)


# Scores


def values_of(parts: list[Record]) -> list[tuple[str | None, list[Any]]]:
    """Return the text and the scores of the first answer of each record."""
    outputs = [each.outputs[0] for each in parts]
    return [
        (each.text or None, [score.value for score in each.scores or []])
        for each in outputs
    ]


@pytest.mark.parametrize(("count", "outcome"), [(1, None), (2, Outcome.DROPPED)])
def test_scores_are_a_row_each(count: int, outcome: Outcome | None) -> None:
    """Several scores of one answer are several rows where a row holds one.

    So it is of the first answer if the others are to be dropped.
    """
    outputs = answers(*"xy"[:count], scores=[{"value": 1}, {"value": 2}])
    parts, outcomes = parts_of(
        {"prompt": "q", "outputs": outputs}, "csv", responses="first", constants={}
    )

    assert values_of(parts) == [("x", [1]), ("x", [2])]
    assert outcomes["outputs.scores"] == {Outcome.SPLIT}
    assert outcomes.get("outputs") == ({outcome} if outcome else None)


def test_scores_without_a_verdict_have_no_row_of_their_own() -> None:
    """Rows that need a verdict are made of the scores that have one, if any do."""
    graded = {"metric": "f1", "value": 0.5}
    missing = {"metric": "judge", "value": None, "is_correct": False}
    right = {"metric": "em", "value": 1, "is_correct": True}
    constants = {key: GIVEN[key] for key in GIVEN if "_correct" not in key}

    def record(*scores: dict[str, Any]) -> dict[str, Any]:
        return {"id": "1", "prompt": "q", "outputs": answers("x", scores=[*scores])}

    parts, outcomes = parts_of(
        record(graded, missing, right), "eee@0.2.0", constants=constants
    )
    data = jsonl(record(graded, missing))
    _, refused = converted(
        data, to="eee@0.2.0", from_="record", constants=constants, on_invalid="skip"
    )

    assert values_of(parts) == [("x", [1])]
    assert Outcome.DROPPED in outcomes["outputs.scores"]
    assert (refused.written, refused.skipped) == (False, 1)


# Answers that are kept in rows


@for_each_case(
    "models, to, options, kept",
    [
        ("mmm", ONE, {}, ["a", "b", "c"]),
        ("mmm", ONE, {"responses": "first"}, ["abc"]),
        ("mnn", "eee@0.3.0", {"responses": "list"}, ["a", "bc"]),
        # The answers of one model do not stand together.
        ("mnm", "eee@0.3.0", {"responses": "list"}, ["abc", "abc"]),
        ("mnm", "eee@0.3.0", {"model": "m"}, ["abc", "abc"]),
    ],
)
def test_lost_fields_of_answers_are_kept_in_their_own_rows(
    models: str, to: str, options: dict[str, Any], kept: list[str]
) -> None:
    """A row keeps the fields of its own answers, or of all where models alternate."""
    outputs = [
        {"text": text, "model": model, "error": text}
        for text, model in zip("abc", models, strict=True)
    ]
    parts, _ = parts_of(asked(*outputs), to, keep_extra=True, **options)

    assert ["".join(str(one.text) for one in part.outputs) for part in parts] == kept
    assert all(one.error == one.text for part in parts for one in part.outputs)


@for_each_case(
    "options",
    [{}, {"filter": "b"}, {"metric": "em"}, {"prompt": "formatted"}],
)
def test_what_was_not_chosen_is_stored_whole(options: dict[str, Any]) -> None:
    """With --keep-extra a row has the scores of other filters and metrics, too."""
    scores = [
        {"metric": metric, "value": 1, "signature": f"{metric}|filter:{name}"}
        for metric, name in (("em", "a"), ("em", "b"), ("f1", "a"))
    ]
    step = {"turn_idx": 0, "source": "output.raw", "is_terminal": True}
    step["extracted_value"] = "t"
    steps = [{**step, "extraction_method": name} for name in "ab"]
    answer = {"text": "t", "formatted_prompt": "sent", "scores": scores}
    record = asked({**answer, "attribution": steps})
    found, outcomes = parts_of(record, "eee@0.2.0", keep_extra=True, **options)

    assert set().union(*outcomes.values()) <= {Outcome.DEFAULTED, Outcome.SPLIT}
    for part in found:
        (output,) = part.outputs
        assert part.prompt == "q"
        assert output.attribution == steps
        assert [score.signature for score in output.scores or ()] == [
            score["signature"] for score in scores
        ]


def test_a_computed_score_is_stored_with_its_answer() -> None:
    """With --keep-extra the score that --score computed is read from the row."""
    outputs = [{"text": "r", "index": 3}, {"text": "x", "index": 4}]
    scored: Any = {"score": "em", "keep_extra": True, "constants": UNSCORED}
    parts, _ = parts_of(asked(*outputs), "eee@0.2.0", **scored)
    found = [output for part in parts for output in part.outputs]

    assert [output.index for output in found] == [3, 4]
    values = [[one.value for one in output.scores or ()] for output in found]
    assert values == [[1.0], [0.0]]


def test_what_is_computed_of_a_list_of_answers_is_said() -> None:
    """Scores of answers that a row lists are noted as added, and lose nothing."""
    record = asked(*answers("r", "x", model="m"))
    scored: Any = {"score": "em", "responses": "list"}
    (part,), outcomes = parts_of(record, "eee@0.3.0", constants=UNSCORED, **scored)
    names = ("value", "is_correct", "metric", "evaluation_id", "evaluation_name")

    assert [len(output.scores or ()) for output in part.outputs] == [1, 0]
    for name in names:
        assert outcomes[f"outputs.scores.{name}"] == {Outcome.DEFAULTED}


@for_each_case("options", [{}, {"score": "em"}, {"responses": "list"}])
def test_the_score_of_a_list_stays_that_of_all(options: dict[str, Any]) -> None:
    """No value of --set, and no computed score, parts answers with one score."""
    score = {"metric": "pass@2", "value": 0.5, "is_correct": True}
    outputs = [*answers("a", model="m", scores=[score]), *answers("b", model="m")]
    (part,), outcomes = parts_of(asked(*outputs), "eee@0.3.0", **options)
    texts = [output.text for output in part.outputs]
    (kept,) = part.outputs[0].scores or [Score()]

    assert (texts, kept.value, kept.metric) == (["a", "b"], 0.5, "pass@2")
    assert set().union(*outcomes.values()) == {Outcome.DEFAULTED}


def test_the_score_of_a_list_stays_that_of_all_answers_of_the_model() -> None:
    """Values of --set do not part the answers of the chosen model among others."""
    score = {"metric": "pass@2", "value": 0.5, "is_correct": True}
    outputs = [*answers("a", model="m", scores=[score]), *answers("b", model="m")]
    record = asked(*outputs, *answers("c", model="n"))
    (part,), outcomes = parts_of(record, "eee@0.3.0", model="m")

    assert [output.text for output in part.outputs] == ["a", "b"]
    assert outcomes["outputs"] == {Outcome.DROPPED}


def test_a_formatted_prompt_is_added_to_a_record_without_a_question() -> None:
    """With --prompt formatted nothing is lost where there was no question."""
    record = {"id": "1", "outputs": answers("a", formatted_prompt="sent")}
    (part,), outcomes = parts_of(record, "record", prompt="formatted", constants={})

    assert part.prompt == "sent"
    assert outcomes == {"prompt": {Outcome.DEFAULTED}}


@for_each_case("options, prompt", [({}, "q"), ({"prompt": "formatted"}, "to n")])
def test_what_is_chosen_is_that_of_the_model(
    options: dict[str, Any], prompt: str
) -> None:
    """The first filter and the formatted prompt are those of the chosen model."""
    outputs: list[dict[str, Any]] = []
    for model, name in (("m", "a"), ("n", "b")):
        score = {"value": 1, "is_correct": True, "signature": f"em|filter:{name}"}
        given = {"model": model, "formatted_prompt": f"to {model}"}
        outputs += answers("t", scores=[score], **given)
    record = {"id": "1", "prompt": "q", "references": ["r"], "outputs": outputs}
    (part,), outcomes = parts_of(record, "eee@0.2.0", model="n", **options)
    (output,) = part.outputs
    signatures = [score.signature for score in output.scores or ()]

    assert (part.prompt, signatures) == (prompt, ["em|filter:b"])
    assert outcomes["outputs"] == {Outcome.DROPPED}
    assert Outcome.DROPPED not in outcomes.get("outputs.scores", ())


def test_values_are_set_in_answers_of_the_model() -> None:
    """Answers of other models, which are left out, are given nothing."""
    outputs = [*answers("a", model="m", reasoning="r"), *answers("b", model="n")]
    record = {"id": "1", "prompt": "q", "outputs": [*outputs, *answers("c")]}
    given = {"outputs.model": "m", "outputs.reasoning": "s"}
    (part,), outcomes = parts_of(record, "record", model="m", constants=given)

    assert [output.reasoning for output in part.outputs] == ["r", "s"]
    assert outcomes["outputs.reasoning"] == {Outcome.DEFAULTED}

    outputs = [*answers("a", model="m", reasoning="r"), *answers("b", model="n")]
    (part,), outcomes = parts_of(
        {**record, "outputs": outputs}, "record", model="m", constants=given
    )

    assert [output.reasoning for output in part.outputs] == ["r"]
    assert "outputs.reasoning" not in outcomes


def test_no_values_are_set_in_answers_that_get_another_model() -> None:
    """An answer without a model gets that of `--set`, which may not be the chosen."""
    outputs = [*answers("a", model="m", scores=[]), *answers("b", scores=[])]
    record = {"id": "1", "prompt": "q", "outputs": outputs}
    given = {"outputs.model": "n", "outputs.reasoning": "s"}
    (part,), outcomes = parts_of(record, "record", model="m", constants=given)

    assert [output.reasoning for output in part.outputs] == ["s"]
    assert "outputs.model" not in outcomes


def test_scores_of_other_models_change_none_of_the_model() -> None:
    """A score without a metric stays if no other of the model has the chosen one."""
    em = {"metric": "em", "value": 0.5}
    outputs = [
        *answers("t", model="m", scores=[{"value": 1, "is_correct": True}]),
        *answers("t", model="n", scores=[em]),
    ]
    record = {"id": "1", "prompt": "q", "references": ["r"], "outputs": outputs}
    choices: dict[str, Any] = {"model": "m", "metric": "em", "correct_from": 0.5}
    (part,), outcomes = parts_of(record, "eee@0.2.0", **choices)

    assert [score.value for one in part.outputs for score in one.scores or ()] == [1]
    assert not {"outputs.scores", "outputs.scores.is_correct"} & {*outcomes}


def test_a_record_without_the_metric_of_the_model_is_left_out() -> None:
    """Scores of other models do not keep it, which have the chosen metric."""
    em, f1 = ({"metric": name, "value": 1, "is_correct": True} for name in ("em", "f1"))
    own, other = (answers("t", model=name, scores=[em])[0] for name in "mn")
    rows = [
        {"id": "1", "outputs": [{**own, "scores": [f1]}, other]},
        {"id": "2", "outputs": [own, other]},
    ]
    data = jsonl(*({"prompt": "q", "references": ["r"], **row} for row in rows))
    given: Any = {"constants": UNSCORED, "metric": "em", "model": "m"}
    output, report = converted(data, to="eee@0.2.0", from_="record", **given)

    assert [row.id for row in read(output, format="eee@0.2.0")] == ["2"]
    assert any("1 record has no score of the chosen metric" in n for n in report.notes)


# Chats and conversations


@for_each_case(
    "record, to, given, written",
    [
        ({"messages": CHAT}, "nemo-input", {"prompt": "x"}, "q2"),
        ({"messages": CHAT[:1]}, "nemo-input", {"prompt": "x"}, "x"),
        ({}, "nemo-input", {"prompt": "x"}, "x"),
        ({"outputs": [{"turns": CHAT[1:3]}]}, "nemo-output", {"prompt": "x"}, "q1"),
        ({"outputs": [{"turns": CHAT[2:]}]}, "nemo-output", {"prompt": "x"}, "x"),
        ({"prompt": "q"}, "openai-batch-input", {"messages": CHAT}, "q"),
    ],
)
def test_a_constant_replaces_no_question(
    record: dict[str, Any], to: str, given: dict[str, Any], written: str
) -> None:
    """A prompt that is given with --set is none for a chat that has a question."""
    (part,), _ = parts_of(record, to, constants={**GIVEN, **given})

    assert part.prompt == written


@for_each_case(
    "chat, outcome", [(CHAT, Outcome.DROPPED), ([CHAT[0], CHAT[-1]], Outcome.CHANGED)]
)
def test_a_chat_is_its_last_question(chat: list[Any], outcome: Outcome) -> None:
    """By default the last message of the user is the prompt, as Tencent has it.

    Where every text of a chat is in the row, the chat is there in another form.
    """
    (part,), outcomes = parts_of({"messages": chat}, "tencent-csv")

    assert (part.prompt, part.system) == ("q2", "s")
    assert outcomes["messages"] == {outcome}
    assert outcomes["prompt"] == outcomes["system"] == {Outcome.DEFAULTED}


def test_a_chat_can_be_a_transcript() -> None:
    """With transcript the whole chat is the prompt."""
    (part,), _ = parts_of({"messages": CHAT}, turns="transcript")

    assert part.prompt == "system: s\n\nuser: q1\n\nassistant: a1\n\nuser: q2"


def test_message_without_text_is_not_the_last_text() -> None:
    """A message without a text is skipped when the last text of a role is wanted."""
    chat = [{"role": "user", "content": each} for each in ("a", None)]
    (part,), _ = parts_of({"messages": chat})

    assert part.prompt == "a"


def test_a_conversation_is_its_last_question_and_answer() -> None:
    """Turns become the last prompt and the answer to it."""
    answer = {"role": "assistant", "content": "a2", "reasoning": "why"}
    call: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": []}
    record = {"outputs": [{"turns": [*CHAT, answer, call]}]}
    (part,), outcomes = parts_of(record)

    assert (part.prompt, [each.text for each in part.outputs]) == ("q2", ["a2"])
    assert outcomes["outputs.turns"] == {Outcome.DROPPED}


def test_a_conversation_that_ends_with_a_call_is_asked_before_it() -> None:
    """A turn that only calls a tool is the answer if no other one is."""
    call: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": []}
    record = {"id": "1", "outputs": [{"text": "a", "turns": [*CHAT[:2], call]}]}
    (part,), _ = parts_of(record, turns="transcript")

    assert part.prompt == "system: s\n\nuser: q1"


def test_a_chat_and_its_answer_are_one_conversation() -> None:
    """Where a row holds turns only, what was asked and said is merged into them."""
    record = {"system": "s", "messages": CHAT, "outputs": answers("b")}
    (part,), outcomes = parts_of(record, "eee@0.2.0")
    (output,) = part.outputs

    assert output.turns == [*CHAT, {"role": "assistant", "content": "b"}]
    assert outcomes["outputs.turns"] == {Outcome.DEFAULTED}
    assert outcomes["messages"] == outcomes["outputs.text"] == {Outcome.MERGED}


@for_each_case(
    "to, options, prompt",
    [
        ("eee@0.3.0", {}, "q2"),
        ("eee@0.2.0-tag", {"responses": "list"}, "q2"),
        ("eee@0.3.0", {"turns": "transcript"}, "system: s\n\nuser: q1"),
    ],
)
def test_a_chat_with_a_list_of_answers_is_one_text(
    to: str, options: dict[str, Any], prompt: str
) -> None:
    """Where answers in a list are texts, so is the chat to which they are answers."""
    names = {"evaluation_id": "e", "evaluation_name": "n"}
    score = {"value": 1, "is_correct": True, **names}
    first, second = answers("4", "5", model="o/m")
    outputs = [first | {"scores": [score]}, second]
    record = {"id": "1", "messages": CHAT, "references": ["4"], "outputs": outputs}
    (part,), outcomes = parts_of(record, to, constants={}, **options)

    assert str(part.prompt).startswith(prompt)
    assert [each.text for each in part.outputs] == ["4", "5"]
    assert outcomes["messages"] & {Outcome.DROPPED, Outcome.CHANGED}


# Turns whose texts are in no written message or answer


USER = {"role": "user", "content": "q"}
LAST = {"role": "assistant", "content": "b"}
MORE = [USER, {"role": "assistant", "content": "first"}, USER, LAST]
THOUGHT = {"role": "assistant", "content": None, "reasoning": "hm"}
CHANGED, DROPPED = Outcome.CHANGED, Outcome.DROPPED


@for_each_case(
    "given, turns, expected",
    [
        # An earlier answer, or reasoning, is dropped, and not only changed.
        (MORE, "last", {DROPPED}),
        ([USER, THOUGHT, LAST], "last", {DROPPED}),
        ([USER, LAST, THOUGHT], "last", {DROPPED}),
        # The question and the answer are there, in another form.
        ([USER, LAST], "last", {CHANGED}),
        # A transcript has every text before the answer, and no reasoning.
        (MORE, "transcript", {CHANGED}),
        ([USER, THOUGHT, LAST], "transcript", {CHANGED, DROPPED}),
    ],
)
def test_what_a_lost_turn_says_is_a_loss(
    given: list[Any], turns: str, expected: set[Outcome]
) -> None:
    """A turn that says more than the row is dropped, and others are changed."""
    record = {"id": "1", "prompt": "q", "outputs": answers("b", turns=given)}
    _, outcomes = parts_of(record, "nemo-output", turns=turns)

    assert outcomes["outputs.turns"] == expected


@for_each_case(
    "content, expected", [("q", {Outcome.MERGED}), ("other", {Outcome.MERGED, DROPPED})]
)
def test_messages_that_turns_replace(content: str, expected: set[Outcome]) -> None:
    """Messages are a loss if the turns that take their place do not say the same."""
    messages = [{"role": "user", "content": content}]
    record = {"messages": messages, "outputs": answers("b", turns=[USER, LAST])}
    _, outcomes = parts_of(record, "tencent-outputs")

    assert outcomes["messages"] == expected


@for_each_case(
    "turns, text, target, expected",
    [
        (2, {}, "tencent-outputs", {CHANGED}),
        (2, {"text": "a"}, "tencent-outputs", {CHANGED}),
        (2, {"text": "other"}, "tencent-outputs", {CHANGED, DROPPED}),
        (2, {}, "tencent-messages", {CHANGED, DROPPED}),
        (3, {}, "tencent-outputs", {CHANGED, DROPPED}),
    ],
)
def test_turn_that_is_not_written_is_dropped(
    turns: int, text: dict[str, str], target: str, expected: set[Outcome]
) -> None:
    """A turn whose text is in no row is dropped; others become messages."""
    chat = [USER, {"role": "assistant", "content": "a"}, CHAT[-1]]
    _, outcomes = parts_of({"outputs": [{"turns": chat[:turns], **text}]}, target)

    assert outcomes["outputs.turns"] == expected


# Ids


def test_an_id_that_looks_expanded_stays_as_it_is() -> None:
    """An id that ends in a number behind # is not touched where nothing is split."""
    (part,), outcomes = parts_of({"id": "x#1", "prompt": "q"})

    assert part.id == "x#1"
    assert "id" not in outcomes


@given(
    given_id=st.text(alphabet="a#12\n", max_size=6) | st.integers(0, 20),
    count=st.integers(1, 4),
)
def test_ids_of_rows_tell_the_id_of_their_record(given_id: Any, count: int) -> None:
    """The rows of a record have different ids, by which they are one record again."""
    record = {"id": given_id, "prompt": "q", "outputs": answers(*"abcd"[:count])}
    output, _ = converted(jsonl(record), to=ONE, from_="record", constants=GIVEN)
    ids = [each.id for each in read(output, format=ONE)]
    again, _ = converted(output, to="record", from_=ONE, group="id")
    (whole,) = read(again, format="record")

    assert len(set(ids)) == count
    assert str(whole.id) == str(given_id)
    assert [each.text for each in whole.outputs] == [*"abcd"[:count]]
