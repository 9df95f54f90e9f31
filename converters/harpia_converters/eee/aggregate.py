"""eee-aggregate: one document of the scores of one model in one run."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.eee.detection import VENDOR, is_record
from harpia_formats.model.format import Advice, Container, Dialect, Format
from harpia_formats.model.problem import Path

OLD, NEW = "eee-aggregate@0.2.0", "eee-aggregate@0.3.0"

#: The last label whose documents may have the old shape.
_last_old = (0, 2, 0)
#: Keys of a metric that the old shape does not know.
_metric_keys = tuple(
    f"metric_{each}" for each in ("id", "name", "kind", "unit", "parameters")
)
#: Keys that say how a model is run; the old shape does not know them.
_deployment_keys = ("deployment_type", "model_availability")
_version = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})$")


def sign_of(document: Mapping[str, Any], shape: str) -> str:
    """Return the sign that `document` is an aggregate of `shape`, or ""."""
    kind = _kind_of(document)
    if not kind or is_record(document):
        return ""
    found, sign = _shape_of(document)
    return f"{kind} {sign}" if found == shape else ""


def _kind_of(document: Mapping[str, Any]) -> str:
    """Return what shows that `document` is an aggregate, or ""."""
    if "evaluation_results" in document:
        return "`evaluation_results`"
    if {"source_metadata", "model_info"} <= document.keys():
        return "`source_metadata` and `model_info`"
    return ""


def _shape_of(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return the shape of an aggregate and what tells it."""
    key = next(_new_keys_in(document), "")
    if key:
        return NEW, f"with `{key}`"
    label = _label_of(document)
    if label > _last_old:
        return NEW, f"under the label {'.'.join(map(str, label))}"
    return OLD, "without `eval_library`"


def _new_keys_in(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of `document` that only the new shape has."""
    if "eval_library" in document:
        yield "eval_library"
    details = _object_in(_object_in(document, "model_info"), "additional_details")
    yield from (name for name in _deployment_keys if name in details)
    results = document.get("evaluation_results")
    for result in results if isinstance(results, list) else ():
        if isinstance(result, Mapping):
            if "evaluation_result_id" in result:
                yield "evaluation_result_id"
            metric = _object_in(result, "metric_config")
            yield from (key for key in _metric_keys if key in metric)


def _object_in(owner: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the object at `key` of `owner`, an empty one if there is none."""
    value = owner.get(key)
    return value if isinstance(value, Mapping) else {}


def _label_of(document: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the numbers of the version label, none if it is not one."""
    label = document.get("schema_version")
    found = _version.search(label) if isinstance(label, str) else None
    return tuple(map(int, found.groups())) if found else ()


def advise(branch: str, path: Path, record: Any) -> Advice | None:  # noqa: ARG001 - the shape of `Advise`
    """Return the help for a metric that is taken for levels only by its silence.

    The condition of 0.2.0 holds for a metric that gives no score_type at all.
    """
    owner = record
    for step in path:
        owner = owner[step]
    if isinstance(owner, Mapping) and "score_type" not in owner:
        return Advice(
            "C101",
            'give score_type "binary" or "continuous" if the score has no levels: '
            "without score_type this shape takes it for levels",
        )
    return None


def _dialect(shape: str, name: str) -> Dialect:
    sniff = partial(sign_of, shape=shape)
    return Dialect(shape, sniff, name=name, container=Container.DOCUMENT)


FORMAT = Format(
    id="eee-aggregate",
    title="The scores of one model in one run, which its samples belong to",
    vendor=VENDOR,
    dialects=(_dialect(NEW, ""), _dialect(OLD, "0.2.0")),
    advise=advise,
)
