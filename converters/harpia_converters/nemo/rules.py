"""The rules N1 (rows), N2 (results) and N3 (configurations) of NeMo Evaluator."""

from functools import partial

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_question = (
    b'"prompt": "Qual \xc3\xa9 a capital do Brasil?", '
    b'"ideal_response": "Bras\xc3\xadlia"'
)
_input = b'"input": {' + _question + b', "category": ""}, "response": "Rio"'
_city = b"Bras\xc3\xadlia"
_cities = b"['" + _city + b"', 'BSB']"
_second = b'"prompt": "Quanto \xc3\xa9 7 + 5?", "ideal_response": "12"'
_other = b'"input": {' + _second + b', "category": ""}, "response": "13"'
_result = b'{"job": "eval-1", "tasks": {"t": {"metrics": {"%s": {"scores": {%s}}}}}}\n'
_sample = _result.replace(b"tasks", b"groups").replace(b'"t"', b'"evaluation"')
_stats = b'"stats": {"count": 4, "sum": 1, "mean": 0.25}}'
_config = (
    b'{"type": "similarity_metrics", "params": {%s}, "tasks": {"t": '
    b'{"type": "default", "dataset": "a/b", "metrics": {"m": {"type": "%s"}}}}}\n'
)
_check = (
    b'{"type": "custom", "tasks": {"t": {"type": "data", "metrics": {"m": {"type": '
    b'"string-check", "params": {"check": ["{{item.a}}", "%s", "{{item.b}}"]}}}}}}\n'
)
_offline = (
    b'{"type": "similarity_metrics", "target": {"type": "cached_outputs", '
    b'"cached_outputs": {"files_url": "nds:r/%s"}}, "tasks": {"t": {"type": "default", '
    b'"dataset": {"files_url": "nds:r/input.json"}, '
    b'"metrics": {"em": {"type": "em"}}}}}\n'
)


def _task(dataset: bytes) -> bytes:
    """Return a configuration with one task, which has this dataset."""
    given = _config.replace(b'"dataset": "a/b"', dataset).replace(b'"m"', b'"em"')
    return given % (b"", b"em")


_input_rule = partial(
    Rule, good=b"{" + _question + b', "category": ""}\n', validated_as="nemo-input"
)
_output_rule = partial(Rule, validated_as="nemo-output")
_results_rule = partial(
    Rule,
    good=_result % (b"em", b'"em": {"value": 0.25, ' + _stats),
    validated_as="nemo-results",
)
_config_rule = partial(Rule, validated_as="nemo-config")
_config_lint = partial(_config_rule, lint=True)

RULES = (
    _input_rule(
        "N101",
        "no-category",
        Severity.NOTE,
        "A question has a category, which may be empty.",
        "NVIDIA's page requires category and gives it a default in the same line, and "
        "real files leave it out. It is tolerated, and refused under --strict.",
        b"{" + _question + b"}\n",
    ),
    _input_rule(
        "N102",
        "undocumented-key",
        Severity.WARNING,
        "Questions and answers have no other keys than the documented ones.",
        "Whether the service takes other keys is unknown. The key may be misspelt. It "
        "is tolerated, and refused under --strict.",
        b"{" + _question + b', "category": "", "level": 2}\n',
    ),
    _output_rule(
        "N103",
        "no-model-name",
        Severity.WARNING,
        "llm_name names the model that answered.",
        "Some tools write it empty. Where there was no model during the evaluation, "
        'NVIDIA writes "offline". It is tolerated, and refused under --strict.',
        b"{" + _input + b', "llm_name": ""}\n',
        b"{" + _input + b', "llm_name": "offline"}\n',
    ),
    _input_rule(
        "N111",
        "repeated-question",
        Severity.WARNING,
        "A question should not occur twice with the same ideal response.",
        "NeMo has no ids: an answer is found by the question and the ideal response, "
        "and by the model. Those of two rows cannot be distinguished.",
        b"{"
        + _question
        + b', "category": ""}\n{'
        + _question
        + b', "category": "a"}\n',
        lint=True,
    ),
    _output_rule(
        "N112",
        "mixed-models",
        Severity.NOTE,
        "The answers in a file should be of one model.",
        "A run evaluates one model, and the results of a file are means over all of "
        "its rows.",
        b"{" + _input + b', "llm_name": "a/b"}\n{' + _other + b', "llm_name": "c/d"}\n',
        b"{" + _input + b', "llm_name": "a/b"}\n{' + _other + b', "llm_name": "a/b"}\n',
        lint=True,
    ),
    _input_rule(
        "N113",
        "list-as-ideal-response",
        Severity.WARNING,
        "ideal_response should not be a list written as text.",
        "NeMo has one ideal response and compares the answer with the text as it is, "
        "brackets and quotes included. Give one of the texts, or a row for each.",
        b"{" + _question.replace(_city, _cities) + b', "category": ""}\n',
        lint=True,
    ),
    _input_rule(
        "N114",
        "category-spelling",
        Severity.NOTE,
        "A category should be spelled in one way.",
        "Spellings that differ in case or in spaces around them are two categories.",
        b"{"
        + _question
        + b', "category": "A"}\n{'
        + _second
        + b', "category": "a "}\n',
        good=b"{"
        + _question
        + b', "category": "a"}\n{'
        + _second
        + b', "category": "a"}\n',
        lint=True,
    ),
    _results_rule(
        "N201",
        "no-stats",
        Severity.NOTE,
        "Every score has stats, so that each of NVIDIA's readers takes it.",
        "nemo-evaluator 0.2.8 requires stats, and an empty object is enough for it; "
        "nemo-microservices 1.5.0 does not, and the service itself leaves it out. One "
        "finding stands for all scores of a file. It is refused under --strict.",
        _result % (b"em", b'"em": {"value": 0.25}'),
    ),
    _results_rule(
        "N202",
        "score-name",
        Severity.WARNING,
        "The scores of em and f1 are called em and f1.",
        "One sample of NVIDIA's page says em_score and f1_score; its table says em and "
        "f1, and so do real results. It is refused under --strict.",
        _result % (b"em", b'"em_score": {"value": 0.25, ' + _stats),
    ),
    _results_rule(
        "N203",
        "sample-tree",
        Severity.NOTE,
        "The scores of similarity metrics stand in one metric each.",
        "One sample of NVIDIA's page has them together in "
        "groups.evaluation.metrics.evaluation.scores; real results have them in "
        "tasks.TASK.metrics.METRIC.scores. It is refused under --strict.",
        _sample % (b"evaluation", b'"em": {"value": 0.25, ' + _stats),
        good=_sample % (b"em", b'"em": {"value": 0.25, ' + _stats),
    ),
    _results_rule(
        "N204",
        "score-beyond-one",
        Severity.WARNING,
        "bleu_score, the rouge scores, em and f1 are from 0 to 1.",
        "NVIDIA's page calls em a percentage, but its value is a share, as in the "
        "page's own sample. BLEU from 0 to 100 comes from custom evaluations, under "
        "the names sentence and corpus; the two must not be compared.",
        _result % (b"em", b'"em": {"value": 25, "stats": {}}'),
        lint=True,
    ),
    _results_rule(
        "N205",
        "stats-disagree",
        Severity.WARNING,
        "The value of a score and its statistics should agree.",
        "value is mean, mean is sum / count and between min and max, and stddev is the "
        "root of variance. Numbers that differ by rounding are not reported.",
        _result % (b"em", b'"em": {"value": 0.5, ' + _stats),
        lint=True,
    ),
    _config_rule(
        "N301",
        "unknown-metric",
        Severity.NOTE,
        "A metric of similarity_metrics is accuracy, bleu, rouge, em or f1.",
        "NVIDIA's client takes any text, so only the service refuses another one. In "
        "a configuration with a list of tasks, bert is known too. It is refused under "
        "--strict.",
        _config % (b"", b"meteor"),
        _config % (b"", b"rouge"),
    ),
    _config_rule(
        "N302",
        "parameter-range",
        Severity.WARNING,
        "temperature is above 0 and at most 1, top_p from 0 to 1, and stop holds at "
        "most 4 texts.",
        "NVIDIA's client describes the bounds and does not check them; of temperature "
        "it says that 0.0 cannot be set currently. It is refused under --strict.",
        _config % (b'"temperature": 0.0', b"rouge"),
        _config % (b'"temperature": 0.7', b"rouge"),
    ),
    _config_lint(
        "N303",
        "template-in-similarity-metrics",
        Severity.WARNING,
        "A configuration of similarity_metrics should have no templates.",
        "Templates such as {{item.answer}} belong to custom evaluations and to the "
        "open SDK. In similarity_metrics they are plain text.",
        _task(b'"dataset": {"files_url": "hf://datasets/a/{{item.file}}"}'),
        _task(b'"dataset": {"files_url": "hf://datasets/a/b"}'),
    ),
    _config_lint(
        "N304",
        "misnamed-metric",
        Severity.NOTE,
        "A metric should not have the name of another metric.",
        "Its results are found under the name, so they would be taken for those of "
        "the other metric.",
        _config.replace(b'"m"', b'"rouge"') % (b"", b"bleu"),
        _config.replace(b'"m"', b'"bleu"') % (b"", b"bleu"),
    ),
    _config_lint(
        "N305",
        "nothing-to-compute",
        Severity.WARNING,
        "A task of similarity_metrics should have a dataset and metrics.",
        "The client requires neither, and without one of them there is nothing to "
        "compute.",
        _task(b'"dataset": "a/b"').replace(b'{"em": {"type": "em"}}', b"{}"),
        _task(b'"dataset": "a/b"'),
    ),
    _config_lint(
        "N306",
        "task-type",
        Severity.NOTE,
        "The type of a task of similarity_metrics should be default.",
        "NVIDIA's page and real runs have this type only; the client takes any text.",
        _task(b'"dataset": "a/b"').replace(b'"default"', b'"completion"'),
        _task(b'"dataset": "a/b"'),
    ),
    _config_lint(
        "N307",
        "count-parameter",
        Severity.WARNING,
        "Parameters that count something should be at least 1, and max_retries 0.",
        "They are max_tokens, tokens_to_generate, limit_samples, parallelism and "
        "request_timeout. The client takes any number.",
        _config % (b'"max_tokens": 0', b"rouge"),
        _config % (b'"max_tokens": 200', b"rouge"),
    ),
    _config_lint(
        "N308",
        "check-form",
        Severity.WARNING,
        "A string-check or number-check should compare two texts by an operation.",
        "Its check is [left, operation, right]. The operations are those of the open "
        "SDK; absolute difference needs an epsilon, and no other one takes it.",
        _check % b"same",
        _check % b"equals",
    ),
    _config_lint(
        "N309",
        "answers-from-questions",
        Severity.WARNING,
        "The answers of an offline run should not be read from the file of questions.",
        "cached_outputs has the address of output.json. Some tools write both files "
        "under one name.",
        _offline % b"input.json",
        _offline % b"output.json",
    ),
)
