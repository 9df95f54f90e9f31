"""The rules H201-H206, for an output or a log beside its input."""

from harpia_converters.harpia.rule_examples import (
    ANSWER,
    BLEU,
    GOOD_OUTPUT,
    METRIC,
    NAMED,
    TIME,
    log,
    output,
)
from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity


def _input(*more: bytes) -> bytes:
    """Return an input of one instance that asks for BLEU-NLTK and `more` metrics."""
    return (
        b'{"instances": [{"id": "1", "input": "Traduza: A ave canta.", '
        + ANSWER
        + b'}], "metrics": [{'
        + b"}, {".join((METRIC + BLEU, *more))
        + b"}]}\n"
    )


def _and(name: bytes) -> bytes:
    """Return the output of BLEU-NLTK and of another metric."""
    other = output(b'"id": "' + name + b'", "parameters": {}', TIME)
    return GOOD_OUTPUT[:-2] + b", " + other[1:]


_bert_score = b'"id": "BERTScore", "parameters": {}, "enable": '

PAIRS = (
    Rule(
        "H201",
        "metric-without-output",
        Severity.ERROR,
        "An output must have an object for each metric that its input enables.",
        "The page says that it has one for each of the metrics selected. Checked "
        "where the input is given beside the output.",
        GOOD_OUTPUT,
        _and(b"BERTScore"),
        "harpia-output",
        companion=_input(_bert_score + b"true"),
    ),
    Rule(
        "H202",
        "output-of-disabled-metric",
        Severity.ERROR,
        "An output or a log must have nothing of a metric that its input disables.",
        "A disabled metric is not run and not included in the results, says the page. "
        "Checked where the input is given beside the file.",
        _and(b"BERTScore"),
        GOOD_OUTPUT,
        "harpia-output",
        companion=_input(_bert_score + b"false"),
    ),
    Rule(
        "H203",
        "output-of-unknown-metric",
        Severity.ERROR,
        "An output or a log must have only metrics that its input has.",
        "The file was made from another input, or a name was changed. Checked where "
        "the input is given beside the file.",
        _and(b"BLEU"),
        GOOD_OUTPUT,
        "harpia-output",
        companion=_input(),
    ),
    Rule(
        "H204",
        "parameters-differ",
        Severity.ERROR,
        "The parameters in an output or a log must be those of its input.",
        "The page says that they are repeated. They are compared as JSON values: 1 is "
        "1.0, true is not 1, and the order of keys is free. Checked where the input is "
        "given beside the file.",
        output(NAMED, b'"parameters": {"weights": [1]}', TIME),
        GOOD_OUTPUT,
        "harpia-output",
        companion=_input(),
    ),
    Rule(
        "H205",
        "unknown-instance",
        Severity.ERROR,
        "The instance_id in a log must be the id of an instance of its input.",
        "Text and number are compared by their text. Checked where the input is given "
        "beside the log.",
        log(b'"999"'),
        log(b'"1"'),
        "harpia-log",
        companion=_input(),
    ),
    Rule(
        "H206",
        "metric-output-repeated",
        Severity.ERROR,
        "An output must have one object for each metric that its input enables.",
        "There are more objects of a metric than the input has metrics of that id. "
        "Checked where the input is given beside the output.",
        GOOD_OUTPUT[:-2] + b", " + GOOD_OUTPUT[1:],
        GOOD_OUTPUT,
        "harpia-output",
        companion=_input(),
    ),
)
