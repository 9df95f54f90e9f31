"""EvalEval's rules: C2 of the conditional part, E2 of an aggregate and its samples."""

from functools import partial

from harpia_converters.eee import lint_rules
from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_head = (
    b'{"schema_version": "0.2.0", "evaluation_id": "gsm8k/m/1", '
    b'"model_id": "org/m", "evaluation_name": "gsm8k", "sample_id": "1", '
    b'"interaction_type": "multi_turn", "input": {"raw": "2+2?", "reference": "4"}, '
    b'"answer_attribution": [], "evaluation": {"score": 1, "is_correct": true}, '
)
_turns = b'"interactions": [{"turn_idx": 0, "role": "user", "content": "2+2?"}]'
_aggregate = """{"schema_version": "0.3.0", "evaluation_id": "gsm8k/org_m/1770681600",
 "retrieved_timestamp": "1770681600",
 "source_metadata": {"source_type": "evaluation_run",
  "source_organization_name": "Org", "evaluator_relationship": "first_party"},
 "eval_library": {"name": "lm_eval", "version": "unknown"},
 "model_info": {"name": "m", "id": "org/m", "additional_details":
  {"deployment_type": "self_deployed", "model_availability": "open_weights"}},
 "evaluation_results": [{"evaluation_name": "gsm8k",
  "evaluation_result_id": "gsm8k:accuracy",
  "source_data": {"dataset_name": "gsm8k", "source_type": "other"},
  "metric_config": {"lower_is_better": false, "score_type": "binary"},
  "score_details": {"score": 1}}],
 "detailed_evaluation_results": {"format": "jsonl", "file_path":
  "data/gsm8k/org/m/0e7c1b52-6a3f-4d18-9b21-5c40a7f3d9e6_samples.jsonl"%s}}
"""
#: The sha256 of the file of one row below.
_checksum = "5f9294d113d2832f9b57884de0eb0e653f0edd7a63366e5d5db6b41ef1068981"
_row = """{"schema_version": "0.3.0", "evaluation_id": "%(run)s", \
"model_id": "%(model)s", "evaluation_name": "gsm8k", \
"evaluation_result_id": "gsm8k:%(metric)s", "sample_id": "%(sample)s", \
"interaction_type": "single_turn", "input": {"raw": "2+2?", "reference": ["4"]}, \
"output": {"raw": ["4"]}, "answer_attribution": [{"turn_idx": 0, \
"source": "output.raw", "extracted_value": "4", "extraction_method": "exact_match", \
"is_terminal": true}], \
"evaluation": {"score": 1, "is_correct": true}}
"""


def _row_with(**changed: str) -> bytes:
    """Return a samples file of one row, as its aggregate expects it but for these."""
    run, model = "gsm8k/org_m/1770681600", "org/m"
    kept = {"run": run, "model": model, "metric": "accuracy", "sample": "1"}
    return (_row % (kept | changed)).encode()


def _aggregate_with(details: str = "") -> bytes:
    """Return an aggregate that says this of its samples file."""
    return (_aggregate % details).encode()


def _bounded(least: int, largest: int) -> bytes:
    """Return an aggregate whose result has these bounds."""
    bounds = f'"score_type": "continuous", "min_score": {least}, "max_score": {largest}'
    return _aggregate_with().replace(b'"score_type": "binary"', bounds.encode())


_condition = partial(Rule, good=_head + _turns + b"}\n", validated_as="eee@0.2.0")
#: Rules on a row and the aggregate that it belongs to, and on an aggregate alone.
_pair_rule = partial(
    Rule, good=_row_with(), validated_as="eee@0.3.0", companion=_aggregate_with()
)
_aggregate_rule = partial(Rule, validated_as="eee-aggregate", lint=True)

_default = (
    _condition(
        "C201",
        "conditional-turns",
        Severity.ERROR,
        "output and the list of turns must suit interaction_type.",
        "A single_turn record gives its answer in output, and its list of turns is "
        "null or absent. A multi_turn or agentic record gives its list of turns, and "
        "its output is null or absent. The list is called interactions in eee@0.2.0 "
        "and eee@0.2.0-tag, messages in eee@0.3.0.",
        _head + b'"interactions": null}\n',
    ),
    _condition(
        "C202",
        "conditional-metrics",
        Severity.ERROR,
        "A metrics object in the root of a multi_turn or agentic record must hold "
        "num_turns.",
        "The schema kept this condition from a version in which metrics held the "
        "evaluation. Today num_turns belongs into evaluation, and metrics may go.",
        _head + _turns + b', "metrics": {}}\n',
    ),
    _pair_rule(
        "E201",
        "other-evaluation",
        Severity.ERROR,
        "The evaluation_id of a sample must be that of its aggregate.",
        "It joins the samples to the scores. Files of the first converters of 0.2.0 "
        "break it: their samples name the samples file instead of the run.",
        _row_with(run="gsm8k/org_m/1770595200"),
    ),
    _pair_rule(
        "E202",
        "other-model",
        Severity.ERROR,
        "The model_id of a sample must be the model_info.id of its aggregate.",
        "An aggregate speaks of one model only.",
        _row_with(model="org/m-chat"),
    ),
    _pair_rule(
        "E203",
        "other-row-count",
        Severity.ERROR,
        "A samples file must have as many rows as its aggregate says in total_rows.",
        "Blank lines do not count. A file that was cut off has fewer.",
        _row_with(),
        good=_row_with() + _row_with(sample="2"),
        companion=_aggregate_with(', "total_rows": 2'),
    ),
    _pair_rule(
        "E204",
        "other-checksum",
        Severity.ERROR,
        "A samples file must have the checksum that its aggregate gives.",
        "It is the digest of the bytes of the file, sha256 or md5. A file that was "
        "edited, or whose line ends were changed, has another.",
        _row_with().replace(b"\n", b"\r\n"),
        companion=_aggregate_with(
            f', "hash_algorithm": "sha256", "checksum": "{_checksum}"'
        ),
    ),
    _pair_rule(
        "E205",
        "unknown-result",
        Severity.WARNING,
        "A sample must name a result of its aggregate.",
        "It does so by evaluation_result_id or, where that is absent or null, by "
        "evaluation_name. HELM's converter joins by the former, lm_eval's by the "
        "latter; the files of Inspect's join by neither, so this is a warning.",
        _row_with(metric="f1"),
    ),
    _pair_rule(
        "E206",
        "aggregate-mean",
        Severity.WARNING,
        "The score of a result should be the mean of the scores of its samples.",
        "It is compared for results whose id, or else name, rows have, as far as "
        "rounding to two digits allows; a percentage is compared with a mean of 0 to "
        "1. Scores that are no mean, such as corpus BLEU, may differ; they are not "
        "compared if the score_signature of a row ends in |of:row.",
        _row_with()
        .replace(b'"score": 1, "is_correct": true', b'"score": 0, "is_correct": false')
        .replace(b'"exact_match"', b'"regex"'),
        lint=True,
    ),
    _aggregate_rule(
        "E207",
        "score-beyond-bounds",
        Severity.WARNING,
        "A score must be from the min_score to the max_score of its result.",
        "That is so for the score in an aggregate, and for those of the samples of a "
        "result that is named by them. Mostly one of the two is a percentage. A score "
        "of -1 may stand for an unknown level.",
        _bounded(0, 1).replace(b'"score": 1}', b'"score": 87.5}'),
        _bounded(0, 1),
    ),
    _aggregate_rule(
        "E208",
        "bounds-out-of-order",
        Severity.WARNING,
        "min_score must not be above max_score.",
        "Then no score lies between them.",
        _bounded(1, 0),
        _bounded(0, 1),
    ),
    _aggregate_rule(
        "E209",
        "timestamp",
        Severity.WARNING,
        "A timestamp must be a time that is not in the future.",
        "It is the seconds since 1970 as text, or a date of ISO 8601. Two days of the "
        "clock of this machine are tolerated. A time in milliseconds is far in the "
        "future.",
        _aggregate_with().replace(
            b'"retrieved_timestamp": "1770681600"',
            b'"retrieved_timestamp": "1770681600000"',
        ),
        _aggregate_with(),
    ),
)

RULES = (*_default, *lint_rules.LINT_RULES)
