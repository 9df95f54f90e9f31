"""H: HarpIA's rules, on what its schemas allow and on files that belong together."""

from functools import partial

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

BLEU = (
    b'"parameters": {"weights": [0.5, 0.5], "smoothing_function": "method1", '
    b'"auto_reweigh": false}'
)
METRIC = b'"id": "BLEU-NLTK", "enable": true, '


def instance(*fields: bytes) -> bytes:
    """Return an input of one instance that has these fields."""
    plain = b'"id": "1", "input": "Traduza: A ave canta."'
    return b'{"instances": [{' + b", ".join((plain, *fields)) + b"}]}\n"


def metrics(one: bytes, key: bytes = b"metrics") -> bytes:
    """Return an input with one metric."""
    return (
        b'{"instances": [{"id": "1", "input": "Traduza: A ave canta.", '
        b'"actual-output": "The bird sings."}], "' + key + b'": [{' + one + b"}]}\n"
    )


def output(*fields: bytes) -> bytes:
    """Return the output of one metric that has these fields."""
    return b"[{" + b", ".join((b'"score": 0.71', *fields)) + b"}]\n"


def log(instance: bytes) -> bytes:
    """Return one line of a log."""
    fields = (b'"id": "BLEU-NLTK"', BLEU, b'"result": 0.71', b'"instance_id": ')
    return b"{" + b", ".join(fields) + instance + b"}\n"


ANSWER = b'"actual-output": "The bird sings."'
NAMED, TIME = b'"id": "BLEU-NLTK"', b'"elapsed time": 0.02'
GOOD_OUTPUT = output(NAMED, BLEU, TIME)


def _input(*more: bytes) -> bytes:
    """Return an input of one instance that asks for BLEU-NLTK and `more` metrics."""
    return metrics(b"}, {".join((METRIC + BLEU, *more)))


def _and(name: bytes) -> bytes:
    """Return the output of BLEU-NLTK and of another metric."""
    other = output(b'"id": "' + name + b'", "parameters": {}', TIME)
    return GOOD_OUTPUT[:-2] + b", " + other[1:]


_bert_score = b'"id": "BERTScore", "parameters": {}, "enable": '

_answers = b'"expected-output": ["The bird sings."]'

_input_rule = partial(Rule, validated_as="harpia")
_input_lint = partial(_input_rule, lint=True)
_instance_rule = partial(_input_rule, good=instance(_answers, ANSWER))
_metric_rule = partial(_input_rule, good=metrics(METRIC + BLEU))
_metric_lint = partial(_metric_rule, lint=True)
_output_rule = partial(Rule, good=GOOD_OUTPUT, validated_as="harpia-output")
#: Rules on an output and the input that it was made from.
_output_pair = partial(_output_rule, companion=_input())

RULES = (
    _instance_rule(
        "H101",
        "field-spelling",
        Severity.WARNING,
        "The fields of an instance should be spelt actual-output and expected-output.",
        "HarpIA's pages spell them with a hyphen. With an underscore or in camel case "
        "they are read as the same fields here; whether HarpIA Lab reads them is not "
        "known.",
        instance(b'"expected_output": ["The bird sings."]', ANSWER),
    ),
    _input_rule(
        "H102",
        "several-answers",
        Severity.NOTE,
        "The answer of the model is one text in the current pages.",
        "One undated page, which looks like an older draft, has a list in "
        "actual-output; the dated pages of 2025 have a text. All answers of a list are "
        "kept.",
        instance(b'"actual-output": ["The bird sings."]'),
        instance(ANSWER),
    ),
    _instance_rule(
        "H103",
        "bare-expected-output",
        Severity.WARNING,
        "The acceptable answers should be a list, even if there is only one.",
        "HarpIA's pages say that expected-output is a list. One text is read as a list "
        "of it.",
        instance(b'"expected-output": "The bird sings."', ANSWER),
    ),
    _input_rule(
        "H104",
        "empty-expected-output",
        Severity.NOTE,
        "A list of acceptable answers holds at least one.",
        "An empty list is read like a missing one, so metrics that need a reference "
        "cannot be computed.",
        instance(b'"expected-output": []', ANSWER),
        instance(ANSWER),
    ),
    _metric_rule(
        "H105",
        "enable-form",
        Severity.WARNING,
        "A metric should say in enable, as true or false, whether it is run.",
        "The pages describe the key enable and these two values. The key enabled and "
        'the texts "true" and "false" are read as the same; without it a metric is '
        "taken as enabled.",
        metrics(b'"id": "BLEU-NLTK", "enabled": true, ' + BLEU),
    ),
    _metric_rule(
        "H106",
        "metrics-spelling",
        Severity.WARNING,
        "The list of metrics should be called metrics.",
        "The pages speak of a list of metrics and show its key in a figure only, so "
        "the name is our reading. Under a name that is nearly that, such as metric or "
        "metricas, the list is not validated.",
        metrics(METRIC + BLEU, b"Metrics"),
    ),
    _metric_rule(
        "H107",
        "parameters-form",
        Severity.NOTE,
        "The parameters of a metric are an object of names and values.",
        "The pages speak of values to be used as parameters. An object is our reading; "
        "a list is not excluded, and so it is tolerated, as are no parameters.",
        metrics(METRIC + b'"parameters": [4, "method1"]'),
    ),
    _instance_rule(
        "H108",
        "no-answer",
        Severity.ERROR,
        "An instance must have the answer of the model that is evaluated.",
        "The pages list actual-output among the fields of an instance, and without it "
        "there is nothing to evaluate. That it is required is our reading.",
        instance(b'"expected-output": ["The bird sings."]'),
    ),
    _metric_lint(
        "H111",
        "bleu-parameter",
        Severity.NOTE,
        "BLEU takes weights, smoothing_function and auto_reweigh.",
        "The page says that the BLEU of NLTK needs three parameters, and NLTK has "
        "these three. That they are the ones that HarpIA means is our reading.",
        metrics(METRIC + b'"parameters": {"max_order": 4}'),
    ),
    _input_lint(
        "H112",
        "bertscore-parameter",
        Severity.NOTE,
        "BERTScore takes the parameters that Hugging Face Evaluate gives it.",
        "The page says that it needs ten; Evaluate takes twelve apart from the texts. "
        "Which ten is not known: a name is doubted only if it is none of the twelve.",
        metrics(b'"id": "BERTScore", "enable": true, "parameters": {"language": "en"}'),
        metrics(b'"id": "BERTScore", "enable": true, "parameters": {"lang": "en"}'),
    ),
    _metric_lint(
        "H113",
        "metric-not-named",
        Severity.NOTE,
        "The metrics that the pages name are BLEU and BERTScore.",
        "The list of the HarpIA Lab Library is not public, so any other id may be "
        "right or misspelt.",
        metrics(b'"id": "ROUGE-L", "enable": true, "parameters": {}'),
    ),
    _input_lint(
        "H114",
        "bleu-value",
        Severity.WARNING,
        "The values of BLEU's parameters must be ones that NLTK can compute with.",
        "There is one weight for each order of n-grams, so no weights count no n-grams "
        "at all. The sum of the weights is 1; smoothing_function is null or one of "
        "method0 to method7, of which method6 needs three weights.",
        metrics(METRIC + b'"parameters": {"weights": []}'),
        metrics(METRIC + b'"parameters": {"weights": [1]}'),
    ),
    _input_lint(
        "H115",
        "bertscore-value",
        Severity.WARNING,
        "The values of BERTScore's parameters must be ones that it can compute with.",
        "Evaluate refuses to run without lang and model_type, of which one names the "
        "model, and to rescale without lang.",
        metrics(b'"id": "BERTScore", "enable": true, "parameters": {"idf": false}'),
        metrics(b'"id": "BERTScore", "enable": true, "parameters": {"lang": "en"}'),
    ),
    _metric_lint(
        "H116",
        "misspelt-metric",
        Severity.WARNING,
        "The id of a metric must not be spelled almost like one that the pages name.",
        "HarpIA finds a metric by its id, so it has none for a misspelt one.",
        metrics(b'"id": "BELU-NLTK", "enable": true, "parameters": {}'),
    ),
    _metric_lint(
        "H117",
        "repeated-metric",
        Severity.WARNING,
        "A metric should be enabled once with the same parameters.",
        "An output has an object for each enabled metric, with its id and its "
        "parameters, so two that are equal cannot be distinguished.",
        metrics(METRIC + BLEU + b"}, {" + METRIC + BLEU),
    ),
    _metric_lint(
        "H118",
        "no-metric-enabled",
        Severity.NOTE,
        "At least one of the metrics of an input should be enabled.",
        "Otherwise an evaluation computes nothing. A file without metrics is not "
        "reported: they are often added later.",
        metrics(b'"id": "BLEU-NLTK", "enable": false, ' + BLEU),
    ),
    _input_lint(
        "H109",
        "repeated-expected-output",
        Severity.NOTE,
        "A list of acceptable answers should not hold one twice.",
        "The best result over all of them counts, so a second one changes nothing. It "
        "may stand for another answer that was meant.",
        instance(b'"expected-output": ["Birds sing.", "Birds sing."]', ANSWER),
        instance(b'"expected-output": ["Birds sing."]', ANSWER),
    ),
    _instance_rule(
        "H119",
        "some-without-reference",
        Severity.NOTE,
        "All instances should have acceptable answers, or none of them.",
        "BLEU and BERTScore compare with expected-output. An instance without it is "
        "used by neither, and a mean over the others is not one over all.",
        instance(
            _answers, ANSWER + b'}, {"id": "2", "input": "Traduza: Oi.", ' + ANSWER
        ),
        lint=True,
    ),
    _output_rule(
        "H121",
        "elapsed-time-key",
        Severity.NOTE,
        "The output of a metric gives its time under elapsed time.",
        "The page writes the key with a space. Other spellings are read as the same, "
        "and an output without it is tolerated.",
        output(NAMED, BLEU, b'"elapsed_time": 0.02'),
    ),
    _output_rule(
        "H122",
        "metric-key",
        Severity.NOTE,
        "An output or a line of a log names its metric under id.",
        "The page speaks of the metric's identification and shows its key in a figure "
        "only. We read id, as in the input; metric and metric_id are tolerated.",
        output(b'"metric": "BLEU-NLTK"', BLEU, TIME),
    ),
    _output_rule(
        "H123",
        "no-metric-named",
        Severity.ERROR,
        "An output or a line of a log must name its metric.",
        "Each object has the identification of its metric, says the page; without it "
        "the result belongs to no metric.",
        output(BLEU, TIME),
    ),
    _output_rule(
        "H124",
        "score-range",
        Severity.WARNING,
        "A score of BLEU is from 0 to 1, and one of BERTScore from -1 to 1.",
        "NLTK's BLEU is no percentage. BERTScore can be below -1 where it is rescaled.",
        GOOD_OUTPUT.replace(b"0.71", b"71"),
        lint=True,
    ),
    _output_rule(
        "H125",
        "negative-time",
        Severity.WARNING,
        "The elapsed time of a metric should not be negative.",
        "It is the time that the metric took over all instances.",
        GOOD_OUTPUT.replace(b"0.02", b"-0.02"),
        lint=True,
    ),
    _output_pair(
        "H201",
        "metric-without-output",
        Severity.ERROR,
        "An output must have an object for each metric that its input enables.",
        "The page says that it has one for each of the metrics selected. Checked "
        "where the input is given with the output.",
        GOOD_OUTPUT,
        good=_and(b"BERTScore"),
        companion=_input(_bert_score + b"true"),
    ),
    _output_pair(
        "H202",
        "output-of-disabled-metric",
        Severity.ERROR,
        "An output or a log must have nothing of a metric that its input disables.",
        "A disabled metric is not run and not included in the results, says the page. "
        "Checked where the input is given with the file.",
        _and(b"BERTScore"),
        companion=_input(_bert_score + b"false"),
    ),
    _output_pair(
        "H203",
        "output-of-unknown-metric",
        Severity.ERROR,
        "An output or a log must have only metrics that its input has.",
        "The file was made from another input, or a name was changed. Checked where "
        "the input is given with the file.",
        _and(b"BLEU"),
    ),
    _output_pair(
        "H204",
        "parameters-differ",
        Severity.ERROR,
        "The parameters in an output or a log must be those of its input.",
        "The page says that they are repeated. They are compared as JSON values: 1 is "
        "1.0, true is not 1, and the order of keys is free. Checked where the input is "
        "given with the file.",
        output(NAMED, b'"parameters": {"weights": [1]}', TIME),
    ),
    Rule(
        "H205",
        "unknown-instance",
        Severity.ERROR,
        "The instance_id in a log must be the id of an instance of its input.",
        "Text and number are compared by their text. Checked where the input is given "
        "with the log.",
        log(b'"999"'),
        log(b'"1"'),
        "harpia-log",
        companion=_input(),
    ),
    _output_pair(
        "H206",
        "metric-output-repeated",
        Severity.ERROR,
        "An output must have one object for each metric that its input enables.",
        "There are more objects of a metric than the input has metrics of that id. "
        "Checked where the input is given with the output.",
        GOOD_OUTPUT[:-2] + b", " + GOOD_OUTPUT[1:],
    ),
)
