"""The format haystack-evaluator: the definition of an LLMEvaluator."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from harpia_converters.haystack import definition_checks
from harpia_converters.haystack.components import below, of_components
from harpia_converters.haystack.detection import (
    VENDOR,
    definition_sign,
    dumped_sign,
    evaluator_below_sign,
    pipeline_sign,
)
from harpia_converters.haystack.loading_checks import loading_remarks
from harpia_converters.haystack.values import object_in
from harpia_formats.model.format import Container, Dialect, Format, Remark

_LINTS = "harpia_converters.haystack.definition_lints:"


def dumped_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on the parameters in an LLMEvaluator's `to_dict`."""
    component = object_in(document)
    yield from loading_remarks(component)
    if str(component.get("type")).rpartition(".")[2] == "LLMEvaluator":
        inner = definition_checks.remarks(component.get("init_parameters"))
        yield from below(("init_parameters",), inner)


def component_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on a component, which is dumped or only its parameters."""
    is_dumped = not object_in(document).keys().isdisjoint({"type", "init_parameters"})
    return (
        dumped_remarks(document) if is_dumped else definition_checks.remarks(document)
    )


def pipeline_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on the evaluators of a dumped pipeline."""
    components = object_in(document).get("components")
    return below(("components",), of_components(components, dumped_remarks))


FORMAT = Format(
    id="haystack-evaluator",
    title="The definition of an LLMEvaluator",
    vendor=VENDOR,
    dialects=(
        Dialect(
            "haystack-evaluator",
            definition_sign,
            container=Container.DOCUMENT,
            strict="haystack-evaluator-strict",
            remarks=definition_checks.remarks,
            lints=_LINTS + "DEFINITION",
            one_of=frozenset({"instructions", "inputs"}),
        ),
        Dialect(
            "haystack-evaluator-to-dict",
            dumped_sign,
            "to_dict",
            Container.DOCUMENT,
            strict="haystack-evaluator-to-dict-strict",
            remarks=dumped_remarks,
            lints=_LINTS + "DUMPED",
            one_of=frozenset({"init_parameters", "type"}),
        ),
        Dialect(
            "haystack-evaluator-component",
            evaluator_below_sign,
            "component",
            Container.DOCUMENT,
            strict="haystack-evaluator-component-strict",
            remarks=partial(of_components, remarks=component_remarks),
            lints=_LINTS + "COMPONENTS",
        ),
        Dialect(
            "haystack-evaluator-pipeline",
            pipeline_sign,
            "pipeline",
            Container.DOCUMENT,
            strict="haystack-evaluator-pipeline-strict",
            remarks=pipeline_remarks,
            lints=_LINTS + "PIPELINE",
            one_of=frozenset({"components"}),
        ),
    ),
)
