"""The format eee-aggregate: one document with the scores of one model in one run."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.eee.detection import VENDOR, is_record
from harpia_formats.model.format import Advice, Container, Dialect, Format
from harpia_formats.model.problem import Path

OLD, NEW = "eee-aggregate@0.2.0", "eee-aggregate@0.3.0"

#: The last `schema_version` of documents that may be of the old version.
_last_old = (0, 2, 0)
#: Keys of a metric that the old version does not have.
_metric_keys = tuple(
    f"metric_{name}" for name in ("id", "name", "kind", "unit", "parameters")
)
#: Keys that say how a model is run; the old version does not have them.
_deployment_keys = ("deployment_type", "model_availability")
_version = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})$")


def sign_of(document: Mapping[str, Any], version: str) -> str:
    """Return by which keys `document` is an aggregate of `version`, or ""."""
    kind = _kind_of(document)
    if not kind or is_record(document):
        return ""
    found, sign = _version_of(document)
    return f"{kind} {sign}" if found == version else ""


def _kind_of(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` is an aggregate, or ""."""
    if "evaluation_results" in document:
        return "`evaluation_results`"
    if {"source_metadata", "model_info"} <= document.keys():
        return "`source_metadata` and `model_info`"
    return ""


def _version_of(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return the schema id of an aggregate's version, and what it is detected by."""
    key = next(_new_keys_in(document), "")
    if key:
        return NEW, f"with `{key}`"
    label = _label_of(document)
    if label > _last_old:
        return NEW, f"under the label {'.'.join(map(str, label))}"
    return OLD, "without `eval_library`"


def _new_keys_in(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of `document` that only the new version has."""
    if "eval_library" in document:
        yield "eval_library"
    details = _object_in(_object_in(document, "model_info"), "additional_details")
    yield from (name for name in _deployment_keys if name in details)
    results = document.get("evaluation_results")
    # Of the old version, we write ids of results; nobody else does.
    has_old_label = () < _label_of(document) <= _last_old
    for result in results if isinstance(results, list) else ():
        if isinstance(result, Mapping):
            if "evaluation_result_id" in result and not has_old_label:
                yield "evaluation_result_id"
            metric = _object_in(result, "metric_config")
            yield from (key for key in _metric_keys if key in metric)


def _object_in(owner: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the object at `key` of `owner`, or an empty one."""
    value = owner.get(key)
    return value if isinstance(value, Mapping) else {}


def _label_of(document: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the numbers of `schema_version`, empty if it is no version."""
    label = document.get("schema_version")
    found = _version.search(label) if isinstance(label, str) else None
    return tuple(map(int, found.groups())) if found else ()


def advise(branch: str, path: Path, record: Any) -> Advice | None:  # noqa: ARG001 - the signature of `Advise`
    """Return the help for a metric at `path` that has no score_type.

    The condition of 0.2.0 that asks for levels also holds for such a metric.
    """
    owner = record
    for step in path:
        owner = owner[step]
    if isinstance(owner, Mapping) and "score_type" not in owner:
        return Advice(
            "C101",
            'give score_type "binary" or "continuous" if the score has no levels: '
            "without score_type this version of the schema requires levels",
        )
    return None


def _dialect(version: str, name: str) -> Dialect:
    sniff = partial(sign_of, version=version)
    return Dialect(
        version,
        sniff,
        name=name,
        container=Container.DOCUMENT,
        one_of=frozenset({"evaluation_results", "source_metadata"}),
        lints="harpia_converters.eee.lint.aggregate_values:LINTS",
    )


FORMAT = Format(
    id="eee-aggregate",
    title="The scores of one model in one run, which its samples belong to",
    vendor=VENDOR,
    dialects=(_dialect(NEW, ""), _dialect(OLD, "0.2.0")),
    advise=advise,
)
