import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs

from cases import for_each_case
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


def checker(schema: str) -> Callable[[Any], bool]:
    """Return a function that tells whether `schema` allows a document."""
    text = (ROOT / "schemas" / "nemo" / f"{schema}.schema.json").read_bytes()
    return jsonschema_rs.Draft7Validator(json.loads(text), offline=True).is_valid


def remarks_on(dialect: Dialect, document: Any) -> list[Remark]:
    """Return what `dialect` has to say of `document`."""
    assert dialect.remarks is not None
    return list(dialect.remarks(document))


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
