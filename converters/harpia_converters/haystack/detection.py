"""What tells Haystack's documents from each other and from those of others."""

from collections.abc import Mapping
from typing import Any

from harpia_converters.haystack.phrases import joined, object_in
from harpia_formats.model.format import Sniff

VENDOR = "Haystack"

#: Columns that Haystack's evaluators expect: each item is a text, ...
TEXT_COLUMNS = frozenset(
    "questions responses predicted_answers ground_truth_answers".split()
)
#: ... a list of texts, ...
CONTEXT_COLUMNS = frozenset({"contexts"})
#: ... or a list of documents.
DOCUMENT_COLUMNS = frozenset("ground_truth_documents retrieved_documents".split())
_columns = TEXT_COLUMNS | CONTEXT_COLUMNS | DOCUMENT_COLUMNS

#: Keys of other vendors' records and documents, and of the hub's.
_others = frozenset(
    "actual-output actual_response conversation evaluation_results expected-output "
    "header ideal_response instance_id instances messages model_outputs prompt "
    "references source_metadata".split()
)
#: What other documents and our more particular ones keep in arrays and objects.
_particular = frozenset(
    "components conversation evaluation_results groups individual_scores "
    "init_parameters inputs instances messages metrics model_outputs params results "
    "run_name target tasks".split()
)
#: What a field of a single row may be called, against the plural of a column.
_row_keys = frozenset(
    "answer category id input instruction model output prompt query question "
    "reference response text".split()
)
#: What HarpIA's files call their two lists, in lower case.
_harpia_lists = frozenset(
    "instance instances instancias instâncias metric metrics metricas métricas".split()
)
#: What HarpIA says of each metric in a list of results; two of them tell it.
_harpia_results = (
    frozenset({"score"}),
    frozenset({"parameters"}),
    frozenset({"elapsed time", "elapsed_time", "elapsed-time", "elapsedTime"}),
)
#: What stands beside `instructions` in a definition.
_declared = ("inputs", "outputs", "examples")
#: Members that may be amiss before a document is no longer what it looked like.
_strays = 2
_in_all = "an array in every member"


def definition_sign(value: Mapping[str, Any]) -> str:
    """Return the sign that `value` is what an LLMEvaluator is made from."""
    there = [key for key in _declared if key in value]
    if _is_of_others(value) or "init_parameters" in value:
        return ""
    if "instructions" in value:
        return f"`instructions` and `{there[0]}`" if there else ""
    is_run = value.keys() & {"run_name", "results"}
    is_whole = len(there) == len(_declared) and not is_run
    return "`inputs`, `outputs` and `examples`" if is_whole else ""


def dumped_sign(value: Mapping[str, Any]) -> str:
    """Return the sign that `value` is an evaluator's `to_dict`."""
    kind = value.get("type")
    named = is_evaluator(kind)
    if "init_parameters" not in value:
        by_haystack = named and str(kind).startswith("haystack")
        return "a `type` that names an evaluator" if by_haystack else ""
    if named:
        return "`init_parameters` and a `type` that names an evaluator"
    inner = definition_sign(object_in(value["init_parameters"]))
    return f"{inner} in `init_parameters`" if inner else ""


def is_evaluator(kind: Any) -> bool:
    """Tell whether `kind` is the name of an evaluator's class."""
    return isinstance(kind, str) and kind.endswith("Evaluator")


def evaluator_below_sign(value: Mapping[str, Any]) -> str:
    """Return the sign that components of `value` are evaluators."""
    return _sign_below(
        value, lambda member: dumped_sign(member) or definition_sign(member)
    )


def pipeline_sign(value: Mapping[str, Any]) -> str:
    """Return the sign that `value` is a dumped pipeline with an evaluator in it."""
    members = object_in(value.get("components")).values()
    signs = (dumped_sign(member) for member in members if isinstance(member, Mapping))
    sign = next(filter(None, signs), "")
    return f"{sign} in `components`" if sign else ""


def run_sign(value: Mapping[str, Any]) -> str:
    """Return the sign that `value` is an EvaluationRunResult."""
    if _is_of_others(value) or value.keys() & {"init_parameters", "instructions"}:
        return ""
    if "run_name" in value and value.keys() & {"inputs", "results"}:
        return "`run_name`"
    both = [isinstance(value.get(key), Mapping) for key in ("inputs", "results")]
    return "`inputs` and `results`" if all(both) else ""


def results_sign(value: Mapping[str, Any]) -> str:
    """Return the sign that `value` is what an evaluator returned."""
    is_other = run_sign(value) or definition_sign(value) or dumped_sign(value)
    if is_other or _is_of_others(value):
        return ""
    if "individual_scores" in value:
        return "`individual_scores`"
    results = value.get("results")
    if not isinstance(results, list):
        return ""
    objects = [result for result in results if isinstance(result, Mapping)]
    if any(map(_is_of_metric, objects)):
        return ""
    alike = bool(objects) or None in results
    return "`results`" if alike or not results else ""


def results_below_sign(value: Mapping[str, Any]) -> str:
    """Return the sign that `value` is what a pipeline of evaluators returned."""
    return "" if evaluator_below_sign(value) else _sign_below(value, results_sign)


def columns_sign(value: Mapping[str, Any]) -> str:
    """Return the sign that `value` holds one list for each input."""
    particular = value.keys() & _particular or definition_sign(value)
    if particular or _is_record(value) or _is_of_harpia(value):
        return ""
    lists = [key for key, items in value.items() if isinstance(items, list)]
    known = [f"`{each}`" for each in lists if each in _columns]
    # A value that is cut off is null here, and so tells nothing.
    rest = [key for key, items in value.items() if not isinstance(items, list | None)]
    if not lists or not _may_be_strays(rest, told=bool(known)):
        return ""
    if results_below_sign(value) or evaluator_below_sign(value):
        return ""
    if known:
        return joined(known, len(known))
    # An array of objects holds somebody's records, and not a column.
    return "" if any(_has_objects(value[each]) for each in lists) else _in_all


def _has_objects(items: list[Any]) -> bool:
    return bool(items) and all(isinstance(item, Mapping) for item in items)


def columns_below_sign(value: Mapping[str, Any]) -> str:
    """Return the sign that `value` holds the columns of components by their names."""
    if evaluator_below_sign(value) or results_below_sign(value):
        return ""
    return _sign_below(value, columns_sign)


def _sign_below(value: Mapping[str, Any], sign: Sniff) -> str:
    """Return the sign that members of `value` have, and that the rest allows."""
    if value.keys() & _particular:
        return ""
    members = {key: member for key, member in value.items() if member is not None}
    objects = [member for member in members.values() if isinstance(member, Mapping)]
    signs = [found for member in objects if (found := sign(member))]
    telling = [each for each in signs if each != _in_all]
    rest = [key for key, member in members.items() if not isinstance(member, Mapping)]
    if not signs or not _may_be_strays(rest, told=bool(telling)):
        return ""
    if not telling and len(signs) < len(members):
        return ""
    return f"{(telling or signs)[0]} under a component's name"


def _may_be_strays(keys: list[str], *, told: bool) -> bool:
    """Tell whether members of another type are a mistake in what else is told."""
    few = told and len(keys) <= _strays
    return not keys or (few and _row_keys.isdisjoint(keys))


def _is_record(value: Mapping[str, Any]) -> bool:
    """Tell whether `value` is a record of the hub's own format."""
    beside = value.keys() & {"prompt", "messages", "references", "header"}
    return bool(beside) and isinstance(value.get("outputs"), list)


def _is_of_others(value: Mapping[str, Any]) -> bool:
    """Tell whether `value` has a key that another vendor's data is told by."""
    is_eee = {"interaction_type", "answer_attribution"} <= value.keys()
    is_nemo = any(isinstance(value.get(key), Mapping) for key in ("tasks", "groups"))
    return is_eee or is_nemo or bool(value.keys() & _others)


def _is_of_harpia(value: Mapping[str, Any]) -> bool:
    """Tell whether `value` has a list of HarpIA's, in whatever case."""
    return any(key.casefold() in _harpia_lists for key in value)


def _is_of_metric(item: Mapping[str, Any]) -> bool:
    """Tell whether `item` is what HarpIA says of one metric."""
    return sum(not spellings.isdisjoint(item) for spellings in _harpia_results) > 1
