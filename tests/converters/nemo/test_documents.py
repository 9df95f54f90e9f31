import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats.api.testing import mutants
from harpia_formats.plugins import Dialect, Remark
from known_formats import FORMATS

ROOT = Path(__file__).parents[3]
DIALECTS = {
    each.schema: each
    for one in (FORMATS["nemo-results"], FORMATS["nemo-config"])
    for each in one.dialects
}
SCORE = {"value": 0.5, "stats": {"count": 2}}
RESULT: dict[str, Any] = {
    "job": "eval-1",
    "tasks": {"t": {"metrics": {"em": {"scores": {"em": SCORE}}}}},
    "groups": {"g": {"groups": {"h": {"metrics": {"m": {"scores": {"s": SCORE}}}}}}},
}
CONFIG: dict[str, Any] = {
    "type": "similarity_metrics",
    "params": {"temperature": 0.7, "top_p": 1, "stop": ["。"]},
    "tasks": {
        "t": {
            "type": "default",
            "dataset": {"files_url": "hf://datasets/a/b/c.json"},
            "metrics": {"bleu": {"type": "bleu"}},
        }
    },
}
OLDER: dict[str, Any] = {
    "type": "similarity_metrics",
    "tasks": [
        {
            "type": "default",
            "metrics": [{"name": "bert"}, {"name": "em"}],
            "dataset": {"files_url": "nds:a/input.json"},
        }
    ],
}
GOOD = {"nemo-results": RESULT, "nemo-config": CONFIG, "nemo-config-list": OLDER}
KEYS = (
    "job type tasks groups metrics scores value stats params temperature top_p stop "
    "dataset evaluation em_score t name".split()
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(KEYS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner)
    ),
    max_leaves=12,
)


def checker(schema: str) -> Callable[[Any], bool]:
    """Return a function that tells whether `schema` allows a document."""
    text = (ROOT / "schemas" / "nemo" / f"{schema}.schema.json").read_bytes()
    return jsonschema_rs.Draft7Validator(json.loads(text), offline=True).is_valid


def remarks_on(dialect: Dialect, document: Any) -> list[Remark]:
    """Return what `dialect` has to say of `document`."""
    assert dialect.remarks is not None
    return list(dialect.remarks(document))


def detected(document: dict[str, Any]) -> dict[str, str]:
    """Return the sign of each dialect as which `document` is detected."""
    signs = {key: each.sniff(document) for key, each in DIALECTS.items()}
    return {key: sign for key, sign in signs.items() if sign}


def changed(document: Any, pointer: str, value: Any = None) -> Any:
    """Return a copy with `value` at `pointer`, or nothing there if it is None."""
    copy = json.loads(json.dumps(document))
    *way, last = pointer.split("/")
    node = copy
    for each in way:
        node = node[int(each) if isinstance(node, list) else each]
    if value is None:
        del node[last]
    else:
        node[last] = value
    return copy


def scores(metric: str, **values: Any) -> dict[str, Any]:
    """Return a metric of this name, with a score that has stats for each value."""
    inner = {name: {"value": each, "stats": {}} for name, each in values.items()}
    return {metric: {"scores": inner}}


@for_each_case(
    "document, dialect, sign",
    [
        (RESULT, "nemo-results", "`tasks` with `scores` in it"),
        (changed(RESULT, "tasks"), "nemo-results", "`groups` with `scores` in it"),
        (
            {"job": 3, "groups": {"g": {"metrics": {"m": {}}}}},
            "nemo-results",
            "`job` and metrics in `groups`",
        ),
        (RESULT | {"type": "custom"}, "nemo-results", "`tasks` with `scores` in it"),
        (CONFIG, "nemo-config", "`type` and `tasks`"),
        (
            {"type": "similarity_metrics", "params": {}},
            "nemo-config",
            "`type` and `params`",
        ),
        (
            {"type": "mmlu", "groups": {"g": {"tasks": []}}},
            "nemo-config",
            "`type` and `groups`",
        ),
        (
            {"type": "custom", "target": {"rows": []}},
            "nemo-config",
            "`type` and `target`",
        ),
        (CONFIG | {"tasks": 3}, "nemo-config", "`type` and `tasks`"),
        (changed(CONFIG, "type"), "nemo-config", "`tasks` with `dataset` in it"),
        (CONFIG | {"type": 1}, "nemo-config", "`tasks` with `dataset` in it"),
        (OLDER, "nemo-config-list", "`type` and `tasks`"),
        (changed(OLDER, "type"), "nemo-config-list", "`tasks` with `dataset` in it"),
    ],
)
def test_document_is_detected_by_its_tree(
    document: dict[str, Any], dialect: str, sign: str
) -> None:
    """A document, even a broken one, is detected as one dialect by known keys."""
    assert detected(document) == {dialect: sign}


@for_each_case(
    "document",
    [
        {},
        {"type": "custom"},
        {"tasks": {"t": {"metrics": {"m": {}}}}},
        {"tasks": [3, "t"]},
        {"type": "a", "params": {}, "prompt": "b"},
        {"type": "a", "tasks": [], "messages": []},
        {"type": "haystack.Component", "init_parameters": {}},
        {"job": "e"},
        {"job": "e", "tasks": {}},
        {"job": "e", "tasks": {"t": {"status": "done"}}},
        {"type": "gsm8k", "params": {"temperature": 1}},
        {"type": "mmlu", "groups": {}},
        {"type": "custom", "target": {}},
        {"score": 1, "parameters": {}},
    ],
)
def test_documents_of_others_are_left_to_them(document: dict[str, Any]) -> None:
    """Too little of a tree, or what another's document has, is no sign."""
    assert detected(document) == {}


def remark_table() -> Iterator[Any]:
    """Yield a dialect, a document, and the codes and pointers of its remarks."""
    for dialect, document in GOOD.items():
        yield dialect, document, []
    em = "tasks/t/metrics/em/scores/em"
    deep = "groups/g/groups/h/metrics/m/scores/s"
    bare = changed(RESULT, f"{em}/stats")
    yield "nemo-results", bare, [("N201", em)]
    yield "nemo-results", changed(bare, f"{deep}/stats"), [("N201", em)]
    yield "nemo-results", changed(RESULT, f"{deep}/stats"), [("N201", deep)]
    names = "tasks/t/metrics"
    renamed = changed(RESULT, names, scores("m", em_score=0, f1_score=1))
    wrong = [("N202", f"{names}/m/scores/{each}") for each in ("em_score", "f1_score")]
    yield "nemo-results", renamed, wrong
    custom = changed(RESULT, names, scores("bleu", sentence=9.1, corpus=31))
    yield "nemo-results", custom, []
    yield "nemo-results", changed(RESULT, names, scores("a", accuracy=5)), []
    sample = {"evaluation": {"metrics": scores("evaluation", accuracy=1.0)}}
    place = "groups/evaluation/metrics/evaluation"
    yield "nemo-results", RESULT | {"groups": sample}, [("N203", place)]
    kind = "tasks/t/metrics/bleu/type"
    unknown = changed(CONFIG, kind, "BLEU")
    yield "nemo-config", unknown, [("N301", kind)]
    yield "nemo-config", unknown | {"type": "custom"}, []
    yield "nemo-config", changed(CONFIG, kind, "bert"), [("N301", kind)]
    name = "tasks/0/metrics/1/name"
    yield "nemo-config-list", changed(OLDER, name, "chrf"), [("N301", name)]
    wrong_values: tuple[tuple[str, Any], ...] = (
        *(("temperature", each) for each in (0, 0.0, -0.5, 1.5, 2**70)),
        *(("top_p", each) for each in (-0.1, 1.1)),
        ("stop", ["a"] * 5),
    )
    for key, value in wrong_values:
        place = f"params/{key}"
        yield "nemo-config", changed(CONFIG, place, value), [("N302", place)]
    right = {"temperature": 1, "top_p": 0, "stop": ["a"] * 4}
    yield "nemo-config", CONFIG | {"params": right}, []


@for_each_case("dialect, document, expected", list(remark_table()))
def test_doubts_are_remarked_at_their_place(
    dialect: str, document: Any, expected: list[Any]
) -> None:
    """Tolerated or doubtful values get remarks, and are not valid if strict."""
    found = remarks_on(DIALECTS[dialect], document)
    places = ["/".join(map(str, each.path)) for each in found]

    assert [(each.code, at) for each, at in zip(found, places, strict=True)] == expected
    assert checker(dialect)(document)
    assert checker(DIALECTS[dialect].strict)(document) == (not expected)


def test_missing_stats_are_counted_in_one_remark() -> None:
    """However many scores have no stats, one remark says of how many."""
    metric = scores("rouge", rouge_1_score=1, rouge_2_score=1, rouge_L_score=1)
    for each in metric["rouge"]["scores"].values():
        each["stats"] = None
    document = changed(RESULT, "tasks/t/metrics", metric)

    (remark,) = remarks_on(DIALECTS["nemo-results"], document)

    assert remark.message.startswith("stats is missing in 3 of 4 scores")


def verdict_table() -> Iterator[Any]:
    """Yield a schema, a document, and whether it is valid, tolerant and strict."""
    em = "tasks/t/metrics/em/scores/em"
    yield "nemo-results", changed(RESULT, "job"), True, False
    yield "nemo-results", changed(RESULT, "tasks"), True, True
    yield "nemo-results", {"job": "e", "tasks": None}, True, True
    yield "nemo-results", {"job": "e"}, False, False
    yield "nemo-results", changed(RESULT, f"{em}/stats", 3), False, False
    yield "nemo-results", changed(RESULT, f"{em}/stats/count", 1.5), False, False
    yield "nemo-results", changed(RESULT, f"{em}/stats/stderr", 0.1), True, True
    yield "nemo-results", changed(RESULT, f"{em}/value"), False, False
    yield "nemo-results", changed(RESULT, f"{em}/value", "1"), False, False
    yield "nemo-results", changed(RESULT, "groups/g/groups/h/metrics", 3), False, False
    yield "nemo-results", RESULT | {"custom_fields": {"a": [1]}, "b": 1}, True, True
    yield "nemo-config", changed(CONFIG, "type"), False, False
    yield "nemo-config", {"type": "gsm8k"}, True, True
    yield "nemo-config", CONFIG | {"nmae": "a"}, True, False
    yield "nemo-config", changed(CONFIG, "tasks/t/type"), False, False
    yield "nemo-config", changed(CONFIG, "tasks/t/dataset"), True, True
    yield "nemo-config", changed(CONFIG, "tasks/t/dataset", "a/b"), True, True
    yield "nemo-config", changed(CONFIG, "tasks/t/dataset", {}), False, False
    yield "nemo-config", changed(CONFIG, "tasks/t/metrics/bleu/type"), False, False
    yield "nemo-config", changed(CONFIG, "params/stop", "."), True, True
    yield "nemo-config", changed(CONFIG, "params/stop", [1]), False, False
    yield "nemo-config", changed(CONFIG, "params/max_tokens", 1.5), False, False
    yield "nemo-config", changed(CONFIG, "params/extra", {"top_k": 1}), True, True
    yield "nemo-config", CONFIG | {"target": {"type": "rows", "rows": []}}, True, False
    yield "nemo-config", CONFIG | {"target": {"type": "offline"}}, False, False
    yield "nemo-config", CONFIG | {"target": {}}, False, False
    yield "nemo-config", OLDER, False, False
    yield "nemo-config-list", CONFIG, False, False
    yield "nemo-config-list", OLDER | {"params": {"parallel": 1}}, True, False
    yield "nemo-config-list", changed(OLDER, "tasks/0/type"), False, False
    yield "nemo-config-list", changed(OLDER, "tasks/0/metrics/1/name"), False, False
    yield "nemo-config-list", changed(OLDER, "tasks/0/metrics", {}), False, False


@for_each_case("schema, document, valid, strictly", list(verdict_table()))
def test_documents_are_validated_as_the_client_types_them(
    schema: str, document: Any, valid: bool, strictly: bool
) -> None:
    """Types and required keys follow NVIDIA's client; strict mode requires more."""
    assert checker(schema)(document) == valid
    assert checker(DIALECTS[schema].strict)(document) == strictly


@pytest.mark.parametrize("dialect", GOOD)
def test_strictly_valid_documents_have_no_remarks(dialect: str) -> None:
    """A mutant that is strictly valid is valid, and has no remark."""
    rule = DIALECTS[dialect]
    allowed, strict = checker(rule.schema), checker(rule.strict)
    fixtures = sorted((ROOT / "fixtures").glob("nemo-[rc]*/valid/*.json"))
    assert fixtures
    starts = [json.loads(each.read_bytes()) for each in fixtures]
    starts += [RESULT, CONFIG, OLDER] * 5
    clean = 0

    for each in islice(mutants(starts, 20_250_618), 4_000):
        if strict(each):
            clean += 1
            assert allowed(each), each
            assert remarks_on(rule, each) == [], each

    assert clean > 50


def test_mutants_are_detected_as_at_most_one_dialect() -> None:
    """A document, also a mutated one, is detected as one dialect at most."""
    for each in islice(mutants(list(GOOD.values()), 7), 3_000):
        assert not isinstance(each, dict) or len(detected(each)) <= 1, each


@given(ANYTHING)
@examples(37)
def test_nothing_makes_them_raise(value: Any) -> None:
    """Any JSON value can be remarked on, and any object be sniffed at."""
    for each in DIALECTS.values():
        assert all(one.message for one in remarks_on(each, value))
        if isinstance(value, dict):
            assert isinstance(each.sniff(value), str)
