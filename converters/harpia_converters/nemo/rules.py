"""The rules N1 (rows), N2 (results) and N3 (configurations) of NeMo Evaluator."""

from harpia_formats.model.problem import Severity
from harpia_formats.rules import Rule

_question = (
    b'"prompt": "Qual \xc3\xa9 a capital do Brasil?", '
    b'"ideal_response": "Bras\xc3\xadlia"'
)
_input = b'"input": {' + _question + b', "category": ""}, "response": "Rio"'
_result = b'{"job": "eval-1", "tasks": {"t": {"metrics": {"%s": {"scores": {%s}}}}}}\n'
_sample = _result.replace(b"tasks", b"groups").replace(b'"t"', b'"evaluation"')
_stats = b'"stats": {"count": 4, "sum": 1, "mean": 0.25}}'
_config = (
    b'{"type": "similarity_metrics", "params": {%s}, "tasks": {"t": '
    b'{"type": "default", "metrics": {"m": {"type": "%s"}}}}}\n'
)

RULES = (
    Rule(
        "N101",
        "no-category",
        Severity.NOTE,
        "A question has a category, which may be empty.",
        "NVIDIA's page requires category and gives it a default in the same line, and "
        "real files leave it out. It is tolerated, and refused under --strict.",
        b"{" + _question + b"}\n",
        b"{" + _question + b', "category": ""}\n',
        "nemo-input",
    ),
    Rule(
        "N102",
        "undocumented-key",
        Severity.WARNING,
        "Questions and answers have no other keys than the documented ones.",
        "Whether the service takes other keys is unknown. The key may be misspelt. It "
        "is tolerated, and refused under --strict.",
        b"{" + _question + b', "category": "", "level": 2}\n',
        b"{" + _question + b', "category": ""}\n',
        "nemo-input",
    ),
    Rule(
        "N103",
        "no-model-name",
        Severity.WARNING,
        "llm_name names the model that answered.",
        "Some tools write it empty. Where there was no model during the evaluation, "
        'NVIDIA writes "offline". It is tolerated, and refused under --strict.',
        b"{" + _input + b', "llm_name": ""}\n',
        b"{" + _input + b', "llm_name": "offline"}\n',
        "nemo-output",
    ),
    Rule(
        "N201",
        "no-stats",
        Severity.NOTE,
        "Every score has stats, so that each of NVIDIA's readers takes it.",
        "nemo-evaluator 0.2.8 requires stats, and an empty object is enough for it; "
        "nemo-microservices 1.5.0 does not, and the service itself leaves it out. One "
        "finding stands for all scores of a file. It is refused under --strict.",
        _result % (b"em", b'"em": {"value": 0.25}'),
        _result % (b"em", b'"em": {"value": 0.25, ' + _stats),
        "nemo-results",
    ),
    Rule(
        "N202",
        "score-name",
        Severity.WARNING,
        "The scores of em and f1 are called em and f1.",
        "One sample of NVIDIA's page says em_score and f1_score; its table says em and "
        "f1, and so do real results. It is refused under --strict.",
        _result % (b"em", b'"em_score": {"value": 0.25, ' + _stats),
        _result % (b"em", b'"em": {"value": 0.25, ' + _stats),
        "nemo-results",
    ),
    Rule(
        "N203",
        "sample-tree",
        Severity.NOTE,
        "The scores of similarity metrics stand in one metric each.",
        "One sample of NVIDIA's page has them together in "
        "groups.evaluation.metrics.evaluation.scores; real results have them in "
        "tasks.TASK.metrics.METRIC.scores. It is refused under --strict.",
        _sample % (b"evaluation", b'"em": {"value": 0.25, ' + _stats),
        _sample % (b"em", b'"em": {"value": 0.25, ' + _stats),
        "nemo-results",
    ),
    Rule(
        "N204",
        "score-beyond-one",
        Severity.WARNING,
        "bleu_score, the rouge scores, em and f1 are from 0 to 1.",
        "NVIDIA's page calls em a percentage, but its value is a share, as in the "
        "page's own sample. BLEU from 0 to 100 comes from custom evaluations, under "
        "the names sentence and corpus; the two must not be compared.",
        _result % (b"em", b'"em": {"value": 25, ' + _stats),
        _result % (b"em", b'"em": {"value": 0.25, ' + _stats),
        "nemo-results",
        lint=True,
    ),
    Rule(
        "N301",
        "unknown-metric",
        Severity.NOTE,
        "A metric of similarity_metrics is accuracy, bleu, rouge, em or f1.",
        "NVIDIA's client takes any text, so only the service refuses another one. In "
        "a configuration with a list of tasks, bert is known too. It is refused under "
        "--strict.",
        _config % (b"", b"meteor"),
        _config % (b"", b"rouge"),
        "nemo-config",
    ),
    Rule(
        "N302",
        "parameter-range",
        Severity.WARNING,
        "temperature is above 0 and at most 1, top_p from 0 to 1, and stop holds at "
        "most 4 texts.",
        "NVIDIA's client describes the bounds and does not check them; of temperature "
        "it says that 0.0 cannot be set currently. It is refused under --strict.",
        _config % (b'"temperature": 0.0', b"rouge"),
        _config % (b'"temperature": 0.7', b"rouge"),
        "nemo-config",
    ),
)
