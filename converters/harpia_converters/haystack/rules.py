"""The rules K1 (columns), K2 (runs), K3 (definitions) and K4 (results) of Haystack."""

from functools import partial

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_definition = (
    b'{"instructions": "Is it rude?", "inputs": [["responses", "list[str]"]], '
    b'"outputs": ["score"], "examples": '
    b'[{"inputs": {"responses": "Go!"}, "outputs": {"score": 1}}]}\n'
)
_no_score = b'{"inputs": {"responses": "Oh!"}, "outputs": {"score": "no"}}'
_dumped = (
    b'{"type": "haystack.components.evaluators.llm_evaluator.LLMEvaluator", '
    b'"init_parameters": ' + _definition.strip()[:-1] + b', "chat_generator": {"type": '
    b'"haystack.components.generators.chat.openai.OpenAIChatGenerator", '
    b'"init_parameters": {"model": "gpt-4o-mini"}}}}\n'
)

_definition_rule = partial(Rule, good=_definition, validated_as="haystack-evaluator")


_run = (
    b'{"run_name": "a", "inputs": {"questions": ["2+2?", "3+3?"], '
    b'"answers": ["4", "6"]}, "results": {"match": {"score": 1.0, '
    b'"individual_scores": [1, 1]}}}\n'
)
_results = (
    b'{"results": [{"statements": ["a", "b"], "statement_scores": [1, 0], '
    b'"score": 0.5}, {"statements": ["c"], "statement_scores": [1], "score": 1.0}], '
    b'"meta": [{"model": "m"}, {"model": "m"}], "score": 0.75, '
    b'"individual_scores": [0.5, 1.0]}\n'
)
_relevant = (
    b'{"results": [{"relevant_statements": ["a"], "score": 1}], "score": 1, '
    b'"individual_scores": [1]}\n'
)

_column_rule = partial(Rule, validated_as="haystack")
_run_rule = partial(Rule, good=_run, validated_as="haystack-run")
_results_rule = partial(Rule, good=_results, validated_as="haystack-results")

RULES = (
    _column_rule(
        "K101",
        "unequal-columns",
        Severity.ERROR,
        "The columns of an evaluator must have one length.",
        "Row n is the nth item of each column, so Haystack refuses to run an evaluator "
        "on columns of which one is longer or shorter. Give one item for each row.",
        b'{"questions": ["2+2?", "3+3?"], "responses": ["4"]}\n',
        b'{"questions": ["2+2?", "3+3?"], "responses": ["4", "6"]}\n',
    ),
    _column_rule(
        "K102",
        "unexpected-column-item",
        Severity.WARNING,
        "An item of a well-known column should be of the type that evaluators expect.",
        "questions, responses, predicted_answers and ground_truth_answers hold texts, "
        "contexts lists of texts, and ground_truth_documents and retrieved_documents "
        "lists of documents. Haystack does not check it: an item of another type "
        "fails later, or is judged as text that it is not.",
        b'{"questions": ["2+2?"], "contexts": ["Numbers."]}\n',
        b'{"questions": ["2+2?"], "contexts": [["Numbers."]]}\n',
    ),
    _column_rule(
        "K103",
        "column-spelling",
        Severity.WARNING,
        "A column should not be named almost like one that evaluators expect.",
        "Haystack passes columns by name, and most evaluators take only the names that "
        "they declare, which are in the plural.",
        b'{"question": ["2+2?"], "responses": ["4"]}\n',
        b'{"questions": ["2+2?"], "responses": ["4"]}\n',
        lint=True,
    ),
    _run_rule(
        "K201",
        "unequal-inputs",
        Severity.ERROR,
        "The inputs of a run must have one length.",
        "EvaluationRunResult refuses others. The inputs that are named differ from "
        "what most have.",
        _run.replace(b'["4", "6"]', b'["4"]'),
    ),
    _run_rule(
        "K202",
        "unequal-scores",
        Severity.ERROR,
        "A metric must have as many individual scores as an input has values.",
        "EvaluationRunResult refuses others. A row that could not be scored has a "
        "score too, which is null.",
        _run.replace(b"[1, 1]", b"[1]"),
    ),
    _run_rule(
        "K203",
        "metric-named-like-input",
        Severity.WARNING,
        "A metric should not be named like an input.",
        "In a detailed report both are columns, and the scores overwrite the input "
        "without a warning. Rename one of them.",
        _run.replace(b'"match"', b'"answers"'),
    ),
    _run_rule(
        "K204",
        "input-as-text",
        Severity.WARNING,
        "An input should be a list and not a text.",
        "EvaluationRunResult only asks for its length, and so takes each character "
        "for a row.",
        _run.replace(b'["4", "6"]', b'"46"'),
    ),
    _run_rule(
        "K205",
        "run-score-not-mean",
        Severity.NOTE,
        "The score of a metric should be the mean of its individual scores.",
        "It is for all of Haystack's own evaluators. Rows without a score, which are "
        "null, are left out.",
        _run.replace(b"1.0", b"0.5"),
        lint=True,
    ),
    _definition_rule(
        "K301",
        "unusable-input-name",
        Severity.ERROR,
        "The name of an input must be one that a Jinja variable can have.",
        "Each input becomes a variable of the prompt's template. With a name that has "
        "spaces or hyphens or begins with a digit the evaluator cannot be made, or "
        "fails when it is run. The names instance, self, template and "
        "template_variables are those of Haystack's own arguments.",
        _definition.replace(b"responses", b"the responses"),
    ),
    _definition_rule(
        "K302",
        "template-in-text",
        Severity.WARNING,
        "Instructions and examples should not hold what Jinja takes for a template.",
        "They are put into the template of the prompt as they are. A name in double "
        "braces becomes a variable, and unless it is a declared input the run fails "
        "because nothing gives it; a tag or a comment fails or is lost. The values of "
        "the inputs are safe.",
        _definition.replace(b"Is it rude?", b"Is {{ it }} rude?"),
    ),
    _definition_rule(
        "K303",
        "repeated-declaration",
        Severity.WARNING,
        "A name should be declared once among the inputs, and once among the outputs.",
        "Haystack does not check it, but has one value for each name.",
        _definition.replace(b'["score"]', b'["score", "score"]'),
    ),
    _definition_rule(
        "K304",
        "nothing-declared",
        Severity.WARNING,
        "An evaluator should declare at least one input and one output.",
        "Haystack accepts none. Without inputs a run fails, and without outputs any "
        "reply of the judge is accepted.",
        b'{"instructions": "Is it rude?", "inputs": [["responses", "list[str]"]], '
        b'"outputs": [], "examples": []}\n',
    ),
    _definition_rule(
        "K305",
        "not-a-list-type",
        Severity.WARNING,
        "The type of an input should be a list of something.",
        "Haystack's page asks for it, its code does not. An evaluator is run on lists "
        "with one value for each row.",
        _definition.replace(b"list[str]", b"str"),
    ),
    _definition_rule(
        "K306",
        "undeclared-example-keys",
        Severity.WARNING,
        "The keys of an example should be the names that are declared.",
        "The judge is shown the examples with the inputs and is asked for the "
        "outputs, so other keys mislead it. The page's sentence that an example has "
        "questions, contexts, statements and statement_scores is true of "
        "FaithfulnessEvaluator alone. Haystack does not check it.",
        _definition.replace(b'{"responses": "Go!"}', b'{"questions": "Go!"}'),
    ),
    _definition_rule(
        "K307",
        "old-parameter",
        Severity.NOTE,
        "api, api_key and api_params are parameters of Haystack before 2.20.",
        "They are read. Since 2.20 a chat_generator holds the model, its key and its "
        "parameters.",
        _definition.replace(b'{"instr', b'{"api": "openai", "instr'),
    ),
    _definition_rule(
        "K308",
        "unknown-class",
        Severity.ERROR,
        "The type of a dumped evaluator must be the whole name of its class.",
        "Haystack imports the class by this name, and compares it with the name that "
        "the class has in its own module. Classes of other packages are not looked up.",
        _dumped.replace(b"LLMEvaluator", b"LLMEvaluato"),
        good=_dumped,
    ),
    _definition_rule(
        "K309",
        "unusable-chat-generator",
        Severity.ERROR,
        "A dumped chat_generator must have the type of a known class, and "
        "init_parameters.",
        "Haystack makes it from these, and cannot load the evaluator without them. Its "
        "api_key must name an environment variable. Classes of other packages are not "
        "looked up.",
        _dumped.replace(b'"init_parameters": {"model"', b'"parameters": {"model"'),
        good=_dumped,
    ),
    _definition_rule(
        "K310",
        "unknown-input-type",
        Severity.ERROR,
        "The type of an input must be a type that Python has.",
        "Haystack makes the type from its text, and cannot load the evaluator if a "
        "name is unknown or a bracket is missing. Classes of other packages are not "
        "looked up.",
        _definition.replace(b"list[str]", b"list[foo]"),
    ),
    _definition_rule(
        "K311",
        "unknown-parameter",
        Severity.ERROR,
        "A dumped evaluator must have parameters of its class only.",
        "Haystack makes the component with all of them, and fails on an unknown one. "
        "For api, api_key and api_params see K307.",
        _dumped.replace(
            b'"outputs": ["score"], ', b'"outputs": ["score"], "modle": 1, '
        ),
        good=_dumped,
    ),
    _definition_rule(
        "K312",
        "broken-template",
        Severity.ERROR,
        "What Jinja takes for a template must have an end and a meaning.",
        "Instructions, examples and outputs are put into the template of the prompt as "
        "they are, so the evaluator cannot be made. An unknown tag and an empty "
        "expression are reported, too.",
        _definition.replace(b"Is it rude?", b"Is {{ it rude?"),
    ),
    _definition_rule(
        "K313",
        "example-input-kind",
        Severity.NOTE,
        "An example should give for each input what one row has of it.",
        "The type of an input is a list of what the rows have, and an example stands "
        "for one row. Haystack does not check it: the judge is then shown examples "
        "that look otherwise than what it is to judge.",
        _definition.replace(b'"Go!"', b'["Go!"]'),
        lint=True,
    ),
    _definition_rule(
        "K314",
        "example-output-kinds",
        Severity.NOTE,
        "The examples should give values of one kind for an output.",
        "The judge follows the examples, and Haystack does not check the kind of what "
        "it answers: 1 in one row and yes in another cannot be averaged.",
        _definition.replace(b"}}]}", b"}}, " + _no_score + b"]}"),
        lint=True,
    ),
    _definition_rule(
        "K315",
        "output-named-like-input",
        Severity.NOTE,
        "An output should not be named like an input.",
        "Haystack accepts it. The prompt then shows both under one name.",
        _definition.replace(b'"score"', b'"responses"'),
        lint=True,
    ),
    _definition_rule(
        "K316",
        "empty-output-name",
        Severity.WARNING,
        "The name of an output should not be empty.",
        "Haystack accepts it, and asks the judge for a value under an empty key.",
        _definition.replace(b'"score"', b'""'),
        lint=True,
    ),
    _definition_rule(
        "K317",
        "no-instructions",
        Severity.WARNING,
        "The instructions should not be empty.",
        "Haystack accepts it. The judge is then asked for outputs without knowing what "
        "they mean.",
        _definition.replace(b"Is it rude?", b""),
        lint=True,
    ),
    _results_rule(
        "K401",
        "unmatched-meta",
        Severity.NOTE,
        "meta has one entry for each result where it can be matched with them.",
        "A row that failed has a result, which is null, but no entry in meta. Nothing "
        "says which row an entry is of, so it cannot be converted with the row.",
        _results.replace(b', {"model": "m"}], "score"', b'], "score"'),
    ),
    _results_rule(
        "K402",
        "differing-results",
        Severity.WARNING,
        "The results of one evaluator should have the same keys.",
        "Haystack asks a judge for the declared outputs and keeps every other key of "
        "its reply. The results listed here have other keys than most.",
        b'{"results": [{"score": 1}, {"score": 0}, {"score": 1, "why": "rude"}]}\n',
        good=b'{"results": [{"score": 1}, {"score": 0}, {"score": 1}]}\n',
    ),
    _results_rule(
        "K403",
        "unmatched-statement-scores",
        Severity.WARNING,
        "Each statement should have one score.",
        "Haystack does not check what a judge answers, and takes the mean of the "
        "scores that are there.",
        _results.replace(b'"statement_scores": [1, 0]', b'"statement_scores": [1]'),
    ),
    _results_rule(
        "K404",
        "unmatched-individual-scores",
        Severity.WARNING,
        "An evaluator should give one individual score for each result.",
        "Haystack's own evaluators always do, so the file was changed or put together "
        "from two.",
        _results.replace(b"[0.5, 1.0]", b"[0.5]"),
    ),
    _results_rule(
        "K405",
        "score-not-mean",
        Severity.NOTE,
        "The score of an evaluator should be the mean of its individual scores.",
        "It is for all of Haystack's own evaluators. Rows without a score, which are "
        "null, are left out.",
        _results.replace(b"0.75", b"0.5"),
        lint=True,
    ),
    _results_rule(
        "K406",
        "row-score",
        Severity.WARNING,
        "The score of a row should be its individual score, and the mean of the scores "
        "of its statements.",
        "Haystack computes both at once, so the file was changed or put together from "
        "two.",
        _results.replace(b"[0.5, 1.0]", b"[1.0, 0.5]").replace(
            b'{"statements": ["c"], "statement_scores": [1], "score": 1.0}', b"null"
        ),
        lint=True,
    ),
    _results_rule(
        "K407",
        "relevant-statements-form",
        Severity.WARNING,
        "The relevant statements of a row should be a list.",
        "Haystack does not check what the judge answers, and gives the score 1 for "
        "everything that is not empty, such as the text no.",
        _relevant.replace(b'["a"]', b'"no"'),
        good=_relevant,
        lint=True,
    ),
    _results_rule(
        "K408",
        "statement-score",
        Severity.NOTE,
        "The score of a statement should be 0 or 1.",
        "Haystack asks the judge for 0 or 1 and does not check what it answers.",
        _results.replace(b'[1], "score": 1.0', b'[0.5], "score": 0.5')
        .replace(b"0.75", b"0.5")
        .replace(b"[0.5, 1.0]", b"[0.5, 0.5]"),
        lint=True,
    ),
)
