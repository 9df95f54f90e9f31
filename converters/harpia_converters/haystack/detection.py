"""Detect Haystack's documents by their keys, apart from each other and from others.

With what all modules on them share: access to values whose type is not checked yet,
remarks on components by their names, and phrases for messages.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from harpia_formats.model.format import Remark, Remarks, Sniff
from harpia_formats.model.problem import Path

#: What a value is, in words.
_kinds: dict[type, str] = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}
#: The most characters of a name, and the most names of a list, that a message shows.
_shown, _listed = 40, 4


def quoted(name: str) -> str:
    """Return a name in quotes, cut where it is long."""
    import json  # noqa: PLC0415 - for problems only: start-up time

    cut = name if len(name) <= _shown else name[:_shown] + "…"
    return json.dumps(cut, ensure_ascii=False)


def listed(names: Iterable[str]) -> str:
    """Return the first few of `names` in quotes, and how many more there are."""
    every = list(names)
    return joined([quoted(name) for name in every[:_listed]], len(every))


def joined(words: Sequence[str], of: int) -> str:
    """Return `words` as one phrase; of `of` in all, the missing ones are counted."""
    more = [f"{of - len(words):,} more"] if of > len(words) else []
    *firsts, last = [*words, *more] or ["nothing"]
    return f"{', '.join(firsts)} and {last}" if firsts else last


def counted(number: int, what: str) -> str:
    """Return a number of things, such as `1 item` or `2 items`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def kind_of(value: Any) -> str:
    """Return what a JSON value is, such as `a number`."""
    return _kinds.get(type(value), "null")


def object_in(value: Any) -> Mapping[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def list_in(value: Any) -> list[Any]:
    """Return `value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def first_of_usual_length(lengths: Mapping[Path, int]) -> Path:
    """Return the first path whose length is the most common one.

    Raises `ValueError` if `lengths` is empty.
    """
    ((usual, _),) = Counter(lengths.values()).most_common(1)
    return next(path for path, length in lengths.items() if length == usual)


VENDOR = "Haystack"

#: Columns that Haystack's evaluators expect, of which each item is a text.
TEXT_COLUMNS = frozenset(
    "questions responses predicted_answers ground_truth_answers".split()
)
#: Such columns of which each item is a list of texts.
CONTEXT_COLUMNS = frozenset({"contexts"})
#: Such columns of which each item is a list of documents.
DOCUMENT_COLUMNS = frozenset("ground_truth_documents retrieved_documents".split())
COLUMNS = TEXT_COLUMNS | CONTEXT_COLUMNS | DOCUMENT_COLUMNS

#: Keys of records and documents of other vendors, and of the hub.
_foreign_keys = frozenset(
    "actual-output actual_response conversation evaluation_results expected-output "
    "header ideal_response instance_id instances messages model_outputs prompt "
    "references source_metadata".split()
)
#: Arrays and objects of other documents and of Haystack's other formats.
OTHER_CONTAINERS = frozenset(
    "components conversation evaluation_results groups individual_scores "
    "init_parameters inputs instances messages metrics model_outputs params results "
    "run_name target tasks".split()
)
#: Keys of a single row; the keys of columns are in the plural.
_row_keys = frozenset(
    "answer category id input instruction model output prompt query question "
    "reference response text".split()
)
#: Keys of the two lists in HarpIA's files, in lower case.
_harpia_lists = frozenset(
    "instance instances instancias instâncias metric metrics metricas métricas".split()
)
#: Spellings of three keys of a metric in HarpIA's results; two of them detect it.
_harpia_results = (
    frozenset({"score"}),
    frozenset({"parameters"}),
    frozenset({"elapsed time", "elapsed_time", "elapsed-time", "elapsedTime"}),
)
#: Keys apart from `instructions` in a definition.
_declared = ("inputs", "outputs", "examples")
#: The most members of a wrong type that a document may have and still be detected.
_most_strays = 2
#: Members of what an evaluator returns.
_result_members = frozenset("individual_scores meta results score".split())
#: Keys of the result of one row, of which some evaluator of Haystack's writes each.
_row_results = frozenset(
    "relevant_statements score statement_scores statements".split()
)


def definition_sign(value: Mapping[str, Any]) -> str:
    """Return by which keys `value` is the definition of an LLMEvaluator, or ""."""
    present = [key for key in _declared if key in value]
    if _is_foreign(value) or "init_parameters" in value:
        return ""
    if isinstance(value.get("instructions"), str):
        # A row of questions or a recipe has one of these, or has texts in them.
        has_lists = any(isinstance(value[key], list) for key in present)
        is_definition = len(present) > 1 and has_lists
        return f"`instructions` and `{present[0]}`" if is_definition else ""
    is_run = value.keys() & {"run_name", "results"}
    is_whole = len(present) == len(_declared) and not is_run
    return "`inputs`, `outputs` and `examples`" if is_whole else ""


def dumped_sign(value: Mapping[str, Any]) -> str:
    """Return by which keys `value` is the `to_dict` of an evaluator, or ""."""
    kind = value.get("type")
    named = isinstance(kind, str) and kind.endswith("Evaluator")
    if "init_parameters" not in value:
        by_haystack = named and str(kind).startswith("haystack")
        return "a `type` that names an evaluator" if by_haystack else ""
    if named:
        return "`init_parameters` and a `type` that names an evaluator"
    inner = definition_sign(object_in(value["init_parameters"]))
    return f"{inner} in `init_parameters`" if inner else ""


def evaluator_below_sign(value: Mapping[str, Any]) -> str:
    """Return by which keys components of `value` are evaluators, or ""."""
    return _sign_below(
        value, lambda member: dumped_sign(member) or definition_sign(member)
    )


def pipeline_sign(value: Mapping[str, Any]) -> str:
    """Return by which keys `value` is a dumped pipeline with an evaluator, or ""."""
    members = object_in(value.get("components")).values()
    signs = (dumped_sign(member) for member in members if isinstance(member, Mapping))
    sign = next(filter(None, signs), "")
    return f"{sign} in `components`" if sign else ""


def run_sign(value: Mapping[str, Any]) -> str:
    """Return by which keys `value` is an EvaluationRunResult, or ""."""
    if _is_foreign(value) or value.keys() & {"init_parameters", "instructions"}:
        return ""
    inputs, results = object_in(value.get("inputs")), object_in(value.get("results"))
    has_columns = any(isinstance(items, list) for items in inputs.values())
    has_scores = any(
        isinstance(result, Mapping) and result.keys() & {"score", "individual_scores"}
        for result in results.values()
    )
    if "run_name" in value:
        is_empty = value.get("inputs") == value.get("results") == {}
        return "`run_name`" if has_columns or has_scores or is_empty else ""
    return "`inputs` and `results`" if has_columns and has_scores else ""


def results_sign(value: Mapping[str, Any]) -> str:
    """Return by which keys `value` is what an evaluator returned, or ""."""
    is_other = run_sign(value) or definition_sign(value) or dumped_sign(value)
    if is_other or _is_foreign(value) or _has_verdicts(value):
        return ""
    if "individual_scores" in value:
        return "`individual_scores`"
    results = value.get("results")
    if not isinstance(results, list):
        return ""
    objects = [result for result in results if isinstance(result, Mapping)]
    others = value.keys() - _result_members
    if any(map(_is_harpia_metric, objects)) or len(others) > _most_strays:
        return ""
    if any(_row_results & row.keys() and "id" not in row for row in objects):
        return "`results`"
    has_meta = "meta" in value and isinstance(value["meta"], list | None)
    return "`results` and `meta`" if has_meta else ""


def results_below_sign(value: Mapping[str, Any]) -> str:
    """Return by which keys `value` holds results of components, or ""."""
    found = _sign_below(value, results_sign)
    return "" if found and evaluator_below_sign(value) else found


def columns_sign(value: Mapping[str, Any]) -> str:
    """Return by which of Haystack's names `value` has columns, or "".

    An object of lists under other names can be anything, such as a service's errors.
    """
    is_other = value.keys() & OTHER_CONTAINERS or definition_sign(value)
    if is_other or _is_record(value):
        return ""
    if any(key.casefold() in _harpia_lists for key in value):
        return ""
    known = [f"`{name}`" for name in value if _is_known_column(name, value[name])]
    # In the beginning of a large file a value that is cut off is null.
    rest = [key for key, items in value.items() if not isinstance(items, list | None)]
    if not known or not _are_strays(rest):
        return ""
    if results_below_sign(value) or evaluator_below_sign(value):
        return ""
    return joined(known, len(known))


def own_columns_sign(value: Mapping[str, Any]) -> str:
    """Return why `value` may hold columns under the user's own names, or ""."""
    in_all = bool(value) and all(isinstance(items, list) for items in value.values())
    return "a list in every member" if in_all else ""


def own_columns_below_sign(value: Mapping[str, Any]) -> str:
    """Return why `value` may hold such columns of components, or ""."""
    members = [member for member in value.values() if isinstance(member, Mapping)]
    in_all = bool(members) and len(members) == len(value)
    sign = in_all and all(own_columns_sign(member) for member in members)
    return "a list in every member of every member" if sign else ""


def _is_known_column(name: str, items: Any) -> bool:
    """Tell whether `items` may be the column of Haystack's evaluators called `name`.

    A list of objects is one only of documents: it is no list of texts.
    """
    if name not in COLUMNS or not isinstance(items, list):
        return False
    has_texts = not items or any(not isinstance(item, Mapping) for item in items)
    return name in DOCUMENT_COLUMNS or has_texts


def columns_below_sign(value: Mapping[str, Any]) -> str:
    """Return by which keys `value` holds columns under names of components, or ""."""
    found = _sign_below(value, columns_sign)
    if found and (evaluator_below_sign(value) or results_below_sign(value)):
        return ""
    return found


def _sign_below(value: Mapping[str, Any], sign: Sniff) -> str:
    """Return what `sign` returns for members of `value`, or "" if the rest differs."""
    if value.keys() & OTHER_CONTAINERS:
        return ""
    objects: list[Mapping[str, Any]] = []
    rest: list[str] = []
    for key, member in value.items():
        if isinstance(member, dict):
            objects.append(member)
        elif member is not None:
            rest.append(key)
            # Most values are refused here, before their members are looked into.
            if len(rest) > _most_strays:
                return ""
    if not _are_strays(rest):
        return ""
    found = next(filter(None, map(sign, objects)), "")
    return found and f"{found} under a component's name"


def _are_strays(keys: list[str]) -> bool:
    """Tell whether members of another type are few enough to be mistakes."""
    return not keys or (len(keys) <= _most_strays and _row_keys.isdisjoint(keys))


def _is_record(value: Mapping[str, Any]) -> bool:
    """Tell whether `value` is a record of the format `record`."""
    of_records = value.keys() & {"prompt", "messages", "references", "header"}
    return bool(of_records) and isinstance(value.get("outputs"), list)


def _is_foreign(value: Mapping[str, Any]) -> bool:
    """Tell whether `value` has a key by which another vendor's data is detected."""
    is_eee = {"interaction_type", "answer_attribution"} <= value.keys()
    is_nemo = any(isinstance(value.get(key), Mapping) for key in ("tasks", "groups"))
    return is_eee or is_nemo or bool(value.keys() & _foreign_keys)


def _has_verdicts(value: Mapping[str, Any]) -> bool:
    """Tell whether `value` is what our LLM judge writes, with more in `meta`."""
    metas = value.get("meta")
    first = metas[0] if isinstance(metas, list) and metas else None
    return isinstance(first, Mapping) and {"attempts", "cached"} <= first.keys()


def _is_harpia_metric(item: Mapping[str, Any]) -> bool:
    """Tell whether `item` is the result of one metric in a file of HarpIA."""
    return sum(not spellings.isdisjoint(item) for spellings in _harpia_results) > 1


def below(path: Path, remarks: Iterable[Remark]) -> Iterator[Remark]:
    """Yield `remarks` on the value at `path` with paths from the document's root."""
    for remark in remarks:
        yield replace(remark, path=(*path, *remark.path))


def of_components(document: Any, remarks: Remarks) -> Iterator[Remark]:
    """Yield what `remarks` yields for each component of `document`."""
    for name, component in document.items():
        yield from below((name,), remarks(component))


def remarks_by_dialect(
    of_definition: Remarks, of_dump: Remarks = lambda _: iter(())
) -> dict[str, Remarks]:
    """Return the remarks on evaluators by the dialects of their format.

    They are those on the parameters of an LLMEvaluator, and on each dumped component.
    """

    def dumped(component: Any) -> Iterator[Remark]:
        yield from of_dump(component)
        if component["type"].rpartition(".")[2] == "LLMEvaluator":
            inner = of_definition(component["init_parameters"])
            yield from below(("init_parameters",), inner)

    def dumped_or_not(component: Any) -> Iterator[Remark]:
        is_dumped = not component.keys().isdisjoint({"type", "init_parameters"})
        return dumped(component) if is_dumped else of_definition(component)

    def in_pipeline(document: Any) -> Iterator[Remark]:
        return below(("components",), of_components(document["components"], dumped))

    return {
        "": of_definition,
        "to_dict": dumped,
        "component": partial(of_components, remarks=dumped_or_not),
        "pipeline": in_pipeline,
    }
