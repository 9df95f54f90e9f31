"""Which format each file is taken for, and which files are taken for none."""

import gzip
import itertools
import string
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import command_runs
from any_rows import ANY_ROWS
from cases import for_each_case
from corpora import CORPORA
from harpia_formats import Detected, detect, validate
from json_lines import jsonl
from known_formats import FORMATS, adapter_named
from look_alikes import LOOK_ALIKES

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures"
VALID = [
    path
    for path in sorted(FIXTURES.glob("*/valid/*"))
    if path.parts[-3] not in ANY_ROWS
]
NAMED = sorted(FIXTURES.glob("*/named/*"))
NEIGHBOURS = CORPORA / "neighbours"
#: The claims on files of other tools; all of their other files are claimed by nothing.
CLAIMED_NEIGHBOURS = {
    "chat/alpaca_en_demo.first5.json": ("alpaca", 1.0),
    "chat/dpo_en_demo.first3.json": ("sharegpt", 1.0),
    "chat/glaive_toolcall_en_demo.first3.json": ("sharegpt", 1.0),
    "chat/sharegpt_dummy_conversation.first4.json": ("sharegpt", 1.0),
    "helm/mmlu-subject=philosophy,method=multiple_choice_joint,model=openai_gpt2"
    "/scenario_state.json": ("helm", 1.0),
    "helm/narrative_qa-model=openai_gpt2/scenario_state.json": ("helm", 1.0),
    **{
        f"lm-eval/made/{name}": ("lm-eval-samples", 1.0)
        for name in (
            "in-memory_demo_gen.json",
            "in-memory_demo_mc.json",
            "samples_demo_chat_2026-11-22T14-09-46.700559.jsonl",
            "samples_demo_gen_2026-11-22T14-08-24.629883.jsonl",
            "samples_demo_ll_2026-11-22T14-08-24.629883.jsonl",
            "samples_demo_mc_2026-11-22T14-08-24.629883.jsonl",
            "samples_demo_roll_2026-11-22T14-08-24.629883.jsonl",
        )
    },
    "lm-eval/real/samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl": (
        "lm-eval-samples",
        1.0,
    ),
    "lm-eval/made/results_2026-11-22T14-08-24.629883.json": ("lm-eval-results", 1.0),
    "lm-eval/made/results_2026-11-22T14-09-46.700559.json": ("lm-eval-results", 1.0),
    "lm-eval/real/results_2026-01-21T03-44-18.458309.json": ("lm-eval-results", 1.0),
    "openai/batch_error.jsonl": ("openai-batch-output", 1.0),
    "openai/batch_input.jsonl": ("openai-batch-input", 1.0),
    "openai/batch_output.jsonl": ("openai-batch-output", 1.0),
    "openai/fine_tuning_tools.jsonl": ("openai-chat", 1.0),
    "openai/preference.jsonl": ("openai-preference", 1.0),
    # Text-only chats are what Tencent documents, too.
    "openai/toy_chat_fine_tuning.first4.jsonl": ("tencent-messages", 0.6),
    "openai/evals_samples.jsonl": ("openai-evals", 1.0),
    "openai/evals_run_log.jsonl": ("openai-evals-log", 1.0),
    "mt-bench/question.first22.jsonl": ("mt-bench-questions", 1.0),
    "mt-bench/reference_answer_gpt-4.first2.jsonl": ("mt-bench-answers", 1.0),
    "inspect/made/demo_epochs2.eval": ("inspect-log", 1.0),
    "inspect/made/mcq.eval": ("inspect-log", 1.0),
    "inspect/real/log_message_deduplication.eval": ("inspect-log", 1.0),
    "inspect/real/log_streaming.eval": ("inspect-log", 1.0),
    "inspect/real/mmlu-no-summary-choices.eval": ("inspect-log", 1.0),
    "inspect/made/demo_epochs2.json": ("inspect-log", 1.0),
    "inspect/real/data_cvebench_empty_choices.json": ("inspect-log", 1.0),
    "inspect/real/data_cyse2_vuln_exploit_challenges.json": ("inspect-log", 1.0),
    "inspect/real/data_intercode_ctf_local_path.json": ("inspect-log", 1.0),
    "inspect/real/data_pubmedqa_gpt4o_mini.json": ("inspect-log", 1.0),
    "inspect/real/log_images.json": ("inspect-log", 1.0),
    "inspect/real/log_images_tc.json": ("inspect-log", 1.0),
    "inspect/real/log_length_stop_reason.txt": ("inspect-log", 1.0),
    "inspect/real/log_version_3.txt": ("inspect-log", 1.0),
    "inspect/real/log_with_nan.txt": ("inspect-log", 1.0),
    "inspect/real/popularity_cancelled.json": ("inspect-log", 1.0),
    "inspect/real/popularity_cancelled_no-samples.json": ("inspect-log", 1.0),
    "tables/arc_like.parquet": ("parquet", 1.0),
    "tables/messages.parquet": ("tencent-messages", 0.6),
    "tables/messages_save_to_disk/data-00000-of-00001.arrow": ("tencent-messages", 0.6),
    "tables/mmlu_like_classlabel.parquet": ("parquet", 1.0),
}
#: Commands that read a file, with the arguments behind its name.
COMMANDS: dict[str, tuple[str, ...]] = {
    "validate": (),
    "detect": (),
    "convert": ("--to", "record"),
    "score": ("-m", "em"),
}
#: Texts that begin like JSON, whose errors are reported.
LIKE_JSON = {"toml.txt", "ini.txt", "python-dictionary.txt"}
#: Look-alikes of both kinds, for what takes a process for each command.
FEW = ("no-errors.json", "letter.txt")


def name_of(path: Path) -> str:
    """Return what a file is called in the output of the tests."""
    return "/".join(path.parts[-3:])


def claim_on(given: Any) -> Detected:
    """Return the detected format of the only file behind an input."""
    (found,) = detect(given)
    return found


def test_examples_of_the_vendors_pages_are_claimed() -> None:
    """Each vendor's page has its examples among the fixtures that are claimed."""
    pages = {path.parent.parent.name for path in VALID if "seed" in path.stem}
    pages |= {path.parent.parent.name for path in VALID if "page" in path.stem}

    assert pages >= {
        *("haystack", "haystack-evaluator", "haystack-results"),
        *("nemo-config", "nemo-input", "nemo-output", "nemo-results"),
        *("tencent-messages", "tencent-outputs", "tencent-manual", "tencent-csv"),
    }


@for_each_case("path", NAMED, ids=name_of)
def test_file_without_a_sign_needs_its_format_named(path: Path) -> None:
    """A good file without any sign of its own is claimed by nothing until named."""
    report = validate(path)

    assert claim_on(path).format is None
    assert [problem.code for problem in report.problems] == ["S301"]
    assert report.files[0].undetermined == report.files[0].records
    assert validate(path, format=path.parent.parent.name).ok


def neighbours() -> list[Path]:
    """Return the files of other tools, without notes on them."""
    files = (path for path in NEIGHBOURS.rglob("*") if path.is_file())
    return sorted(path for path in files if path.suffix != ".md")


@pytest.mark.corpora
def test_files_of_other_tools_are_not_claimed() -> None:
    """Files of other tools have the claims of formats that are read, and no others."""
    found = {str(path.relative_to(NEIGHBOURS)): claim_on(path) for path in neighbours()}
    claims = {
        name: (claim.format, claim.confidence)
        for name, claim in found.items()
        if claim.format
    }

    assert len(found) > 50
    assert claims == CLAIMED_NEIGHBOURS


@for_each_case("name", LOOK_ALIKES)
def test_look_alike_is_claimed_by_nothing(name: str, tmp_path: Path) -> None:
    """A file of another kind gets one finding, and none of its records is valid.

    Or it is named by its first bytes as what it is, and not read.
    """
    path = tmp_path / name
    path.write_bytes(LOOK_ALIKES[name])
    report = validate(path)
    (count,) = report.files

    codes = {problem.code for problem in report.problems}

    assert claim_on(path).format is None
    assert not report.ok
    assert not count.valid
    if count.reason:
        assert "not JSON or CSV" in count.reason
    elif name in LIKE_JSON:
        assert codes <= {"J101", "J112"}
    else:
        assert codes == {"S301"}
        assert (count.errors, count.undetermined) == (1, count.records)


def test_there_are_many_look_alikes() -> None:
    """The table of look-alikes is long enough to mean something."""
    assert len(LOOK_ALIKES) >= 100


@pytest.mark.parametrize("name", FEW)
def test_every_command_refuses_a_look_alike(name: str, tmp_path: Path) -> None:
    """No command exits with 0 for a file that nothing claims, and each says why."""
    check_refused(name, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(LOOK_ALIKES.keys() - LIKE_JSON))
def test_every_command_refuses_every_look_alike_long(name: str, tmp_path: Path) -> None:
    """The same holds for every look-alike."""
    check_refused(name, tmp_path)


def check_refused(name: str, tmp_path: Path) -> None:
    """Assert that every command refuses a look-alike, with the reason."""
    (tmp_path / name).write_bytes(LOOK_ALIKES[name])
    runs = {
        command: command_runs.run(command, name, *arguments, cwd=tmp_path)
        for command, arguments in COMMANDS.items()
    }
    runs["diff"] = command_runs.run("diff", name, name, cwd=tmp_path)

    for command, result in runs.items():
        output = result.stdout + result.stderr
        is_unknown = result.returncode == 1 and b"no known format" in output
        is_named = result.returncode == 2 and b"not JSON or CSV" in output

        assert is_unknown or is_named, command
        assert b"--on-invalid" not in output


@pytest.mark.parametrize(
    ("row", "near"),
    [({"promt": "2+2?"}, True), ({"input": {}}, True), ({"zz": 1}, False), ({}, False)],
)
def test_only_formats_with_a_common_key_are_near(
    row: dict[str, Any], *, near: bool
) -> None:
    """The nearest formats of an unknown file have one of its keys, or none is named."""
    (problem,) = validate(jsonl(row)).problems

    assert problem.code == "S301"
    assert ("the nearest " in problem.message) == near
    assert (" lacks " in problem.help) == near


@pytest.mark.parametrize(
    ("row", "near"),
    [
        # A required key, even a misspelt one, before other keys of other formats.
        ({"promt": "2+2?"}, ": nemo-input, nemo-output (flat)"),
        # The right keys around something else come first.
        ({"id": "1", "conversations": [{"role": "user"}]}, ": sharegpt, "),
        # A format once, in the dialect that is nearest.
        ({"doc_id": 0, "resps": []}, ": lm-eval-samples"),
        # A misspelt key counts in addition to those that are right.
        (
            {"custom_id": "1", "respons": {}},
            ": openai-batch-output, openai-batch-input",
        ),
        # A key may lack its underscore, or have one too many.
        ({"promp_t": "2+2?"}, ": nemo-input, nemo-output (flat)"),
        ({"questionid": 1}, ": mt-bench-questions, mt-bench-answers"),
        # Another word behind an underscore is another key.
        ({"question": "2+2?"}, ""),
    ],
)
def test_nearest_formats_are_few_and_have_a_required_key(
    row: dict[str, Any], near: str
) -> None:
    """At most three formats are near: first those with most of their required keys."""
    (problem,) = validate(jsonl(row)).problems
    message = problem.message.replace("nearest is ", ": ").replace("nearest are ", ": ")

    assert near in message
    assert message.count(", ") < 3
    assert (": " in message.removeprefix("no known format: ")) == bool(near)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)
    ),
    max_leaves=8,
)


@cache
def known_keys() -> frozenset[str]:
    """Return every key by which a file of any format is detected, in lower case."""
    whys = (found.why for found in detect(*VALID))
    keys = {part for why in whys for part in why.split("`")[1::2]}
    dialects = (each for format_ in FORMATS.values() for each in format_.dialects)
    keys |= {key for dialect in dialects for key in dialect.one_of}
    return frozenset(key.casefold() for key in keys)


#: Keys that no format is detected by.
OTHER_KEYS = st.text(string.ascii_letters + "_.- ", max_size=12).filter(
    lambda key: key.casefold() not in known_keys()
)


def is_unclaimed(value: Any) -> bool:
    """Tell whether no dialect of any format claims an object."""
    return not any(
        dialect.sniff(value)
        for format_ in FORMATS.values()
        if not format_.general
        for dialect in format_.dialects
    )


@given(st.dictionaries(OTHER_KEYS, st.lists(JSON, max_size=4), max_size=5))
def test_object_of_lists_under_other_names_is_claimed_by_nothing(
    value: dict[str, Any],
) -> None:
    """Lists alone are no sign, whatever they hold and however they are called."""
    assert is_unclaimed(value)


@given(st.dictionaries(OTHER_KEYS, JSON, max_size=6))
def test_object_with_other_keys_is_claimed_by_nothing(value: dict[str, Any]) -> None:
    """An object without a known key at its root or below is claimed by nothing."""
    assert is_unclaimed(value)


@given(
    st.sampled_from("messages conversation results instances metrics outputs".split()),
    st.lists(st.dictionaries(OTHER_KEYS, st.text(max_size=5), max_size=4), max_size=4),
)
def test_list_of_other_objects_under_a_common_name_is_claimed_by_nothing(
    name: str, items: list[dict[str, Any]]
) -> None:
    """A name that many tools use is no sign if what it holds is something else."""
    assert is_unclaimed({name: items})


#: Columns that tables of any format may have.
COLUMNS = {*adapter_named("csv").columns, "answer"}
CELL = st.text(string.ascii_letters + " .:;<>/=", min_size=1, max_size=9)


@given(st.data(), st.integers(1, 4))
def test_text_with_equally_many_commas_is_claimed_by_nothing(
    data: st.DataObject, commas: int
) -> None:
    """How many commas its lines have is no sign of a table."""
    line = st.lists(CELL, min_size=commas + 1, max_size=commas + 1).map(",".join)
    lines = data.draw(st.lists(line, min_size=2, max_size=5))
    assume(not set(lines[0].split(",")) & COLUMNS)
    text = "".join(f"{line}\n" for line in lines).encode()

    assert claim_on(text).format is None


@for_each_case(
    "header, claimed",
    [
        ("prompt,note", "csv"),
        ("note,response", "csv"),
        ("system,prompt,response", "tencent-csv"),
        ("city,country", None),
        ("Prompt,note", None),
        ("prompt text,note", None),
    ],
)
def test_table_without_a_name_is_claimed_by_a_known_column(
    header: str, claimed: str | None
) -> None:
    """Standard input and bytes are a table if the header has a column of a format."""
    row = ",".join("x" for _ in header.split(","))

    assert claim_on(f"{header}\n{row}\n".encode()).format == claimed


@for_each_case("suffix", [".csv", ".CSV", ".csv.gz", ".txt", ".log", ""])
def test_table_is_claimed_by_its_name(suffix: str, tmp_path: Path) -> None:
    """A file with columns of any names is a table only if it is called so."""
    text = b"city,country\nLima,Peru\n"
    path = tmp_path / f"table{suffix}"
    path.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)

    found = claim_on(path)
    assert (found.format, found.possible) == (None, "csv")
    assert (found.container == "a table") == (".csv" in suffix.lower())
    assert validate(path, format="csv").ok


def chat(**others: Any) -> dict[str, Any]:
    """Return a row with a chat of two messages, and other keys."""
    messages = [
        {"role": "user", "content": "2+2?"},
        {"role": "assistant", "content": "4"},
    ]
    return {"messages": messages, **others}


def with_last(**keys: Any) -> dict[str, Any]:
    """Return a row whose last message has other or changed keys."""
    row = chat()
    row["messages"][-1] |= keys
    return row


OPENAI = [
    chat(tools=[]),
    chat(functions=[]),
    chat(parallel_tool_calls=False),
    with_last(weight=0),
    with_last(tool_calls=[{"id": "1"}]),
    with_last(content=None),
    with_last(content=[{"type": "text", "text": "4"}]),
    with_last(role="tool", tool_call_id="1"),
]
NEITHER = [
    chat(label=True),
    with_last(loss_weight=1.0),
    with_last(content=[{"type": "text", "value": "4"}]),
]


@for_each_case("row", OPENAI)
def test_sign_of_openai_decides_for_a_chat(row: dict[str, Any]) -> None:
    """A sign that only OpenAI has, in one row, makes a file of chats its own."""
    for rows in ([row], [chat(), row], [row, chat(), chat()]):
        found = claim_on(jsonl(*rows))

        assert (found.format, found.confidence, found.rival) == ("openai-chat", 1, "")
        codes = {each.code for each in validate(jsonl(*rows)).problems}
        assert codes.isdisjoint({"S204", "S205", "S301"})


@pytest.mark.parametrize("row", NEITHER)
def test_sign_of_openai_decides_next_to_that_of_files_that_are_not_read(
    row: dict[str, Any],
) -> None:
    """Tools next to a verdict or typed parts are OpenAI's, whatever else is there."""
    assert claim_on(jsonl(row | {"tools": []})).format == "openai-chat"


@pytest.mark.parametrize("row", NEITHER)
def test_sign_of_another_tool_refutes_a_chat(row: dict[str, Any]) -> None:
    """A sign of a tool that is not read, in one row, makes a file of chats its."""
    for rows in ([row], [chat(), row], [row, chat(), chat()]):
        (problem,) = validate(jsonl(*rows)).problems

        assert claim_on(jsonl(*rows)).format is None
        assert problem.code == "S301"
        assert "no known format: the records are chats " in problem.message


@for_each_case(
    "key, row", itertools.product(["ref_answer", "model_outputs"], [*OPENAI, *NEITHER])
)
def test_own_sign_decides_whatever_stands_next_to_it(
    row: dict[str, Any], key: str
) -> None:
    """A key that only Tencent has decides for it, despite any sign of another tool."""
    value = "4" if key == "ref_answer" else []
    format_ = "tencent-messages" if key == "ref_answer" else "tencent-outputs"
    found = claim_on(jsonl(row | {key: value}))

    assert (found.format, found.confidence, found.rival) == (format_, 1.0, "")


@pytest.mark.parametrize("others", [{}, {"id": 1}, {"max_tokens": 3, "note": "x"}])
def test_chat_of_texts_is_claimed_with_its_rival(others: dict[str, Any]) -> None:
    """Text-only chats are read as Tencent's at 60 %, and a note names the rival."""
    data = jsonl(chat(**others))
    report, found = validate(data), claim_on(data)
    (note,) = report.problems

    assert (found.format, found.confidence) == ("tencent-messages", 0.6)
    assert found.rival == "openai-chat"
    assert report.ok
    assert (note.code, found.rival in note.message) == ("S205", True)
    for format_ in ("tencent-messages", "openai-chat"):
        assert format_ in note.help
        assert not validate(data, format=format_).problems
